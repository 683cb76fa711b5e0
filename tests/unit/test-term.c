#include "base/term.h"

#include <stdio.h>

#include "base/utf8.h"
#include "test.h"

static void assert_escaped_as(struct str text, enum term_lines lines, struct str want)
{
    struct buf b;

    buf_init(&b, 4096);
    term_escape(&b, text, lines);
    assert_str(buf_str(&b), want);
    buf_release(&b);
}

static void assert_escaped(struct str text, struct str want)
{
    assert_escaped_as(text, TERM_ONE_LINE, want);
}

static void ordinary_text_stays_unchanged(void **state)
{
    static const char *const texts[] = {
        "",
        "plain ASCII ~ \\n \\x1b \\ \"quoted\"",
        "größer, Ελληνικά, русский, עברית, العربية, 日本語, 한국어",
        "e\xCC\x81 combining", /* U+0301 */
        "😀 ⚠️ ☎︎",  /* with emoji and text presentation selectors */
        "\u00A0no-break space and \u3000ideographic space",
        "\u2010\u2014\u2026",
        "\U0010FFFD private use",
        "\uFFFD replacement",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_escaped(str_z(texts[i]), str_z(texts[i]));
        assert_escaped_as(str_z(texts[i]), TERM_MANY_LINES, str_z(texts[i]));
    }
    assert_escaped(STR_NONE, STR(""));
}

static void escaped_json_text_has_the_same_value(void **state)
{
    (void)state;
    assert_escaped_as(STR("{\"a\":\"\u00e9 \\n\\u0041\",\r\n\t\"b\":1}"), TERM_JSON,
                      STR("{\"a\":\"\u00e9 \\n\\u0041\", \n\t\"b\":1}"));
    assert_escaped_as(STR("\"\xc2\x9b\u202e\ufeff\x7f\""), TERM_JSON,
                      STR("\"\\u009b\\u202e\\ufeff\\u007f\""));
    assert_escaped_as(STR("\"\U000e0001\U0001d173\U0001f600\""), TERM_JSON,
                      STR("\"\\udb40\\udc01\\ud834\\udd73\U0001f600\""));
    assert_escaped_as(STR("\x1b\xff"), TERM_JSON, STR("\\u001b\\ufffd"));
}

static void every_control_byte_is_escaped(void **state)
{
    (void)state;
    for (int c = 0; c < 0x20; c++) {
        char text[3] = { 'a', (char)c, 'b' }, want[16];
        const char *name = c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : NULL;
        int n = name ? snprintf(want, sizeof want, "a%sb", name)
                     : snprintf(want, sizeof want, "a\\x%02xb", (unsigned)c);
        assert_escaped(str_n(text, 3), str_n(want, (size_t)n));
        if (c == '\n' || c == '\t')
            assert_escaped_as(str_n(text, 3), TERM_MANY_LINES, str_n(text, 3));
        else
            assert_escaped_as(str_n(text, 3), TERM_MANY_LINES, str_n(want, (size_t)n));
    }
    assert_escaped(STR("a\x7f"), STR("a\\x7f"));
    assert_escaped_as(STR("a\x7f"), TERM_MANY_LINES, STR("a\\x7f"));
}

static void escape_sequences_are_escaped(void **state)
{
    (void)state;
    assert_escaped(STR("\x1b[2J\x1b]0;title\x07"), STR("\\x1b[2J\\x1b]0;title\\x07"));
    assert_escaped(STR("\xC2\x9B"
                       "2J"),
                   STR("<U+009B>2J")); /* C1 CSI as UTF-8 */
    assert_escaped(STR("\x9B"
                       "2J"),
                   STR("\\x9b2J")); /* and as a bare byte */
}

static void every_c1_control_is_escaped(void **state)
{
    (void)state;
    for (uint32_t code = 0x80; code < 0xA0; code++) {
        char text[UTF8_MAX], want[16];
        size_t n = utf8_encode(text, code);
        int len = snprintf(want, sizeof want, "<U+%04X>", code);

        assert_true(term_is_hidden(code));
        assert_escaped(str_n(text, n), str_n(want, (size_t)len));
        assert_escaped_as(str_n(text, n), TERM_MANY_LINES, str_n(want, (size_t)len));
    }
}

static void assert_hidden(uint32_t first, uint32_t last)
{
    for (uint32_t code = first; code <= last; code++) {
        char text[UTF8_MAX], want[16];
        size_t n = utf8_encode(text, code);
        int len = snprintf(want, sizeof want, "<U+%04X>", code);
        assert_escaped(str_n(text, n), str_n(want, (size_t)len));
    }
}

static void bidi_controls_are_escaped(void **state)
{
    (void)state;
    assert_hidden(0x061C, 0x061C); /* Arabic letter mark */
    assert_hidden(0x200E, 0x200F); /* marks */
    assert_hidden(0x202A, 0x202E); /* embeddings and overrides */
    assert_hidden(0x2066, 0x2069); /* isolates */
    assert_hidden(0x206A, 0x206F); /* deprecated shaping controls */
}

