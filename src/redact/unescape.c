#include "redact/unescape.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "base/utf8.h"

_Static_assert((int)UNESCAPE_SLACK >= (int)UTF8_MAX, "an escape is copied as a whole");

enum { CODE_MAX = 0x10FFFF };

/* The decoded bytes of one escape. */
struct escaped_char {
    char bytes[UTF8_MAX];
    size_t len;
};

/* Reads exactly `digits` hexadecimal digits. */
static bool read_hex(struct str s, size_t digits, uint32_t *out)
{
    uint32_t n = 0;

    if (s.len < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        int d = ascii_hex(s.at[i]);
        if (d < 0)
            return false;
        n = n << 4 | (uint32_t)d;
    }
    *out = n;
    return true;
}

static inline size_t set_byte(struct escaped_char *p, char c, size_t used)
{
    p->bytes[0] = c;
    p->len = 1;
    return used;
}

static size_t set_char(struct escaped_char *p, uint32_t code, size_t used)
{
    p->len = utf8_encode(p->bytes, code);
    return used;
}

/* Decodes "\u{41}" of JavaScript and Rust. */
static size_t decode_braces(struct str s, struct escaped_char *p)
{
    enum { MOST = 8 };
    size_t i = 3;
    uint32_t n = 0;

    for (; i < s.len && i < 3 + MOST && ascii_hex(s.at[i]) >= 0; i++)
        n = n << 4 | (uint32_t)ascii_hex(s.at[i]);
    if (i == 3 || i == s.len || s.at[i] != '}' || n > CODE_MAX)
        return 0;
    return set_char(p, n, i + 1);
}

/* Decodes "\uXXXX" or "%uXXXX", or a surrogate pair of them. */
static size_t decode_u(struct str s, struct escaped_char *p)
{
    uint32_t high, low;

    if (!read_hex(str_skip(s, 2), 4, &high))
        return s.len > 2 && s.at[2] == '{' ? decode_braces(s, p) : 0;
    if (high >= 0xD800 && high < 0xDC00 && s.len >= 12 && s.at[6] == s.at[0] &&
        s.at[7] == 'u' && read_hex(str_skip(s, 8), 4, &low) && low >= 0xDC00 && low < 0xE000)
        return set_char(p, 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00), 12);
    return set_char(p, high, 6);
}

/* Decodes "\U0001F600" of Python. */
static size_t decode_long_u(struct str s, struct escaped_char *p)
{
    uint32_t n;

    return read_hex(str_skip(s, 2), 8, &n) && n <= CODE_MAX ? set_char(p, n, 10) : 0;
}

static size_t decode_x(struct str s, struct escaped_char *p)
{
    uint32_t n;

    return read_hex(str_skip(s, 2), 2, &n) ? set_byte(p, (char)n, 4) : 0;
}

/* Decodes "\101" to one byte. */
static size_t decode_octal(struct str s, struct escaped_char *p)
{
    if (s.len < 4 || s.at[1] > '3' || s.at[2] < '0' || s.at[2] > '7' || s.at[3] < '0' ||
        s.at[3] > '7')
        return 0;
    return set_byte(p, (char)((s.at[1] - '0') << 6 | (s.at[2] - '0') << 3 | (s.at[3] - '0')),
                    4);
}

static bool is_punctuation(char c)
{
    return c >= ' ' && c < '\x7f' && !ascii_is_alnum(c);
}

static size_t decode_backslash(struct str s, struct escaped_char *p)
{
    char sign = '\0';

    switch (s.len < 2 ? '\0' : (sign = s.at[1])) {
    case 'b':
        return set_byte(p, '\b', 2);
    case 'f':
        return set_byte(p, '\f', 2);
    case 'n':
        return set_byte(p, '\n', 2);
    case 'r':
        return set_byte(p, '\r', 2);
    case 't':
        return set_byte(p, '\t', 2);
    case 'u':
        return decode_u(s, p);
    case 'U':
        return decode_long_u(s, p);
    case 'x':
        return decode_x(s, p);
    default:
        if (sign >= '0' && sign <= '7')
            return decode_octal(s, p);
        return is_punctuation(sign) ? set_byte(p, sign, 2) : 0;
    }
}

static inline size_t decode_percent(struct str s, struct escaped_char *p)
{
    char byte;

    if (s.len > 1 && s.at[1] == 'u')
        return decode_u(s, p);
    return str_parse_percent(s, &byte) ? set_byte(p, byte, 3) : 0;
}

