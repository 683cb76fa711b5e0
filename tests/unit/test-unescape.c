#include "redact/unescape.h"

#include "test.h"

static void assert_unescaped(struct str text, unsigned kinds, struct str want)
{
    struct buf b;

    buf_init(&b, 1 << 10);
    assert_true(unescape_text(text, kinds, &b));
    assert_str(buf_str(&b), want);
    buf_release(&b);
}

static void assert_plain(struct str text, unsigned kinds)
{
    struct buf b;

    buf_init(&b, 1 << 10);
    assert_false(unescape_text(text, kinds, &b));
    assert_int_equal(b.len, 0);
    buf_release(&b);
}

static void one_layer_is_removed(void **state)
{
    (void)state;
    assert_unescaped(STR("a\\n\\t\\\"\\\\\\/\\b\\f\\r\\'z"), UNESCAPE_ALL,
                     STR("a\n\t\"\\/\b\f\r'z"));
    assert_unescaped(STR("\\u0041\\u00e9\\uD83D\\ude00"), UNESCAPE_ALL,
                     STR("A\xc3\xa9\xf0\x9f\x98\x80"));
    assert_unescaped(STR("\\x41\\xff"), UNESCAPE_ALL, STR("A\xff"));
    assert_unescaped(STR("%41%2f%2Fb"), UNESCAPE_ALL, STR("A//b"));
    assert_unescaped(STR("&amp;&lt;&gt;&quot;&apos;&#65;&#x41;&#X1f600;"), UNESCAPE_ALL,
                     STR("&<>\"'AA\xf0\x9f\x98\x80"));
    assert_unescaped(STR("\\\\u0041%2541&amp;#65;"), UNESCAPE_ALL, STR("\\u0041%41&#65;"));
}

static void escapes_of_other_languages_are_decoded(void **state)
{
    (void)state;
    assert_unescaped(STR("\\u{41}\\u{1F600}\\U00000041\\U0001f600"), UNESCAPE_ALL,
                     STR("A\xf0\x9f\x98\x80"
                         "A\xf0\x9f\x98\x80"));
    assert_unescaped(STR("\\101\\303\\251\\1012"), UNESCAPE_ALL,
                     STR("A\xc3\xa9"
                         "A2"));
    assert_unescaped(STR("%u0041%ud83d%uDE00%41"), UNESCAPE_ALL,
                     STR("A\xf0\x9f\x98\x80"
                         "A"));
    assert_unescaped(STR("\\$\\ \\+\\&\\a"), UNESCAPE_ALL, STR("$ +&\\a"));
}

static void named_and_numeric_entities_are_decoded(void **state)
{
    (void)state;
    assert_unescaped(STR("&commat;&dollar;&percnt;&colon;&bsol;&num;&NewLine;"), UNESCAPE_ALL,
                     STR("@$%:\\#\n"));
    assert_unescaped(STR("&AMP;&Aacute;&aacute;&yuml;&nbsp;&AElig;&zwj;"), UNESCAPE_ALL,
                     STR("&\xc3\x81\xc3\xa1\xc3\xbf\xc2\xa0\xc3\x86&zwj;"));
    assert_unescaped(STR("&#0000000065;&#x0000041;&#65 &#x41-&#65"), UNESCAPE_ALL,
                     STR("AAA A-A"));
    assert_unescaped(STR("&#6a;"), UNESCAPE_ALL, STR("\6a;"));
}

static void a_lone_surrogate_is_three_bytes(void **state)
{
    (void)state;
    assert_unescaped(STR("\\ud83dx"), UNESCAPE_ALL, STR("\xed\xa0\xbdx"));
    assert_unescaped(STR("\\ud83d\\u0041"), UNESCAPE_ALL,
                     STR("\xed\xa0\xbd"
                         "A"));
    assert_unescaped(STR("\\ude00"), UNESCAPE_ALL, STR("\xed\xb8\x80"));
}

static void invalid_escapes_stay(void **state)
{
    static const char *const plain[] = {
        "",
        "plain",
        "100%",
        "%4",
        "%zz",
        "a & b",
        "&",
        "&amp",
        "&#;",
        "&#x;",
        "\\",
        "\\q",
        "\\u12",
        "\\u12g4",
        "\\x4",
        "&nbsp",
        "&#99999999;",
        "&#g;",
        "&toolongname;",
        "&nope;",
        "50%of",
        "&;",
        "&#1114112;",
        "\\u{}",
        "\\u{110000}",
        "\\u{41",
        "\\U00110000",
        "\\18",
        "\\400",
        "%u00",
    };

    (void)state;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        assert_plain(str_z(plain[i]), UNESCAPE_ALL);
    assert_unescaped(STR("%%41 \\q\\n &amp&amp;"), UNESCAPE_ALL, STR("%A \\q\n &amp&"));
}

