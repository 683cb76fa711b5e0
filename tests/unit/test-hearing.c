#include "cmd/hearing.h"

#include "base/buf.h"
#include "test.h"

struct bench {
    struct loop *loop;
    struct log log;
    struct buf logged, told;
    struct app app;
    struct drive drive;
    struct hearing hearing;
};

static void step(void *engine, const struct event *ev)
{
    struct bench *b = engine;

    buf_printf(&b->told, "%d ", ev->kind);
    if (ev->record->kind == RECORD_MESSAGE)
        buf_printf(&b->told, "%d %.*s\n", ev->record->message.dir,
                   STR_ARG(json_raw(ev->record->message.msg)));
    else
        buf_printf(&b->told, "raw %.*s\n", STR_ARG(ev->record->bytes.bytes));
}

static void act(void *to, const struct action *a)
{
    (void)to;
    (void)a;
    fail_msg("it says nothing");
}

static void add_line(void *to, struct str line)
{
    buf_add(to, line);
}

static void open_bench(struct bench *b, enum event_kind as, enum record_dir dir)
{
    *b = (struct bench){ .loop = loop_new(),
                         .log = { .level = LOG_INFO, .put = add_line, .to = &b->logged } };
    b->app.log = &b->log;
    buf_init(&b->logged, 1 << 10);
    buf_init(&b->told, 1 << 10);
    drive_init(&b->drive, &b->app, b->loop, step, b, act, NULL);
    hearing_init(&b->hearing, &b->drive, as, dir);
}

static void close_bench(struct bench *b)
{
    hearing_release(&b->hearing);
    drive_release(&b->drive);
    loop_free(b->loop);
    buf_release(&b->told);
    buf_release(&b->logged);
}

static void lines_are_told_as_records_with_their_direction(void **state)
{
    struct bench b;
    struct buf want;

    (void)state;
    open_bench(&b, EVENT_UPSTREAM, TO_CLIENT);
    hearing_line(&b.hearing, STR("{\"method\":\"a\"}"));
    hearing_line(&b.hearing, STR("  "));
    hearing_line(&b.hearing, STR("nonsense"));
    hearing_line(&b.hearing, STR("[{\"method\":\"b\"},{\"method\":\"c\"}]"));
    buf_init(&want, 1 << 10);
    buf_printf(&want, "%d %d {\"method\":\"a\"}\n%d raw nonsense\n", EVENT_UPSTREAM, TO_CLIENT,
               EVENT_UPSTREAM);
    buf_printf(&want, "%d %d {\"method\":\"b\"}\n%d %d {\"method\":\"c\"}\n", EVENT_UPSTREAM,
               TO_CLIENT, EVENT_UPSTREAM, TO_CLIENT);
    assert_str(buf_str(&b.told), buf_str(&want));
    buf_release(&want);
    close_bench(&b);
}

static void a_line_that_was_too_long_is_logged_with_whose_it_was(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, EVENT_RECORD, TO_SERVER);
    hearing_too_long(&b.hearing, 70000000);
    assert_str(buf_str(&b.logged), STR("mcpreel: warning: the client sent a line of 70000000 "
                                       "bytes; it was ignored\n"));
    assert_true(str_ends(buf_str(&b.told), STR(" raw \n"))); /* somebody may want an answer */
    close_bench(&b);
    open_bench(&b, EVENT_RECORD, TO_CLIENT);
    hearing_too_long(&b.hearing, 1);
    assert_str(buf_str(&b.logged),
               STR("mcpreel: warning: the server sent a line of 1 bytes; it was ignored\n"));
    assert_str(buf_str(&b.told), STR_NONE);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_told_as_records_with_their_direction),
        cmocka_unit_test(a_line_that_was_too_long_is_logged_with_whose_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
