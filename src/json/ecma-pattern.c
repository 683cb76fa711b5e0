#include "json/ecma-pattern.h"

#include "base/ascii.h"
#include "base/utf8.h"

/* White space and line ends of ECMAScript, and all other characters, as members of a class. */
#define SPACES                                                                                 \
    "\\t-\\r \\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}"          \
    "\\x{3000}\\x{FEFF}"
#define NOT_SPACES                                                                             \
    "\\x00-\\x08\\x0E-\\x1F!-\\x{9F}\\x{A1}-\\x{167F}\\x{1681}-\\x{1FFF}\\x{200B}-\\x{2027}"   \
    "\\x{202A}-\\x{202E}\\x{2030}-\\x{205E}\\x{2060}-\\x{2FFF}\\x{3001}-\\x{FEFE}"             \
    "\\x{FF00}-\\x{10FFFF}"
#define ALL "\\x00-\\x{10FFFF}"

struct translator {
    struct str rest;
    struct buf *to;
    bool in_class; /* between brackets */
};

/* A member of a class: a character may begin or end a range. */
enum class_member { MEMBER_NONE, MEMBER_CHAR, MEMBER_SET };

static char char_at(const struct translator *t, size_t i)
{
    return i < t->rest.len ? t->rest.at[i] : '\0';
}

static void skip(struct translator *t, size_t n)
{
    t->rest = str_skip(t->rest, n);
}

static void copy(struct translator *t, size_t n)
{
    buf_add(t->to, str_n(t->rest.at, n));
    skip(t, n);
}

static void add_code(struct translator *t, uint32_t code)
{
    buf_printf(t->to, "\\x{%X}", (unsigned)code);
}

static bool parse_hex(struct str digits, uint32_t *code)
{
    *code = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (ascii_hex(digits.at[i]) < 0)
            return false;
        *code = *code << 4 | (uint32_t)ascii_hex(digits.at[i]);
    }
    return digits.len > 0;
}

/* Parses XXXX behind a \u at the front. */
static bool parse_unit(struct str s, uint32_t *unit)
{
    return s.len >= 6 && s.at[0] == '\\' && s.at[1] == 'u' &&
           parse_hex(str_n(s.at + 2, 4), unit);
}

static bool is_surrogate(uint32_t code)
{
    return code >= 0xD800 && code < 0xE000;
}

/* \u{H…} */
static bool translate_code_point(struct translator *t)
{
    struct str digits = str_skip(t->rest, 3);
    uint32_t code;

    digits.len = str_find(digits, '}');
    if (digits.len > 6 || !parse_hex(digits, &code) || code > 0x10FFFF || is_surrogate(code))
        return false;
    add_code(t, code);
    skip(t, 3 + digits.len + 1);
    return true;
}

/* \uXXXX, or two of them that are one character. */
static bool translate_unit(struct translator *t)
{
    uint32_t unit, low;

    if (char_at(t, 2) == '{')
        return translate_code_point(t);
    if (!parse_unit(t->rest, &unit))
        return false;
    skip(t, 6);
    if (is_surrogate(unit)) {
        if (unit >= 0xDC00 || !parse_unit(t->rest, &low) || low < 0xDC00 || !is_surrogate(low))
            return false;
        unit = 0x10000 + ((unit - 0xD800) << 10 | (low - 0xDC00));
        skip(t, 6);
    }
    add_code(t, unit);
    return true;
}

/* \xHH, \cX and \0 */
static bool translate_code(struct translator *t)
{
    char kind = char_at(t, 1), c = char_at(t, 2);
    uint32_t code = 0;

    if (kind == 'x') {
        if (t->rest.len < 4 || !parse_hex(str_n(t->rest.at + 2, 2), &code))
            return false;
    } else if (kind == 'c') {
        if (!ascii_is_letter(c))
            return false;
        code = (uint32_t)c & 31;
    } else if (ascii_is_digit(c)) {
        return false;
    }
    add_code(t, code);
    skip(t, kind == 'x' ? 4 : kind == 'c' ? 3 : 2);
    return true;
}

/* \p{Lu}: general categories have one or two letters. */
static bool translate_property(struct translator *t)
{
    size_t end = str_find(t->rest, '}');

    if (char_at(t, 2) != '{' || end < 4 || end > 5 || !ascii_is_letter(char_at(t, 3)) ||
        !ascii_is_letter(char_at(t, end - 1)))
        return false;
    copy(t, end + 1);
    return true;
}

static void translate_spaces(struct translator *t, bool negated)
{
    if (t->in_class)
        buf_add(t->to, negated ? STR(NOT_SPACES) : STR(SPACES));
    else
        buf_add(t->to, negated ? STR("[" NOT_SPACES "]") : STR("[" SPACES "]"));
    skip(t, 2);
}

