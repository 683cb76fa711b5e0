#include "cmd/format-option.h"

#include "test.h"

static void a_format_that_can_be_written_is_taken_by_its_name(void **state)
{
    const struct format *f = NULL;
    struct err e = ERR_NONE;

    (void)state;
    assert_true(format_option_parse(&f, "cassette", &e));
    assert_ptr_equal(f, &cassette_format);
}

static void another_name_is_refused_with_those_there_are(void **state)
{
    const struct format *f = NULL;
    struct err e = ERR_NONE;
    struct buf names;

    (void)state;
    assert_false(format_option_parse(&f, "casette", &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_true(str_starts(str_z(e.msg), STR("'casette' is not one of ")));
    assert_true(str_ends(str_z(e.msg), str_z(format_writable_names(&names))));
    buf_release(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_format_that_can_be_written_is_taken_by_its_name),
        cmocka_unit_test(another_name_is_refused_with_those_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
