#include "loop/listener.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "raw-client.h"
#include "test.h"

/* Returns the connected clients, and the text of the first of them. */
struct listener_run {
    struct loop *loop;
    struct listener *listener;
    struct stream *streams[200];
    size_t count, scarce, ends, breaks, drains;
    struct buf data;
    size_t wanted; /* how many are waited for */
    struct err why;
};

static void on_connection(void *to, struct stream *s, bool scarce)
{
    struct listener_run *h = to;

    stream_set_receiver(s, h);
    h->scarce += scarce;
    if (scarce) {
        stream_write(s, STR("no room"));
        stream_close(s);
        return;
    }
    h->streams[h->count++] = s;
    stream_read(s, true);
}

static void on_data(void *to, struct str bytes)
{
    struct listener_run *h = to;

    buf_add(&h->data, bytes);
}

static void on_end(void *to, const struct err *why)
{
    struct listener_run *h = to;

    h->ends++;
    if (why)
        h->why = *why;
}

static void on_drained(void *to)
{
    struct listener_run *h = to;

    h->drains++;
}

static void on_broken(void *to, const struct err *why)
{
    struct listener_run *h = to;

    h->breaks++;
    h->why = *why;
}

static const struct listener_events events = {
    .connection = on_connection,
    .stream = { .data = on_data, .end = on_end, .drained = on_drained, .broken = on_broken },
};

static void open_listener(struct listener_run *h, struct str host)
{
    struct err e = ERR_NONE;

    *h = (struct listener_run){ .loop = loop_new() };
    buf_init(&h->data, 1 << 20);
    if (!listener_open(&h->listener, h->loop, host, 0, &events, h, &e))
        fail_msg("%s", e.msg);
}

static void close_listener(struct listener_run *h)
{
    for (size_t i = 0; i < h->count; i++)
        stream_close(h->streams[i]);
    listener_close(h->listener);
    loop_free(h->loop);
    buf_release(&h->data);
}

static bool have_come(void *to)
{
    struct listener_run *h = to;

    return h->count >= h->wanted;
}

static bool has_ended(void *to)
{
    struct listener_run *h = to;

    return h->ends > 0;
}

static void wait_for(struct listener_run *h, size_t count)
{
    h->wanted = count;
    assert_true(raw_client_run_until(h->loop, have_come, h));
}

static void a_client_connects_and_data_flows_both_ways(void **state)
{
    struct buf received;
    struct listener_run h;
    int fd;

    (void)state;
    open_listener(&h, STR("127.0.0.1"));
    buf_init(&received, 100);
    assert_string_equal(listener_host(h.listener), "127.0.0.1");
    assert_in_range(listener_port(h.listener), 1024, 65535);
    fd = raw_client_connect(listener_port(h.listener));
    wait_for(&h, 1);
    stream_write(h.streams[0], STR("welcome"));
    assert_string_equal(raw_client_receive(h.loop, fd, &received, STR("welcome")), "");
    raw_client_send(fd, STR("thanks"));
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    assert_true(raw_client_run_until(h.loop, has_ended, &h));
    assert_str(buf_str(&h.data), STR("thanks"));
    assert_int_equal(h.why.kind, ERR_OK);
    /* It may have closed its side and still listen. */
    stream_write(h.streams[0], STR("bye"));
    stream_shutdown(h.streams[0]);
    stream_shutdown(h.streams[0]);
    assert_string_equal(raw_client_receive(h.loop, fd, &received, STR_NONE), "end");
    assert_str(buf_str(&received), STR("welcomebye"));
    close(fd);
    close_listener(&h);
    buf_release(&received);
}