/* Word boundaries; in a class \b is a backspace. */
static bool translate_boundary(struct translator *t)
{
    if (!t->in_class) {
        copy(t, 2);
        return true;
    }
    if (char_at(t, 1) == 'B')
        return false;
    add_code(t, '\b');
    skip(t, 2);
    return true;
}

static bool translate_escape(struct translator *t, enum class_member *member)
{
    char c = char_at(t, 1);

    *member = c && strchr("dDwWsSpP", c) ? MEMBER_SET : MEMBER_CHAR;
    switch (c) {
    case 's':
    case 'S':
        translate_spaces(t, c == 'S');
        return true;
    case 'p':
    case 'P':
        return translate_property(t);
    case 'b':
    case 'B':
        return translate_boundary(t);
    case 'u':
        return translate_unit(t);
    case 'x':
    case 'c':
    case '0':
        return translate_code(t);
    default:
        if (c < 0x20 || c > 0x7E || (ascii_is_alnum(c) && !strchr("dDwWfnrtv", c)))
            return false;
        copy(t, 2);
        return true;
    }
}

static bool translate_member(struct translator *t, enum class_member *member)
{
    char c = char_at(t, 0);

    if (c == '\\')
        return translate_escape(t, member);
    *member = MEMBER_CHAR;
    if (c == '[' || c == '-' || c == '^')
        buf_add_ch(t->to, '\\');
    do
        copy(t, 1);
    while (((unsigned char)char_at(t, 0) & 0xC0) == 0x80);
    return true;
}

/* Up to the bracket that ends the class. */
static bool translate_members(struct translator *t)
{
    enum class_member before = MEMBER_NONE, member;

    while (t->rest.len && t->rest.at[0] != ']') {
        bool range = before != MEMBER_NONE && char_at(t, 0) == '-' && t->rest.len > 1 &&
                     char_at(t, 1) != ']';
        if (range)
            copy(t, 1);
        if (!translate_member(t, &member))
            return false;
        if (range && (before == MEMBER_SET || member == MEMBER_SET))
            return false;
        before = range ? MEMBER_NONE : member;
    }
    return t->rest.len > 0;
}

static bool translate_class(struct translator *t)
{
    bool negated = char_at(t, 1) == '^', done;
    size_t front = negated ? 2 : 1;

    if (char_at(t, front) == ']') { /* no character at all, or any */
        buf_add(t->to, negated ? STR("[" ALL "]") : STR("[^" ALL "]"));
        skip(t, front + 1);
        return true;
    }
    copy(t, front);
    t->in_class = true;
    done = translate_members(t);
    t->in_class = false;
    if (done)
        copy(t, 1);
    return done;
}

static bool translate_group(struct translator *t)
{
    if (char_at(t, 1) != '?') {
        copy(t, 1);
        return true;
    }
    if (char_at(t, 2) == ':') {
        copy(t, 3);
        return true;
    }
    if (char_at(t, 2) != '<' || !ascii_is_letter(char_at(t, 3)))
        return false;
    buf_add_ch(t->to, '('); /* without its name */
    skip(t, str_find(t->rest, '>') + 1);
    return true;
}

/* A repetition, or a brace that stands for itself. {,5} is read as either. */
static bool translate_brace(struct translator *t)
{
    size_t n = 1;

    if (char_at(t, 1) == ',')
        return false;
    while (ascii_is_digit(char_at(t, n)))
        n++;
    if (n > 1 && char_at(t, n) == ',')
        for (n++; ascii_is_digit(char_at(t, n));)
            n++;
    if (n > 1 && char_at(t, n) == '}') {
        copy(t, n + 1);
        return true;
    }
    buf_add_ch(t->to, '\\');
    copy(t, 1);
    return true;
}

static bool translate_next(struct translator *t)
{
    enum class_member ignored;

    switch (char_at(t, 0)) {
    case '\\':
        return translate_escape(t, &ignored);
    case '[':
        return translate_class(t);
    case '(':
        return translate_group(t);
    case '{':
        return translate_brace(t);
    case '.':
        buf_add(t->to, STR("[^\\n\\r\\x{2028}\\x{2029}]"));
        skip(t, 1);
        return true;
    case ']':
    case '}':
        buf_add_ch(t->to, '\\');
        break;
    default:
        break;
    }
    copy(t, 1);
    return true;
}

bool json_ecma_pattern(struct str pattern, struct buf *to)
{
    struct translator t = { .rest = pattern, .to = to };

    if (!utf8_valid(pattern))
        return false;
    while (t.rest.len)
        if (!translate_next(&t))
            return false;
    return true;
}
