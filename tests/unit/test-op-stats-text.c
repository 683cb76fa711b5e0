#include "report/op-stats-text.h"

#include "test.h"

static void names_are_cut_escaped_and_padded(void **state)
{
    const struct op_stats_row shorter = { .method = STR("ping") },
                              longer = { .method = STR("tools/call"),
                                         .subject = STR("a\x1bx") };
    struct buf to;

    (void)state;
    buf_init(&to, 4096);
    op_stats_text_name(&to, &shorter, 8);
    assert_string_equal(buf_z(&to), "ping    ");
    buf_clear(&to);
    op_stats_text_name(&to, &longer, 20);
    assert_string_equal(buf_z(&to), "tools/call a\\x1bx   ");
    buf_clear(&to);
    op_stats_text_name(&to, &longer, 8);
    assert_string_equal(buf_z(&to), "tools/c\xe2\x80\xa6");
    buf_release(&to);
}

static void times_have_three_columns(void **state)
{
    struct histogram h = { 0 };
    struct buf to;

    (void)state;
    buf_init(&to, 4096);
    op_stats_text_times(&to, NULL);
    assert_int_equal(to.len, 0);
    histogram_add(&h, 5);
    histogram_add(&h, 3000000);
    op_stats_text_times(&to, &h);
    assert_string_equal(buf_z(&to), "      5 us     3.0 s     3.0 s");
    buf_release(&to);
}

static void only_counts_that_are_not_zero_are_written(void **state)
{
    const char *before = ": ";
    struct buf to;

    (void)state;
    buf_init(&to, 4096);
    op_stats_text_outcome(&to, &before, OUTCOME_OK, 0);
    op_stats_text_outcome(&to, &before, OUTCOME_RPC_ERROR, 1);
    op_stats_text_kind(&to, &before, 2, "page", "pages");
    assert_string_equal(buf_z(&to), ": 1 rpc error, 2 pages");
    buf_release(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_cut_escaped_and_padded),
        cmocka_unit_test(times_have_three_columns),
        cmocka_unit_test(only_counts_that_are_not_zero_are_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
