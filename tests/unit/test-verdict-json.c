#include "report/verdict-json.h"

#include "test.h"
#include "verdict-sample.h"

static struct buf to;

static int setup(void **state)
{
    (void)state;
    buf_init(&to, 1 << 24);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buf_release(&to);
    return 0;
}

static void play(void (*sample)(struct verdict_report *report))
{
    struct verdict_json r;

    verdict_json_init(&r, &to);
    sample(&r.report);
}

static void the_sample_is_written_exactly(void **state)
{
    (void)state;
    play(verdict_sample_play);
    verdict_sample_assert_file(buf_str(&to), "tests/report/sample.json");
}

static void hostile_text_is_escaped(void **state)
{
    (void)state;
    play(verdict_sample_play_hostile);
    verdict_sample_assert_no_controls(buf_str(&to));
    verdict_sample_assert_file(buf_str(&to), "tests/report/hostile.json");
}

static void a_large_value_is_replaced_by_its_size(void **state)
{
    (void)state;
    play(verdict_sample_play_hostile);
    assert_null(strstr(buf_z(&to), "\"recorded\":"));
    assert_non_null(strstr(buf_z(&to), ",\"recorded_bytes\":300"));
    assert_non_null(strstr(buf_z(&to), ",\"live_bytes\":300"));
}

static void a_run_without_calls_has_empty_arrays(void **state)
{
    (void)state;
    play(verdict_sample_play_empty);
    assert_non_null(strstr(buf_z(&to), "\"target\":null,\"server\":null,"));
    assert_non_null(strstr(buf_z(&to), ",\"calls\":[],\"findings\":[],\"summary\":{"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_sample_is_written_exactly),
        TEST(hostile_text_is_escaped),
        TEST(a_large_value_is_replaced_by_its_size),
        TEST(a_run_without_calls_has_empty_arrays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
