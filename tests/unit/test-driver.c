#include "runtime/driver.h"

#include "base/buf.h"
#include "base/clock.h"
#include "engine/actions.h"
#include "test.h"

struct lines_bench {
    struct loop *loop;
    struct log log;
    struct buf logged, reported;
    struct app app;
    struct driver drive;
    struct driver_lines input;
};

static void lines_step(void *engine, const struct event *ev)
{
    struct lines_bench *b = engine;

    buf_printf(&b->reported, "%d ", ev->kind);
    if (ev->record->kind == RECORD_MESSAGE)
        buf_printf(&b->reported, "%d %.*s\n", ev->record->message.dir,
                   STR_ARG(json_raw(ev->record->message.msg)));
    else
        buf_printf(&b->reported, "raw %.*s\n", STR_ARG(ev->record->bytes.bytes));
}

static void lines_act(void *to, const struct action *a)
{
    (void)to;
    (void)a;
    fail_msg("it says nothing");
}

static void lines_add_line(void *to, struct str line)
{
    buf_add(to, line);
}

static void lines_open_bench(struct lines_bench *b, enum event_kind as, enum record_dir dir)
{
    *b = (struct lines_bench){
        .loop = loop_new(),
        .log = { .level = LOG_INFO, .write = lines_add_line, .arg = &b->logged }
    };
    b->app.log = &b->log;
    buf_init(&b->logged, 1 << 10);
    buf_init(&b->reported, 1 << 10);
    driver_init(&b->drive, &b->app, b->loop, lines_step, b, lines_act, NULL);
    driver_lines_init(&b->input, &b->drive, as, dir);
}

static void lines_close_bench(struct lines_bench *b)
{
    driver_lines_release(&b->input);
    driver_release(&b->drive);
    loop_free(b->loop);
    buf_release(&b->reported);
    buf_release(&b->logged);
}

static void lines_become_records_with_their_direction(void **state)
{
    struct lines_bench b;
    struct buf want;

    (void)state;
    lines_open_bench(&b, EVENT_UPSTREAM_RECORD, TO_CLIENT);
    driver_lines_add(&b.input, STR("{\"method\":\"a\"}"));
    driver_lines_add(&b.input, STR("  "));
    driver_lines_add(&b.input, STR("nonsense"));
    driver_lines_add(&b.input, STR("[{\"method\":\"b\"},{\"method\":\"c\"}]"));
    buf_init(&want, 1 << 10);
    buf_printf(&want, "%d %d {\"method\":\"a\"}\n%d raw nonsense\n", EVENT_UPSTREAM_RECORD,
               TO_CLIENT, EVENT_UPSTREAM_RECORD);
    buf_printf(&want, "%d %d {\"method\":\"b\"}\n%d %d {\"method\":\"c\"}\n",
               EVENT_UPSTREAM_RECORD, TO_CLIENT, EVENT_UPSTREAM_RECORD, TO_CLIENT);
    assert_str(buf_str(&b.reported), buf_str(&want));
    buf_release(&want);
    lines_close_bench(&b);
}

static void a_too_long_line_is_logged_with_its_sender(void **state)
{
    struct lines_bench b;

    (void)state;
    lines_open_bench(&b, EVENT_RECORD, TO_SERVER);
    driver_lines_add_too_long(&b.input, 70000000);
    assert_str(buf_str(&b.logged), STR("mcpreel: warning: the client sent a line of 70000000 "
                                       "bytes; it was ignored\n"));
    assert_true(
        str_ends(buf_str(&b.reported), STR(" raw \n"))); /* a client may want a response */
    lines_close_bench(&b);
    lines_open_bench(&b, EVENT_RECORD, TO_CLIENT);
    driver_lines_add_too_long(&b.input, 1);
    assert_str(buf_str(&b.logged),
               STR("mcpreel: warning: the server sent a line of 1 bytes; it was ignored\n"));
    assert_str(buf_str(&b.reported), STR_NONE);
    lines_close_bench(&b);
}

struct timers_bench {
    struct loop *loop;
    struct driver_timers alarms;
    struct buf rang;
    int more;                      /* alarms that ringing sets */
    int64_t start_us, earliest_us; /* by how much at least all came after their millisecond */
};

static void expire_timer(void *to, uint64_t name)
{
    struct timers_bench *b = to;
    int64_t after_us = clock_mono_us() - b->start_us - (int64_t)name * 1000;

    b->earliest_us = after_us < b->earliest_us ? after_us : b->earliest_us;
    buf_printf(&b->rang, "%llu ", (unsigned long long)name);
    if (b->more-- > 0)
        driver_timers_set(&b->alarms, name + 100, 1000);
}

static void timers_open_bench(struct timers_bench *b)
{
    *b = (struct timers_bench){ .loop = loop_new() };
    driver_timers_init(&b->alarms, b->loop, expire_timer, b);
    buf_init(&b->rang, 1024);
}

static void timers_close_bench(struct timers_bench *b)
{
    driver_timers_release(&b->alarms);
    loop_free(b->loop);
    buf_release(&b->rang);
}

static void each_timer_expires_once_in_order(void **state)
{
    struct timers_bench b;
    int64_t start;

    (void)state;
    timers_open_bench(&b);
    start = clock_mono_us();
    driver_timers_set(&b.alarms, 3, 60000);
    driver_timers_set(&b.alarms, 1, 0);
    driver_timers_set(&b.alarms, 2, 30000);
    loop_run(b.loop);
    assert_str(buf_str(&b.rang), STR("1 2 3 "));
    assert_true(clock_mono_us() - start >= 60000);
    timers_close_bench(&b);
}

