#include "runtime/peer-stdio.h"

#include <errno.h>

#include "terse-traffic.h"

/* A process and its events; the loop ends with it. */
struct bench {
    struct app app;
    struct loop *loop;
    struct peer *server;
    struct buf received;
    bool stop_on_stderr;
};

static void on_message(void *to, struct str message)
{
    struct bench *b = to;

    buf_printf(&b->received, "%.*s\n", STR_ARG(message));
}

static void on_stderr(void *to, struct str text)
{
    struct bench *b = to;

    buf_printf(&b->received, "stderr %.*s", STR_ARG(text));
    if (b->stop_on_stderr) {
        peer_stop(b->server, STR("talks too much"));
        peer_stop(b->server, STR("is stopped once"));
    }
}

static void on_lost(void *to, struct str why)
{
    (void)to;
    fail_msg("lost: %.*s", STR_ARG(why));
}

static void on_closed(void *to)
{
    struct bench *b = to;

    buf_add(&b->received, STR("closed\n"));
}

static void on_exited(void *to)
{
    struct bench *b = to;

    buf_add(&b->received, STR("exited\n"));
    peer_send(b->server, STR("too late"));
    peer_end(b->server, true);
    peer_stop(b->server, STR("has gone"));
    loop_stop(b->loop);
}

static const struct peer_events all = { .message = on_message,
                                        .stderr_text = on_stderr,
                                        .lost = on_lost,
                                        .closed = on_closed,
                                        .exited = on_exited };
static const struct peer_events few = { .message = on_message, .exited = on_exited };

static bool start(struct bench *b, const struct peer_target *target,
                  const struct peer_events *events, struct traffic_recorder *recorder,
                  int *errnum, struct err *e)
{
    static const struct log quiet = { .level = LOG_ERROR };
    struct peer_owner owner = { .events = events, .to = b, .recorder = recorder, .conn = 3 };

    *b = (struct bench){ .app = { .log = &quiet }, .loop = loop_new() };
    buf_init(&b->received, 1 << 16);
    owner.loop = b->loop;
    owner.app = &b->app;
    return peer_stdio_start(&b->server, target, &owner, errnum, e);
}

static void open_recorded(struct bench *b, const char *script, const struct peer_events *events,
                          struct traffic_recorder *recorder)
{
    char *argv[] = { "sh", "-c", (char *)(uintptr_t)script, NULL };
    struct err e = ERR_NONE;
    int errnum;

    assert_true(start(b, &(struct peer_target){ .argv = argv }, events, recorder, &errnum, &e));
}

static void open_bench(struct bench *b, const char *script, const struct peer_events *events)
{
    open_recorded(b, script, events, NULL);
}

static void close_bench(struct bench *b)
{
    peer_free(b->server);
    loop_free(b->loop);
    buf_release(&b->received);
}

static void lines_and_stderr_are_reported_then_its_exit(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "read a; echo \"$a\"; echo oops >&2; read b; exit 3", &all);
    peer_send(b.server, STR("{}"));
    peer_end(b.server, true);
    loop_run(b.loop);
    assert_true(str_starts(buf_str(&b.received), STR("{}\n")) ||
                str_starts(buf_str(&b.received), STR("stderr oops\n{}\n")));
    assert_non_null(strstr(buf_z(&b.received), "stderr oops\n")); /* any time before its exit */
    assert_non_null(strstr(buf_z(&b.received), "closed\n"));
    assert_true(str_ends(buf_str(&b.received), STR("exited\n")));
    assert_int_equal(b.server->outcome.exit_code, 3);
    assert_str(buf_str(&b.server->outcome.exit_text), STR("'sh' ended with exit code 3"));
    assert_str(buf_str(&b.server->outcome.last_stderr), STR("oops"));
    assert_int_equal(b.server->outcome.stop_reason.len, 0);
    close_bench(&b);
}

