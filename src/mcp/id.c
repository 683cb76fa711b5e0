#include "mcp/id.h"

enum { EXPONENT_DIGITS = 18 }; /* so many fit an int64_t, with room to add a length */
enum { EXPONENT_TEXT = 24 };   /* "e", a sign and 19 digits fit */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t find_exponent(struct str number)
{
    size_t at = str_find(number, 'e');

    return at < number.len ? at : str_find(number, 'E');
}

/* What follows the "e", may be empty; false if it is out of all proportion. */
static bool read_exponent(struct str s, int64_t *out)
{
    bool negative = s.len && s.at[0] == '-';
    int64_t n = 0;

    if (s.len && !is_digit(s.at[0]))
        s = str_skip(s, 1);
    while (s.len && s.at[0] == '0')
        s = str_skip(s, 1);
    if (s.len > EXPONENT_DIGITS)
        return false;
    for (size_t i = 0; i < s.len; i++)
        n = n * 10 + (s.at[i] - '0');
    *out = negative ? -n : n;
    return true;
}

/* The digits that matter, without a zero at either end, and where the point stands
 * from the first of them: 0.0120 gives "12" and -1. None at all is zero. */
static size_t copy_digits(char *to, struct str mantissa, int64_t *point)
{
    bool fraction = false;
    size_t n = 0;

    *point = 0;
    for (size_t i = 0; i < mantissa.len; i++) {
        char c = mantissa.at[i];
        fraction |= c == '.';
        if (!is_digit(c) || (c == '0' && !n && !fraction))
            continue;
        if (n || c != '0')
            to[n++] = c;
        if (n && !fraction)
            ++*point;
        else if (!n)
            --*point;
    }
    while (n && to[n - 1] == '0')
        n--;
    return n;
}

/* "e" and the exponent; returns how many bytes. By hand: every message has an id, and
 * a formatter would take longer than all the rest. */
static size_t write_exponent(char *to, int64_t exponent)
{
    uint64_t n = exponent < 0 ? -(uint64_t)exponent : (uint64_t)exponent;
    char digits[EXPONENT_TEXT];
    size_t count = 0, at = 0;

    do
        digits[count++] = (char)('0' + n % 10);
    while (n /= 10);
    to[at++] = 'e';
    if (exponent < 0)
        to[at++] = '-';
    while (count)
        to[at++] = digits[--count];
    return at;
}

static struct str tagged(struct arena *a, struct str tag, struct str text)
{
    char *key = arena_alloc(a, tag.len + text.len);

    memcpy(key, tag.at, tag.len);
    if (text.len)
        memcpy(key + tag.len, text.at, text.len);
    return str_n(key, tag.len + text.len);
}

static struct str number_key(struct str number, struct arena *a)
{
    struct str mantissa = str_n(number.at, find_exponent(number));
    bool negative = number.at[0] == '-';
    char *key = arena_alloc(a, 1 + mantissa.len + EXPONENT_TEXT);
    char *digits = key + 1 + negative;
    int64_t point, exponent;
    size_t n = copy_digits(digits, mantissa, &point);

    if (!n)
        return tagged(a, STR("n"), STR("0"));
    if (!read_exponent(str_skip(number, mantissa.len + 1), &exponent))
        return tagged(a, STR("n="), number);
    key[0] = 'n';
    if (negative)
        key[1] = '-';
    n += write_exponent(digits + n, point + exponent);
    return str_n(key, (size_t)(digits - key) + n);
}

struct str mcp_id_key(struct json_val id, struct arena *a)
{
    switch (json_type(id)) {
    case JSON_STRING:
        return tagged(a, STR("s"), json_text(id, a));
    case JSON_NUMBER:
        return number_key(json_raw(id), a);
    default:
        return STR_NONE;
    }
}
