#include "format/format.h"

#include "test.h"

static void every_format_is_found_by_its_name(void **state)
{
    size_t count = 0;

    (void)state;
    for (const struct format *const *f = format_table; *f; f++, count++) {
        assert_ptr_equal(format_by_name(str_z((*f)->name)), *f);
        assert_true((*f)->name[0] && (*f)->about[0] && (*f)->ext[0]);
        assert_true((*f)->next || (*f)->put);
    }
    assert_true(count > 0);
    assert_ptr_equal(format_by_name(STR("recording")), &recording_format);
}

static void no_other_name_finds_one(void **state)
{
    static const char *const names[] = { "", "record", "recordings", "Recording", ".jsonl" };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_null(format_by_name(str_z(names[i])));
}

/* A file is read by the one format that claims it. */
static void a_format_claims_what_it_writes_and_no_other_does(void **state)
{
    (void)state;
    for (const struct format *const *f = format_table; *f; f++) {
        struct record r = { .kind = RECORD_HEADER, .has = HAS_WALL };
        void *writer = (*f)->begin ? (*f)->begin() : NULL;
        struct buf text;

        if (!(*f)->put || !(*f)->next)
            continue;
        r.header.version = r.header.upstream = r.header.made_for = STR("1.0");
        buf_init(&text, 1 << 20);
        (*f)->put(writer, &text, &r);
        if ((*f)->end)
            (*f)->end(writer, &text);
        for (const struct format *const *other = format_table; *other; other++)
            if ((*other)->probe(buf_str(&text)) != (other == f))
                fail_msg("%s about a %s", (*other)->name, (*f)->name);
        buf_release(&text);
    }
}

static void check_place(struct str window, size_t at, const char *want)
{
    struct window w = { .bytes = window, .line = 7, .path = "a b" };
    struct err e = ERR_NONE;

    assert_int_equal(format_error(&w, at, &e, "%s %d", "why", 5), NEXT_ERROR);
    assert_string_equal(e.msg, want);
    assert_int_equal(e.kind, ERR_INPUT);
}

static void an_error_has_path_line_and_byte(void **state)
{
    (void)state;
    check_place(STR("abc\ndef\n"), 0, "a b:7:1: why 5");
    check_place(STR("abc\ndef\n"), 2, "a b:7:3: why 5");
    check_place(STR("abc\ndef\n"), 3, "a b:7:4: why 5");
    check_place(STR("abc\ndef\n"), 4, "a b:8:1: why 5");
    check_place(STR("abc\ndef\n"), 7, "a b:8:4: why 5");
    check_place(STR("abc\ndef\n"), 8, "a b:9:1: why 5");
    check_place(STR("abc"), 99, "a b:7:4: why 5");
    check_place(STR(""), 0, "a b:7:1: why 5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_is_found_by_its_name),
        cmocka_unit_test(no_other_name_finds_one),
        cmocka_unit_test(a_format_claims_what_it_writes_and_no_other_does),
        cmocka_unit_test(an_error_has_path_line_and_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
