#include "runtime/record-session.h"

#include <signal.h>

#include "loop/timer.h"
#include "record-run.h"

/* A recording without connections: it logs the functions that are called. */
struct bench {
    struct record_run record_run;
    struct record_session session;
    struct buf done;
    int start_code;         /* the result of `start` */
    bool cannot_announce;   /* `announce` fails */
    int signals;            /* sent to ourselves once it runs */
    int stops;              /* the last of this number of calls of `stop` ends the loop */
    struct timer *deadline; /* a test that fails must end, too */
};

static int start(void *to, struct err *e)
{
    struct bench *b = to;

    buf_add(&b->done, STR("start "));
    if (b->start_code)
        err_set(e, ERR_PEER, "no server");
    return b->start_code;
}

static bool announce(void *to, struct err *e)
{
    struct bench *b = to;

    buf_add(&b->done, STR("announce "));
    return b->cannot_announce ? err_set(e, ERR_IO, "cannot announce") : true;
}

static void started(void *to)
{
    struct bench *b = to;

    buf_add(&b->done, STR("started "));
    traffic_recorder_add_line(&b->session.output.recorder, 1, TO_SERVER,
                              STR("{\"id\":1,\"method\":\"ping\"}"));
    for (int i = 0; i < b->signals; i++)
        kill(getpid(), SIGTERM);
    if (!b->signals)
        loop_stop(b->session.loop);
}

static void stop(void *to, int signum)
{
    struct bench *b = to;

    assert_int_equal(signum, SIGTERM);
    buf_add(&b->done, STR("stop "));
    if (--b->stops == 0)
        loop_stop(b->session.loop);
    else
        kill(getpid(), SIGTERM);
}

static int end(void *to, struct err *e)
{
    struct bench *b = to;

    (void)e;
    buf_add(&b->done, STR("end "));
    return 7;
}

static const struct record_session_kind server_kind = {
    .transport = STR_INIT("stdio"),
    .starts_server = true,
    .start = start,
    .announce = announce,
    .started = started,
    .stop = stop,
    .end = end,
};
static const struct record_session_kind bare_kind = {
    .transport = STR_INIT("http"),
    .stop = stop,
    .started = started,
    .end = end,
};

static void on_deadline(void *to)
{
    struct bench *b = to;

    buf_add(&b->done, STR("deadline "));
    loop_stop(b->session.loop);
}

static void set(struct bench *b, struct cli *d, const struct record_session_kind *kind,
                bool force)
{
    static char *server[] = { "srv", NULL };
    struct record_path_options wish = { .output = "a.jsonl",
                                        .server_argv = server,
                                        .force = force };

    *b = (struct bench){ .start_code = 0 };
    buf_clear(&d->err);
    record_run_init(&b->record_run, d, &wish);
    b->record_run.settings.server_argv = server;
    b->record_run.settings.server_argc = 1;
    buf_init(&b->done, 1 << 10);
    record_session_init(&b->session, &b->record_run.app, &b->record_run.path,
                        &b->record_run.settings, kind, b);
    b->deadline = timer_new(b->session.loop, on_deadline, b);
    timer_set(b->deadline, 20000);
}

static void clear(struct bench *b)
{
    timer_close(b->deadline);
    record_session_release(&b->session);
    record_run_release(&b->record_run);
    close((int)b->record_run.listening.ready_fd);
    buf_release(&b->done);
}

static void a_session_starts_is_recorded_and_ends(void **state)
{
    struct cli *d = *state;
    struct err e = ERR_NONE;
    struct bench b;

    set(&b, d, &server_kind, false);
    b.session.note = "so it is";
    assert_int_equal(record_session_run(&b.session, &e), 7);
    assert_str(buf_str(&b.done), STR("start announce started end "));
    clear(&b);
    assert_has(cli_get_file(d, "a.jsonl"), "'transport':'stdio'");
    assert_has(cli_get_file(d, "a.jsonl"), "'method':'ping'");
    assert_has(cli_get_file(d, "a.jsonl"), "'exit_code':7");
    assert_has(buf_z(&d->err), "recorded 1 message in a.jsonl; so it is\n");
}

static void a_session_that_does_not_start_leaves_no_file(void **state)
{
    struct cli *d = *state;

    for (int announced = 0; announced < 2; announced++) {
        struct err e = ERR_NONE;
        struct bench b;

        set(&b, d, &server_kind, false);
        b.start_code = announced ? 0 : 127;
        b.cannot_announce = announced;
        assert_int_equal(record_session_run(&b.session, &e), announced ? EXIT_IO : 127);
        assert_string_equal(e.msg, announced ? "cannot announce" : "no server");
        assert_str(buf_str(&b.done),
                   announced ? STR("start announce end ") : STR("start end "));
        clear(&b);
        assert_int_equal(cli_count_files(d), 0);
    }
}

static void an_old_file_stays_if_the_server_does_not_start(void **state)
{
    struct cli *d = *state;
    struct err e = ERR_NONE;
    struct bench b;

    cli_put_file(d, "a.jsonl", "old");
    set(&b, d, &server_kind, true);
    b.start_code = 126;
    assert_int_equal(record_session_run(&b.session, &e), 126);
    clear(&b);
    assert_string_equal(cli_get_file(d, "a.jsonl"), "old");
    assert_int_equal(cli_count_files(d), 1);
}

static void without_a_file_nothing_is_started(void **state)
{
    struct cli *d = *state;
    struct err e = ERR_NONE;
    struct bench b;

    cli_put_file(d, "a.jsonl", "old");
    set(&b, d, &server_kind, false);
    assert_int_equal(record_session_run(&b.session, &e), EXIT_USAGE);
    assert_str(buf_str(&b.done), STR("end "));
    clear(&b);
    assert_string_equal(cli_get_file(d, "a.jsonl"), "old");
}

static void a_signal_stops_the_session_and_a_second_one_the_loop(void **state)
{
    struct cli *d = *state;

    for (int stops = 0; stops < 2; stops++) {
        struct err e = ERR_NONE;
        struct bench b;

        set(&b, d, &bare_kind, true);
        b.signals = 1;
        b.stops = stops;
        assert_int_equal(record_session_run(&b.session, &e), 7);
        assert_str(buf_str(&b.done), STR("started stop end "));
        clear(&b);
    }
}

static void a_kind_that_forwards_signals_gets_all_of_them(void **state)
{
    struct record_session_kind kind = bare_kind;
    struct err e = ERR_NONE;
    struct bench b;

    kind.forwards_signals = true;
    set(&b, *state, &kind, true);
    b.signals = 1;
    b.stops = 3;
    assert_int_equal(record_session_run(&b.session, &e), 7);
    assert_str(buf_str(&b.done), STR("started stop stop stop end "));
    clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(a_session_starts_is_recorded_and_ends),
        WITH_CLI(a_session_that_does_not_start_leaves_no_file),
        WITH_CLI(an_old_file_stays_if_the_server_does_not_start),
        WITH_CLI(without_a_file_nothing_is_started),
        WITH_CLI(a_signal_stops_the_session_and_a_second_one_the_loop),
        WITH_CLI(a_kind_that_forwards_signals_gets_all_of_them),
    };
    alarm(120);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