static void zero_width_and_invisible_characters_are_escaped(void **state)
{
    (void)state;
    assert_hidden(0x00AD, 0x00AD); /* soft hyphen */
    assert_hidden(0x034F, 0x034F); /* grapheme joiner */
    assert_hidden(0x115F, 0x1160); /* Hangul fillers */
    assert_hidden(0x3164, 0x3164);
    assert_hidden(0xFFA0, 0xFFA0);
    assert_hidden(0x17B4, 0x17B5); /* Khmer inherent vowels */
    assert_hidden(0x180B, 0x180F); /* Mongolian selectors and separator */
    assert_hidden(0x200B, 0x200D); /* space, non-joiner, joiner */
    assert_hidden(0x2060, 0x2064); /* word joiner, invisible operators */
    assert_hidden(0xFE00, 0xFE0D); /* variation selectors but for emoji and text */
    assert_hidden(0xFEFF, 0xFEFF); /* byte order mark */
    assert_hidden(0xFFF9, 0xFFFB); /* interlinear annotation */
    assert_hidden(0x1BCA0, 0x1BCA3);
    assert_hidden(0x1D173, 0x1D17A);
    assert_hidden(0xE0100, 0xE01EF); /* more variation selectors: they smuggle bytes */
}

static void separators_and_tags_are_escaped(void **state)
{
    (void)state;
    assert_hidden(0x2028, 0x2029);
    assert_hidden(0xE0000, 0xE007F);
    assert_escaped(STR("\U000E0041"), STR("<U+E0041>"));
    assert_escaped_as(STR("a\u2028b"), TERM_MANY_LINES, STR("a<U+2028>b"));
}

static void invalid_utf8_bytes_are_escaped_one_by_one(void **state)
{
    (void)state;
    assert_escaped(STR("a\xff"
                       "b"),
                   STR("a\\xffb"));
    assert_escaped(STR("\x80"), STR("\\x80"));
    assert_escaped(STR("\xC0\xAF"), STR("\\xc0\\xaf"));                   /* overlong */
    assert_escaped(STR("\xE0\x80\x9B"), STR("\\xe0\\x80\\x9b"));          /* overlong C1 */
    assert_escaped(STR("\xED\xA0\xBD"), STR("\\xed\\xa0\\xbd"));          /* surrogate */
    assert_escaped(STR("\xF4\x90\x80\x80"), STR("\\xf4\\x90\\x80\\x80")); /* too large */
    assert_escaped(STR("\xE2\x82"), STR("\\xe2\\x82"));                   /* cut off */
    assert_escaped(STR("\xE2\x82z\xE2\x82\xAC"), STR("\\xe2\\x82z€"));
    assert_escaped_as(STR("\xfe\n"), TERM_MANY_LINES, STR("\\xfe\n"));
}

/* Each code point is written as itself or as visible ASCII. */
static void every_code_point_is_unchanged_or_escaped_completely(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 64);
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        char text[UTF8_MAX];
        struct str in = str_n(text, utf8_encode(text, code));

        buf_clear(&b);
        term_escape(&b, in, TERM_ONE_LINE);
        assert_true(b.len > 0);
        if (str_eq(buf_str(&b), in)) {
            assert_true(code >= 0x20 && code != 0x7F && !(code >= 0x80 && code < 0xA0));
            continue;
        }
        assert_true(code < 0x20 || code > 0x7E);
        for (size_t i = 0; i < b.len; i++)
            assert_in_range(b.at[i], 0x21, 0x7E);
    }
    buf_release(&b);
}

static void the_limit_of_the_buffer_is_respected(void **state)
{
    struct err e = ERR_NONE;
    struct buf b;

    (void)state;
    buf_init(&b, 5);
    term_escape(&b, STR("ab\x1b"), TERM_ONE_LINE);
    assert_false(buf_ok(&b, &e));
    assert_str(buf_str(&b), STR("ab"));
    buf_release(&b);
}