static void queued_bytes_are_sent_before_the_end(void **state)
{
    enum { SIZE = 8 << 20 };
    char *much = calloc(1, SIZE);
    struct buf received;
    struct listener_run h;
    int fd;

    (void)state;
    open_listener(&h, STR("127.0.0.1"));
    buf_init(&received, SIZE);
    fd = raw_client_connect(listener_port(h.listener));
    wait_for(&h, 1);
    stream_write(h.streams[0], str_n(much, SIZE));
    assert_true(stream_queued(h.streams[0]) > 0);
    stream_shutdown(h.streams[0]);
    assert_string_equal(raw_client_receive(h.loop, fd, &received, STR_NONE), "end");
    assert_int_equal(received.len, SIZE);
    assert_int_equal(h.drains, 1);
    close(fd);
    close_listener(&h);
    buf_release(&received);
    free(much);
}

static void a_reset_is_reported_on_both_sides(void **state)
{
    struct linger at_once = { .l_onoff = 1 };
    struct buf received;
    struct listener_run h;
    int fd;

    (void)state;
    open_listener(&h, STR("127.0.0.1"));
    buf_init(&received, 100);
    fd = raw_client_connect(listener_port(h.listener));
    wait_for(&h, 1);
    stream_reset(h.streams[0]);
    assert_string_equal(raw_client_receive(h.loop, fd, &received, STR_NONE), "reset");
    close(fd);
    fd = raw_client_connect(listener_port(h.listener));
    wait_for(&h, 2);
    assert_false(stream_is_peer_closed(h.streams[1]));
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    close(fd);
    assert_true(stream_is_peer_closed(h.streams[1]));
    assert_true(raw_client_run_until(h.loop, has_ended, &h));
    assert_int_equal(h.why.kind, ERR_PEER);
    h.streams[0] = NULL;
    close_listener(&h);
    buf_release(&received);
}

static void a_closed_listener_accepts_no_connection(void **state)
{
    struct listener_run h, again;
    struct err e = ERR_NONE;
    int port, fd;

    (void)state;
    open_listener(&h, STR("127.0.0.1"));
    port = listener_port(h.listener);
    fd = raw_client_connect(port);
    wait_for(&h, 1);
    listener_close(h.listener);
    h.listener = NULL;
    /* Connected clients stay, and the port is free at once. */
    again = (struct listener_run){ .loop = h.loop };
    assert_true(
        listener_open(&again.listener, h.loop, STR("127.0.0.1"), port, &events, &again, &e));
    listener_close(again.listener);
    raw_client_send(fd, STR("still here"));
    while (!h.data.len)
        raw_client_run_briefly(h.loop);
    close(fd);
    close_listener(&h);
}

static void a_connection_during_a_pause_waits(void **state)
{
    struct listener_run h;
    int fds[3];

    (void)state;
    open_listener(&h, STR("127.0.0.1"));
    fds[0] = raw_client_connect(listener_port(h.listener));
    wait_for(&h, 1);
    listener_pause(h.listener, true);
    fds[1] = raw_client_connect(listener_port(h.listener));
    fds[2] = raw_client_connect(listener_port(h.listener));
    for (int i = 0; i < 10; i++)
        raw_client_run_briefly(h.loop);
    assert_int_equal(h.count, 1);
    listener_pause(h.listener, false);
    wait_for(&h, 3);
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    close_listener(&h);
}

static void localhost_listens_on_two_addresses(void **state)
{
    static const struct str names[] = { STR_INIT(""), STR_INIT("localhost") };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct listener_run h;
        int fd;

        open_listener(&h, names[i]);
        assert_string_equal(listener_host(h.listener), "127.0.0.1");
        fd = raw_client_connect(listener_port(h.listener));
        wait_for(&h, 1);
        close(fd);
        close_listener(&h);
    }
}

