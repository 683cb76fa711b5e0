#include "transport/dial.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dial.h"
#include "ear.h"
#include "peer.h"
#include "test.h"

struct tap {
    struct ear ear;
    struct dialer *dialer;
    struct dial *dial;
};

static void read_dial(void *dial, bool on)
{
    dial_read(dial, on);
}

static const struct dial_events events = {
    .failed = ear_failed, .data = ear_data, .end = ear_end, .drained = ear_drained
};

static void open_tap(struct tap *t, const char *host, int port)
{
    struct dialer_config config = { .connect_ms = 1000 };
    struct err e = ERR_NONE;
    struct url url;
    char text[64];

    ear_init(&t->ear, read_dial);
    snprintf(text, sizeof text, "http://%s:%d", host, port);
    config.url = &url;
    if (!url_parse(&url, str_z(text), &e) || !dialer_new(&t->dialer, t->ear.loop, &config, &e))
        fail_msg("%s", e.msg);
    t->dial = dial_open(t->dialer, &events, &t->ear);
    t->ear.connection = t->dial;
}

/* The same address twice: as one writes it, and in a spelling that is not taken for this
 * machine's, so that libcurl is asked. */
static const char *const hosts[] = { "127.0.0.1", "127.1" };
enum { HOSTS = 2 };

static void close_tap(struct tap *t)
{
    dial_close(t->dial);
    dialer_free(t->dialer);
    ear_release(&t->ear);
}

static void bytes_go_both_ways_until_the_server_closes(void **state)
{
    static const struct peer_step script[] = { PEER(ACCEPT), PEER_TEXT(SEES, "one two"),
                                               PEER_TEXT(SAYS, "three"), PEER(CLOSE),
                                               PEER(DONE) };

    (void)state;
    for (int i = 0; i < HOSTS; i++) {
        struct peer p;
        struct tap t;

        peer_start(&p, script);
        open_tap(&t, hosts[i], p.port);
        dial_write(t.dial, STR("one "));
        dial_write(t.dial, STR("two"));
        dial_flush(t.dial); /* nobody is connected yet: harmless */
        assert_int_equal(dial_queued(t.dial), 7);
        loop_run(t.ear.loop);
        assert_str(buf_str(&t.ear.seen), STR("three"));
        assert_int_equal(t.ear.ends, 1);
        assert_true(t.ear.clean);
        assert_int_equal(t.ear.drains, 1);
        assert_int_equal(dial_queued(t.dial), 0);
        dial_write(t.dial, STR("late")); /* dropped */
        assert_int_equal(dial_queued(t.dial), 0);
        peer_join(&p);
        close_tap(&t);
    }
}

static void a_connection_that_breaks_is_told_from_one_that_ends(void **state)
{
    static const struct peer_step script[] = { PEER(ACCEPT), PEER_TEXT(SEES, "a"), PEER(RESET),
                                               PEER(DONE) };

    (void)state;
    for (int i = 0; i < HOSTS; i++) {
        struct peer p;
        struct tap t;

        peer_start(&p, script);
        open_tap(&t, hosts[i], p.port);
        dial_write(t.dial, STR("a"));
        loop_run(t.ear.loop);
        assert_int_equal(t.ear.ends, 1);
        assert_false(t.ear.clean);
        peer_join(&p);
        close_tap(&t);
    }
}

enum { MUCH = 8 << 20 };

/* Each way, and more than anybody in between holds. */
static void much_waits_for_whom_it_is_for(void **state)
{
    static const struct peer_step script[] = { PEER(ACCEPT),       PEER(HOLD),
                                               PEER_N(GULP, MUCH), PEER_N(FLOOD, MUCH),
                                               PEER(CLOSE),        PEER(DONE) };
    char *much = calloc(1, MUCH);

    (void)state;
    for (int i = 0; i < HOSTS; i++) {
        struct peer p;
        struct tap t;

        peer_start(&p, script);
        open_tap(&t, hosts[i], p.port);
        t.ear.quiet = true;
        dial_write(t.dial, str_n(much, MUCH));
        for (int turn = 0; turn < 50; turn++)
            dial_pause(t.ear.loop);
        assert_true(dial_queued(t.dial) > 0);
        assert_int_equal(t.ear.drains, 0);
        t.ear.pauses = true;
        peer_go(&p);
        loop_run(t.ear.loop);
        assert_int_equal(t.ear.drains, 1);
        assert_int_equal(t.ear.bytes, MUCH);
        peer_join(&p);
        close_tap(&t);
    }
    free(much);
}

