#include "runtime/peer-stdio.h"

#include <errno.h>

#include "test.h"

/* A process, and what it reports; the loop ends with it. */
struct bench {
    struct app app;
    struct loop *loop;
    struct peer *server;
    struct buf heard;
    bool stop_on_stderr;
};

static void on_message(void *to, struct str message)
{
    struct bench *b = to;

    buf_printf(&b->heard, "%.*s\n", STR_ARG(message));
}

static void on_stderr(void *to, struct str text)
{
    struct bench *b = to;

    buf_printf(&b->heard, "stderr %.*s", STR_ARG(text));
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

    buf_add(&b->heard, STR("closed\n"));
}

static void on_exited(void *to)
{
    struct bench *b = to;

    buf_add(&b->heard, STR("exited\n"));
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
                  const struct peer_events *events, int *errnum, struct err *e)
{
    static const struct log quiet = { .level = LOG_ERROR };
    struct peer_owner owner = { .events = events, .to = b };

    *b = (struct bench){ .app = { .log = &quiet }, .loop = loop_new() };
    buf_init(&b->heard, 1 << 16);
    owner.loop = b->loop;
    owner.app = &b->app;
    return peer_stdio_start(&b->server, target, &owner, errnum, e);
}

static void open_bench(struct bench *b, const char *script, const struct peer_events *events)
{
    char *argv[] = { "sh", "-c", (char *)(uintptr_t)script, NULL };
    struct err e = ERR_NONE;
    int errnum;

    assert_true(start(b, &(struct peer_target){ .argv = argv }, events, &errnum, &e));
}

static void close_bench(struct bench *b)
{
    peer_free(b->server);
    loop_free(b->loop);
    buf_release(&b->heard);
}

static void lines_and_stderr_are_reported_then_its_exit(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "read a; echo \"$a\"; echo oops >&2; read b; exit 3", &all);
    peer_send(b.server, STR("{}"));
    peer_end(b.server, true);
    loop_run(b.loop);
    assert_true(str_starts(buf_str(&b.heard), STR("{}\n")) ||
                str_starts(buf_str(&b.heard), STR("stderr oops\n{}\n")));
    assert_non_null(strstr(buf_z(&b.heard), "stderr oops\n")); /* any time before its exit */
    assert_non_null(strstr(buf_z(&b.heard), "closed\n"));
    assert_true(str_ends(buf_str(&b.heard), STR("exited\n")));
    assert_int_equal(b.server->outcome.exit_code, 3);
    assert_str(buf_str(&b.server->outcome.exit_text), STR("'sh' ended with exit code 3"));
    assert_str(buf_str(&b.server->outcome.last_stderr), STR("oops"));
    assert_int_equal(b.server->outcome.stop_reason.len, 0);
    close_bench(&b);
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

static void one_that_does_not_exit_after_its_end_is_terminated(void **state)
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

static void an_owner_needs_few_events(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "echo oops >&2; echo '{}'", &few);
    peer_read(b.server, false); /* without effect */
    loop_run(b.loop);
    assert_str(buf_str(&b.heard), STR("{}\nexited\n"));
    close_bench(&b);
}

static void what_it_does_not_take_is_queued(void **state)
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

static void it_gets_the_environment_of_the_target(void **state)
{
    char *argv[] = { "/bin/sh", "-c", "echo \"$MCPREEL_TEST\"", NULL };
    char *env[] = { "MCPREEL_TEST=here", NULL };
    struct err e = ERR_NONE;
    struct bench b;
    int errnum;

    (void)state;
    assert_true(
        start(&b, &(struct peer_target){ .argv = argv, .env = env }, &few, &errnum, &e));
    loop_run(b.loop);
    assert_str(buf_str(&b.heard), STR("here\nexited\n"));
    close_bench(&b);
}

static void one_that_cannot_be_started_is_an_error_with_its_errno(void **state)
{
    char *argv[] = { "./no-such-program", NULL };
    struct err e = ERR_NONE;
    struct bench b;
    int errnum = 0;

    (void)state;
    assert_false(start(&b, &(struct peer_target){ .argv = argv }, &all, &errnum, &e));
    assert_int_equal(errnum, ENOENT);
    assert_int_equal(e.kind, ERR_PEER);
    assert_null(b.server);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_stderr_are_reported_then_its_exit),
        cmocka_unit_test(the_reason_of_a_stop_is_kept_beside_the_signal),
        cmocka_unit_test(one_that_does_not_exit_after_its_end_is_terminated),
        cmocka_unit_test(an_owner_needs_few_events),
        cmocka_unit_test(what_it_does_not_take_is_queued),
        cmocka_unit_test(it_gets_the_environment_of_the_target),
        cmocka_unit_test(one_that_cannot_be_started_is_an_error_with_its_errno),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
