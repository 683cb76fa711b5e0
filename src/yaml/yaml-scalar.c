#include "yaml/yaml-scalar.h"

#include "base/ascii.h"
#include "json/write.h"

#define DIGITS "0123456789"

enum { WORD_MAX = 5 }; /* the length of "false" */

static bool is_one_of(struct str text, const char *const *words)
{
    for (; *words; words++)
        if ((!text.len || text.at[0] == **words) && str_eq(text, str_z(*words)))
            return true;
    return false;
}

static bool is_null(struct str text)
{
    static const char *const words[] = { "", "~", "null", "Null", "NULL", NULL };

    return is_one_of(text, words);
}

bool yaml_scalar_is_true(struct str text)
{
    static const char *const words[] = { "true", "True", "TRUE", "yes", "Yes",
                                         "YES",  "on",   "On",   "ON",  NULL };

    return is_one_of(text, words);
}

static bool is_false(struct str text)
{
    static const char *const words[] = { "false", "False", "FALSE", "no",  "No",
                                         "NO",    "off",   "Off",   "OFF", NULL };

    return is_one_of(text, words);
}

static bool is_infinite_or_nan(struct str text)
{
    static const char *const words[] = { ".inf",  ".Inf",  ".INF",  "+.inf", "+.Inf",
                                         "+.INF", "-.inf", "-.Inf", "-.INF", ".nan",
                                         ".NaN",  ".NAN",  NULL };

    return is_one_of(text, words);
}

static struct str without_sign(struct str text)
{
    return text.len && (text.at[0] == '-' || text.at[0] == '+') ? str_skip(text, 1) : text;
}

/* Returns how many bytes at the front are in `set`. */
static size_t span(struct str text, const char *set)
{
    size_t n = 0;

    while (n < text.len && text.at[n] && strchr(set, text.at[n]))
        n++;
    return n;
}

static bool is_all(struct str text, const char *set)
{
    return text.len && span(text, set) == text.len;
}

/* Returns the base of an integer without its sign, or 0. */
static unsigned int_base(struct str digits)
{
    if (str_starts(digits, STR("0b")))
        return is_all(str_skip(digits, 2), "01_") ? 2 : 0;
    if (str_starts(digits, STR("0x")))
        return is_all(str_skip(digits, 2), DIGITS "abcdefABCDEF_") ? 16 : 0;
    if (str_starts(digits, STR("0")))
        return digits.len == 1 ? 10 : is_all(digits, "01234567_") ? 8 : 0;
    return is_all(digits, DIGITS "_") && digits.at[0] != '_' ? 10 : 0;
}

/* 12:30, 1:02:03, 1:30.5 */
static bool is_base_60(struct str text)
{
    struct str rest = without_sign(text), part = str_cut(&rest, ':');

    if (!rest.len || !is_all(part, DIGITS "_") || part.at[0] == '_')
        return false;
    while (rest.len) {
        part = str_cut(&rest, ':');
        if (!rest.len)
            part = str_n(part.at, str_find(part, '.'));
        if (!is_all(part, DIGITS) || part.len > 2 || (part.len == 2 && part.at[0] > '5'))
            return false;
    }
    return true;
}

/* Returns the text behind an exponent at the front, or all of it. */
static struct str skip_exponent(struct str text)
{
    struct str rest;
    size_t digits;

    if (!text.len || (text.at[0] != 'e' && text.at[0] != 'E'))
        return text;
    rest = without_sign(str_skip(text, 1));
    digits = span(rest, DIGITS);
    return digits ? str_skip(rest, digits) : text;
}

