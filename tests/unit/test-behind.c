#include "cmd/behind.h"

#include "test.h"

/* What is told of a server, and when to stop. */
struct witness {
    struct behind behind;
    struct loop *loop;
    struct buf heard, log;
    bool finish_on_record;
};

static void on_finished(void *to)
{
    struct witness *w = to;

    buf_add(&w->heard, STR("finished\n"));
    loop_stop(w->loop);
}

static void on_record(void *to, const struct record *r)
{
    struct witness *w = to;

    if (r->kind == RECORD_MESSAGE)
        buf_add(&w->heard, json_raw(r->message.msg));
    else
        buf_add(&w->heard, STR("raw"));
    buf_add_ch(&w->heard, '\n');
    if (w->finish_on_record)
        behind_finish(&w->behind, on_finished);
}

static void on_gone(void *to, struct str why)
{
    struct witness *w = to;

    buf_printf(&w->heard, "gone: %.*s\n", STR_ARG(why));
    loop_stop(w->loop);
}

static const struct behind_events events = { on_record, on_gone };

static void add_line(void *to, struct str line)
{
    buf_add(to, line);
}

static void check(char *const *argv, bool finish_on_record, const char *heard, const char *log)
{
    struct witness w = { .finish_on_record = finish_on_record };
    struct log l = { .level = LOG_INFO, .put = add_line, .to = &w.log };
    struct app app = { .log = &l };

    buf_init(&w.heard, 1 << 16);
    buf_init(&w.log, 1 << 16);
    w.loop = loop_new();
    behind_init(&w.behind, &app, argv, &events, &w);
    behind_send(&w.behind, STR("lost: it is not there yet"));
    behind_start(&w.behind, w.loop);
    behind_send(&w.behind, STR("{\"method\":\"m\"}"));
    assert_int_equal(w.heard.len, 0);
    loop_run(w.loop);
    behind_release(&w.behind);
    loop_free(w.loop);
    assert_str(buf_str(&w.heard), str_z(heard));
    assert_str(buf_str(&w.log), str_z(log));
    buf_release(&w.heard);
    buf_release(&w.log);
}

static void what_it_says_is_told_and_it_ends_when_it_is_let_go(void **state)
{
    static char *const cat[] = { "cat", NULL };

    (void)state;
    check(cat, true, "{\"method\":\"m\"}\nfinished\n", "");
}

static void its_end_is_told_with_its_last_words(void **state)
{
    static char *const argv[] = { "sh", "-c", "read x; echo oh no >&2; exit 3", NULL };
    static char *const shot[] = { "sh", "-c", "kill -9 $$", NULL };

    (void)state;
    check(argv, false, "gone: 'sh' ended with exit code 3: oh no\n",
          "mcpreel: server: oh no\n");
    check(shot, false, "gone: 'sh' was ended by signal 9\n", "");
}

static void one_that_cannot_be_started_is_told_later(void **state)
{
    static char *const argv[] = { "./no-such-program", NULL };

    (void)state;
    check(argv, false,
          "gone: cannot start server './no-such-program': no such file or directory\n", "");
}

static void one_that_never_ran_is_finished_at_once(void **state)
{
    struct witness w = { .loop = NULL };
    struct app app = { .log = NULL };

    (void)state;
    buf_init(&w.heard, 1 << 10);
    w.loop = loop_new();
    behind_init(&w.behind, &app, NULL, &events, &w);
    behind_finish(&w.behind, on_finished);
    assert_str(buf_str(&w.heard), STR("finished\n"));
    behind_release(&w.behind);
    loop_free(w.loop);
    buf_release(&w.heard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_says_is_told_and_it_ends_when_it_is_let_go),
        cmocka_unit_test(its_end_is_told_with_its_last_words),
        cmocka_unit_test(one_that_cannot_be_started_is_told_later),
        cmocka_unit_test(one_that_never_ran_is_finished_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
