#include "cmd/drive.h"

#include "base/buf.h"
#include "engine/say.h"
#include "test.h"

/* An engine that notes what it is told, and what is under way meanwhile. */
struct bench {
    struct loop *loop;
    struct log log;
    struct buf logged, told;
    struct app app;
    struct drive drive;
    struct say say;
    bool ends_while_speaking; /* its peers are found gone when it speaks */
    int64_t latest_us;
};

static const char *const names[] = {
    [EVENT_OPENED] = "opened", [EVENT_RECORD] = "record",     [EVENT_TIMER] = "timer",
    [EVENT_CLOSED] = "closed", [EVENT_UPSTREAM] = "upstream", [EVENT_UPSTREAM_CLOSED] = "gone",
};

static void step(void *engine, const struct event *ev)
{
    struct bench *b = engine;

    assert_true(ev->now_us >= b->latest_us && ev->now_us > 0);
    b->latest_us = ev->now_us;
    buf_printf(&b->told, "[%s %llu %.*s", names[ev->kind], (unsigned long long)ev->timer,
               STR_ARG(ev->why));
    if (ev->kind == EVENT_OPENED) {
        say_message(&b->say, STR("hello"));
        say_report(&b->say, LOG_WARN, "oh");
        say_timer(&b->say, 7, 1000);
    } else if (ev->kind == EVENT_TIMER) {
        say_finish(&b->say, 9);
    }
    buf_add(&b->told, STR("]"));
}

static void act(void *to, const struct action *a)
{
    struct bench *b = to;

    if (a->kind == ACTION_SEND)
        buf_printf(&b->told, "<send %.*s>", STR_ARG(a->text));
    else if (a->kind == ACTION_FINISH)
        buf_printf(&b->told, "<finish %d>", a->exit_code);
    else
        fail_msg("nothing else was asked for");
    if (!b->ends_while_speaking)
        return;
    drive_tell(&b->drive, (struct event){ .kind = EVENT_CLOSED });
    drive_tell(&b->drive, (struct event){ .kind = EVENT_UPSTREAM_CLOSED, .why = STR("why") });
}

static void add_line(void *to, struct str line)
{
    buf_add(to, line);
}

static void open_bench(struct bench *b)
{
    *b = (struct bench){ .loop = loop_new(),
                         .log = { .level = LOG_INFO, .put = add_line, .to = &b->logged } };
    b->app.log = &b->log;
    buf_init(&b->logged, 1 << 10);
    buf_init(&b->told, 1 << 10);
    drive_init(&b->drive, &b->app, b->loop, step, b, act, b);
    say_init(&b->say, &b->drive.actions);
}

static void close_bench(struct bench *b)
{
    say_release(&b->say);
    drive_release(&b->drive);
    loop_free(b->loop);
    buf_release(&b->told);
    buf_release(&b->logged);
}

static void reports_are_logged_timers_ring_and_the_rest_is_for_its_peers(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    drive_tell(&b.drive, (struct event){ .kind = EVENT_OPENED });
    assert_str(buf_str(&b.told), STR("[opened 0 <send hello>]"));
    assert_str(buf_str(&b.logged), STR("mcpreel: warning: oh\n"));
    assert_int_equal(b.drive.exit_code, 0);
    loop_run(b.loop);
    assert_str(buf_str(&b.told), STR("[opened 0 <send hello>][timer 7 <finish 9>]"));
    assert_int_equal(b.drive.exit_code, 9);
    close_bench(&b);
}

static void ends_that_come_while_it_speaks_are_told_when_it_is_done(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    b.ends_while_speaking = true;
    drive_tell(&b.drive, (struct event){ .kind = EVENT_OPENED });
    assert_str(buf_str(&b.told), STR("[opened 0 <send hello>][closed 0 ][gone 0 why]"));
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_are_logged_timers_ring_and_the_rest_is_for_its_peers),
        cmocka_unit_test(ends_that_come_while_it_speaks_are_told_when_it_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
