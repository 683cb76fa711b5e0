#include "runtime/peer-pool.h"

#include <errno.h>

#include "test.h"

/* Logs the events of servers, of the engine and of the observer. */
struct pool_run {
    struct app app;
    struct driver drive;
    struct peer_pool servers;
    struct loop *loop;
    struct buf reported;
    uint64_t end_on_message; /* this one; 0: none */
    bool finish_on_message;
};

static void step(void *engine, const struct event *ev)
{
    struct pool_run *w = engine;
    unsigned long long number = ev->server;

    if (ev->kind == EVENT_UPSTREAM_CLOSED) {
        buf_printf(&w->reported, "%llu gone: %.*s\n", number, STR_ARG(ev->why));
        return;
    }
    assert_int_equal(ev->kind, EVENT_UPSTREAM_RECORD);
    buf_printf(&w->reported, "%llu said %.*s\n", number,
               STR_ARG(json_raw(ev->record->message.msg)));
    if (ev->server == w->end_on_message)
        peer_pool_end(&w->servers, ev->server);
    if (w->finish_on_message)
        peer_pool_finish(&w->servers);
}

static void act(void *to, const struct action *a)
{
    (void)to;
    (void)a;
    fail_msg("it wants nothing");
}

static void on_started(void *to, uint64_t number)
{
    struct pool_run *w = to;

    buf_printf(&w->reported, "%llu started\n", (unsigned long long)number);
}

static void on_invalid_line(void *to, uint64_t number, struct str bytes, struct str why)
{
    struct pool_run *w = to;

    buf_printf(&w->reported, "%llu noise '%.*s': %.*s\n", (unsigned long long)number,
               STR_ARG(bytes), STR_ARG(why));
}

static void on_stderr(void *to, uint64_t number, struct str text)
{
    struct pool_run *w = to;

    buf_printf(&w->reported, "%llu stderr %.*s", (unsigned long long)number, STR_ARG(text));
}

static void on_exited(void *to, uint64_t number, const struct peer_outcome *how)
{
    struct str why = buf_str(&how->stop_reason);
    struct pool_run *w = to;

    buf_printf(&w->reported, "%llu exited %d %d%s%.*s\n", (unsigned long long)number,
               how->exit_code, how->signum, why.len ? ": " : "", STR_ARG(why));
}

static void on_all_gone(void *to)
{
    struct pool_run *w = to;

    buf_add(&w->reported, STR("all gone\n"));
    loop_stop(w->loop);
}

static const struct peer_pool_observer watch = {
    .started = on_started,
    .non_message = on_invalid_line,
    .stderr_text = on_stderr,
    .exited = on_exited,
    .all_exited = on_all_gone,
};

static void open_pool_run(struct pool_run *w, char *const *argv)
{
    static const struct log quiet = { .level = LOG_ERROR };
    const struct peer_target target = { .argv = argv };

    *w = (struct pool_run){ .app = { .log = &quiet }, .loop = loop_new() };
    buf_init(&w->reported, 1 << 16);
    driver_init(&w->drive, &w->app, w->loop, step, w, act, w);
    peer_pool_init(&w->servers, w->loop, &w->drive, &target, &watch, w);
}

static void close_pool_run(struct pool_run *w)
{
    peer_pool_release(&w->servers);
    driver_release(&w->drive);
    loop_free(w->loop);
    buf_release(&w->reported);
}

static void start(struct pool_run *w, uint64_t number)
{
    struct err e = ERR_NONE;
    int errnum;

    assert_true(peer_pool_start(&w->servers, number, &errnum, &e));
}

static void messages_become_events_with_the_number_of_the_server(void **state)
{
    static char *const argv[] = {
        "sh", "-c", "read x; echo \"$x\"; echo noise; echo words >&2; cat >&2; exit 3", NULL
    };
    struct pool_run w;

    (void)state;
    open_pool_run(&w, argv);
    w.end_on_message = 5;
    start(&w, 5);
    peer_pool_send(&w.servers, 4, STR("{}")); /* of no server */
    peer_pool_send(&w.servers, 5, STR("{\"method\":\"m\"}"));
    loop_run(w.loop);
    assert_str(buf_str(&w.reported), STR("5 started\n"
                                         "5 said {\"method\":\"m\"}\n"
                                         "5 noise 'noise': not JSON\n"
                                         "5 stderr words\n"
                                         "5 exited 3 0\n"
                                         "5 gone: 'sh' ended with exit code 3\n"));
    close_pool_run(&w);
}