/* Decodes "&#65;" or "&#x41;", with leading zeros and, like browsers, without the semicolon. */
static size_t decode_number(struct str s, struct escaped_char *p)
{
    enum { MOST = 16 }; /* digits */
    bool hex = s.len > 2 && (s.at[2] | 0x20) == 'x';
    size_t first = hex ? 3 : 2, i = first;
    uint32_t n = 0;

    for (; i < s.len && i < first + MOST; i++) {
        int d = ascii_hex(s.at[i]);
        if (d < 0 || (!hex && d > 9))
            break;
        n = n * (hex ? 16 : 10) + (uint32_t)d;
        if (n > CODE_MAX)
            return 0;
    }
    if (i == first)
        return 0;
    return set_char(p, n, i + (i < s.len && s.at[i] == ';'));
}

/* The named characters up to U+00FF, sorted for bsearch(). */
static const struct entity {
    struct str name;
    unsigned char code;
} entities[] = {
    { STR_INIT("AElig"), 0xc6 },   { STR_INIT("AMP"), 0x26 },
    { STR_INIT("Aacute"), 0xc1 },  { STR_INIT("Acirc"), 0xc2 },
    { STR_INIT("Agrave"), 0xc0 },  { STR_INIT("Aring"), 0xc5 },
    { STR_INIT("Atilde"), 0xc3 },  { STR_INIT("Auml"), 0xc4 },
    { STR_INIT("COPY"), 0xa9 },    { STR_INIT("Ccedil"), 0xc7 },
    { STR_INIT("Cedilla"), 0xb8 }, { STR_INIT("Dot"), 0xa8 },
    { STR_INIT("ETH"), 0xd0 },     { STR_INIT("Eacute"), 0xc9 },
    { STR_INIT("Ecirc"), 0xca },   { STR_INIT("Egrave"), 0xc8 },
    { STR_INIT("Euml"), 0xcb },    { STR_INIT("GT"), 0x3e },
    { STR_INIT("Hat"), 0x5e },     { STR_INIT("Iacute"), 0xcd },
    { STR_INIT("Icirc"), 0xce },   { STR_INIT("Igrave"), 0xcc },
    { STR_INIT("Iuml"), 0xcf },    { STR_INIT("LT"), 0x3c },
    { STR_INIT("NewLine"), 0x0a }, { STR_INIT("Ntilde"), 0xd1 },
    { STR_INIT("Oacute"), 0xd3 },  { STR_INIT("Ocirc"), 0xd4 },
    { STR_INIT("Ograve"), 0xd2 },  { STR_INIT("Oslash"), 0xd8 },
    { STR_INIT("Otilde"), 0xd5 },  { STR_INIT("Ouml"), 0xd6 },
    { STR_INIT("QUOT"), 0x22 },    { STR_INIT("REG"), 0xae },
    { STR_INIT("THORN"), 0xde },   { STR_INIT("Tab"), 0x09 },
    { STR_INIT("Uacute"), 0xda },  { STR_INIT("Ucirc"), 0xdb },
    { STR_INIT("Ugrave"), 0xd9 },  { STR_INIT("UnderBar"), 0x5f },
    { STR_INIT("Uuml"), 0xdc },    { STR_INIT("Yacute"), 0xdd },
    { STR_INIT("aacute"), 0xe1 },  { STR_INIT("acirc"), 0xe2 },
    { STR_INIT("acute"), 0xb4 },   { STR_INIT("aelig"), 0xe6 },
    { STR_INIT("agrave"), 0xe0 },  { STR_INIT("amp"), 0x26 },
    { STR_INIT("angst"), 0xc5 },   { STR_INIT("apos"), 0x27 },
    { STR_INIT("aring"), 0xe5 },   { STR_INIT("ast"), 0x2a },
    { STR_INIT("atilde"), 0xe3 },  { STR_INIT("auml"), 0xe4 },
    { STR_INIT("brvbar"), 0xa6 },  { STR_INIT("bsol"), 0x5c },
    { STR_INIT("ccedil"), 0xe7 },  { STR_INIT("cedil"), 0xb8 },
    { STR_INIT("cent"), 0xa2 },    { STR_INIT("circledR"), 0xae },
    { STR_INIT("colon"), 0x3a },   { STR_INIT("comma"), 0x2c },
    { STR_INIT("commat"), 0x40 },  { STR_INIT("copy"), 0xa9 },
    { STR_INIT("curren"), 0xa4 },  { STR_INIT("deg"), 0xb0 },
    { STR_INIT("die"), 0xa8 },     { STR_INIT("div"), 0xf7 },
    { STR_INIT("divide"), 0xf7 },  { STR_INIT("dollar"), 0x24 },
    { STR_INIT("eacute"), 0xe9 },  { STR_INIT("ecirc"), 0xea },
    { STR_INIT("egrave"), 0xe8 },  { STR_INIT("equals"), 0x3d },
    { STR_INIT("eth"), 0xf0 },     { STR_INIT("euml"), 0xeb },
    { STR_INIT("excl"), 0x21 },    { STR_INIT("frac12"), 0xbd },
    { STR_INIT("frac14"), 0xbc },  { STR_INIT("frac34"), 0xbe },
    { STR_INIT("grave"), 0x60 },   { STR_INIT("gt"), 0x3e },
    { STR_INIT("half"), 0xbd },    { STR_INIT("iacute"), 0xed },
    { STR_INIT("icirc"), 0xee },   { STR_INIT("iexcl"), 0xa1 },
    { STR_INIT("igrave"), 0xec },  { STR_INIT("iquest"), 0xbf },
    { STR_INIT("iuml"), 0xef },    { STR_INIT("laquo"), 0xab },
    { STR_INIT("lbrace"), 0x7b },  { STR_INIT("lbrack"), 0x5b },
    { STR_INIT("lcub"), 0x7b },    { STR_INIT("lowbar"), 0x5f },
    { STR_INIT("lpar"), 0x28 },    { STR_INIT("lsqb"), 0x5b },
    { STR_INIT("lt"), 0x3c },      { STR_INIT("macr"), 0xaf },
    { STR_INIT("micro"), 0xb5 },   { STR_INIT("midast"), 0x2a },
    { STR_INIT("middot"), 0xb7 },  { STR_INIT("nbsp"), 0xa0 },
    { STR_INIT("not"), 0xac },     { STR_INIT("ntilde"), 0xf1 },
    { STR_INIT("num"), 0x23 },     { STR_INIT("oacute"), 0xf3 },
    { STR_INIT("ocirc"), 0xf4 },   { STR_INIT("ograve"), 0xf2 },
    { STR_INIT("ordf"), 0xaa },    { STR_INIT("ordm"), 0xba },
    { STR_INIT("oslash"), 0xf8 },  { STR_INIT("otilde"), 0xf5 },
    { STR_INIT("ouml"), 0xf6 },    { STR_INIT("para"), 0xb6 },
    { STR_INIT("percnt"), 0x25 },  { STR_INIT("period"), 0x2e },
    { STR_INIT("plus"), 0x2b },    { STR_INIT("plusmn"), 0xb1 },
    { STR_INIT("pm"), 0xb1 },      { STR_INIT("pound"), 0xa3 },
    { STR_INIT("quest"), 0x3f },   { STR_INIT("quot"), 0x22 },
    { STR_INIT("raquo"), 0xbb },   { STR_INIT("rbrace"), 0x7d },
    { STR_INIT("rbrack"), 0x5d },  { STR_INIT("rcub"), 0x7d },
    { STR_INIT("reg"), 0xae },     { STR_INIT("rpar"), 0x29 },
    { STR_INIT("rsqb"), 0x5d },    { STR_INIT("sect"), 0xa7 },
    { STR_INIT("semi"), 0x3b },    { STR_INIT("shy"), 0xad },
    { STR_INIT("sol"), 0x2f },     { STR_INIT("strns"), 0xaf },
    { STR_INIT("sup1"), 0xb9 },    { STR_INIT("sup2"), 0xb2 },
    { STR_INIT("sup3"), 0xb3 },    { STR_INIT("szlig"), 0xdf },
    { STR_INIT("thorn"), 0xfe },   { STR_INIT("times"), 0xd7 },
    { STR_INIT("uacute"), 0xfa },  { STR_INIT("ucirc"), 0xfb },
    { STR_INIT("ugrave"), 0xf9 },  { STR_INIT("uml"), 0xa8 },
    { STR_INIT("uuml"), 0xfc },    { STR_INIT("verbar"), 0x7c },
    { STR_INIT("vert"), 0x7c },    { STR_INIT("yacute"), 0xfd },
    { STR_INIT("yen"), 0xa5 },     { STR_INIT("yuml"), 0xff },
};

