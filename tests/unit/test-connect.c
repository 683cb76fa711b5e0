#include "loop/connect.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fake-server.h"
#include "raw-client.h"
#include "test.h"

struct recorder {
    struct loop *loop;
    int reported, fd;
    enum connect_error why;
};

static void take(void *to, int fd, enum connect_error why)
{
    struct recorder *t = to;

    t->reported++;
    t->fd = fd;
    t->why = why;
    loop_stop(t->loop);
}

static const struct connect_address v4 = { .bytes = { [12] = 127, [15] = 1 } };
static const struct connect_address v6 = { .v6 = true, .bytes = { [15] = 1 } };

static const struct fake_server_step accept_and_send[] = { FAKE(ACCEPT), FAKE_TEXT(SENDS, "hi"),
                                                           FAKE(DONE) };
static const struct fake_server_step nothing[] = { FAKE(DONE) };

static void run(struct recorder *t, const struct connect_address *at, size_t count, int port)
{
    *t = (struct recorder){ .loop = loop_new(), .fd = -2 };
    connect_start(t->loop, at, count, port, take, t);
    assert_int_equal(t->reported, 0);
    loop_run(t->loop);
    loop_run(t->loop); /* there is nothing left to wait for */
    assert_int_equal(t->reported, 1);
    loop_free(t->loop);
}

static void assert_received_greeting(struct recorder *t)
{
    char output[2];

    assert_true(t->fd >= 0);
    assert_true(fcntl(t->fd, F_GETFD) & FD_CLOEXEC);
    fcntl(t->fd, F_SETFL, 0);
    assert_int_equal(read(t->fd, output, 2), 2);
    close(t->fd);
}

static void connects_to_ipv4_and_ipv6(void **state)
{
    const struct connect_address both[] = { v6, v4 };
    struct fake_server p;
    struct recorder t;

    (void)state;
    fake_server_start(&p, accept_and_send);
    run(&t, &v4, 1, p.port);
    assert_received_greeting(&t);
    fake_server_join(&p);
    fake_server_start_v6(&p, accept_and_send);
    run(&t, &v6, 1, p.port);
    assert_received_greeting(&t);
    fake_server_join(&p);
    fake_server_start(&p, accept_and_send);
    run(&t, both, 2, p.port); /* refused by the first */
    assert_received_greeting(&t);
    fake_server_join(&p);
}

static void a_refused_connection_is_reported(void **state)
{
    const struct connect_address both[] = { v6, v4 };
    struct fake_server p;
    struct recorder t;

    (void)state;
    fake_server_start(&p, nothing);
    fake_server_join(&p);
    run(&t, both, 2, p.port);
    assert_int_equal(t.fd, -1);
    assert_int_equal(t.why, CONNECT_REFUSED);
}

/* No machine is at such an address, and no way leads to it without a name for the way. */
static void an_unreachable_network_is_reported_as_such(void **state)
{
    const struct connect_address nowhere = { .v6 = true, .bytes = { 0xfe, 0x80, [15] = 9 } };
    struct recorder t;

    (void)state;
    run(&t, &nowhere, 1, 9);
    assert_int_equal(t.fd, -1);
    assert_int_equal(t.why, CONNECT_UNREACHABLE);
}

static void missing_descriptors_are_reported_as_such(void **state)
{
    struct recorder t = { .loop = loop_new(), .fd = -2 };
    struct rlimit before, none;

    (void)state;
    connect_start(t.loop, &v4, 1, 9, take, &t);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    loop_run(t.loop);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(t.fd, -1);
    assert_int_equal(t.why, CONNECT_NO_FD);
    loop_free(t.loop);
}

static void connecting_can_be_stopped_at_any_time(void **state)
{
    struct recorder t = { .loop = loop_new() };
    struct connect_attempt *r;
    struct fake_server p;

    (void)state;
    fake_server_start(&p, nothing);
    connect_close(NULL);
    connect_close(connect_start(t.loop, &v4, 1, p.port, take, &t));
    raw_client_run_briefly(t.loop);
    r = connect_start(t.loop, &v4, 1, p.port, take, &t);
    connect_close(r);
    raw_client_run_briefly(t.loop);
    assert_int_equal(t.reported, 0);
    fake_server_join(&p);
    loop_free(t.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connects_to_ipv4_and_ipv6),
        cmocka_unit_test(a_refused_connection_is_reported),
        cmocka_unit_test(an_unreachable_network_is_reported_as_such),
        cmocka_unit_test(missing_descriptors_are_reported_as_such),
        cmocka_unit_test(connecting_can_be_stopped_at_any_time),
    };
    alarm(60); /* a loop that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
