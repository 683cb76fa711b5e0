#include "base/utf8.h"

#include <stdlib.h>

#include "assert-aborts.h"
#include "test.h"

/* RFC 3629, section 4, row by row: the bytes that may stand at each position. Written to be
 * compared with that text, not to be fast. */
static const struct seen_row {
    size_t len;
    struct {
        unsigned char first, last;
    } at[4];
} grammar[] = {
    { 1, { { 0x00, 0x7F } } },
    { 2, { { 0xC2, 0xDF }, { 0x80, 0xBF } } },
    { 3, { { 0xE0, 0xE0 }, { 0xA0, 0xBF }, { 0x80, 0xBF } } },
    { 3, { { 0xE1, 0xEC }, { 0x80, 0xBF }, { 0x80, 0xBF } } },
    { 3, { { 0xED, 0xED }, { 0x80, 0x9F }, { 0x80, 0xBF } } },
    { 3, { { 0xEE, 0xEF }, { 0x80, 0xBF }, { 0x80, 0xBF } } },
    { 4, { { 0xF0, 0xF0 }, { 0x90, 0xBF }, { 0x80, 0xBF }, { 0x80, 0xBF } } },
    { 4, { { 0xF1, 0xF3 }, { 0x80, 0xBF }, { 0x80, 0xBF }, { 0x80, 0xBF } } },
    { 4, { { 0xF4, 0xF4 }, { 0x80, 0x8F }, { 0x80, 0xBF }, { 0x80, 0xBF } } },
};

static bool fits(const struct seen_row *row, const unsigned char *at, size_t len)
{
    if (len < row->len)
        return false;
    for (size_t i = 0; i < row->len; i++) {
        if (at[i] < row->at[i].first || at[i] > row->at[i].last)
            return false;
    }
    return true;
}

static size_t naive_decode(const unsigned char *at, size_t len, uint32_t *code)
{
    static const unsigned char payload[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };

    for (size_t r = 0; r < sizeof grammar / sizeof *grammar; r++) {
        if (!fits(&grammar[r], at, len))
            continue;
        *code = at[0] & payload[grammar[r].len];
        for (size_t i = 1; i < grammar[r].len; i++)
            *code = *code * 64 + (at[i] - 0x80U);
        return grammar[r].len;
    }
    return 0;
}

static size_t naive_valid_prefix(const unsigned char *at, size_t len)
{
    size_t done = 0, n;
    uint32_t code;

    while (done < len && (n = naive_decode(at + done, len - done, &code)) > 0)
        done += n;
    return done;
}

/* The bytes stand at the very end of an allocation, so that a sanitizer sees the
 * first one read too many. */
static void compare(const unsigned char *bytes, size_t len)
{
    unsigned char *at = malloc(len ? len : 1);
    struct str s = str_n((const char *)at, len);
    uint32_t got = 0, want = 0;
    size_t n;

    assert_non_null(at);
    memcpy(at, bytes, len);
    n = naive_decode(at, len, &want);
    if (utf8_decode(s, &got) != n || got != want)
        fail_msg("decoding %zu bytes from %02x %02x", len, bytes[0], bytes[1]);
    if (utf8_valid_prefix(s) != naive_valid_prefix(at, len))
        fail_msg("prefix of %zu bytes from %02x %02x", len, bytes[0], bytes[1]);
    free(at);
}

static void all_of_one_and_two_bytes_agree_with_the_grammar(void **state)
{
    (void)state;
    compare((const unsigned char *)"\0", 0);
    for (unsigned a = 0; a < 256; a++) {
        compare((const unsigned char[]){ (unsigned char)a, 0 }, 1);
        for (unsigned b = 0; b < 256; b++)
            compare((const unsigned char[]){ (unsigned char)a, (unsigned char)b }, 2);
    }
}

/* Bytes on either side of every border the grammar has, and one inside. */
static const unsigned char border[] = { 0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0,
                                        0xA5, 0xBF, 0xC0, 0xC2, 0xE0, 0xED, 0xF4, 0xFF };
enum { BORDER = sizeof border };

static void three_and_four_bytes_around_every_border_agree_with_the_grammar(void **state)
{
    (void)state;
    for (unsigned a = 0xC0; a < 256; a++) {
        for (unsigned i = 0; i < BORDER * BORDER; i++) {
            unsigned char at[4] = { (unsigned char)a, border[i / BORDER], border[i % BORDER] };
            compare(at, 3);
            if (a < 0xEF)
                continue;
            for (unsigned d = 0; d < BORDER; d++) {
                at[3] = border[d];
                compare(at, 4);
            }
        }
    }
}

