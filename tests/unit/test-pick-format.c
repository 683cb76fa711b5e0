#include "cmd/pick-format.h"

#include "test.h"

static void a_format_that_can_be_written_is_taken_by_its_name(void **state)
{
    const struct format *f = NULL;
    struct err e = ERR_NONE;

    (void)state;
    assert_true(pick_format_parse(&f, "cassette", &e));
    assert_ptr_equal(f, &cassette_format);
}

static void another_name_is_refused_with_those_there_are(void **state)
{
    const struct format *f = NULL;
    struct err e = ERR_NONE;
    struct buf names;

    (void)state;
    assert_false(pick_format_parse(&f, "casette", &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_true(str_starts(str_z(e.msg), STR("'casette' is none of ")));
    assert_true(str_ends(str_z(e.msg), str_z(pick_format_list(&names))));
    buf_release(&names);
}

static void the_list_has_every_format_with_a_writer_and_no_other(void **state)
{
    struct str rest;
    struct buf names;
    size_t writable = 0, listed = 0;

    (void)state;
    rest = str_z(pick_format_list(&names));
    for (const struct format *const *f = format_table; *f; f++)
        writable += (*f)->put != NULL;
    while (rest.len) {
        const struct format *f = format_by_name(str_trim(str_cut(&rest, ',')));

        assert_true(f && f->put);
        listed++;
    }
    assert_int_equal(listed, writable);
    buf_release(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_format_that_can_be_written_is_taken_by_its_name),
        cmocka_unit_test(another_name_is_refused_with_those_there_are),
        cmocka_unit_test(the_list_has_every_format_with_a_writer_and_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
