#include "report/word-diff.h"

#include "test.h"

static void check(const char *before, const char *after, const char *want)
{
    struct buf got;

    buf_init(&got, 1 << 20);
    assert_int_equal(word_diff_write(&got, str_z(before), str_z(after), false), want != NULL);
    assert_str(buf_str(&got), str_z(want ? want : ""));
    buf_release(&got);
}

static void changed_words_are_marked(void **state)
{
    (void)state;
    check("\"found 3 issues here\"", "\"found 4 issues here\"",
          "\"found [-3-]{+4+} issues here\"");
    check("\"a b c\"", "\"a b c d\"", "\"a b c {+d+}\"");
    check("\"x a b c\"", "\"a b c\"", "\"[-x-] a b c\"");
    check("\"a b\\nc d\"", "\"a b\\nC d\"", "\"a b [-c-]{+C+} d\"");
}

static void long_parts_without_a_change_are_folded(void **state)
{
    (void)state;
    check("\"1 2 3 4 5 6 7 8 9 x 1 2 3 4 5 6 7 8 9 0 1 2 y\"",
          "\"1 2 3 4 5 6 7 8 9 z 1 2 3 4 5 6 7 8 9 0 1 2 w\"",
          "\"… 5 words … 6 7 8 9 [-x-]{+z+} 1 2 3 4 … 4 words … 9 0 1 2 [-y-]{+w+}\"");
}

static void values_without_differing_words_get_no_word_diff(void **state)
{
    (void)state;
    check("1", "2", NULL);
    check("\"a\"", "\"b\"", NULL);
    check("\"a b c d\"", "\"e f g h\"", NULL);
    check("\"a b c\"", "{\"a\":1}", NULL);
}

static void hostile_text_is_escaped_and_bounded(void **state)
{
    struct buf a, b, got;

    (void)state;
    check("\"a b \\u001b[31m\"", "\"a b \\u202e\"", "\"a b [-\\x1b[31m-]{+<U+202E>+}\"");
    buf_init(&a, 1 << 20);
    buf_init(&b, 1 << 20);
    buf_init(&got, 1 << 20);
    for (int i = 0; i < WORD_DIFF_WORDS / 2; i++) {
        buf_printf(&a, "%s%d same", i ? " " : "\"", i);
        buf_printf(&b, "%s%d same", i ? " " : "\"", i + 100000);
    }
    buf_add_ch(&a, '"');
    buf_add_ch(&b, '"');
    assert_true(word_diff_write(&got, buf_str(&a), buf_str(&b), false));
    assert_true(got.len < 2 * WORD_DIFF_BYTES);
    a.len--;
    buf_add(&a, STR(" one more\""));
    assert_false(word_diff_write(&got, buf_str(&a), buf_str(&b), false));
    buf_release(&a);
    buf_release(&b);
    buf_release(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changed_words_are_marked),
        cmocka_unit_test(long_parts_without_a_change_are_folded),
        cmocka_unit_test(values_without_differing_words_get_no_word_diff),
        cmocka_unit_test(hostile_text_is_escaped_and_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
