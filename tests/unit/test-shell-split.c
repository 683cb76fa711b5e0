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

static void a_backslash_removes_the_special_meaning(void **state)
{
    (void)state;
    check("a\\ b \\' \\\"", "[a b]['][\"]");
    check("\"a\\\"b\\\\c\\$d\\`e\\n\"", "[a\"b\\c$d`e\\n]");
}

static void other_shell_characters_have_no_meaning(void **state)
{
    (void)state;
    check("a $HOME *.c | b > c; d & `e` ~ #f",
          "[a][$HOME][*.c][|][b][>][c;][d][&][`e`][~][#f]");
}

static void an_unclosed_quote_is_rejected(void **state)
{
    (void)state;
    check("a 'b c", "a quote (') is not closed");
    check("a \"b\\\"", "a quote (\") is not closed");
    check("a \\", "nothing follows the last backslash");
}

static void check_quoted(struct str word, const char *want)
{
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    size_t count;
    char **words;
    struct buf text;

    buf_init(&text, 1000);
    shell_quote(&text, word);
    assert_str(buf_str(&text), str_z(want));
    assert_true(shell_split(&words, &count, buf_str(&text), &a, &e));
    assert_int_equal(count, 1);
    assert_str(str_z(words[0]), word);
    buf_release(&text);
    arena_release(&a);
}

static void a_word_is_quoted_if_it_needs_it(void **state)
{
    (void)state;
    check_quoted(STR("build/a_b-c.jsonl"), "build/a_b-c.jsonl");
    check_quoted(STR(""), "''");
    check_quoted(STR("$.result['a b']"), "'$.result['\\''a b'\\'']'");
    check_quoted(STR("a\\b"), "'a\\b'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_split_at_blanks),
        cmocka_unit_test(quotes_keep_a_word_together),
        cmocka_unit_test(a_backslash_removes_the_special_meaning),
        cmocka_unit_test(other_shell_characters_have_no_meaning),
        cmocka_unit_test(an_unclosed_quote_is_rejected),
        cmocka_unit_test(a_word_is_quoted_if_it_needs_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