static int compare_entity(const void *key, const void *row)
{
    return str_cmp(*(const struct str *)key, ((const struct entity *)row)->name);
}

/* Decodes a named character, which must end in a semicolon. */
static size_t decode_name(struct str s, struct escaped_char *p)
{
    enum { LONGEST = 8 };
    const struct entity *found;
    struct str name = str_n(s.at + 1, 0);

    while (name.len < LONGEST && 1 + name.len < s.len && name.at[name.len] != ';')
        name.len++;
    if (1 + name.len == s.len || name.at[name.len] != ';')
        return 0;
    found = bsearch(&name, entities, sizeof entities / sizeof entities[0], sizeof entities[0],
                    compare_entity);
    return found ? set_char(p, found->code, name.len + 2) : 0;
}

/* Tests the most frequent names first. */
static inline size_t decode_entity(struct str s, struct escaped_char *p)
{
    static const struct str amp = STR_INIT("&amp;"), quot = STR_INIT("&quot;");

    if (s.len > 1 && s.at[1] == '#')
        return decode_number(s, p);
    if (str_starts(s, amp))
        return set_byte(p, '&', amp.len);
    if (str_starts(s, quot))
        return set_byte(p, '"', quot.len);
    return decode_name(s, p);
}

static inline size_t decode_escape(struct str s, unsigned kinds, struct escaped_char *p)
{
    switch (s.len ? s.at[0] : '\0') {
    case '\\':
        return kinds & UNESCAPE_BACKSLASH ? decode_backslash(s, p) : 0;
    case '%':
        return kinds & UNESCAPE_PERCENT ? decode_percent(s, p) : 0;
    case '&':
        return kinds & UNESCAPE_ENTITY ? decode_entity(s, p) : 0;
    default:
        return 0;
    }
}

