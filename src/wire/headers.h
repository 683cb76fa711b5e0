/* wire/headers.h - a list of HTTP headers, in order, with duplicates and spelling kept.
 *
 * Names are compared without regard to case. Everything is borrowed from the text that was
 * parsed or given by the caller.
 *
 * Most lookups are for headers that are absent: `name_bits` holds one bit per name, set by
 * headers_add(), and answers these at once. A header that is removed may leave its bit set. */
#ifndef WIRE_HEADERS_H
#define WIRE_HEADERS_H

#include "base/str.h"
#include "wire/reject-reason.h"

struct header {
    struct str name, value; /* the value without surrounding blanks */
};

/* Zero-initialized, the list is empty. */
struct headers {
    struct header *at;
    size_t count, cap;
    uint64_t name_bits; /* by length and first letter; several names may share a bit */
};

void headers_release(struct headers *f);
void headers_clear(struct headers *f); /* removes all; keeps the memory */
void headers_add(struct headers *f, struct str name, struct str value);

/* Removes all headers for whose name `which` is true. */
void headers_remove(struct headers *f, bool (*which)(struct str name));

/* Removes all headers of that name but the first. */
void headers_keep_first(struct headers *f, struct str name);

/* Adds the headers of `text`: lines that end in CR LF and have no control characters but tabs.
 * Returns REJECT_NONE if all of them are valid. */
enum reject_reason headers_parse(struct headers *f, struct str text);

/* Returns whether a character is a blank in HTTP: JSON has more blanks. */
static inline bool headers_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct str headers_skip_blanks(struct str s);

/* Return the length of the token, or of the token or quoted string (with its quotes), at the
 * front. 0: there is none, or the quoted string is not closed. */
size_t headers_token_length(struct str s);
size_t headers_word_length(struct str s);

bool headers_is_token(struct str s); /* at least one token character, no other */
bool headers_is_value(struct str s); /* has no control characters but tabs */

/* Only for headers_equal_nocase(). */
bool headers_equal_nocase_slow(const char *a, const char *b, size_t len);

/* Returns whether two texts are equal but for the case of ASCII letters. */
static inline bool headers_equal_nocase(struct str a, struct str b)
{
    return a.len == b.len && headers_equal_nocase_slow(a.at, b.at, a.len);
}

/* The factor gives the most frequent names bits of their own. */
static inline uint64_t headers_name_bit(struct str name)
{
    size_t letter = name.len ? (unsigned char)name.at[0] | 0x20u : 0;

    return UINT64_C(1) << ((letter + 10 * name.len) % 64);
}

/* Only for headers_next(): searches the list. */
const struct header *headers_next_slow(const struct headers *f, struct str name,
                                       const struct header *prev);

/* Returns the next header of that name after `prev` (NULL: the first one), or NULL. */
static inline const struct header *headers_next(const struct headers *f, struct str name,
                                                const struct header *prev)
{
    return f->name_bits & headers_name_bit(name) ? headers_next_slow(f, name, prev) : NULL;
}

size_t headers_count(const struct headers *f, struct str name);

/* Returns the value of the first header of that name. */
static inline struct str headers_value(const struct headers *f, struct str name)
{
    const struct header *at = headers_next(f, name, NULL);

    return at ? at->value : STR_NONE;
}

/* Cuts the next element off a comma-separated list, without surrounding blanks. Skips empty
 * elements; a comma in a quoted string does not separate. Returns false at the end. */
bool headers_next_item(struct str *rest, struct str *item);

/* Only for headers_list_has(): searches from that header on. */
bool headers_list_has_slow(const struct headers *f, const struct header *at, struct str token);

/* Returns whether a header of that name lists the token. */
static inline bool headers_list_has(const struct headers *f, struct str name, struct str token)
{
    const struct header *at = headers_next(f, name, NULL);

    return at && headers_list_has_slow(f, at, token);
}

/* Returns whether the connection stays open after a message of HTTP/1.`minor`. */
bool headers_keep_alive(const struct headers *f, int minor);

/* Returns whether a header is hop-by-hop and must not be forwarded: those that HTTP defines
 * and those that Connection lists. */
bool headers_is_hop_by_hop(const struct headers *f, struct str name);

#endif
