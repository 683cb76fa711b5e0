#include "transport/upstream-conn.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "conn-log.h"
#include "fake-server.h"
#include "raw-client.h"
#include "test.h"

struct upstream_conn_test {
    struct conn_log log;
    struct upstream_connector *dialer;
    struct upstream_conn *conn;
};

static void read_conn(void *conn, bool on)
{
    upstream_conn_read(conn, on);
}

static const struct upstream_conn_events events = { .failed = conn_log_failed,
                                                    .data = conn_log_data,
                                                    .end = conn_log_end,
                                                    .drained = conn_log_drained };

static void open_conn(struct upstream_conn_test *t, const char *host, int port)
{
    struct upstream_connector_config config = { .connect_ms = 1000 };
    struct err e = ERR_NONE;
    struct url url;
    char text[64];

    conn_log_init(&t->log, read_conn);
    snprintf(text, sizeof text, "http://%s:%d", host, port);
    config.url = &url;
    if (!url_parse(&url, str_z(text), &e) ||
        !upstream_connector_new(&t->dialer, t->log.loop, &config, &e))
        fail_msg("%s", e.msg);
    t->conn = upstream_conn_open(t->dialer, &events, &t->log);
    t->log.connection = t->conn;
}

/* The same address twice: as one writes it, and in a spelling that is not recognized as this
 * machine's, so that libcurl connects. */
static const char *const hosts[] = { "127.0.0.1", "127.1" };
enum { HOSTS = 2 };

static void close_conn(struct upstream_conn_test *t)
{
    upstream_conn_close(t->conn);
    upstream_connector_free(t->dialer);
    conn_log_release(&t->log);
}

static void bytes_are_forwarded_until_the_server_closes(void **state)
{
    static const struct fake_server_step script[] = { FAKE(ACCEPT), FAKE_TEXT(SEES, "one two"),
                                                      FAKE_TEXT(SENDS, "three"), FAKE(CLOSE),
                                                      FAKE(DONE) };

    (void)state;
    for (int i = 0; i < HOSTS; i++) {
        struct fake_server p;
        struct upstream_conn_test t;

        fake_server_start(&p, script);
        open_conn(&t, hosts[i], p.port);
        upstream_conn_write(t.conn, STR("one "));
        upstream_conn_write(t.conn, STR("two"));
        upstream_conn_flush(t.conn); /* no connection yet: no effect */
        assert_int_equal(upstream_conn_queued(t.conn), 7);
        loop_run(t.log.loop);
        assert_str(buf_str(&t.log.text), STR("three"));
        assert_int_equal(t.log.end_count, 1);
        assert_true(t.log.clean);
        assert_int_equal(t.log.drain_count, 1);
        assert_int_equal(upstream_conn_queued(t.conn), 0);
        upstream_conn_write(t.conn, STR("late")); /* dropped */
        assert_int_equal(upstream_conn_queued(t.conn), 0);
        fake_server_join(&p);
        close_conn(&t);
    }
}

static void a_reset_differs_from_a_clean_end(void **state)
{
    static const struct fake_server_step script[] = { FAKE(ACCEPT), FAKE_TEXT(SEES, "a"),
                                                      FAKE(RESET), FAKE(DONE) };

    (void)state;
    for (int i = 0; i < HOSTS; i++) {
        struct fake_server p;
        struct upstream_conn_test t;

        fake_server_start(&p, script);
        open_conn(&t, hosts[i], p.port);
        upstream_conn_write(t.conn, STR("a"));
        loop_run(t.log.loop);
        assert_int_equal(t.log.end_count, 1);
        assert_false(t.log.clean);
        fake_server_join(&p);
        close_conn(&t);
    }
}

enum { MUCH = 8 << 20 };

/* Each way, and more than anybody in between holds. */
static void much_data_waits_for_its_reader(void **state)
{
    static const struct fake_server_step script[] = { FAKE(ACCEPT),       FAKE(HOLD),
                                                      FAKE_N(GULP, MUCH), FAKE_N(FLOOD, MUCH),
                                                      FAKE(CLOSE),        FAKE(DONE) };
    char *much = calloc(1, MUCH);

    (void)state;
    for (int i = 0; i < HOSTS; i++) {
        struct fake_server p;
        struct upstream_conn_test t;

        fake_server_start(&p, script);
        open_conn(&t, hosts[i], p.port);
        t.log.count_only = true;
        upstream_conn_write(t.conn, str_n(much, MUCH));
        for (int turn = 0; turn < 50; turn++)
            raw_client_run_briefly(t.log.loop);
        assert_true(upstream_conn_queued(t.conn) > 0);
        assert_int_equal(t.log.drain_count, 0);
        t.log.pauses = true;
        fake_server_continue(&p);
        loop_run(t.log.loop);
        assert_int_equal(t.log.drain_count, 1);
        assert_int_equal(t.log.bytes, MUCH);
        fake_server_join(&p);
        close_conn(&t);
    }
    free(much);
}

