#include "base/shell-split.h"

#include "base/buf.h"
#include "test.h"

/* Words as "[one][two]". */
static void check(const char *text, const char *want)
{
    struct err e = ERR_NONE;
    struct arena a = { 0 };
    struct buf got;
    char **words;
    size_t count;

    buf_init(&got, 4096);
    if (!shell_split(&words, &count, str_z(text), &a, &e)) {
        buf_printf(&got, "%s", e.msg);
        assert_int_equal(e.kind, ERR_USAGE);
    } else {
        for (size_t i = 0; i < count; i++)
            buf_printf(&got, "[%s]", words[i]);
        assert_null(words[count]);
    }
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
    arena_release(&a);
}

static void words_are_split_at_blanks(void **state)
{
    (void)state;
    check("", "");
    check(" \t\n", "");
    check("one", "[one]");
    check(" npx  -y\tserver\n/tmp ", "[npx][-y][server][/tmp]");
    check("a b c d", "[a][b][c][d]");
}

static void quotes_keep_a_word_together(void **state)
{
    (void)state;
    check("'a b' \"c d\"", "[a b][c d]");
    check("a' 'b\" \"c", "[a b c]");
    check("'' \"\"", "[][]");
    check("'\"' \"'\"", "[\"][']");
    check("'a\\b'", "[a\\b]");
}

static void a_backslash_takes_the_meaning_away(void **state)
{
    (void)state;
    check("a\\ b \\' \\\"", "[a b]['][\"]");
    check("\"a\\\"b\\\\c\\$d\\`e\\n\"", "[a\"b\\c$d`e\\n]");
}

static void nothing_else_of_a_shell_has_a_meaning(void **state)
{
    (void)state;
    check("a $HOME *.c | b > c; d & `e` ~ #f",
          "[a][$HOME][*.c][|][b][>][c;][d][&][`e`][~][#f]");
}

static void what_is_not_closed_is_refused(void **state)
{
    (void)state;
    check("a 'b c", "a quote (') is not closed");
    check("a \"b\\\"", "a quote (\") is not closed");
    check("a \\", "nothing follows the last backslash");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_split_at_blanks),
        cmocka_unit_test(quotes_keep_a_word_together),
        cmocka_unit_test(a_backslash_takes_the_meaning_away),
        cmocka_unit_test(nothing_else_of_a_shell_has_a_meaning),
        cmocka_unit_test(what_is_not_closed_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
