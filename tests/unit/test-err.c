#include "base/err.h"

#include <errno.h>
#include <stdio.h>

#include "assert-aborts.h"
#include "test.h"

static void an_error_has_kind_and_text_and_err_set_returns_false(void **state)
{
    struct err e = ERR_NONE;

    (void)state;
    assert_int_equal(e.kind, ERR_OK);
    assert_false(err_set(&e, ERR_INPUT, "cannot read '%s': line %d", "x", 3));
    assert_int_equal(e.kind, ERR_INPUT);
    assert_string_equal(e.msg, "cannot read 'x': line 3");
    assert_string_equal(e.hint, "");
}

static void a_new_error_clears_the_old_hint(void **state)
{
    struct err e = ERR_NONE;

    (void)state;
    err_set(&e, ERR_USAGE, "one");
    assert_false(err_hint(&e, "try %s", "this"));
    assert_string_equal(e.hint, "try this");
    assert_string_equal(e.msg, "one");
    err_set(&e, ERR_IO, "two");
    assert_string_equal(e.hint, "");
}

static void a_system_error_has_the_text_of_errno(void **state)
{
    struct err e = ERR_NONE;

    (void)state;
    assert_false(err_errno(&e, ENOSPC));
    assert_int_equal(e.kind, ERR_IO);
    assert_string_equal(e.msg, strerror(ENOSPC));
    err_hint(&e, "of another error");
    assert_false(err_cannot(&e, "make folder", "a/b", EIO));
    assert_int_equal(e.kind, ERR_IO);
    assert_string_equal(e.msg, "cannot make folder 'a/b': Input/output error");
    assert_string_equal(e.hint, "");
}

static void context_is_prepended(void **state)
{
    struct err e = ERR_NONE;

    (void)state;
    err_set(&e, ERR_LIMIT, "too long");
    err_hint(&e, "shorten it");
    assert_false(err_wrap(&e, "line %d", 7));
    assert_false(err_wrap(&e, "cannot read '%s'", "f"));
    assert_string_equal(e.msg, "cannot read 'f': line 7: too long");
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_string_equal(e.hint, "shorten it");
}

/* With any lengths, the text ends inside its array and begins with the context. */
static void a_too_long_text_is_truncated(void **state)
{
    static char x[600], y[600];

    (void)state;
    memset(x, 'x', sizeof x - 1);
    memset(y, 'y', sizeof y - 1);
    for (int inner = 0; inner < 600; inner += 7) {
        for (int outer = 0; outer < 600; outer++) {
            struct err e = ERR_NONE;
            char want[1300];

            err_set(&e, ERR_IO, "%.*s", inner, x);
            assert_int_equal(strlen(e.msg), inner < 511 ? inner : 511);
            err_wrap(&e, "%.*s", outer, y);
            snprintf(want, sizeof want, "%.*s: %.*s", outer, y, inner < 511 ? inner : 511, x);
            want[511] = '\0';
            assert_true(strncmp(e.msg, want, strlen(e.msg)) == 0);
            assert_true(strlen(e.msg) + 2 >= strlen(want));
        }
    }
}

static void a_too_long_hint_is_truncated(void **state)
{
    struct err e = ERR_NONE;

    (void)state;
    err_hint(&e, "%0500d", 1);
    assert_int_equal(strlen(e.hint), sizeof e.hint - 1);
}

static void the_reason_is_the_last_part_of_the_text(void **state)
{
    struct err e = ERR_NONE;

    (void)state;
    assert_string_equal(err_reason(&e), "");
    err_set(&e, ERR_IO, "all of it");
    assert_string_equal(err_reason(&e), "all of it");
    err_wrap(&e, "cannot write 'a'");
    err_wrap(&e, "more");
    assert_string_equal(err_reason(&e), "all of it");
}

static void trigger_bug(void)
{
    BUG("a mistake of ours");
}

static void trigger_bug_if(void)
{
    int two = 2;

    BUG_IF(two == 2);
}

static void a_bug_prints_its_position_and_aborts(void **state)
{
    (void)state;
    assert_aborts(trigger_bug, "test-err.c:");
    assert_aborts(trigger_bug, ": a mistake of ours\n");
    assert_aborts(trigger_bug_if, ": two == 2\n");
    BUG_IF(1 == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_has_kind_and_text_and_err_set_returns_false),
        cmocka_unit_test(a_new_error_clears_the_old_hint),
        cmocka_unit_test(a_system_error_has_the_text_of_errno),
        cmocka_unit_test(context_is_prepended),
        cmocka_unit_test(a_too_long_text_is_truncated),
        cmocka_unit_test(a_too_long_hint_is_truncated),
        cmocka_unit_test(the_reason_is_the_last_part_of_the_text),
        cmocka_unit_test(a_bug_prints_its_position_and_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
