/* base/str.h - a borrowed view of bytes; never owns, never NUL-terminated.
 *
 * `at` may be NULL only when `len` is 0. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *at;
    size_t len;
};

#define STR(lit) ((struct str){ (lit), sizeof(lit) - 1 })
#define STR_NONE ((struct str){ NULL, 0 })

/* The same as an initialiser, for static tables. */
#define STR_INIT(lit)                                                                          \
    {                                                                                          \
        (lit), sizeof(lit) - 1                                                                 \
    }

/* For "%.*s". */
#define STR_ARG(s) (int)(s).len, (s).at ? (s).at : ""

static inline struct str str_n(const char *at, size_t len)
{
    return (struct str){ at, len };
}

static inline struct str str_z(const char *z)
{
    return (struct str){ z, z ? strlen(z) : 0 };
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

static inline bool str_starts(struct str s, struct str prefix)
{
    return s.len >= prefix.len && (prefix.len == 0 || memcmp(s.at, prefix.at, prefix.len) == 0);
}

/* The view without its first `n` bytes; empty if there are fewer. */
static inline struct str str_skip(struct str s, size_t n)
{
    return n >= s.len ? STR_NONE : str_n(s.at + n, s.len - n);
}

/* Parse a number that is all digits, with a '-' in front if it may be negative. Return false if
 * it is none or does not fit. */
bool str_parse_u64(struct str s, uint64_t *n);
bool str_parse_i64(struct str s, int64_t *n);

/* Decodes a percent-encoded byte (%41) at the front; false if there is none. */
bool str_parse_percent(struct str s, char *byte);

bool str_ends(struct str s, struct str suffix);
int str_cmp(struct str a, struct str b); /* bytewise, the shorter first */
struct str str_trim(struct str s); /* without JSON's whitespace at both ends: space \t \r \n */

/* Returns whether `s` contains `part`; every text contains the empty one. */
bool str_contains(struct str s, struct str part);

/* Offset of the first `c`, or s.len. */
size_t str_find(struct str s, char c);

/* Splits `*rest` at the first `c`: returns the text before it and leaves the text behind it.
 * Without a `c` returns all and leaves nothing. */
struct str str_cut(struct str *rest, char c);

/* Copies `text` to `*at`, moves `*at` behind it and returns the copy. */
struct str str_copy_to(char **at, struct str text);

/* How many edits (insert, delete, replace, swap neighbours) turn `a` into `b`;
 * more than 64 bytes count as unlike. For "did you mean". */
size_t str_distance(struct str a, struct str b);

#endif
