#include "transport/http-server.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "dial.h"
#include "obedient.h"
#include "test.h"

#define H "Host: localhost\r\n"

/* A server on a port of its own, and an owner that does what it is told. */
struct house {
    struct loop *loop;
    struct http_server *server;
    struct obedient owner;
    struct buf heard;
    size_t wanted;
    bool done;
};

static void open_house(struct house *h, const struct http_server_config *config)
{
    struct err e = ERR_NONE;

    *h = (struct house){ .loop = loop_new() };
    obedient_init(&h->owner);
    buf_init(&h->heard, (size_t)1 << 27);
    if (!http_server_open(&h->server, h->loop, config, &obedient_events, &h->owner, &e))
        fail_msg("%s", e.msg);
}

static void close_house(struct house *h)
{
    http_server_close(h->server);
    loop_free(h->loop);
    buf_release(&h->heard);
    obedient_release(&h->owner);
}

static int dial(struct house *h)
{
    return dial_port(http_server_at(h->server)->port);
}

static bool has_requests(void *to)
{
    struct house *h = to;

    return h->owner.requests >= h->wanted;
}

static bool has_gone(void *to)
{
    struct house *h = to;

    return h->owner.gone >= h->wanted;
}

static bool has_emptied(void *to)
{
    struct house *h = to;

    return http_server_connections(h->server) == 0;
}

static bool is_done(void *to)
{
    struct house *h = to;

    return h->done;
}

static void note_done(void *to)
{
    struct house *h = to;

    h->done = true;
}

static void wait_for_requests(struct house *h, size_t count)
{
    h->wanted = count;
    assert_true(dial_until(h->loop, has_requests, h));
}

static void wait_for_gone(struct house *h, size_t count)
{
    h->wanted = count;
    assert_true(dial_until(h->loop, has_gone, h));
}

static const struct http_server_config usual = { .host = STR_INIT("127.0.0.1") };

static void a_connection_serves_many_requests(void **state)
{
    struct house h;
    int fd;

    (void)state;
    open_house(&h, &usual);
    fd = dial(&h);
    for (int i = 0; i < 10; i++) {
        dial_say(fd, STR("POST /echo HTTP/1.1\r\n" H "Content-Length: 3\r\n\r\nabc"));
        assert_string_equal(dial_hear(h.loop, fd, &h.heard, STR("\r\n\r\nabc")), "");
    }
    assert_int_equal(h.owner.requests, 10);
    assert_int_equal(http_server_connections(h.server), 1);
    close(fd);
    assert_true(dial_until(h.loop, has_emptied, &h));
    close_house(&h);
}

static void pipelined_requests_are_answered_in_their_order(void **state)
{
    struct house h;
    char text[64];
    int fd;

    (void)state;
    open_house(&h, &usual);
    fd = dial(&h);
    for (int i = 0; i < 100; i++) {
        int n = snprintf(text, sizeof text,
                         "POST /echo HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\n%02d", i);

        dial_say(fd, str_n(text, (size_t)n));
    }
    dial_say(fd, STR("GET /none HTTP/1.1\r\n" H "Connection: close\r\n\r\n"));
    assert_string_equal(dial_hear(h.loop, fd, &h.heard, STR_NONE), "end");
    for (int i = 0; i < 100; i++) {
        int n =
            snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n%02d", i);

        assert_str(str_n(h.heard.at + (size_t)(n * i), (size_t)n), str_n(text, (size_t)n));
    }
    close(fd);
    assert_true(dial_until(h.loop, has_emptied, &h));
    close_house(&h);
}

