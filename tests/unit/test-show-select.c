#include "report/show-select.h"

#include <stdlib.h>
#include <unistd.h>

#include "test.h"

static void check(const char *operand, const char *path, uint64_t number, bool message)
{
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    struct show_select p;

    assert_true(show_select_parse(&p, &sys_real, operand, &a, &e));
    assert_string_equal(p.path, path);
    assert_int_equal(p.number, number);
    assert_int_equal(p.is_message, message);
    arena_release(&a);
}

static void a_number_after_the_last_colon_selects_an_operation(void **state)
{
    (void)state;
    check("a.jsonl", "a.jsonl", 0, false);
    check("a.jsonl:3", "a.jsonl", 3, false);
    check("a.jsonl:#3", "a.jsonl", 3, true);
    check("C:/x/a.jsonl", "C:/x/a.jsonl", 0, false);
    check("a:1:2", "a:1", 2, false);
    check("-:2", "-", 2, false);
    check("-", "-", 0, false);
    check(":2", ":2", 0, false);
    check("a:0", "a:0", 0, false);
    check("a:", "a:", 0, false);
    check("a:#", "a:#", 0, false);
    check("a:-1", "a:-1", 0, false);
    check("a:1x", "a:1x", 0, false);
    check("a:18446744073709551616", "a:18446744073709551616", 0, false);
}

static void an_existing_file_of_that_name_has_precedence(void **state)
{
    char path[] = "/tmp/show-pick-XXXXXX:7";
    int fd = mkstemps(path, 2);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    check(path, path, 0, false);
    unlink(path);
    path[sizeof path - 3] = '\0';
}

static void an_invalid_number_is_reported(void **state)
{
    static const char *const numbers[] = { "0", "x", "", "#", "#0", "-1" };
    char path[] = "/tmp/show-pick-XXXXXX";
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct arena a = { 0 };
        struct err e = ERR_NONE;
        struct show_select p;

        assert_false(show_select_parse(&p, &sys_real,
                                       arena_printf(&a, "%s:%s", path, numbers[i]).at, &a, &e));
        assert_int_equal(e.kind, ERR_USAGE);
        assert_non_null(strstr(e.msg, "is not the number of an operation or message"));
        arena_release(&a);
    }
    unlink(path);
}

static void expect_hint(const char *word, const char *hint)
{
    char *words[] = { (char *)(uintptr_t)word };
    struct err e = ERR_NONE;
    struct filter *f;

    assert_false(show_select_filter(&f, words, 1, NULL, 0, &e));
    assert_string_equal(e.hint, hint);
}

static void the_error_of_a_filter_is_underlined(void **state)
{
    (void)state;
    expect_hint("tool:x methd:y", "tool:x methd:y\n       ^^^^^\ndid you mean 'method'?");
    expect_hint("tool:", "tool:\n     ^");
    expect_hint("é is:x", "é is:x\n     ^");
    expect_hint("a b c d e f g h i j k l m n o p q r s t u v w x y z is:q "
                "a b c d e f g h i j k l m n o p q r s t u v w x y z",
                " n o p q r s t u v w x y z is:q a b c d e f g h i j k l m n \n"
                "                              ^");
}

static void words_and_options_are_combined(void **state)
{
    char a[] = "id:7", b[] = "tool:x", *words[] = { a, b };
    const char *more[] = { "id:1 OR id:2", "-is:ok" };
    static const struct filter_view fits = { .id = STR_INIT("2"), .is = FILTER_IS_PENDING },
                                    not = { .id = STR_INIT("2"), .is = FILTER_IS_OK };
    struct err e = ERR_NONE;
    struct filter *f;

    (void)state;
    assert_true(show_select_filter(&f, NULL, 0, more, 2, &e));
    assert_true(filter_matches(f, &fits));
    assert_false(filter_matches(f, &not ));
    filter_free(f);
    assert_true(show_select_filter(&f, words, 2, NULL, 0, &e));
    assert_false(filter_matches(f, &fits));
    filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_after_the_last_colon_selects_an_operation),
        cmocka_unit_test(an_existing_file_of_that_name_has_precedence),
        cmocka_unit_test(an_invalid_number_is_reported),
        cmocka_unit_test(the_error_of_a_filter_is_underlined),
        cmocka_unit_test(words_and_options_are_combined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