static void a_recorder_gets_all_of_it(void **state)
{
    struct terse_traffic t;
    struct bench b;

    (void)state;
    terse_traffic_init(&t);
    open_recorded(&b, "read a; echo oops >&2; sleep 0.1; echo \"$a\"; read b; exit 3", &few,
                  &t.recorder);
    peer_send(b.server, STR("{\"method\":\"x\"}"));
    peer_end(b.server, true);
    loop_run(b.loop);
    assert_terse(&t.records, "conn=3 proc start\n"
                             "conn=3 #1 c2s {'method':'x'}\n"
                             "conn=3 stderr oops\n\n"
                             "conn=3 #2 s2c {'method':'x'}\n"
                             "conn=3 proc exit code=3\n");
    close_bench(&b);
    terse_traffic_release(&t);
}

static void the_reason_of_a_stop_is_kept_beside_the_signal(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "echo bla >&2; exec sleep 60", &all);
    b.stop_on_stderr = true;
    loop_run(b.loop);
    assert_str(buf_str(&b.server->outcome.stop_reason),
               STR("'sh' talks too much; mcpreel ended it"));
    assert_str(buf_str(&b.server->outcome.exit_text), STR("'sh' was ended by signal 15"));
    assert_int_equal(b.server->outcome.signum, 15);
    close_bench(&b);
}

static void a_process_that_does_not_exit_is_terminated(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "exec sleep 60", &all);
    peer_end(b.server, false);
    loop_run(b.loop);
    assert_str(buf_str(&b.server->outcome.stop_reason),
               STR("'sh' did not exit after its stdin was closed; mcpreel ended it"));
    close_bench(&b);
}

static void an_owner_may_omit_events(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "echo oops >&2; echo '{}'", &few);
    peer_read(b.server, false); /* without effect */
    loop_run(b.loop);
    assert_str(buf_str(&b.received), STR("{}\nexited\n"));
    close_bench(&b);
}

static void unread_messages_are_queued(void **state)
{
    static char much[1 << 20];
    struct bench b;

    (void)state;
    memset(much, ' ', sizeof much);
    open_bench(&b, "exec sleep 60", &few);
    assert_int_equal(peer_queued(b.server), 0);
    peer_send(b.server, str_n(much, sizeof much));
    assert_true(peer_queued(b.server) > sizeof much / 2);
    close_bench(&b); /* kills it */
}

static void the_process_gets_the_environment_of_the_target(void **state)
{
    char *argv[] = { "/bin/sh", "-c", "echo \"$MCPREEL_TEST\"", NULL };
    char *env[] = { "MCPREEL_TEST=here", NULL };
    struct err e = ERR_NONE;
    struct bench b;
    int errnum;

    (void)state;
    assert_true(
        start(&b, &(struct peer_target){ .argv = argv, .env = env }, &few, NULL, &errnum, &e));
    loop_run(b.loop);
    assert_str(buf_str(&b.received), STR("here\nexited\n"));
    close_bench(&b);
}

static void a_failed_start_is_an_error_with_errno(void **state)
{
    char *argv[] = { "./no-such-program", NULL };
    struct err e = ERR_NONE;
    struct bench b;
    int errnum = 0;

    (void)state;
    assert_false(start(&b, &(struct peer_target){ .argv = argv }, &all, NULL, &errnum, &e));
    assert_int_equal(errnum, ENOENT);
    assert_int_equal(e.kind, ERR_PEER);
    assert_null(b.server);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_stderr_are_reported_then_its_exit),
        cmocka_unit_test(a_recorder_gets_all_of_it),
        cmocka_unit_test(the_reason_of_a_stop_is_kept_beside_the_signal),
        cmocka_unit_test(a_process_that_does_not_exit_is_terminated),
        cmocka_unit_test(an_owner_may_omit_events),
        cmocka_unit_test(unread_messages_are_queued),
        cmocka_unit_test(the_process_gets_the_environment_of_the_target),
        cmocka_unit_test(a_failed_start_is_an_error_with_errno),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
