#include "transport/http-server.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "path-responder.h"
#include "raw-client.h"
#include "test.h"

#define H "Host: localhost\r\n"

/* A server on its own port, and an owner with planned reactions. */
struct http_server_test {
    struct loop *loop;
    struct http_server *server;
    struct path_responder owner;
    struct buf received;
    size_t wanted;
    bool done;
};

static void open_server(struct http_server_test *h, const struct http_server_config *config)
{
    struct err e = ERR_NONE;

    *h = (struct http_server_test){ .loop = loop_new() };
    path_responder_init(&h->owner);
    buf_init(&h->received, (size_t)1 << 27);
    if (!http_server_open(&h->server, h->loop, config, &path_responder_events, &h->owner, &e))
        fail_msg("%s", e.msg);
}

static void close_server(struct http_server_test *h)
{
    http_server_close(h->server);
    loop_free(h->loop);
    buf_release(&h->received);
    path_responder_release(&h->owner);
}

static int dial(struct http_server_test *h)
{
    return raw_client_connect(http_server_address(h->server)->port);
}

static bool has_requests(void *to)
{
    struct http_server_test *h = to;

    return h->owner.requests >= h->wanted;
}

static bool has_gone(void *to)
{
    struct http_server_test *h = to;

    return h->owner.aborted >= h->wanted;
}

static bool has_emptied(void *to)
{
    struct http_server_test *h = to;

    return http_server_connections(h->server) == 0;
}

static bool is_done(void *to)
{
    struct http_server_test *h = to;

    return h->done;
}

static void note_done(void *to)
{
    struct http_server_test *h = to;

    h->done = true;
}

static void wait_for_requests(struct http_server_test *h, size_t count)
{
    h->wanted = count;
    assert_true(raw_client_run_until(h->loop, has_requests, h));
}

static void wait_for_gone(struct http_server_test *h, size_t count)
{
    h->wanted = count;
    assert_true(raw_client_run_until(h->loop, has_gone, h));
}

static const struct http_server_config usual = { .host = STR_INIT("127.0.0.1") };

static void a_connection_serves_many_requests(void **state)
{
    struct http_server_test h;
    int fd;

    (void)state;
    open_server(&h, &usual);
    fd = dial(&h);
    for (int i = 0; i < 10; i++) {
        raw_client_send(fd, STR("POST /echo HTTP/1.1\r\n" H "Content-Length: 3\r\n\r\nabc"));
        assert_string_equal(raw_client_receive(h.loop, fd, &h.received, STR("\r\n\r\nabc")),
                            "");
    }
    assert_int_equal(h.owner.requests, 10);
    assert_int_equal(http_server_connections(h.server), 1);
    close(fd);
    assert_true(raw_client_run_until(h.loop, has_emptied, &h));
    close_server(&h);
}

static void pipelined_requests_are_answered_in_their_order(void **state)
{
    struct http_server_test h;
    char text[64];
    int fd;

    (void)state;
    open_server(&h, &usual);
    fd = dial(&h);
    for (int i = 0; i < 100; i++) {
        int n = snprintf(text, sizeof text,
                         "POST /echo HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\n%02d", i);

        raw_client_send(fd, str_n(text, (size_t)n));
    }
    raw_client_send(fd, STR("GET /none HTTP/1.1\r\n" H "Connection: close\r\n\r\n"));
    assert_string_equal(raw_client_receive(h.loop, fd, &h.received, STR_NONE), "end");
    for (int i = 0; i < 100; i++) {
        int n =
            snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n%02d", i);

        assert_str(str_n(h.received.at + (size_t)(n * i), (size_t)n), str_n(text, (size_t)n));
    }
    close(fd);
    assert_true(raw_client_run_until(h.loop, has_emptied, &h));
    close_server(&h);
}

