#include "base/unravel.h"

#include "base/utf8.h"

_Static_assert((int)UNRAVEL_ROOM == (int)UTF8_MAX, "an escape is copied as a whole");

/* What one escape stands for. */
struct plain {
    char bytes[UTF8_MAX];
    size_t len;
};

/* `digits` hexadecimal digits at the front; false if there are fewer. */
static bool read_hex(struct str s, size_t digits, uint32_t *out)
{
    uint32_t n = 0;

    if (s.len < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        int d = str_hex(s.at[i]);
        if (d < 0)
            return false;
        n = n << 4 | (uint32_t)d;
    }
    *out = n;
    return true;
}

static inline size_t one_byte(struct plain *p, char c, size_t used)
{
    p->bytes[0] = c;
    p->len = 1;
    return used;
}

static size_t one_char(struct plain *p, uint32_t code, size_t used)
{
    p->len = utf8_encode(p->bytes, code);
    return used;
}

/* "\uXXXX", or two of them that are one character. */
static size_t from_u(struct str s, struct plain *p)
{
    uint32_t high, low;

    if (!read_hex(str_skip(s, 2), 4, &high))
        return 0;
    if (high >= 0xD800 && high < 0xDC00 && s.len >= 12 && s.at[6] == '\\' && s.at[7] == 'u' &&
        read_hex(str_skip(s, 8), 4, &low) && low >= 0xDC00 && low < 0xE000)
        return one_char(p, 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00), 12);
    return one_char(p, high, 6);
}

static size_t from_x(struct str s, struct plain *p)
{
    uint32_t n;

    return read_hex(str_skip(s, 2), 2, &n) ? one_byte(p, (char)n, 4) : 0;
}

static size_t from_backslash(struct str s, struct plain *p)
{
    switch (s.len < 2 ? '\0' : s.at[1]) {
    case '\\':
    case '"':
    case '/':
    case '\'':
        return one_byte(p, s.at[1], 2);
    case 'b':
        return one_byte(p, '\b', 2);
    case 'f':
        return one_byte(p, '\f', 2);
    case 'n':
        return one_byte(p, '\n', 2);
    case 'r':
        return one_byte(p, '\r', 2);
    case 't':
        return one_byte(p, '\t', 2);
    case 'u':
        return from_u(s, p);
    case 'x':
        return from_x(s, p);
    default:
        return 0;
    }
}

static size_t from_percent(struct str s, struct plain *p)
{
    uint32_t n;

    return read_hex(str_skip(s, 1), 2, &n) ? one_byte(p, (char)n, 3) : 0;
}

/* "&#65;" or "&#x41;": at most eight digits. */
static size_t from_number(struct str s, struct plain *p)
{
    bool hex = s.len > 2 && (s.at[2] | 0x20) == 'x';
    size_t first = hex ? 3 : 2, i = first;
    uint32_t n = 0;

    for (; i < s.len && i < first + 8 && s.at[i] != ';'; i++) {
        int d = str_hex(s.at[i]);
        if (d < 0 || (!hex && d > 9))
            return 0;
        n = n * (hex ? 16 : 10) + (uint32_t)d;
    }
    if (i == first || i == s.len || s.at[i] != ';' || n > 0x10FFFF)
        return 0;
    return one_char(p, n, i + 1);
}

static size_t from_entity(struct str s, struct plain *p)
{
    static const struct entity {
        struct str name;
        char c;
    } entities[] = {
        { STR_INIT("&amp;"), '&' },  { STR_INIT("&lt;"), '<' },     { STR_INIT("&gt;"), '>' },
        { STR_INIT("&quot;"), '"' }, { STR_INIT("&apos;"), '\'' },  { STR_INIT("&sol;"), '/' },
        { STR_INIT("&plus;"), '+' }, { STR_INIT("&equals;"), '=' },
    };

    if (s.len > 1 && s.at[1] == '#')
        return from_number(s, p);
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++)
        if (str_starts(s, entities[i].name))
            return one_byte(p, entities[i].c, entities[i].name.len);
    return 0;
}