static void a_truncated_text_fits_its_columns_and_splits_no_character(void **state)
{
    static const struct {
        const char *text;
        size_t columns;
        const char *want;
    } rows[] = {
        { "abc", 3, "abc" },
        { "abcd", 3, "ab…" },
        { "abcd", 4, "abcd" },
        { "abcd", 1, "…" },
        { "abcd", 0, "" },
        { "", 0, "" },
        { "", 5, "" },
        { "a", 1, "a" },
        { "äöü", 3, "äöü" },
        { "äöüß", 3, "äö…" },
        { "日本語", 2, "日…" },
        { "a\x1b"
          "b",
          6, "a\\x1bb" },
        { "a\x1b"
          "b",
          5, "a…" }, /* not "a\x1…" */
        { "ab\x1b", 6, "ab\\x1b" },
        { "ab\x1b", 5, "ab…" },
        { "\u202e", 8, "<U+202E>" },
        { "\u202e", 7, "…" },
        { "a\nb", 4, "a\\nb" },
        { "a\nb", 3, "a…" },
        { "\xff\xff", 8, "\\xff\\xff" },
        { "\xff\xff", 7, "\\xff…" },
        { "\xE2\x82", 5, "\\xe2…" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b;
        buf_init(&b, 100);
        term_escape_cut(&b, str_z(rows[i].text), rows[i].columns);
        assert_str(buf_str(&b), str_z(rows[i].want));
        buf_release(&b);
    }
}

/* For every width: no more characters than that, and the same beginning. */
static void every_truncated_text_is_a_prefix(void **state)
{
    const struct str text = STR("ab\x1b"
                                "c\u202eé\xffz\ntail");
    struct buf whole, cut;

    (void)state;
    buf_init(&whole, 100);
    buf_init(&cut, 100);
    term_escape(&whole, text, TERM_ONE_LINE);
    for (size_t columns = 1; columns < 40; columns++) {
        size_t shown = 0;
        struct str head;

        buf_clear(&cut);
        term_escape_cut(&cut, text, columns);
        for (size_t i = 0; i < cut.len; i++)
            shown += ((unsigned char)cut.at[i] & 0xC0) != 0x80;
        assert_true(shown <= columns);
        head = buf_str(&cut);
        if (str_eq(head, buf_str(&whole)))
            continue;
        assert_true(str_ends(head, STR("…")));
        head.len -= STR("…").len;
        assert_true(str_starts(buf_str(&whole), head));
    }
    buf_release(&whole);
    buf_release(&cut);
}

static void a_style_is_an_escape_sequence_or_empty(void **state)
{
    static const char *const want[] = {
        [TERM_PLAIN] = "\x1b[0m", [TERM_BOLD] = "\x1b[1m",   [TERM_DIM] = "\x1b[2m",
        [TERM_RED] = "\x1b[31m",  [TERM_GREEN] = "\x1b[32m", [TERM_YELLOW] = "\x1b[33m",
        [TERM_CYAN] = "\x1b[36m",
    };
    struct buf b;

    (void)state;
    buf_init(&b, 100);
    for (enum term_style s = TERM_PLAIN; s <= TERM_CYAN; s++) {
        buf_clear(&b);
        term_style(&b, false, s);
        assert_int_equal(b.len, 0);
        term_style(&b, true, s);
        assert_str(buf_str(&b), str_z(want[s]));
    }
    buf_release(&b);
}

static void colour_depends_on_option_variables_and_terminal(void **state)
{
    static const struct {
        enum term_color asked;
        bool tty;
        struct term_env env;
        bool want;
    } rows[] = {
        { TERM_COLOR_AUTO, true, { .term = "xterm" }, true },
        { TERM_COLOR_AUTO, true, { .term = NULL }, true },
        { TERM_COLOR_AUTO, false, { .term = "xterm" }, false },
        { TERM_COLOR_AUTO, true, { .term = "dumb" }, false },
        { TERM_COLOR_AUTO, true, { .no_color = "1" }, false },
        { TERM_COLOR_AUTO, true, { .no_color = "0" }, false },
        { TERM_COLOR_AUTO, true, { .no_color = "" }, true },
        { TERM_COLOR_AUTO, false, { .force_color = "1" }, true },
        { TERM_COLOR_AUTO, false, { .force_color = "0" }, false },
        { TERM_COLOR_AUTO, false, { .force_color = "" }, false },
        { TERM_COLOR_AUTO, false, { .force_color = "00" }, true },
        { TERM_COLOR_AUTO, false, { .clicolor_force = "1" }, true },
        { TERM_COLOR_AUTO, false, { .clicolor_force = "0" }, false },
        { TERM_COLOR_AUTO, true, { .clicolor_force = "0" }, true },
        { TERM_COLOR_AUTO, true, { .no_color = "1", .force_color = "1" }, false },
        { TERM_COLOR_AUTO, true, { .term = "dumb", .clicolor_force = "1" }, false },
        { TERM_COLOR_ALWAYS, false, { .no_color = "1", .term = "dumb" }, true },
        { TERM_COLOR_NEVER, true, { .force_color = "1" }, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (term_use_color(rows[i].asked, rows[i].tty, &rows[i].env) != rows[i].want)
            fail_msg("row %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_text_stays_unchanged),
        cmocka_unit_test(escaped_json_text_has_the_same_value),
        cmocka_unit_test(every_control_byte_is_escaped),
        cmocka_unit_test(escape_sequences_are_escaped),
        cmocka_unit_test(every_c1_control_is_escaped),
        cmocka_unit_test(bidi_controls_are_escaped),
        cmocka_unit_test(zero_width_and_invisible_characters_are_escaped),
        cmocka_unit_test(separators_and_tags_are_escaped),
        cmocka_unit_test(invalid_utf8_bytes_are_escaped_one_by_one),
        cmocka_unit_test(every_code_point_is_unchanged_or_escaped_completely),
        cmocka_unit_test(the_limit_of_the_buffer_is_respected),
        cmocka_unit_test(a_truncated_text_fits_its_columns_and_splits_no_character),
        cmocka_unit_test(every_truncated_text_is_a_prefix),
        cmocka_unit_test(a_style_is_an_escape_sequence_or_empty),
        cmocka_unit_test(colour_depends_on_option_variables_and_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