/* The loop's own clock has only milliseconds. */
static void no_timer_expires_early(void **state)
{
    struct timers_bench b;

    (void)state;
    timers_open_bench(&b);
    b.start_us = clock_mono_us();
    for (uint64_t ms = 1; ms <= 30; ms++)
        driver_timers_set(&b.alarms, ms, (int64_t)ms * 1000);
    loop_run(b.loop);
    assert_true(b.earliest_us >= 0);
    timers_close_bench(&b);
}

static void an_expired_timer_may_set_another(void **state)
{
    struct timers_bench b;

    (void)state;
    timers_open_bench(&b);
    b.more = 2;
    driver_timers_set(&b.alarms, 1, 1000);
    loop_run(b.loop);
    assert_str(buf_str(&b.rang), STR("1 101 201 "));
    timers_close_bench(&b);
}

static void released_timers_do_not_expire(void **state)
{
    struct timers_bench b;

    (void)state;
    timers_open_bench(&b);
    driver_timers_set(&b.alarms, 1, 1000);
    driver_timers_set(&b.alarms, 2, 2000);
    driver_timers_release(&b.alarms);
    loop_run(b.loop);
    assert_str(buf_str(&b.rang), STR(""));
    timers_close_bench(&b);
}

/* An engine that logs its events, and the open exchanges at each. */
struct bench {
    struct loop *loop;
    struct log log;
    struct buf logged, reported;
    struct app app;
    struct driver drive;
    struct actions actions;
    bool ends_while_speaking; /* its peers are found to have exited when it sends */
    int64_t latest_us;
};

static const char *const names[] = {
    [EVENT_OPENED] = "opened",
    [EVENT_RECORD] = "record",
    [EVENT_TIMER] = "timer",
    [EVENT_INPUT_CLOSED] = "closed",
    [EVENT_UPSTREAM_RECORD] = "upstream",
    [EVENT_UPSTREAM_CLOSED] = "gone",
};

static void step(void *engine, const struct event *ev)
{
    struct bench *b = engine;

    assert_true(ev->now_us >= b->latest_us && ev->now_us > 0);
    b->latest_us = ev->now_us;
    buf_printf(&b->reported, "[%s %llu %.*s", names[ev->kind], (unsigned long long)ev->timer,
               STR_ARG(ev->why));
    if (ev->kind == EVENT_OPENED) {
        actions_send(&b->actions, STR("hello"));
        actions_report(&b->actions, LOG_WARN, "oh");
        actions_set_timer(&b->actions, 7, 1000);
    } else if (ev->kind == EVENT_TIMER) {
        actions_finish(&b->actions, 9);
    }
    buf_add(&b->reported, STR("]"));
}

static void act(void *to, const struct action *a)
{
    struct bench *b = to;

    if (a->kind == ACTION_SEND)
        buf_printf(&b->reported, "<send %.*s>", STR_ARG(a->text));
    else if (a->kind == ACTION_FINISH)
        buf_printf(&b->reported, "<finish %d>", a->exit_code);
    else
        fail_msg("nothing else was asked for");
    if (!b->ends_while_speaking)
        return;
    driver_dispatch(&b->drive, (struct event){ .kind = EVENT_INPUT_CLOSED });
    driver_dispatch(&b->drive,
                    (struct event){ .kind = EVENT_UPSTREAM_CLOSED, .why = STR("why") });
}

static void add_line(void *to, struct str line)
{
    buf_add(to, line);
}

static void open_bench(struct bench *b)
{
    *b = (struct bench){ .loop = loop_new(),
                         .log = { .level = LOG_INFO, .write = add_line, .arg = &b->logged } };
    b->app.log = &b->log;
    buf_init(&b->logged, 1 << 10);
    buf_init(&b->reported, 1 << 10);
    driver_init(&b->drive, &b->app, b->loop, step, b, act, b);
    actions_init(&b->actions, &b->drive.actions);
}

static void close_bench(struct bench *b)
{
    actions_release(&b->actions);
    driver_release(&b->drive);
    loop_free(b->loop);
    buf_release(&b->reported);
    buf_release(&b->logged);
}

static void reports_are_logged_timers_expire_and_other_actions_go_to_the_owner(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    driver_dispatch(&b.drive, (struct event){ .kind = EVENT_OPENED });
    assert_str(buf_str(&b.reported), STR("[opened 0 <send hello>]"));
    assert_str(buf_str(&b.logged), STR("mcpreel: warning: oh\n"));
    assert_int_equal(b.drive.exit_code, 0);
    loop_run(b.loop);
    assert_str(buf_str(&b.reported), STR("[opened 0 <send hello>][timer 7 <finish 9>]"));
    assert_int_equal(b.drive.exit_code, 9);
    close_bench(&b);
}

static void events_during_a_step_are_deferred(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    b.ends_while_speaking = true;
    driver_dispatch(&b.drive, (struct event){ .kind = EVENT_OPENED });
    assert_str(buf_str(&b.reported), STR("[opened 0 <send hello>][closed 0 ][gone 0 why]"));
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_become_records_with_their_direction),
        cmocka_unit_test(a_too_long_line_is_logged_with_its_sender),
        cmocka_unit_test(each_timer_expires_once_in_order),
        cmocka_unit_test(no_timer_expires_early),
        cmocka_unit_test(an_expired_timer_may_set_another),
        cmocka_unit_test(released_timers_do_not_expire),
        cmocka_unit_test(reports_are_logged_timers_expire_and_other_actions_go_to_the_owner),
        cmocka_unit_test(events_during_a_step_are_deferred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