static void the_end_of_the_last_server_is_reported(void **state)
{
    static char *const argv[] = { "sh", "-c", "read x; echo \"$x\"; kill -9 $$", NULL };
    struct pool_run w;

    (void)state;
    open_pool_run(&w, argv);
    w.finish_on_message = true;
    start(&w, 1);
    peer_pool_send(&w.servers, 1, STR("{\"method\":\"m\"}"));
    loop_run(w.loop);
    assert_str(buf_str(&w.reported), STR("1 started\n"
                                         "1 said {\"method\":\"m\"}\n"
                                         "1 exited 0 9\n"
                                         "1 gone: 'sh' was ended by signal 9\n"
                                         "all gone\n"));
    buf_clear(&w.reported);
    peer_pool_finish(&w.servers);
    assert_str(buf_str(&w.reported), STR("all gone\n"));
    close_pool_run(&w);
}

static void a_server_that_reads_nothing_is_stopped(void **state)
{
    static char *const argv[] = { "sleep", "60", NULL };
    static char much[1 << 20];
    struct pool_run w;

    (void)state;
    open_pool_run(&w, argv);
    memset(much, ' ', sizeof much);
    w.servers.queue_max = 2 * sizeof much;
    start(&w, 1);
    for (int i = 0; i < 5; i++)
        peer_pool_send(&w.servers, 1, str_n(much, sizeof much));
    loop_run(w.loop);
    assert_str(buf_str(&w.reported),
               STR("1 started\n"
                   "1 exited 0 15: 'sleep' does not read its stdin; mcpreel ended it\n"
                   "1 gone: 'sleep' does not read its stdin; mcpreel ended it\n"));
    close_pool_run(&w);
}

static void a_server_that_closes_stdout_and_runs_on_is_ended(void **state)
{
    static char *const argv[] = { "sh", "-c", "exec >&-; exec sleep 60", NULL };
    struct pool_run w;

    (void)state;
    open_pool_run(&w, argv);
    start(&w, 1);
    loop_run(w.loop);
    assert_str(buf_str(&w.reported),
               STR("1 started\n"
                   "1 exited 0 15: 'sh' closed stdout but did not exit; mcpreel ended it\n"
                   "1 gone: 'sh' closed stdout but did not exit; mcpreel ended it\n"));
    close_pool_run(&w);
}

static void a_server_that_runs_on_without_clients_is_ended(void **state)
{
    static char *const argv[] = { "sh", "-c", "echo '{\"method\":\"m\"}'; exec sleep 60",
                                  NULL };
    struct pool_run w;

    (void)state;
    open_pool_run(&w, argv);
    w.end_on_message = 1;
    start(&w, 1);
    loop_run(w.loop);
    assert_str(
        buf_str(&w.reported),
        STR("1 started\n"
            "1 said {\"method\":\"m\"}\n"
            "1 exited 0 15: 'sh' did not exit after its stdin was closed; mcpreel ended it\n"
            "1 gone: 'sh' did not exit after its stdin was closed; mcpreel ended it\n"));
    close_pool_run(&w);
}

static void remaining_servers_are_killed(void **state)
{
    static char *const argv[] = { "sleep", "60", NULL };
    struct pool_run w;

    (void)state;
    open_pool_run(&w, argv);
    start(&w, 1);
    start(&w, 2);
    close_pool_run(&w);
}

static void a_failed_start_is_an_error(void **state)
{
    static char *const argv[] = { "./no-such-program", NULL };
    struct err e = ERR_NONE;
    struct pool_run w;
    int errnum = 0;

    (void)state;
    open_pool_run(&w, argv);
    assert_false(peer_pool_start(&w.servers, 1, &errnum, &e));
    assert_int_equal(errnum, ENOENT);
    assert_int_equal(e.kind, ERR_PEER);
    assert_int_equal(w.reported.len, 0);
    close_pool_run(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_become_events_with_the_number_of_the_server),
        cmocka_unit_test(the_end_of_the_last_server_is_reported),
        cmocka_unit_test(a_server_that_reads_nothing_is_stopped),
        cmocka_unit_test(a_server_that_closes_stdout_and_runs_on_is_ended),
        cmocka_unit_test(a_server_that_runs_on_without_clients_is_ended),
        cmocka_unit_test(remaining_servers_are_killed),
        cmocka_unit_test(a_failed_start_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
