#include "index/index-build.h"

#include "loaded-index.h"

/* When each step was sent after the start, in milliseconds, call by call. */
static void check(const char *recording, const char *want)
{
    struct loaded_index s;
    struct buf got;

    buf_init(&got, 1 << 12);
    loaded_index_init(&s, MATCH_SEQUENTIAL, recording);
    for (uint32_t op = 1; op < s.index.call_count; op++) {
        buf_printf(&got, "%s%u:", op > 1 ? "; " : "", s.index.calls[op].ms);
        for (uint32_t step = index_first_step(&s.index, op); step;
             step = index_next_step(&s.index, op, step))
            buf_printf(&got, " %u", s.index.steps[step].ms);
    }
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
    loaded_index_release(&s);
}

static void the_monotonic_time_is_used_for_delays(void **state)
{
    (void)state;
    check("@1000 c2s {'id':1,'method':'a'}\n"
          "@3000 s2c {'method':'n'}\n"
          "@9999 s2c {'id':1,'result':{}}\n",
          "1: 3 9");
}

static void without_monotonic_time_dates_are_used(void **state)
{
    (void)state;
    check(
        "| {'type':'message','seq':1,'ts':'2025-02-04T10:00:00Z','dir':'c2s','msg':{'id':1,"
        "'method':'a'}}\n"
        "| {'type':'message','seq':2,'ts':'2025-02-04T10:00:01.250Z','dir':'s2c','msg':{'id':1,"
        "'result':{}}}\n",
        "0: 1250");
}

static void without_any_time_the_latency_is_used(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\nlatency=20 s2c {'id':1,'result':{}}\n", "0: 20");
}

static void a_clock_that_goes_back_gives_no_delay(void **state)
{
    (void)state;
    check("@5000 c2s {'id':1,'method':'a'}\n@-1000 s2c {'id':1,'result':{}}\n", "5: 0");
}

static void a_delay_after_a_notification_starts_at_it(void **state)
{
    (void)state;
    check("@1000 c2s {'id':1,'method':'initialize'}\n"
          "@2000 s2c {'id':1,'result':{}}\n"
          "@3000 c2s {'method':'notifications/initialized'}\n"
          "@353000 s2c {'id':0,'method':'roots/list'}\n"
          "@400000 c2s {'id':0,'result':{}}\n",
          "1: 2 3 353 400");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_monotonic_time_is_used_for_delays),
        cmocka_unit_test(without_monotonic_time_dates_are_used),
        cmocka_unit_test(without_any_time_the_latency_is_used),
        cmocka_unit_test(a_clock_that_goes_back_gives_no_delay),
        cmocka_unit_test(a_delay_after_a_notification_starts_at_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