static void only_the_requested_kinds_are_decoded(void **state)
{
    struct str all = STR("\\n%41&lt;");

    (void)state;
    assert_unescaped(all, UNESCAPE_BACKSLASH, STR("\n%41&lt;"));
    assert_unescaped(all, UNESCAPE_PERCENT, STR("\\nA&lt;"));
    assert_unescaped(all, UNESCAPE_ENTITY, STR("\\n%41<"));
    assert_plain(STR("%41"), UNESCAPE_BACKSLASH);
}

static void a_too_small_buffer_is_reported(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 4);
    assert_true(unescape_text(STR("\\n\\n\\n\\n\\n"), UNESCAPE_ALL, &b));
    assert_true(b.full);
    buf_release(&b);
}

/* Every span of the plain text comes from the escapes that make it, whole. */
static void positions_are_mapped_back_to_the_source(void **state)
{
    /* plain:  a b N A c & d   source offsets per byte below */
    struct str text = STR("ab\\n%41c&amp;d");
    const size_t from[] = { 0, 1, 2, 4, 7, 8, 13 }, to[] = { 1, 2, 4, 7, 8, 13, 14 };
    enum { PLAIN = 7 };

    (void)state;
    for (size_t at = 0; at < PLAIN; at++)
        for (size_t end = at + 1; end <= PLAIN; end++) {
            struct unescape_span s = { at, end };
            unescape_map_back(text, UNESCAPE_ALL, &s, sizeof s, 1);
            assert_int_equal(s.at, from[at]);
            assert_int_equal(s.end, to[end - 1]);
        }
    for (size_t cut = 1; cut < PLAIN; cut++) {
        struct unescape_span s[2] = { { 0, cut }, { cut, PLAIN } };
        unescape_map_back(text, UNESCAPE_ALL, s, sizeof s[0], 2);
        assert_int_equal(s[0].end, to[cut - 1]);
        assert_int_equal(s[1].at, from[cut]);
    }
}

static void a_character_of_several_bytes_comes_from_one_escape(void **state)
{
    struct str text = STR("x\\u00e9y");
    struct unescape_span s[] = { { 1, 2 }, { 2, 3 } };

    (void)state;
    unescape_map_back(text, UNESCAPE_ALL, s, sizeof s[0], 1);
    assert_int_equal(s[0].at, 1);
    assert_int_equal(s[0].end, 7);
    unescape_map_back(text, UNESCAPE_ALL, &s[1], sizeof s[0], 1);
    assert_int_equal(s[1].at, 1);
    assert_int_equal(s[1].end, 7);
}

static void the_length_of_an_escape_is_returned(void **state)
{
    (void)state;
    assert_int_equal(unescape_length(STR("\\u0041z"), UNESCAPE_ALL), 6);
    assert_int_equal(unescape_length(STR("\\ud83d\\ude00"), UNESCAPE_ALL), 12);
    assert_int_equal(unescape_length(STR("z\\n"), UNESCAPE_ALL), 0);
    assert_int_equal(unescape_length(STR("%41"), UNESCAPE_BACKSLASH), 0);
    assert_int_equal(unescape_length(STR(""), UNESCAPE_ALL), 0);
}

static void escapes_are_found_one_by_one(void **state)
{
    struct str text = STR("a%41&amp;b\\");
    struct unescape_span s;

    (void)state;
    assert_true(unescape_find(text, UNESCAPE_ALL, 0, &s));
    assert_int_equal(s.at, 1);
    assert_int_equal(s.end, 4);
    assert_true(unescape_find(text, UNESCAPE_ALL, s.end, &s));
    assert_int_equal(s.at, 4);
    assert_int_equal(s.end, 9);
    assert_false(unescape_find(text, UNESCAPE_ALL, s.end, &s));
    assert_false(unescape_find(text, UNESCAPE_BACKSLASH, 0, &s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_layer_is_removed),
        cmocka_unit_test(escapes_of_other_languages_are_decoded),
        cmocka_unit_test(named_and_numeric_entities_are_decoded),
        cmocka_unit_test(a_lone_surrogate_is_three_bytes),
        cmocka_unit_test(invalid_escapes_stay),
        cmocka_unit_test(only_the_requested_kinds_are_decoded),
        cmocka_unit_test(a_too_small_buffer_is_reported),
        cmocka_unit_test(positions_are_mapped_back_to_the_source),
        cmocka_unit_test(a_character_of_several_bytes_comes_from_one_escape),
        cmocka_unit_test(escapes_are_found_one_by_one),
        cmocka_unit_test(the_length_of_an_escape_is_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