size_t unescape_length(struct str text, unsigned kinds)
{
    struct escaped_char p;

    return decode_escape(text, kinds, &p);
}

static bool is_sign(char c)
{
    return c == '\\' || c == '%' || c == '&';
}

/* Returns the first byte from `i` on with which an escape may start. Tests eight at a time: XOR
 * makes a matching byte zero, and subtracting one sets its top bit. Only the lowest set bit is
 * exact. */
static size_t next_sign(struct str text, size_t i)
{
    const uint64_t ones = 0x0101010101010101, tops = ones << 7;

    for (; text.len - i >= 8; i += 8) {
        uint64_t w = mem_load64(text.at + i);
        uint64_t a = w ^ ones * '\\', b = w ^ ones * '%', c = w ^ ones * '&';

        w = (((a - ones) & ~a) | ((b - ones) & ~b) | ((c - ones) & ~c)) & tops;
        if (w)
            return i + (size_t)__builtin_ctzll(w) / 8;
    }
    while (i < text.len && !is_sign(text.at[i]))
        i++;
    return i;
}

/* Moves `*i` to the next escape and decodes it. Returns its length; 0: there is none. */
static size_t next_escape(struct str text, unsigned kinds, size_t *i, struct escaped_char *p)
{
    for (*i = next_sign(text, *i); *i < text.len; *i = next_sign(text, *i + 1)) {
        size_t used = decode_escape(str_n(text.at + *i, text.len - *i), kinds, p);
        if (used)
            return used;
    }
    return 0;
}

bool unescape_find(struct str text, unsigned kinds, size_t from, struct unescape_span *out)
{
    struct escaped_char p;
    size_t used = next_escape(text, kinds, &from, &p);

    *out = (struct unescape_span){ from, from + used };
    return used > 0;
}

#if defined(__x86_64__)

#include <immintrin.h>

/* Returns whether the full blocks of a text, which end at `*end`, have one of the signs. These
 * differ in their low nibble, so a table by nibble has the only sign that a byte can equal.
 * Must not call functions: the compiler would not clear the AVX registers before the call. */
