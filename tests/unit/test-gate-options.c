#include "cmd/gate-options.h"

#include "test.h"

static void limits_are_given_even_if_they_are_zero(void **state)
{
    struct gate_limit limit = { false, 7 };
    struct err e = ERR_NONE;

    (void)state;
    assert_true(gate_options_parse_count(&limit, "0", &e));
    assert_true(limit.given && limit.most == 0);
    assert_true(gate_options_parse_duration(&limit, "2d", &e));
    assert_int_equal(limit.most, INT64_C(2) * 86400 * 1000 * 1000);
    assert_true(gate_options_parse_size(&limit, "64KB", &e));
    assert_int_equal(limit.most, 64000);
    assert_true(gate_options_parse_size(&limit, "18446744073709551615", &e));
    assert_int_equal(limit.most, INT64_MAX);
}

static void bad_limits_are_rejected(void **state)
{
    struct gate_limit limit = { false, 7 };
    struct err e = ERR_NONE;

    (void)state;
    assert_false(gate_options_parse_count(&limit, "-1", &e));
    assert_string_equal(e.msg, "'-1' is not a number such as 0 or 5");
    assert_int_equal(e.kind, ERR_USAGE);
    assert_false(gate_options_parse_count(&limit, "9223372036854775808", &e));
    assert_false(gate_options_parse_duration(&limit, "5", &e));
    assert_string_equal(e.msg, "'5' is not a time such as 500ms, 1s or 5min");
    assert_false(gate_options_parse_size(&limit, "big", &e));
    assert_string_equal(e.msg, "'big' is not a size such as 4096, 64MB or 1GiB");
    assert_true(!limit.given && limit.most == 7);
}

static void an_error_in_a_name_has_the_option(void **state)
{
    const char *names[] = { "" };
    struct gate_args args = { .forbid_tools = { names, 1 } };
    struct gate_options o;
    struct err e = ERR_NONE;

    (void)state;
    assert_false(gate_options_read(&o, &args, &e));
    assert_string_equal(e.msg, "option '--forbid-tool': the name of a tool cannot be empty");
    gate_options_release(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_given_even_if_they_are_zero),
        cmocka_unit_test(bad_limits_are_rejected),
        cmocka_unit_test(an_error_in_a_name_has_the_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