static void a_refused_connection_is_reported(void **state)
{
    static const struct fake_server_step nothing[] = { FAKE(DONE) };
    char want[100];

    (void)state;
    for (int i = 0; i < HOSTS; i++) {
        struct fake_server p;
        struct upstream_conn_test t;

        fake_server_start(&p, nothing);
        fake_server_join(&p); /* its port is closed */
        open_conn(&t, hosts[i], p.port);
        upstream_conn_write(t.conn, STR("hello?"));
        loop_run(t.log.loop);
        assert_int_equal(t.log.fault, UPSTREAM_CONN_REFUSED);
        snprintf(want, sizeof want, "cannot connect to 'http://%s:%d': connection refused",
                 hosts[i], p.port);
        assert_string_equal(buf_z(&t.log.text), want);
        assert_int_equal(upstream_conn_queued(t.conn), 0);
        close_conn(&t);
    }
}

/* The system accepts only a number of connections before accept(). */
static void connecting_times_out(void **state)
{
    static const struct fake_server_step script[] = { FAKE(HOLD), FAKE(DONE) };
    int others[64];
    struct fake_server p;

    (void)state;
    fake_server_start(&p, script);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        others[i] = fake_server_connect(&p);
    for (int i = 0; i < HOSTS; i++) {
        struct upstream_conn_test t;

        open_conn(&t, hosts[i], p.port);
        loop_run(t.log.loop);
        assert_true(t.log.failed);
        assert_int_equal(t.log.fault, UPSTREAM_CONN_TIMEOUT);
        close_conn(&t);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        close(others[i]);
    fake_server_continue(&p);
    fake_server_join(&p);
}

static void localhost_connects_to_both_addresses(void **state)
{
    static const struct fake_server_step script[] = { FAKE(ACCEPT), FAKE_TEXT(SENDS, "hi"),
                                                      FAKE(CLOSE), FAKE(DONE) };

    (void)state;
    for (int v6 = 0; v6 < 2; v6++) {
        struct fake_server p;
        struct upstream_conn_test t;

        if (v6)
            fake_server_start_v6(&p, script);
        else
            fake_server_start(&p, script);
        open_conn(&t, "localhost", p.port);
        loop_run(t.log.loop);
        assert_str(buf_str(&t.log.text), STR("hi"));
        fake_server_join(&p);
        close_conn(&t);
    }
}

/* More of them than libcurl pools. */
static void connections_are_independent(void **state)
{
    enum { MANY = 300 };
    static const struct fake_server_step nobody[] = { FAKE(HOLD), FAKE(DONE) };

    (void)state;
    for (int i = 0; i < HOSTS; i++) {
        struct upstream_conn *many[MANY];
        struct fake_server p;
        struct upstream_conn_test t;

        fake_server_start(&p, nobody); /* the system takes some of them in for it */
        open_conn(&t, hosts[i], p.port);
        for (int k = 0; k < MANY; k++)
            many[k] = upstream_conn_open(t.dialer, &events, &t.log);
        raw_client_run_briefly(t.log.loop);
        for (int k = 0; k < MANY; k += 2)
            upstream_conn_close(many[k]);
        raw_client_run_briefly(t.log.loop);
        for (int k = 1; k < MANY; k += 2)
            upstream_conn_close(many[k]);
        fake_server_continue(&p);
        fake_server_join(&p);
        close_conn(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_forwarded_until_the_server_closes),
        cmocka_unit_test(a_reset_differs_from_a_clean_end),
        cmocka_unit_test(much_data_waits_for_its_reader),
        cmocka_unit_test(a_refused_connection_is_reported),
        cmocka_unit_test(connecting_times_out),
        cmocka_unit_test(localhost_connects_to_both_addresses),
        cmocka_unit_test(connections_are_independent),
    };
    alarm(60); /* a loop that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
