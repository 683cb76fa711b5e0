#include "base/units.h"

#include <strings.h>

#include "base/ascii.h"

void units_write_count(struct buf *to, uint64_t n, const char *one, const char *many)
{
    buf_printf(to, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

void units_write_bytes(struct buf *to, uint64_t bytes)
{
    static const char units[] = "kMGTPE";
    uint64_t unit = 1000;
    size_t i = 0;

    if (bytes < 1000) {
        units_write_count(to, bytes, "byte", "bytes");
        return;
    }
    /* As long as it would be rounded to a thousand. */
    while (units[i + 1] && bytes >= unit * 1000 - unit / 2) {
        unit *= 1000;
        i++;
    }
    if (bytes >= unit * 10 - unit / 20)
        buf_printf(to, "%llu %cB",
                   (unsigned long long)(bytes / unit + (bytes % unit >= unit / 2)), units[i]);
    else
        buf_printf(to, "%llu.%llu %cB", (unsigned long long)((bytes + unit / 20) / unit),
                   (unsigned long long)((bytes + unit / 20) % unit / (unit / 10)), units[i]);
}

struct unit {
    const char *name;
    uint64_t scale;
};

/* As the GNU tools have it: MB is a million, M and MiB are 2^20. */
static const struct unit size_units[] = {
    { "", 1 },
    { "b", 1 },
    { "k", 1ull << 10 },
    { "kb", 1000 },
    { "kib", 1ull << 10 },
    { "m", 1ull << 20 },
    { "mb", 1000 * 1000 },
    { "mib", 1ull << 20 },
    { "g", 1ull << 30 },
    { "gb", 1000 * 1000 * 1000 },
    { "gib", 1ull << 30 },
    { NULL, 0 },
};

static const struct unit time_units[] = {
    { "us", 1 },
    { "ms", 1000 },
    { "s", 1000 * 1000 },
    { "m", 60ull * 1000 * 1000 },
    { "min", 60ull * 1000 * 1000 },
    { "h", 3600ull * 1000 * 1000 },
    { "d", 24 * 3600ull * 1000 * 1000 },
    { NULL, 0 },
};

static bool at_digit(struct str s)
{
    return s.len && ascii_is_digit(s.at[0]);
}

static const struct unit *parse_unit(struct str *rest, const struct unit *units)
{
    size_t n = 0;

    while (n < rest->len && ascii_is_letter(rest->at[n]))
        n++;
    for (; units->name; units++)
        if (strlen(units->name) == n && (!n || strncasecmp(units->name, rest->at, n) == 0)) {
            *rest = str_skip(*rest, n);
            return units;
        }
    return NULL;
}

/* Takes "2.5s" off the front; false if it is no such thing or too large. */
static bool parse_scaled(struct str *rest, const struct unit *units, uint64_t *out)
{
    uint64_t whole = 0, part = 0, places = 1;
    const struct unit *unit;

    if (!at_digit(*rest))
        return false;
    for (; at_digit(*rest); *rest = str_skip(*rest, 1))
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, (uint64_t)(rest->at[0] - '0'), &whole))
            return false;
    if (rest->len && rest->at[0] == '.') {
        *rest = str_skip(*rest, 1);
        if (!at_digit(*rest))
            return false;
        for (; at_digit(*rest); *rest = str_skip(*rest, 1))
            if (places < 1000000) {
                part = part * 10 + (uint64_t)(rest->at[0] - '0');
                places *= 10;
            }
    }
    unit = parse_unit(rest, units);
    if (unit && part && part * unit->scale < places)
        return false; /* half a byte would be none, which often means something else */
    if (!unit || __builtin_mul_overflow(whole, unit->scale, &whole))
        return false;
    return !__builtin_add_overflow(whole, part * unit->scale / places, out);
}

bool units_parse_bytes(struct str text, uint64_t *bytes)
{
    uint64_t n;

    if (!parse_scaled(&text, size_units, &n) || text.len)
        return false;
    *bytes = n;
    return true;
}

bool units_parse_duration(struct str text, int64_t *us)
{
    uint64_t sum = 0, n;

    if (!text.len)
        return false;
    if (str_eq(text, STR("0"))) {
        *us = 0;
        return true;
    }
    while (text.len)
        if (!parse_scaled(&text, time_units, &n) || __builtin_add_overflow(sum, n, &sum))
            return false;
    if (sum > INT64_MAX)
        return false;
    *us = (int64_t)sum;
    return true;
}