static void nobody_there_is_told(void **state)
{
    static const struct peer_step nothing[] = { PEER(DONE) };
    char want[100];

    (void)state;
    for (int i = 0; i < HOSTS; i++) {
        struct peer p;
        struct tap t;

        peer_start(&p, nothing);
        peer_join(&p); /* nobody listens on its port any more */
        open_tap(&t, hosts[i], p.port);
        dial_write(t.dial, STR("hello?"));
        loop_run(t.ear.loop);
        assert_int_equal(t.ear.fault, DIAL_REFUSED);
        snprintf(want, sizeof want, "cannot connect to 'http://%s:%d': connection refused",
                 hosts[i], p.port);
        assert_string_equal(buf_z(&t.ear.seen), want);
        assert_int_equal(dial_queued(t.dial), 0);
        close_tap(&t);
    }
}

/* The system takes in only so many whom nobody has asked in yet. */
static void connecting_takes_no_longer_than_it_may(void **state)
{
    static const struct peer_step script[] = { PEER(HOLD), PEER(DONE) };
    int others[64];
    struct peer p;

    (void)state;
    peer_start(&p, script);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        others[i] = peer_knock(&p);
    for (int i = 0; i < HOSTS; i++) {
        struct tap t;

        open_tap(&t, hosts[i], p.port);
        loop_run(t.ear.loop);
        assert_true(t.ear.failed);
        assert_int_equal(t.ear.fault, DIAL_TIMEOUT);
        close_tap(&t);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        close(others[i]);
    peer_go(&p);
    peer_join(&p);
}

static void localhost_is_both_of_its_addresses(void **state)
{
    static const struct peer_step script[] = { PEER(ACCEPT), PEER_TEXT(SAYS, "hi"), PEER(CLOSE),
                                               PEER(DONE) };

    (void)state;
    for (int v6 = 0; v6 < 2; v6++) {
        struct peer p;
        struct tap t;

        if (v6)
            peer_start_v6(&p, script);
        else
            peer_start(&p, script);
        open_tap(&t, "localhost", p.port);
        loop_run(t.ear.loop);
        assert_str(buf_str(&t.ear.seen), STR("hi"));
        peer_join(&p);
        close_tap(&t);
    }
}

/* More of them than libcurl is asked to keep together. */
static void many_connections_are_told_apart(void **state)
{
    enum { MANY = 300 };
    static const struct peer_step nobody[] = { PEER(HOLD), PEER(DONE) };

    (void)state;
    for (int i = 0; i < HOSTS; i++) {
        struct dial *many[MANY];
        struct peer p;
        struct tap t;

        peer_start(&p, nobody); /* the system takes some of them in for it */
        open_tap(&t, hosts[i], p.port);
        for (int k = 0; k < MANY; k++)
            many[k] = dial_open(t.dialer, &events, &t.ear);
        dial_pause(t.ear.loop);
        for (int k = 0; k < MANY; k += 2)
            dial_close(many[k]);
        dial_pause(t.ear.loop);
        for (int k = 1; k < MANY; k += 2)
            dial_close(many[k]);
        peer_go(&p);
        peer_join(&p);
        close_tap(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_go_both_ways_until_the_server_closes),
        cmocka_unit_test(a_connection_that_breaks_is_told_from_one_that_ends),
        cmocka_unit_test(much_waits_for_whom_it_is_for),
        cmocka_unit_test(nobody_there_is_told),
        cmocka_unit_test(connecting_takes_no_longer_than_it_may),
        cmocka_unit_test(localhost_is_both_of_its_addresses),
        cmocka_unit_test(many_connections_are_told_apart),
    };
    alarm(60); /* a loop that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
