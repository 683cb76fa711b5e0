#include "json/ecma-pattern.h"

#include "base/regex.h"
#include "test.h"

enum outcome { MATCHES, DIFFERS, NOT_TRANSLATED };

static enum outcome search(const char *pattern, struct str text)
{
    struct err e = ERR_NONE;
    struct regex *r;
    struct buf b;
    enum outcome found = NOT_TRANSLATED;

    buf_init(&b, 10000);
    if (json_ecma_pattern(str_z(pattern), &b)) {
        if (!regex_new(&r, buf_str(&b), REGEX_EXACT, &e))
            fail_msg("'%s' became '%s': %s", pattern, buf_z(&b), e.msg);
        found = regex_search(r, text) ? MATCHES : DIFFERS;
        regex_free(r);
    }
    buf_release(&b);
    return found;
}

struct row {
    const char *pattern;
    struct str text;
    enum outcome want;
};

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (search(rows[i].pattern, rows[i].text) != rows[i].want)
            fail_msg("'%s' on row %zu", rows[i].pattern, i);
}

static void characters_and_spaces_are_those_of_ecmascript(void **state)
{
    static const struct row rows[] = {
        { "^a+$", STR_INIT("aa"), MATCHES },
        { "^a+$", STR_INIT("aa\n"), DIFFERS },
        { "", STR_INIT(""), MATCHES },
        { "^.$", STR_INIT("\xf0\x9f\x9a\x80"), MATCHES },
        { "^.$", STR_INIT("\n"), DIFFERS },
        { "^.$", STR_INIT("\r"), DIFFERS },
        { "^.$", STR_INIT("\xe2\x80\xa8"), DIFFERS },
        { "^[.]$", STR_INIT("."), MATCHES },
        { "^[.]$", STR_INIT("a"), DIFFERS },
        { "^\\s$", STR_INIT("\v"), MATCHES },
        { "^\\s$", STR_INIT("\xc2\xa0"), MATCHES },
        { "^\\s$", STR_INIT("\xe2\x80\x83"), MATCHES },
        { "^\\s$", STR_INIT("a"), DIFFERS },
        { "^\\S$", STR_INIT("\xc2\xa0"), DIFFERS },
        { "^\\S$", STR_INIT("\xc3\xa9"), MATCHES },
        { "^[\\s]$", STR_INIT("\xef\xbb\xbf"), MATCHES },
        { "^[^\\s]$", STR_INIT("\xef\xbb\xbf"), DIFFERS },
        { "^[\\S]$", STR_INIT("\v"), DIFFERS },
        { "^[x\\S]$", STR_INIT("!"), MATCHES },
        { "^[\\s\\S]$", STR_INIT("\n"), MATCHES },
        { "^[\\s\\S]$", STR_INIT("z"), MATCHES },
        { "^\\d\\w$", STR_INIT("1_"), MATCHES },
        { "^\\d$", STR_INIT("\xd9\xa1"), DIFFERS }, /* an Arabic digit */
        { "^\\w$", STR_INIT("\xc3\xa9"), DIFFERS },
    };

    (void)state;
    check_rows(rows, sizeof rows / sizeof *rows);
}

static void classes_escapes_and_groups_are_those_of_ecmascript(void **state)
{
    static const struct row rows[] = {
        { "^[^]$", STR_INIT("\n"), MATCHES },
        { "^[^]$", STR_INIT(""), DIFFERS },
        { "[]", STR_INIT("]"), DIFFERS },
        { "^[[:alpha:]]$", STR_INIT("q"), DIFFERS },
        { "^[[:alpha:]]$", STR_INIT("a]"), MATCHES },
        { "^[a^]$", STR_INIT("^"), MATCHES },
        { "^[a-c-e]$", STR_INIT("d"), DIFFERS },
        { "^[a-c-e]$", STR_INIT("-"), MATCHES },
        { "^[-a]$", STR_INIT("-"), MATCHES },
        { "^[a-]$", STR_INIT("-"), MATCHES },
        { "^[\\w-]+$", STR_INIT("a-b"), MATCHES },
        { "^[\\b]$", STR_INIT("\b"), MATCHES },
        { "\\bb", STR_INIT("a b"), MATCHES },
        { "\\Bb", STR_INIT("a b"), DIFFERS },
        { "^\\u00e9$", STR_INIT("\xc3\xa9"), MATCHES },
        { "^\\u{1F680}$", STR_INIT("\xf0\x9f\x9a\x80"), MATCHES },
        { "^\\ud83d\\ude80$", STR_INIT("\xf0\x9f\x9a\x80"), MATCHES },
        { "^[\\u00e0-\\u00ff]$", STR_INIT("\xc3\xa9"), MATCHES },
        { "^[\xc3\xa0-\xc3\xbf]$", STR_INIT("\xc3\xa9"), MATCHES },
        { "^\\x41\\cJ\\0$", STR_INIT("A\n\0"), MATCHES },
        { "^\\f\\n\\r\\t\\v$", STR_INIT("\f\n\r\t\v"), MATCHES },
        { "^\\/\\-\\.\\@$", STR_INIT("/-.@"), MATCHES },
        { "^\\p{Lu}\\P{L}$",
          STR_INIT("\xc3\x89"
                   "1"),
          MATCHES },
        { "^[\\p{L}]$", STR_INIT("\xc3\xa9"), MATCHES },
        { "^(a|(?:b))(?<year>c)$", STR_INIT("bc"), MATCHES },
        { "^a{2}b{1,}c{0,1}$", STR_INIT("aabb"), MATCHES },
        { "^{a}$", STR_INIT("{a}"), MATCHES },
        { "^a{$", STR_INIT("a{"), MATCHES },
        { "^a]}$", STR_INIT("a]}"), MATCHES },
        { "^a*?b$", STR_INIT("aab"), MATCHES },
    };

    (void)state;
    check_rows(rows, sizeof rows / sizeof *rows);
}

static void patterns_without_a_translation_are_rejected(void **state)
{
    static const char *const rows[] = {
        "(?=a)",      "(?!a)",
        "(?<=a)",     "(?<!a)",
        "(?i)a",      "(?i:a)",
        "(a)\\1",     "\\k<a>",
        "\\A",        "\\z",
        "\\Qa",       "\\a",
        "\\01",       "\\c1",
        "\\x4",       "\\xg0",
        "\\u12",      "\\u{}",
        "\\u{g}",     "\\u{110000}",
        "\\u{d800}",  "\\ud83d",
        "\\ude80",    "\\ud83d\\u0041",
        "\\p{Greek}", "\\p{Script=Greek}",
        "\\pL",       "\\p{1}",
        "a{,5}",      "[\\w-z]",
        "[a-\\d]",    "[a",
        "[",          "\\",
        "[\\",        "[\\B]",
        "\\\xc3\xa9", "\xff",
    };
    struct buf b;

    (void)state;
    buf_init(&b, 10000);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (json_ecma_pattern(str_z(rows[i]), &b))
            fail_msg("'%s' was translated", rows[i]);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_and_spaces_are_those_of_ecmascript),
        cmocka_unit_test(classes_escapes_and_groups_are_those_of_ecmascript),
        cmocka_unit_test(patterns_without_a_translation_are_rejected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