static void a_client_that_disconnects_is_noticed_in_every_state(void **state)
{
    static const struct {
        const char *text;
        bool may_wait; /* a client that has closed only its side may still read */
    } requests[] = {
        { "GET /hold HTTP/1.1\r\n" H "\r\n", false },
        { "GET /silent HTTP/1.1\r\n" H "\r\n", true },
        { "GET /hold HTTP/1.1\r\n" H "\r\nGET /echo HTTP/1.1\r\n" H "\r\n", false },
        { "POST /echo HTTP/1.1\r\n" H "Content-Length: 10\r\n\r\nabc", false },
        { "POST /pause HTTP/1.1\r\n" H "Content-Length: 10\r\n\r\nabc", true },
    };
    struct linger at_once = { .l_onoff = 1 };
    struct http_server_test h;
    size_t n = 0;

    (void)state;
    open_server(&h, &usual);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        for (int how = requests[i].may_wait ? 1 : 0; how < 3; how++) {
            int fd = dial(&h);
            int64_t start;

            raw_client_send(fd, str_z(requests[i].text));
            wait_for_requests(&h, ++n);
            if (how == 0)
                assert_int_equal(shutdown(fd, SHUT_WR), 0);
            if (how == 1)
                setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
            if (how > 0)
                close(fd);
            start = clock_mono_us();
            wait_for_gone(&h, n);
            print_message("%zu.%d: noticed after %d us\n", i, how,
                          (int)(clock_mono_us() - start));
            if (how == 0)
                close(fd);
        }
    }
    assert_int_equal(h.owner.open, 0);
    assert_true(raw_client_run_until(h.loop, has_emptied, &h));
    close_server(&h);
}

static void a_half_closed_client_gets_its_response(void **state)
{
    static const struct http_exchange_response empty = { .status = 200,
                                                         .body = HTTP_EXCHANGE_EMPTY };
    struct err e = ERR_NONE;
    struct http_exchange *x;
    struct http_server_test h;
    int fd;

    (void)state;
    open_server(&h, &usual);
    fd = dial(&h);
    raw_client_send(fd, STR("GET /silent HTTP/1.1\r\n" H "\r\n"));
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    assert_string_equal(raw_client_receive(h.loop, fd, &h.received, STR("Continue\r\n\r\n")),
                        "");
    for (int i = 0; i < 4; i++) /* interval of the search for disconnected clients */
        raw_client_run_briefly(h.loop);
    assert_int_equal(h.owner.aborted, 0);
    x = h.owner.latest;
    path_responder_forget(&h.owner);
    assert_true(http_exchange_respond(x, &empty, STR("abc"), &e));
    assert_string_equal(raw_client_receive(h.loop, fd, &h.received, STR_NONE), "end");
    assert_true(str_ends(buf_str(&h.received), STR("\r\n\r\nabc")));
    close(fd);
    assert_true(raw_client_run_until(h.loop, has_emptied, &h));
    close_server(&h);
}