static void a_client_that_goes_is_noticed_in_every_state(void **state)
{
    static const struct {
        const char *text;
        bool may_wait; /* who closes its side only may be there still */
    } requests[] = {
        { "GET /hold HTTP/1.1\r\n" H "\r\n", false },
        { "GET /silent HTTP/1.1\r\n" H "\r\n", true },
        { "GET /hold HTTP/1.1\r\n" H "\r\nGET /echo HTTP/1.1\r\n" H "\r\n", false },
        { "POST /echo HTTP/1.1\r\n" H "Content-Length: 10\r\n\r\nabc", false },
        { "POST /pause HTTP/1.1\r\n" H "Content-Length: 10\r\n\r\nabc", true },
    };
    struct linger at_once = { .l_onoff = 1 };
    struct house h;
    size_t n = 0;

    (void)state;
    open_house(&h, &usual);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        for (int how = requests[i].may_wait ? 1 : 0; how < 3; how++) {
            int fd = dial(&h);
            int64_t start;

            dial_say(fd, str_z(requests[i].text));
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
    assert_true(dial_until(h.loop, has_emptied, &h));
    close_house(&h);
}

static void who_closes_its_side_only_gets_its_answer(void **state)
{
    static const struct answer empty = { .status = 200, .body = EXCHANGE_EMPTY };
    struct err e = ERR_NONE;
    struct exchange *x;
    struct house h;
    int fd;

    (void)state;
    open_house(&h, &usual);
    fd = dial(&h);
    dial_say(fd, STR("GET /silent HTTP/1.1\r\n" H "\r\n"));
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    assert_string_equal(dial_hear(h.loop, fd, &h.heard, STR("Continue\r\n\r\n")), "");
    for (int i = 0; i < 4; i++) /* in which it is looked for those who have gone */
        dial_pause(h.loop);
    assert_int_equal(h.owner.gone, 0);
    x = h.owner.latest;
    obedient_forget(&h.owner);
    assert_true(exchange_answer(x, &empty, STR("abc"), &e));
    assert_string_equal(dial_hear(h.loop, fd, &h.heard, STR_NONE), "end");
    assert_true(str_ends(buf_str(&h.heard), STR("\r\n\r\nabc")));
    close(fd);
    assert_true(dial_until(h.loop, has_emptied, &h));
    close_house(&h);
}

static void a_write_to_who_has_just_gone_kills_nobody_inside_it(void **state)
{
    struct linger at_once = { .l_onoff = 1 };
    struct house h;
    int fd;

    (void)state;
    open_house(&h, &usual);
    fd = dial(&h);
    dial_say(fd, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    wait_for_requests(&h, 1);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(fd);
    for (int i = 0; i < 3; i++)
        exchange_write(h.owner.latest, STR("hello"));
    assert_int_equal(h.owner.gone, 0);
    wait_for_gone(&h, 1);
    assert_true(dial_until(h.loop, has_emptied, &h));
    close_house(&h);
}

static void who_reads_slowly_is_waited_for(void **state)
{
    static char bytes[1 << 20];
    enum { TIMES = 16 };
    struct house h;
    int fd;

    (void)state;
    open_house(&h, &usual);
    fd = dial(&h);
    dial_say(fd, STR("GET /hold HTTP/1.0\r\n" H "\r\n"));
    wait_for_requests(&h, 1);
    for (int i = 0; i < TIMES; i++)
        exchange_write(h.owner.latest, str_n(bytes, sizeof bytes));
    assert_true(exchange_queued(h.owner.latest) > sizeof bytes);
    assert_int_equal(h.owner.drained, 0);
    while (!h.owner.drained)
        assert_string_equal(dial_hear(h.loop, fd, &h.heard, str_n(bytes, 1)), "");
    assert_int_equal(exchange_queued(h.owner.latest), 0);
    obedient_end(&h.owner);
    assert_string_equal(dial_hear(h.loop, fd, &h.heard, STR_NONE), "end");
    assert_int_equal(h.heard.len - TIMES * sizeof bytes,
                     strlen("HTTP/1.1 200 OK\r\nX-Kind: test\r\nConnection: close\r\n\r\n"));
    close(fd);
    close_house(&h);
}

static void a_broken_answer_is_seen_to_be_broken(void **state)
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
        struct house h;
        int fd;

        open_house(&h, &usual);
        fd = dial(&h);
        dial_say(fd, str_z(cases[i].request));
        assert_string_equal(dial_hear(h.loop, fd, &h.heard, STR_NONE), cases[i].how);
        assert_false(str_ends(buf_str(&h.heard), STR("0\r\n\r\n")));
        close(fd);
        assert_true(dial_until(h.loop, has_emptied, &h));
        close_house(&h);
    }
}

