#include "cmd/format-option.h"

#include "test.h"

static void a_writable_format_is_found_by_its_name(void **state)
{
    const struct format *f = NULL;
    struct err e = ERR_NONE;

    (void)state;
    assert_true(format_option_parse(&f, "cassette", &e));
    assert_ptr_equal(f, &cassette_format);
}

static void an_unknown_format_is_rejected_with_the_known_ones(void **state)
{
    const struct format *f = NULL;
    struct err e = ERR_NONE;
    struct buf names;

    (void)state;
    assert_false(format_option_parse(&f, "casette", &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_true(str_starts(str_z(e.msg), STR("'casette' is not one of ")));
    assert_true(str_ends(str_z(e.msg), str_z(format_names_for(&names, FORMAT_CONVERT))));
    buf_release(&names);
}

static void an_input_must_have_a_format_that_can_be_read(void **state)
{
    const struct format *f = NULL;
    struct err e = ERR_NONE;

    (void)state;
    assert_true(format_option_parse_input(&f, "trace", &e));
    assert_ptr_equal(f, &mcp_replay_trace_format);
    assert_true(format_option_parse(&f, "csv", &e));
    assert_false(format_option_parse_input(&f, "csv", &e));
    assert_string_equal(e.msg,
                        "'csv' is a format that can only be written, not one of "
                        "recording, trace, jsonrpc, inspector, streamable-http, http-sse, "
                        "cassette, har, mcporter");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_writable_format_is_found_by_its_name),
        cmocka_unit_test(an_unknown_format_is_rejected_with_the_known_ones),
        cmocka_unit_test(an_input_must_have_a_format_that_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