static void a_write_to_a_gone_client_is_safe(void **state)
{
    struct linger at_once = { .l_onoff = 1 };
    struct http_server_test h;
    int fd;

    (void)state;
    open_server(&h, &usual);
    fd = dial(&h);
    raw_client_send(fd, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    wait_for_requests(&h, 1);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(fd);
    for (int i = 0; i < 3; i++)
        http_exchange_write(h.owner.latest, STR("hello"));
    assert_int_equal(h.owner.aborted, 0);
    wait_for_gone(&h, 1);
    assert_true(raw_client_run_until(h.loop, has_emptied, &h));
    close_server(&h);
}

static void a_slow_reader_gets_everything(void **state)
{
    static char bytes[1 << 20];
    enum { TIMES = 16 };
    struct http_server_test h;
    int fd;

    (void)state;
    open_server(&h, &usual);
    fd = dial(&h);
    raw_client_send(fd, STR("GET /hold HTTP/1.0\r\n" H "\r\n"));
    wait_for_requests(&h, 1);
    for (int i = 0; i < TIMES; i++)
        http_exchange_write(h.owner.latest, str_n(bytes, sizeof bytes));
    assert_true(http_exchange_queued(h.owner.latest) > sizeof bytes);
    assert_int_equal(h.owner.drain_count, 0);
    while (!h.owner.drain_count)
        assert_string_equal(raw_client_receive(h.loop, fd, &h.received, str_n(bytes, 1)), "");
    assert_int_equal(http_exchange_queued(h.owner.latest), 0);
    path_responder_end(&h.owner);
    assert_string_equal(raw_client_receive(h.loop, fd, &h.received, STR_NONE), "end");
    assert_int_equal(h.received.len - TIMES * sizeof bytes,
                     strlen("HTTP/1.1 200 OK\r\nX-Kind: test\r\nConnection: close\r\n\r\n"));
    close(fd);
    close_server(&h);
}

static void an_aborted_response_is_noticed(void **state)
{
    static const struct {
        const char *request, *how;
    } cases[] = {
        { "GET /abort HTTP/1.1\r\n" H "\r\n", "end" }, /* without the last chunk */
        { "GET /short HTTP/1.1\r\n" H "\r\n", "end" },
        { "GET /abort HTTP/1.0\r\n" H "\r\n", "reset" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct http_server_test h;
        int fd;

        open_server(&h, &usual);
        fd = dial(&h);
        raw_client_send(fd, str_z(cases[i].request));
        assert_string_equal(raw_client_receive(h.loop, fd, &h.received, STR_NONE),
                            cases[i].how);
        assert_false(str_ends(buf_str(&h.received), STR("0\r\n\r\n")));
        close(fd);
        assert_true(raw_client_run_until(h.loop, has_emptied, &h));
        close_server(&h);
    }
}

static void an_early_response_reaches_a_sending_client(void **state)
{
    static char bytes[1 << 20];
    struct http_server_test h;
    int fd;

    (void)state;
    open_server(&h, &usual);
    fd = dial(&h);
    raw_client_send(fd, STR("POST /early HTTP/1.1\r\n" H "Content-Length: 4000000\r\n\r\n"));
    wait_for_requests(&h, 1);
    for (int i = 0; i < 3; i++) {
        raw_client_send(fd, str_n(bytes, sizeof bytes));
        raw_client_run_briefly(h.loop);
    }
    assert_string_equal(raw_client_receive(h.loop, fd, &h.received, STR_NONE), "end");
    assert_true(str_starts(buf_str(&h.received), STR("HTTP/1.1 413 ")));
    close(fd);
    assert_true(raw_client_run_until(h.loop, has_emptied, &h));
    close_server(&h);
}

static void overload_is_rejected_and_ends(void **state)
{
    struct http_server_config two = { .host = STR("127.0.0.1"), .max_connections = 2 };
    struct http_server_test h;
    int a, b, c, d;

    (void)state;
    open_server(&h, &two);
    a = dial(&h);
    b = dial(&h);
    raw_client_send(a, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    raw_client_send(b, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    wait_for_requests(&h, 2);
    c = dial(&h);
    raw_client_send(c, STR("GET /none HTTP/1.1\r\n" H "\r\n"));
    assert_string_equal(raw_client_receive(h.loop, c, &h.received, STR_NONE), "end");
    assert_true(str_starts(buf_str(&h.received), STR("HTTP/1.1 503 ")));
    assert_int_equal(h.owner.rejected, 1);
    close(a);
    wait_for_gone(&h, 1);
    raw_client_run_briefly(h.loop);
    d = dial(&h); /* the rejected client is still connected, and does not count */
    raw_client_send(d, STR("GET /none HTTP/1.1\r\n" H "\r\n"));
    wait_for_requests(&h, 3);
    close(b);
    close(c);
    close(d);
    wait_for_gone(&h, 2);
    close_server(&h);
}

static void every_client_is_rejected_under_load(void **state)
{
    enum { MANY = 40 };
    struct http_server_config one = { .host = STR("127.0.0.1"), .max_connections = 1 };
    struct http_server_test h;
    int in, fds[MANY];

    (void)state;
    open_server(&h, &one);
    in = dial(&h);
    raw_client_send(in, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    wait_for_requests(&h, 1);
    for (int i = 0; i < MANY; i++) {
        fds[i] = dial(&h);
        raw_client_send(fds[i], STR("GET /none HTTP/1.1\r\n" H "\r\n"));
    }
    for (int i = 0; i < MANY; i++) {
        buf_clear(&h.received);
        assert_string_equal(raw_client_receive(h.loop, fds[i], &h.received, STR_NONE), "end");
        assert_true(str_starts(buf_str(&h.received), STR("HTTP/1.1 503 ")));
        assert_in_range(http_server_connections(h.server), 1, 9); /* the others wait */
        close(fds[i]);
    }
    assert_int_equal(h.owner.rejected, MANY);
    close(in);
    wait_for_gone(&h, 1);
    close_server(&h);
}

static void a_slow_client_times_out(void **state)
{
    static const struct http_conn_timeouts little = {
        .head_ms = 20,
        .idle_ms = 20,
        .body_ms = 20,
        .body_rate = 1000,
        .write_ms = 20,
        .linger_ms = 20,
    };
    static const struct {
        const char *request, *seen;
    } cases[] = {
        { "", "" },
        { "GET /", "refused: slow, 408, the head of a request took too long\n" },
        { "GET /none HTTP/1.1\r\n" H "\r\n", "GET /none loopback none\nwhole 0:\n" },
        { "POST /echo HTTP/1.1\r\n" H "Content-Length: 1\r\n\r\n",
          "POST /echo loopback none\n"
          "gone: slow, 408, the request body arrives too slowly\n" },
    };
    struct http_server_config config = { .host = STR("127.0.0.1"), .timeouts = &little };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct http_server_test h;
        int fd;

        open_server(&h, &config);
        fd = dial(&h);
        raw_client_send(fd, str_z(cases[i].request));
        assert_string_equal(raw_client_receive(h.loop, fd, &h.received, STR_NONE), "end");
        assert_str(buf_str(&h.owner.text), str_z(cases[i].seen));
        assert_true(
            raw_client_run_until(h.loop, has_emptied, &h)); /* although the client stays */
        close(fd);
        close_server(&h);
    }
}

static void a_client_that_does_not_read_times_out(void **state)
{
    static const struct http_conn_timeouts little = {
        .head_ms = 10000,
        .idle_ms = 10000,
        .body_ms = 10000,
        .body_rate = 1000,
        .write_ms = 30,
        .linger_ms = 10000,
    };
    static char bytes[8 << 20];
    struct http_server_config config = { .host = STR("127.0.0.1"), .timeouts = &little };
    struct http_server_test h;
    int fd;

    (void)state;
    open_server(&h, &config);
    fd = dial(&h);
    raw_client_send(fd, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    wait_for_requests(&h, 1);
    http_exchange_write(h.owner.latest, str_n(bytes, sizeof bytes));
    wait_for_gone(&h, 1);
    assert_true(str_ends(buf_str(&h.owner.text),
                         STR("gone: slow, 0, the client does not read its response\n")));
    close(fd);
    close_server(&h);
}

static void stopping_lets_responses_end(void **state)
{
    struct http_server_test h;
    int idle, held, stuck;

    (void)state;
    open_server(&h, &usual);
    idle = dial(&h);
    stuck = dial(&h);
    raw_client_send(stuck, STR("GET /silent HTTP/1.1\r\n" H "\r\n"));
    wait_for_requests(&h, 1);
    held = dial(&h);
    raw_client_send(held, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    wait_for_requests(&h, 2);
    http_server_stop(h.server, 100, note_done, &h);
    assert_false(h.done);
    assert_string_equal(raw_client_receive(h.loop, idle, &h.received, STR_NONE), "end");
    assert_int_equal(h.received.len, 0);
    close(idle);
    http_exchange_write(h.owner.latest, STR("last words"));
    path_responder_end(&h.owner);
    assert_string_equal(raw_client_receive(h.loop, held, &h.received, STR_NONE), "end");
    assert_true(str_ends(buf_str(&h.received), STR("a\r\nlast words\r\n0\r\n\r\n")));
    close(held);
    assert_string_equal(raw_client_receive(h.loop, stuck, &h.received, STR_NONE), "end");
    assert_true(
        str_ends(buf_str(&h.owner.text), STR("gone: stopped, 503, mcpreel was ended\n")));
    close(stuck);
    assert_true(raw_client_run_until(h.loop, is_done, &h));
    close_server(&h);
}

/* Its patience with them is two minutes otherwise. */
static void stopping_does_not_wait_for_stuck_clients(void **state)
{
    static char bytes[8 << 20];
    struct http_server_test h;
    int stuck, silent;

    (void)state;
    open_server(&h, &usual);
    stuck = dial(&h);
    raw_client_send(stuck, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    wait_for_requests(&h, 1);
    http_exchange_write(h.owner.latest, str_n(bytes, sizeof bytes));
    silent = dial(&h);
    raw_client_send(silent, STR("GET /silent HTTP/1.1\r\n" H "\r\n"));
    wait_for_requests(&h, 2);
    http_server_stop(h.server, 10, note_done, &h);
    assert_true(raw_client_run_until(h.loop, is_done, &h));
    close(stuck);
    close(silent);
    close_server(&h);
}

static void stopping_without_clients_is_done_at_once(void **state)
{
    struct http_server_test h;

    (void)state;
    open_server(&h, &usual);
    http_server_stop(h.server, 100000, note_done, &h);
    assert_false(h.done);
    assert_true(raw_client_run_until(h.loop, is_done, &h));
    close_server(&h);
}

static void closing_reports_no_events(void **state)
{
    struct http_server_test h;
    int fd;

    (void)state;
    open_server(&h, &usual);
    fd = dial(&h);
    raw_client_send(fd, STR("POST /pause HTTP/1.1\r\n" H "Content-Length: 1\r\n\r\n"));
    wait_for_requests(&h, 1);
    path_responder_forget(&h.owner);
    http_server_close(h.server);
    h.server = NULL;
    assert_string_equal(raw_client_receive(h.loop, fd, &h.received, STR_NONE), "reset");
    assert_int_equal(h.owner.aborted, 0);
    close(fd);
    close_server(&h);
}

static void a_listen_address_may_be_a_name(void **state)
{
    static const struct {
        const char *host, *header, *seen;
    } cases[] = {
        { "", "127.0.0.1", "self" },
        { "localhost", "localhost", "self" },
        { "127.0.0.1", "localhost", "self" },
        { "127.0.0.1", "evil.example", "other" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct http_server_config config = { .host = str_z(cases[i].host) };
        struct http_server_test h;
        struct buf text, want;
        int port, fd;

        open_server(&h, &config);
        buf_init(&text, 1000);
        buf_init(&want, 1000);
        port = http_server_address(h.server)->port;
        buf_printf(&text, "GET /none HTTP/1.1\r\nHost: %s:%d\r\nOrigin: http://%s:%d\r\n\r\n",
                   cases[i].header, port, cases[i].header, port);
        buf_printf(&want, "GET /none %s %s\nwhole 0:\n", cases[i].seen, cases[i].seen);
        fd = dial(&h);
        raw_client_send(fd, buf_str(&text));
        wait_for_requests(&h, 1);
        assert_str(buf_str(&h.owner.text), buf_str(&want));
        close(fd);
        close_server(&h);
        buf_release(&text);
        buf_release(&want);
    }
}

static void listen_errors_are_reported(void **state)
{
    struct http_server_config config = usual;
    struct http_server *other = NULL;
    struct err e = ERR_NONE;
    struct http_server_test h;

    (void)state;
    open_server(&h, &usual);
    config.port = http_server_address(h.server)->port;
    assert_false(
        http_server_open(&other, h.loop, &config, &path_responder_events, &h.owner, &e));
    assert_int_equal(e.kind, ERR_IO);
    assert_non_null(strstr(e.msg, "address already in use"));
    close_server(&h);
}

/* A page for browsers. */
static void the_memory_of_idle_streams_is_printed(void **state)
{
    enum { MANY = 2000 };
    int *fds = mem_alloc(MANY * sizeof *fds);
    struct http_server_test h;
    size_t before = 0;

    (void)state;
    open_server(&h, &usual);
    for (size_t i = 0; i < MANY; i++) {
        fds[i] = dial(&h);
        raw_client_send(fds[i],
                        STR("POST /hold HTTP/1.1\r\n" H
                            "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"));
        if (i % 100 == 99)
            wait_for_requests(&h, i + 1);
        if (i == 99)
            before = mallinfo2().uordblks;
    }
    print_message("%zu bytes for each of %d streams, of which the test has some\n",
                  (mallinfo2().uordblks - before) / (MANY - 100), MANY);
    for (size_t i = 0; i < MANY; i++)
        close(fds[i]);
    wait_for_gone(&h, MANY);
    assert_true(raw_client_run_until(h.loop, has_emptied, &h));
    close_server(&h);
    free(fds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_serves_many_requests),
        cmocka_unit_test(pipelined_requests_are_answered_in_their_order),
        cmocka_unit_test(a_client_that_disconnects_is_noticed_in_every_state),
        cmocka_unit_test(a_half_closed_client_gets_its_response),
        cmocka_unit_test(a_write_to_a_gone_client_is_safe),
        cmocka_unit_test(a_slow_reader_gets_everything),
        cmocka_unit_test(an_aborted_response_is_noticed),
        cmocka_unit_test(an_early_response_reaches_a_sending_client),
        cmocka_unit_test(overload_is_rejected_and_ends),
        cmocka_unit_test(every_client_is_rejected_under_load),
        cmocka_unit_test(a_slow_client_times_out),
        cmocka_unit_test(a_client_that_does_not_read_times_out),
        cmocka_unit_test(stopping_lets_responses_end),
        cmocka_unit_test(stopping_does_not_wait_for_stuck_clients),
        cmocka_unit_test(stopping_without_clients_is_done_at_once),
        cmocka_unit_test(closing_reports_no_events),
        cmocka_unit_test(a_listen_address_may_be_a_name),
        cmocka_unit_test(listen_errors_are_reported),
        cmocka_unit_test(the_memory_of_idle_streams_is_printed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