static void named_invalid_forms_are_rejected(void **state)
{
    static const struct {
        const char *what, *bytes;
        size_t valid;
    } rows[] = {
        { "ASCII", "abc", 3 },
        { "two bytes", "\xC3\xA9", 2 },
        { "three bytes", "\xE2\x82\xAC", 3 },
        { "four bytes", "\xF0\x9F\x98\x80", 4 },
        { "the last code point", "\xF4\x8F\xBF\xBF", 4 },
        { "beyond the last", "\xF4\x90\x80\x80", 0 },
        { "overlong slash, two", "\xC0\xAF", 0 },
        { "overlong slash, three", "\xE0\x80\xAF", 0 },
        { "overlong slash, four", "\xF0\x80\x80\xAF", 0 },
        { "overlong, largest of two", "\xC1\xBF", 0 },
        { "overlong, largest of three", "\xE0\x9F\xBF", 0 },
        { "overlong, largest of four", "\xF0\x8F\xBF\xBF", 0 },
        { "just before the surrogates", "\xED\x9F\xBF", 3 },
        { "first high surrogate", "\xED\xA0\x80", 0 },
        { "last high surrogate", "\xED\xAF\xBF", 0 },
        { "last low surrogate", "\xED\xBF\xBF", 0 },
        { "a pair of surrogates", "\xED\xA0\xBD\xED\xB8\x80", 0 },
        { "just after the surrogates", "\xEE\x80\x80", 3 },
        { "noncharacter", "\xEF\xBF\xBF", 3 },
        { "byte order mark", "\xEF\xBB\xBF", 3 },
        { "lone continuation", "\x80", 0 },
        { "two cut off", "a\xC3", 1 },
        { "three cut off", "a\xE2\x82", 1 },
        { "four cut off", "a\xF0\x9F\x98", 1 },
        { "lead after lead", "\xE2\xE2\x82\xAC", 0 },
        { "five bytes", "\xF8\x88\x80\x80\x80", 0 },
        { "never a byte", "ab\xFE", 2 },
        { "never a byte either", "ab\xFF", 2 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str s = str_z(rows[i].bytes);
        if (utf8_valid_prefix(s) != rows[i].valid)
            fail_msg("%s: %zu", rows[i].what, utf8_valid_prefix(s));
        assert_int_equal(utf8_valid(s), rows[i].valid == s.len);
    }
    assert_true(utf8_valid(STR_NONE));
    assert_true(utf8_valid(STR("a\0b")));
}

/* ASCII is skipped in strides, so a fault is tried at each place of several, and from
 * each alignment. */
static void an_invalid_byte_is_found_at_any_position(void **state)
{
    enum { LEN = 40 };

    (void)state;
    for (size_t offset = 0; offset < 8; offset++) {
        for (size_t bad = 0; bad < LEN; bad++) {
            char *at = malloc(offset + LEN);
            assert_non_null(at);
            memset(at, 'a', offset + LEN);
            at[offset + bad] = (char)0x80;
            assert_int_equal(utf8_valid_prefix(str_n(at + offset, LEN)), bad);
            at[offset + bad] = (char)0xC3;
            if (bad + 1 < LEN) {
                at[offset + bad + 1] = (char)0xA9;
                assert_true(utf8_valid(str_n(at + offset, LEN)));
            } else {
                assert_int_equal(utf8_valid_prefix(str_n(at + offset, LEN)), bad);
            }
            free(at);
        }
    }
}

static void encoded_text_is_decoded_again(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        char at[UTF8_MAX];
        size_t n = utf8_encode(at, code);
        uint32_t back = 0;
        bool surrogate = code >= 0xD800 && code <= 0xDFFF;

        assert_int_equal(n, code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
        assert_int_equal(utf8_decode(str_n(at, n), &back), surrogate ? 0 : n);
        assert_int_equal(back, surrogate ? 0 : code);
    }
}

static void a_surrogate_is_encoded_in_three_bytes(void **state)
{
    char at[UTF8_MAX];

    (void)state;
    assert_str(str_n(at, utf8_encode(at, 0xD83D)), STR("\xED\xA0\xBD"));
    assert_str(str_n(at, utf8_encode(at, 0xDFFF)), STR("\xED\xBF\xBF"));
}

static void encode_invalid_code_point(void)
{
    char at[UTF8_MAX];

    utf8_encode(at, 0x110000);
}

static void encoding_beyond_the_last_code_point_is_a_bug(void **state)
{
    (void)state;
    assert_aborts(encode_invalid_code_point, "bug at");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_one_and_two_bytes_agree_with_the_grammar),
        cmocka_unit_test(three_and_four_bytes_around_every_border_agree_with_the_grammar),
        cmocka_unit_test(named_invalid_forms_are_rejected),
        cmocka_unit_test(an_invalid_byte_is_found_at_any_position),
        cmocka_unit_test(encoded_text_is_decoded_again),
        cmocka_unit_test(a_surrogate_is_encoded_in_three_bytes),
        cmocka_unit_test(encoding_beyond_the_last_code_point_is_a_bug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