static size_t take_escape(struct str s, unsigned kinds, struct plain *p)
{
    switch (s.len ? s.at[0] : '\0') {
    case '\\':
        return kinds & UNRAVEL_BACKSLASH ? from_backslash(s, p) : 0;
    case '%':
        return kinds & UNRAVEL_PERCENT ? from_percent(s, p) : 0;
    case '&':
        return kinds & UNRAVEL_ENTITY ? from_entity(s, p) : 0;
    default:
        return 0;
    }
}

size_t unravel_escape(struct str text, unsigned kinds)
{
    struct plain p;

    return take_escape(text, kinds, &p);
}

static bool is_sign(char c)
{
    return c == '\\' || c == '%' || c == '&';
}

/* The first byte from `i` on that an escape may begin with. Eight at a time: a byte that
 * equals one of the signs becomes zero, and a zero lends its top bit. */
static size_t next_sign(struct str text, size_t i)
{
    const uint64_t ones = 0x0101010101010101, tops = ones << 7;

    for (; text.len - i >= 8; i += 8) {
        uint64_t w, a, b, c;

        memcpy(&w, text.at + i, sizeof w);
        a = w ^ ones * '\\';
        b = w ^ ones * '%';
        c = w ^ ones * '&';
        if ((((a - ones) & ~a) | ((b - ones) & ~b) | ((c - ones) & ~c)) & tops)
            break;
    }
    while (i < text.len && !is_sign(text.at[i]))
        i++;
    return i;
}

/* The next escape from `*i` on; its length, or 0 and `*i` at the end. */
static size_t next_escape(struct str text, unsigned kinds, size_t *i, struct plain *p)
{
    for (*i = next_sign(text, *i); *i < text.len; *i = next_sign(text, *i + 1)) {
        size_t used = take_escape(str_n(text.at + *i, text.len - *i), kinds, p);
        if (used)
            return used;
    }
    return 0;
}

/* Most texts have no such byte, and the C library sees that fastest. */
static bool has_signs(struct str text, unsigned kinds)
{
    return text.len && ((kinds & UNRAVEL_BACKSLASH && memchr(text.at, '\\', text.len)) ||
                        (kinds & UNRAVEL_PERCENT && memchr(text.at, '%', text.len)) ||
                        (kinds & UNRAVEL_ENTITY && memchr(text.at, '&', text.len)));
}

/* Texts that are escaped are often escaped all over: the next one may follow at once. */
bool unravel(struct str text, unsigned kinds, struct buf *to)
{
    struct plain p = { .len = 0 };
    size_t i = 0;
    char *out, *start;

    if (!has_signs(text, kinds) || !next_escape(text, kinds, &i, &p))
        return false;
    start = buf_space(to, text.len + UNRAVEL_ROOM); /* what is plain is never longer */
    if (!start)
        return true;
    memcpy(start, text.at, i);
    out = start + i;
    while (i < text.len) {
        size_t used = take_escape(str_n(text.at + i, text.len - i), kinds, &p), end;

        if (used) {
            memcpy(out, p.bytes, UNRAVEL_ROOM);
            out += p.len;
            i += used;
            continue;
        }
        end = next_sign(text, i + 1);
        memcpy(out, text.at + i, end - i);
        out += end - i;
        i = end;
    }
    buf_grew(to, (size_t)(out - start));
    return true;
}

/* Walks the text once for all spans. */
struct origin {
    struct str text;
    unsigned kinds;
    size_t plain, source; /* where the run between two escapes starts, in both */
    size_t escape, used;  /* the escape that ends it, in the text */
    size_t escape_len;    /* what it stands for */
};

static void to_next_escape(struct origin *o)
{
    struct plain p = { .len = 0 };

    o->escape = o->source;
    o->used = next_escape(o->text, o->kinds, &o->escape, &p);
    o->escape_len = p.len;
}

/* Where in the text the byte at `plain` comes from: the first byte of it, or, being `end`,
 * what follows the last. */
static size_t origin_of(struct origin *o, size_t plain, bool end)
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

void unravel_origin(struct str text, unsigned kinds, struct unravel_span *spans, size_t stride,
                    size_t count)
{
    struct origin o = { .text = text, .kinds = kinds };

    to_next_escape(&o);
    for (size_t i = 0; i < count; i++) {
        struct unravel_span *s = (void *)((char *)spans + i * stride);
        s->at = origin_of(&o, s->at, false);
        s->end = origin_of(&o, s->end, true);
    }
}
