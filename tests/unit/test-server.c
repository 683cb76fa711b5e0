#include "cmd/server.h"

#include "test.h"

/* What is told of a server, by an engine that asks for its end at the first record. */
struct witness {
    struct app app;
    struct drive drive;
    struct server server;
    struct loop *loop;
    struct buf heard, logged;
    bool end_on_record;
};

static void step(void *engine, const struct event *ev)
{
    struct witness *w = engine;

    assert_int_equal(ev->kind, EVENT_UPSTREAM);
    if (ev->record->kind == RECORD_MESSAGE)
        buf_add(&w->heard, json_raw(ev->record->message.msg));
    else
        buf_add(&w->heard, STR("raw"));
    buf_add_ch(&w->heard, '\n');
    if (w->end_on_record)
        assert_true(server_end(&w->server));
}

static void act(void *to, const struct action *a)
{
    (void)to;
    (void)a;
    fail_msg("it wants nothing");
}

static void on_closed(void *to)
{
    struct witness *w = to;

    buf_add(&w->heard, STR("closed\n"));
}

static void on_gone(void *to, struct str why)
{
    struct witness *w = to;

    buf_printf(&w->heard, "gone: %.*s\n", STR_ARG(why));
    assert_false(server_end(&w->server));
    loop_stop(w->loop);
}

static const struct server_events both = { on_closed, on_gone }, only_gone = { NULL, on_gone };

static void add_line(void *to, struct str line)
{
    buf_add(to, line);
}

static void open_witness(struct witness *w, struct log *l, const struct server_events *events)
{
    *l = (struct log){ .level = LOG_INFO, .put = add_line, .to = &w->logged };
    *w = (struct witness){ .app = { .log = l }, .loop = loop_new() };
    buf_init(&w->heard, 1 << 16);
    buf_init(&w->logged, 1 << 16);
    drive_init(&w->drive, &w->app, w->loop, step, w, act, w);
    server_init(&w->server, &w->drive, EVENT_UPSTREAM, LOG_INFO, events, w);
}

static void close_witness(struct witness *w)
{
    server_release(&w->server);
    drive_release(&w->drive);
    loop_free(w->loop);
    buf_release(&w->heard);
    buf_release(&w->logged);
}

static void check(char *const *argv, bool end_on_record, const struct server_events *events,
                  const char *heard, const char *logged)
{
    struct err e = ERR_NONE;
    struct witness w;
    struct log l;

    open_witness(&w, &l, events);
    w.end_on_record = end_on_record;
    server_send(&w.server, STR("lost: it is not there yet"));
    assert_true(server_start(&w.server, w.loop, argv, &e));
    server_send(&w.server, STR("{\"method\":\"m\"}"));
    assert_int_equal(w.heard.len, 0);
    loop_run(w.loop);
    assert_str(buf_str(&w.heard), str_z(heard));
    assert_str(buf_str(&w.logged), str_z(logged));
    close_witness(&w);
}

static void what_it_says_is_told_and_it_ends_when_it_is_let_go(void **state)
{
    static char *const cat[] = { "cat", NULL };

    (void)state;
    check(cat, true, &both, "{\"method\":\"m\"}\nclosed\ngone: 'cat' ended with exit code 0\n",
          "");
}

static void its_end_is_told_with_its_last_words(void **state)
{
    static char *const argv[] = { "sh", "-c", "read x; echo oh no >&2; exit 3", NULL };
    static char *const shot[] = { "sh", "-c", "kill -9 $$", NULL };

    (void)state;
    check(argv, false, &only_gone, "gone: 'sh' ended with exit code 3: oh no\n",
          "mcpreel: server: oh no\n");
    check(shot, false, &only_gone, "gone: 'sh' was ended by signal 9\n", "");
}

static void what_it_was_is_kept(void **state)
{
    static char *const argv[] = { "sh", "-c", "printf '%05000d' 7 >&2; exit 3", NULL };
    struct err e = ERR_NONE;
    struct witness w;
    struct log l;

    (void)state;
    open_witness(&w, &l, &only_gone);
    assert_true(server_start(&w.server, w.loop, argv, &e));
    loop_run(w.loop);
    assert_int_equal(w.server.code, 3);
    assert_int_equal(w.server.signum, 0);
    assert_int_equal(w.server.last_words.len, 4096);
    assert_true(str_ends(buf_str(&w.heard), STR("000\n")));
    close_witness(&w);
}

static void one_that_cannot_be_started_is_an_error_and_no_more(void **state)
{
    static char *const argv[] = { "./no-such-program", NULL };
    struct err e = ERR_NONE;
    struct witness w;
    struct log l;

    (void)state;
    open_witness(&w, &l, &both);
    assert_false(server_start(&w.server, w.loop, argv, &e));
    assert_int_equal(e.kind, ERR_PEER);
    assert_string_equal(e.msg, "cannot start server './no-such-program': no such file or "
                               "directory");
    assert_false(server_end(&w.server));
    loop_run(w.loop);
    assert_int_equal(w.heard.len, 0);
    close_witness(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_says_is_told_and_it_ends_when_it_is_let_go),
        cmocka_unit_test(its_end_is_told_with_its_last_words),
        cmocka_unit_test(what_it_was_is_kept),
        cmocka_unit_test(one_that_cannot_be_started_is_an_error_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