static void addresses_are_accepted_in_every_spelling(void **state)
{
    static const struct {
        const char *text, *is;
    } cases[] = {
        { "127.0.0.1", "127.0.0.1" },
        { "127.1", "127.0.0.1" },
        { "0x7f000001", "127.0.0.1" },
        { "127.0.0.2", "127.0.0.2" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct listener_run h;

        open_listener(&h, str_z(cases[i].text));
        assert_string_equal(listener_host(h.listener), cases[i].is);
        close_listener(&h);
    }
}

static void a_listen_error_is_one_line(void **state)
{
    struct listener_run h;
    struct err e = ERR_NONE;
    struct listener *other = NULL;
    char want[200];
    int port;

    (void)state;
    open_listener(&h, STR("127.0.0.1"));
    port = listener_port(h.listener);
    assert_false(listener_open(&other, h.loop, STR("127.0.0.1"), port, &events, &h, &e));
    snprintf(want, sizeof want, "cannot listen on '127.0.0.1:%d': address already in use",
             port);
    assert_string_equal(e.msg, want);
    assert_int_equal(e.kind, ERR_IO);
    assert_string_equal(e.hint, "choose another port, or 0 for any free port");

    /* Also if another process has one of the two addresses. */
    assert_false(listener_open(&other, h.loop, STR(""), port, &events, &h, &e));
    snprintf(want, sizeof want, "cannot listen on 'localhost:%d': address already in use",
             port);
    assert_string_equal(e.msg, want);

    assert_false(listener_open(&other, h.loop, STR("192.0.2.1"), 0, &events, &h, &e));
    assert_string_equal(e.msg, "cannot listen on '192.0.2.1:0': address not available");
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.hint, "name an address of this machine, such as 127.0.0.1");
    assert_null(other);
    close_listener(&h);
}

static int64_t cpu_us(void)
{
    struct rusage u;

    assert_int_equal(getrusage(RUSAGE_SELF, &u), 0);
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 + u.ru_utime.tv_usec +
           u.ru_stime.tv_usec;
}

static bool had_no_descriptor(void *to)
{
    struct listener_run *h = to;

    return h->scarce > 0;
}

static void without_descriptors_one_error_is_reported_and_the_loop_does_not_spin(void **state)
{
    enum { MANY = 30 };
    struct rlimit before, few;
    struct buf received;
    struct listener_run h;
    int fds[MANY], eaten[100], n = 0;
    int64_t start;

    (void)state;
    open_listener(&h, STR("127.0.0.1"));
    buf_init(&received, 100);
    raw_client_run_briefly(h.loop);
    for (int i = 0; i < MANY; i++)
        fds[i] = raw_client_connect(listener_port(h.listener));
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 96;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    while (n < 100 && (eaten[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        n++;
    assert_true(raw_client_run_until(h.loop, had_no_descriptor, &h));
    assert_string_equal(raw_client_receive(h.loop, fds[0], &received, STR_NONE), "end");
    assert_str(buf_str(&received), STR("no room"));
    assert_int_equal(h.count, 0);
    start = cpu_us();
    for (int i = 0; i < 100; i++)
        raw_client_run_briefly(h.loop);
    print_message("without descriptors: %d us of the processor in 100 turns, %zu turned away\n",
                  (int)(cpu_us() - start), h.scarce);
    assert_in_range(h.scarce, 1, MANY - 1);
    for (int i = 0; i < n; i++)
        close(eaten[i]);
    wait_for(&h, MANY - h.scarce);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    for (int i = 0; i < MANY; i++)
        close(fds[i]);
    close_listener(&h);
    buf_release(&received);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_connects_and_data_flows_both_ways),
        cmocka_unit_test(queued_bytes_are_sent_before_the_end),
        cmocka_unit_test(a_reset_is_reported_on_both_sides),
        cmocka_unit_test(a_closed_listener_accepts_no_connection),
        cmocka_unit_test(a_connection_during_a_pause_waits),
        cmocka_unit_test(localhost_listens_on_two_addresses),
        cmocka_unit_test(addresses_are_accepted_in_every_spelling),
        cmocka_unit_test(a_listen_error_is_one_line),
        cmocka_unit_test(without_descriptors_one_error_is_reported_and_the_loop_does_not_spin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