static void an_early_answer_reaches_who_is_still_sending(void **state)
{
    static char bytes[1 << 20];
    struct house h;
    int fd;

    (void)state;
    open_house(&h, &usual);
    fd = dial(&h);
    dial_say(fd, STR("POST /early HTTP/1.1\r\n" H "Content-Length: 4000000\r\n\r\n"));
    wait_for_requests(&h, 1);
    for (int i = 0; i < 3; i++) {
        dial_say(fd, str_n(bytes, sizeof bytes));
        dial_pause(h.loop);
    }
    assert_string_equal(dial_hear(h.loop, fd, &h.heard, STR_NONE), "end");
    assert_true(str_starts(buf_str(&h.heard), STR("HTTP/1.1 413 ")));
    close(fd);
    assert_true(dial_until(h.loop, has_emptied, &h));
    close_house(&h);
}

static void who_is_one_too_many_is_told_and_may_come_again(void **state)
{
    struct http_server_config two = { .host = STR("127.0.0.1"), .max_connections = 2 };
    struct house h;
    int a, b, c, d;

    (void)state;
    open_house(&h, &two);
    a = dial(&h);
    b = dial(&h);
    dial_say(a, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    dial_say(b, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    wait_for_requests(&h, 2);
    c = dial(&h);
    dial_say(c, STR("GET /none HTTP/1.1\r\n" H "\r\n"));
    assert_string_equal(dial_hear(h.loop, c, &h.heard, STR_NONE), "end");
    assert_true(str_starts(buf_str(&h.heard), STR("HTTP/1.1 503 ")));
    assert_int_equal(h.owner.refused, 1);
    close(a);
    wait_for_gone(&h, 1);
    dial_pause(h.loop);
    d = dial(&h); /* the one who was told is still there, and takes nobody's place */
    dial_say(d, STR("GET /none HTTP/1.1\r\n" H "\r\n"));
    wait_for_requests(&h, 3);
    close(b);
    close(c);
    close(d);
    wait_for_gone(&h, 2);
    close_house(&h);
}

static void everybody_is_told_however_many_come(void **state)
{
    enum { MANY = 40 };
    struct http_server_config one = { .host = STR("127.0.0.1"), .max_connections = 1 };
    struct house h;
    int in, fds[MANY];

    (void)state;
    open_house(&h, &one);
    in = dial(&h);
    dial_say(in, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    wait_for_requests(&h, 1);
    for (int i = 0; i < MANY; i++) {
        fds[i] = dial(&h);
        dial_say(fds[i], STR("GET /none HTTP/1.1\r\n" H "\r\n"));
    }
    for (int i = 0; i < MANY; i++) {
        buf_clear(&h.heard);
        assert_string_equal(dial_hear(h.loop, fds[i], &h.heard, STR_NONE), "end");
        assert_true(str_starts(buf_str(&h.heard), STR("HTTP/1.1 503 ")));
        assert_in_range(http_server_connections(h.server), 1, 9); /* the others wait */
        close(fds[i]);
    }
    assert_int_equal(h.owner.refused, MANY);
    close(in);
    wait_for_gone(&h, 1);
    close_house(&h);
}

static void who_takes_its_time_is_given_up(void **state)
{
    static const struct http_patience little = {
        .head_ms = 20,
        .idle_ms = 20,
        .body_ms = 20,
        .body_rate = 1000,
        .take_ms = 20,
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
          "gone: slow, 408, the body of a request comes too slowly\n" },
    };
    struct http_server_config config = { .host = STR("127.0.0.1"), .patience = &little };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct house h;
        int fd;

        open_house(&h, &config);
        fd = dial(&h);
        dial_say(fd, str_z(cases[i].request));
        assert_string_equal(dial_hear(h.loop, fd, &h.heard, STR_NONE), "end");
        assert_str(buf_str(&h.owner.seen), str_z(cases[i].seen));
        assert_true(dial_until(h.loop, has_emptied, &h)); /* although the client stays */
        close(fd);
        close_house(&h);
    }
}

static void who_takes_nothing_of_its_answer_is_given_up(void **state)
{
    static const struct http_patience little = {
        .head_ms = 10000,
        .idle_ms = 10000,
        .body_ms = 10000,
        .body_rate = 1000,
        .take_ms = 30,
        .linger_ms = 10000,
    };
    static char bytes[8 << 20];
    struct http_server_config config = { .host = STR("127.0.0.1"), .patience = &little };
    struct house h;
    int fd;

    (void)state;
    open_house(&h, &config);
    fd = dial(&h);
    dial_say(fd, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    wait_for_requests(&h, 1);
    exchange_write(h.owner.latest, str_n(bytes, sizeof bytes));
    wait_for_gone(&h, 1);
    assert_true(str_ends(buf_str(&h.owner.seen),
                         STR("gone: slow, 0, the client does not take its answer\n")));
    close(fd);
    close_house(&h);
}

static void stopping_lets_answers_end_in_their_time(void **state)
{
    struct house h;
    int idle, held, stuck;

    (void)state;
    open_house(&h, &usual);
    idle = dial(&h);
    stuck = dial(&h);
    dial_say(stuck, STR("GET /silent HTTP/1.1\r\n" H "\r\n"));
    wait_for_requests(&h, 1);
    held = dial(&h);
    dial_say(held, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    wait_for_requests(&h, 2);
    http_server_stop(h.server, 100, note_done, &h);
    assert_false(h.done);
    assert_string_equal(dial_hear(h.loop, idle, &h.heard, STR_NONE), "end");
    assert_int_equal(h.heard.len, 0);
    close(idle);
    exchange_write(h.owner.latest, STR("last words"));
    obedient_end(&h.owner);
    assert_string_equal(dial_hear(h.loop, held, &h.heard, STR_NONE), "end");
    assert_true(str_ends(buf_str(&h.heard), STR("a\r\nlast words\r\n0\r\n\r\n")));
    close(held);
    assert_string_equal(dial_hear(h.loop, stuck, &h.heard, STR_NONE), "end");
    assert_true(
        str_ends(buf_str(&h.owner.seen), STR("gone: stopped, 503, mcpreel was ended\n")));
    close(stuck);
    assert_true(dial_until(h.loop, is_done, &h));
    close_house(&h);
}

/* Its patience with them is two minutes otherwise. */
static void stopping_does_not_wait_for_who_takes_nothing(void **state)
{
    static char bytes[8 << 20];
    struct house h;
    int stuck, silent;

    (void)state;
    open_house(&h, &usual);
    stuck = dial(&h);
    dial_say(stuck, STR("GET /hold HTTP/1.1\r\n" H "\r\n"));
    wait_for_requests(&h, 1);
    exchange_write(h.owner.latest, str_n(bytes, sizeof bytes));
    silent = dial(&h);
    dial_say(silent, STR("GET /silent HTTP/1.1\r\n" H "\r\n"));
    wait_for_requests(&h, 2);
    http_server_stop(h.server, 10, note_done, &h);
    assert_true(dial_until(h.loop, is_done, &h));
    close(stuck);
    close(silent);
    close_house(&h);
}

static void stopping_with_nobody_there_is_done_at_once(void **state)
{
    struct house h;

    (void)state;
    open_house(&h, &usual);
    http_server_stop(h.server, 100000, note_done, &h);
    assert_false(h.done);
    assert_true(dial_until(h.loop, is_done, &h));
    close_house(&h);
}

static void closing_with_exchanges_open_says_nothing(void **state)
{
    struct house h;
    int fd;

    (void)state;
    open_house(&h, &usual);
    fd = dial(&h);
    dial_say(fd, STR("POST /pause HTTP/1.1\r\n" H "Content-Length: 1\r\n\r\n"));
    wait_for_requests(&h, 1);
    obedient_forget(&h.owner);
    http_server_close(h.server);
    h.server = NULL;
    assert_string_equal(dial_hear(h.loop, fd, &h.heard, STR_NONE), "reset");
    assert_int_equal(h.owner.gone, 0);
    close(fd);
    close_house(&h);
}

static void a_name_that_one_listens_on_is_our_own(void **state)
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
        struct house h;
        struct buf text, want;
        int port, fd;

        open_house(&h, &config);
        buf_init(&text, 1000);
        buf_init(&want, 1000);
        port = http_server_at(h.server)->port;
        buf_printf(&text, "GET /none HTTP/1.1\r\nHost: %s:%d\r\nOrigin: http://%s:%d\r\n\r\n",
                   cases[i].header, port, cases[i].header, port);
        buf_printf(&want, "GET /none %s %s\nwhole 0:\n", cases[i].seen, cases[i].seen);
        fd = dial(&h);
        dial_say(fd, buf_str(&text));
        wait_for_requests(&h, 1);
        assert_str(buf_str(&h.owner.seen), buf_str(&want));
        close(fd);
        close_house(&h);
        buf_release(&text);
        buf_release(&want);
    }
}

static void why_one_cannot_listen_is_passed_on(void **state)
{
    struct http_server_config config = usual;
    struct http_server *other = NULL;
    struct err e = ERR_NONE;
    struct house h;

    (void)state;
    open_house(&h, &usual);
    config.port = http_server_at(h.server)->port;
    assert_false(http_server_open(&other, h.loop, &config, &obedient_events, &h.owner, &e));
    assert_int_equal(e.kind, ERR_IO);
    assert_non_null(strstr(e.msg, "address already in use"));
    close_house(&h);
}

/* For people who wonder. */
static void what_an_idle_stream_costs(void **state)
{
    enum { MANY = 2000 };
    int *fds = mem_alloc(MANY * sizeof *fds);
    struct house h;
    size_t before = 0;

    (void)state;
    open_house(&h, &usual);
    for (size_t i = 0; i < MANY; i++) {
        fds[i] = dial(&h);
        dial_say(fds[i], STR("POST /hold HTTP/1.1\r\n" H
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
    assert_true(dial_until(h.loop, has_emptied, &h));
    close_house(&h);
    free(fds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_serves_many_requests),
        cmocka_unit_test(pipelined_requests_are_answered_in_their_order),
        cmocka_unit_test(a_client_that_goes_is_noticed_in_every_state),
        cmocka_unit_test(who_closes_its_side_only_gets_its_answer),
        cmocka_unit_test(a_write_to_who_has_just_gone_kills_nobody_inside_it),
        cmocka_unit_test(who_reads_slowly_is_waited_for),
        cmocka_unit_test(a_broken_answer_is_seen_to_be_broken),
        cmocka_unit_test(an_early_answer_reaches_who_is_still_sending),
        cmocka_unit_test(who_is_one_too_many_is_told_and_may_come_again),
        cmocka_unit_test(everybody_is_told_however_many_come),
        cmocka_unit_test(who_takes_its_time_is_given_up),
        cmocka_unit_test(who_takes_nothing_of_its_answer_is_given_up),
        cmocka_unit_test(stopping_lets_answers_end_in_their_time),
        cmocka_unit_test(stopping_does_not_wait_for_who_takes_nothing),
        cmocka_unit_test(stopping_with_nobody_there_is_done_at_once),
        cmocka_unit_test(closing_with_exchanges_open_says_nothing),
        cmocka_unit_test(a_name_that_one_listens_on_is_our_own),
        cmocka_unit_test(why_one_cannot_listen_is_passed_on),
        cmocka_unit_test(what_an_idle_stream_costs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