static bool is_float(struct str text)
{
    struct str rest = without_sign(text);
    size_t whole = span(rest, DIGITS "_"), part = 0;
    bool has_point;

    if (whole && rest.at[0] == '_')
        return false;
    rest = str_skip(rest, whole);
    has_point = rest.len && rest.at[0] == '.';
    if (has_point) {
        rest = str_skip(rest, 1);
        part = span(rest, DIGITS "_");
        if (!whole && (!part || rest.at[0] == '_'))
            return false;
        rest = str_skip(rest, part);
    }
    if (!whole && !part)
        return false;
    if (!has_point && !rest.len)
        return false; /* an integer, or something like 08 */
    return !skip_exponent(rest).len;
}

enum yaml_type yaml_scalar_type(struct str text)
{
    const bool is_word = text.len && ascii_is_letter(text.at[0]);

    if (is_word && text.len > WORD_MAX)
        return YAML_TYPE_STRING;
    if (is_null(text))
        return YAML_TYPE_NULL;
    if (yaml_scalar_is_true(text) || is_false(text))
        return YAML_TYPE_BOOL;
    if (is_word)
        return YAML_TYPE_STRING;
    if (int_base(without_sign(text)) || is_base_60(text))
        return YAML_TYPE_INT;
    if (is_float(text) || is_infinite_or_nan(text))
        return YAML_TYPE_FLOAT;
    return YAML_TYPE_STRING;
}

static void add_digits(struct buf *to, struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] != '_')
            buf_add_ch(to, text.at[i]);
}

static const char *write_int(struct buf *to, struct str text)
{
    struct str digits = without_sign(text);
    unsigned base = int_base(digits);
    uint64_t n = 0;

    if (text.at[0] == '-')
        buf_add_ch(to, '-');
    if (base == 10) {
        add_digits(to, digits);
        return NULL;
    }
    digits = str_skip(digits, base == 8 ? 1 : 2);
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.at[i] == '_')
            continue;
        if (n > UINT64_MAX / base)
            return "it is too large; write it as a decimal number";
        n = n * base + (unsigned)ascii_hex(digits.at[i]);
    }
    buf_printf(to, "%llu", (unsigned long long)n);
    return NULL;
}

/* JSON wants digits on both sides of the point, and no zero in front of others. */
static void write_float(struct buf *to, struct str text)
{
    struct str rest = without_sign(text), whole, part;

    if (text.at[0] == '-')
        buf_add_ch(to, '-');
    whole = str_n(rest.at, span(rest, DIGITS "_"));
    rest = str_skip(rest, whole.len);
    while (whole.len > 1 && (whole.at[0] == '0' || whole.at[0] == '_'))
        whole = str_skip(whole, 1);
    if (whole.len && whole.at[0] != '_')
        add_digits(to, whole);
    else
        buf_add_ch(to, '0');
    if (rest.len && rest.at[0] == '.') {
        rest = str_skip(rest, 1);
        part = str_n(rest.at, span(rest, DIGITS "_"));
        rest = str_skip(rest, part.len);
        buf_add_ch(to, '.');
        add_digits(to, part);
        if (is_all(part, "_") || !part.len)
            buf_add_ch(to, '0');
    }
    buf_add(to, rest);
}

const char *yaml_scalar_write_json(struct buf *to, enum yaml_type type, struct str text)
{
    switch (type) {
    case YAML_TYPE_NULL:
        buf_add(to, STR("null"));
        return NULL;
    case YAML_TYPE_BOOL:
        buf_add(to, yaml_scalar_is_true(text) ? STR("true") : STR("false"));
        return NULL;
    case YAML_TYPE_INT:
        if (is_base_60(text))
            return "it is a base-60 number of YAML 1.1; write it in quotes if it is text";
        return write_int(to, text);
    case YAML_TYPE_FLOAT:
        if (is_infinite_or_nan(text))
            return "JSON has no such number; write it in quotes if it is text";
        write_float(to, text);
        return NULL;
    case YAML_TYPE_STRING:
        json_write_str(to, text);
        return NULL;
    case YAML_TYPE_LIST:
    case YAML_TYPE_MAP:
        break;
    }
    BUG("a scalar has no items");
}
