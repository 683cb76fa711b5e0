#include "base/str.h"

#include "base/ascii.h"

bool str_parse_u64(struct str s, uint64_t *n)
{
    uint64_t value = 0;

    for (size_t i = 0; i < s.len; i++)
        if (!ascii_is_digit(s.at[i]) || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(s.at[i] - '0'), &value))
            return false;
    *n = value;
    return s.len > 0;
}

bool str_parse_i64(struct str s, int64_t *n)
{
    bool negative = str_starts(s, STR("-"));
    uint64_t value;

    if (!str_parse_u64(str_skip(s, negative), &value))
        return false;
    return negative ? !__builtin_sub_overflow(0, value, n)
                    : !__builtin_add_overflow(0, value, n);
}

bool str_parse_percent(struct str s, char *byte)
{
    int high = s.len > 2 && s.at[0] == '%' ? ascii_hex(s.at[1]) : -1;
    int low = high < 0 ? -1 : ascii_hex(s.at[2]);

    if (low < 0)
        return false;
    *byte = (char)(high << 4 | low);
    return true;
}

bool str_ends(struct str s, struct str suffix)
{
    return s.len >= suffix.len && str_eq(str_skip(s, s.len - suffix.len), suffix);
}

int str_cmp(struct str a, struct str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int c = n ? memcmp(a.at, b.at, n) : 0;

    if (c)
        return c;
    return (a.len > b.len) - (a.len < b.len);
}

struct str str_trim(struct str s)
{
    while (s.len && ascii_is_blank(s.at[0]))
        s = str_skip(s, 1);
    while (s.len && ascii_is_blank(s.at[s.len - 1]))
        s.len--;
    return s;
}

bool str_contains(struct str s, struct str part)
{
    return !part.len || (part.len <= s.len && memmem(s.at, s.len, part.at, part.len));
}

size_t str_find(struct str s, char c)
{
    const char *hit = s.len ? memchr(s.at, c, s.len) : NULL;

    return hit ? (size_t)(hit - s.at) : s.len;
}

struct str str_cut(struct str *rest, char c)
{
    size_t n = str_find(*rest, c);
    struct str head = str_n(rest->at, n);

    *rest = str_skip(*rest, n + 1);
    return head;
}

struct str str_copy_to(char **at, struct str text)
{
    struct str kept = str_n(*at, text.len);

    if (text.len)
        memcpy(*at, text.at, text.len);
    *at += text.len;
    return kept;
}

enum { DISTANCE_MAX = 64 };

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t str_distance(struct str a, struct str b)
{
    size_t rows[3][DISTANCE_MAX + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];

    if (a.len > DISTANCE_MAX || b.len > DISTANCE_MAX)
        return DISTANCE_MAX;
    for (size_t j = 0; j <= b.len; j++)
        above[j] = before[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t best = above[j - 1] + (a.at[i - 1] != b.at[j - 1]);
            best = min_size(best, min_size(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a.at[i - 1] == b.at[j - 2] && a.at[i - 2] == b.at[j - 1])
                best = min_size(best, before[j - 2] + 1);
            row[j] = best;
        }
        size_t *recycled = before;
        before = above;
        above = row;
        row = recycled;
    }
    return above[b.len];
}