__attribute__((target("avx2"))) static bool has_sign_in_blocks(struct str text, size_t *end)
{
    static const char by_half[16] = {
        [0] = 1, ['%' & 15] = '%', ['&' & 15] = '&', ['\\' & 15] = '\\'
    };
    const __m256i table =
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)by_half));
    __m256i found = _mm256_setzero_si256();
    size_t i = 0;

    for (; text.len - i >= sizeof found; i += sizeof found) {
        __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(text.at + i));
        __m256i sign = _mm256_shuffle_epi8(table, b);

        found = _mm256_or_si256(found, _mm256_cmpeq_epi8(b, sign));
    }
    *end = i;
    return _mm256_movemask_epi8(found);
}

static bool may_have_signs(struct str text)
{
    size_t end;

    return !__builtin_cpu_supports("avx2") || has_sign_in_blocks(text, &end) ||
           next_sign(text, end) < text.len;
}

#else

static bool may_have_signs(struct str text)
{
    return text.len > 0;
}

#endif

/* Most texts have no sign; if one has, memchr() is the fastest way to see which. */
static bool has_signs(struct str text, unsigned kinds)
{
    return text.len && may_have_signs(text) &&
           ((kinds & UNESCAPE_BACKSLASH && memchr(text.at, '\\', text.len)) ||
            (kinds & UNESCAPE_PERCENT && memchr(text.at, '%', text.len)) ||
            (kinds & UNESCAPE_ENTITY && memchr(text.at, '&', text.len)));
}

/* Copies the text between two escapes. A short run is copied as UNESCAPE_SLACK bytes, for which
 * there is room: runs are short where escapes are dense. */
static inline void copy_run(char *out, struct str text, size_t from, size_t end)
{
    if (end - from <= UNESCAPE_SLACK && text.len - from >= UNESCAPE_SLACK)
        memcpy(out, text.at + from, UNESCAPE_SLACK);
    else
        memcpy(out, text.at + from, end - from);
}

/* Optimized for dense escapes: tests for the next one right after each. */
bool unescape_text(struct str text, unsigned kinds, struct buf *to)
{
    struct escaped_char p = { .len = 0 };
    size_t i = 0;
    char *out, *start;

    if (!has_signs(text, kinds) || !next_escape(text, kinds, &i, &p))
        return false;
    start = buf_reserve(to, text.len + UNESCAPE_SLACK); /* the result is never longer */
    if (!start)
        return true;
    memcpy(start, text.at, i);
    out = start + i;
    while (i < text.len) {
        size_t used = decode_escape(str_n(text.at + i, text.len - i), kinds, &p), end;

        if (used) {
            memcpy(out, p.bytes, UTF8_MAX);
            out += p.len;
            i += used;
            continue;
        }
        end = next_sign(text, i + 1);
        copy_run(out, text, i, end);
        out += end - i;
        i = end;
    }
    buf_commit(to, (size_t)(out - start));
    return true;
}

/* State of one pass over the text for all spans. */
struct origin_walk {
    struct str text;
    unsigned kinds;
    size_t plain, source; /* start of the run between two escapes, in result and text */
    size_t escape, used;  /* position and length of the escape after it, in the text */
    size_t escape_len;    /* bytes that it decodes to */
};

static void to_next_escape(struct origin_walk *o)
{
    struct escaped_char p = { .len = 0 };

    o->escape = o->source;
    o->used = next_escape(o->text, o->kinds, &o->escape, &p);
    o->escape_len = p.len;
}

/* Returns the position in the text of byte `plain` of the result; with `end`, the position
 * after the byte before it. */
static size_t origin_of(struct origin_walk *o, size_t plain, bool end)
{
    for (;;) {
        size_t run = o->escape - o->source;
        size_t into = plain - o->plain;

        if (into < run || (into == run && end) || !o->used)
            return o->source + into;
        if (into < run + o->escape_len)
            return end && into > run ? o->escape + o->used : o->escape;
        if (into == run + o->escape_len && end)
            return o->escape + o->used;
        o->plain += run + o->escape_len;
        o->source = o->escape + o->used;
        to_next_escape(o);
    }
}

void unescape_map_back(struct str text, unsigned kinds, struct unescape_span *spans,
                       size_t stride, size_t count)
{
    struct origin_walk o = { .text = text, .kinds = kinds };

    to_next_escape(&o);
    for (size_t i = 0; i < count; i++) {
        struct unescape_span *s = (void *)((char *)spans + i * stride);
        s->at = origin_of(&o, s->at, false);
        s->end = origin_of(&o, s->end, true);
    }
}
