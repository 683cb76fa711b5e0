/* wire/fields.h - HTTP header lines: in their order, duplicates and spelling kept.
 *
 * Names are compared without regard to case, as HTTP has it. Everything is borrowed
 * from the text it was read from or the caller gave.
 *
 * Most names that are looked for are not there: a few bits of each that is tell so at once.
 * They are set by who adds a line; one that is taken out may leave its bit. */
#ifndef WIRE_FIELDS_H
#define WIRE_FIELDS_H

#include "base/str.h"
#include "wire/refusal.h"

struct field {
    struct str name, value; /* the value without the blanks around it */
};

/* Zeroed, it is empty. */
struct fields {
    struct field *at;
    size_t count, cap;
    uint64_t names; /* one bit for each, by its length and first letter; they may share one */
};

void fields_release(struct fields *f);
void fields_clear(struct fields *f); /* empty; keeps the memory */
void fields_add(struct fields *f, struct str name, struct str value);

/* Adds the lines of `text`, each of which ends in CR LF and holds no other control
 * character than tabs. REFUSAL_NONE: all of them were good. */
enum refusal fields_parse(struct fields *f, struct str text);

/* Blanks as HTTP has them; JSON has more. */
static inline bool fields_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct str fields_skip_blanks(struct str s);

/* How many bytes at the front are a token; or a token or a quoted string, with its quotes.
 * 0: there is none, or it has no end. */
size_t fields_token_length(struct str s);
size_t fields_word_length(struct str s);

bool fields_is_token(struct str s); /* one or more of the characters of a name */
bool fields_is_value(struct str s); /* may stand in a line: no control characters */

/* fields_same() of so many bytes; nobody else calls it. */
bool fields_same_far(const char *a, const char *b, size_t len);

static inline bool fields_same(struct str a, struct str b) /* but for the case of letters */
{
    return a.len == b.len && fields_same_far(a.at, b.at, a.len);
}

/* The factor keeps those apart that come and are looked for most. */
static inline uint64_t fields_bit(struct str name)
{
    size_t letter = name.len ? (unsigned char)name.at[0] | 0x20u : 0;

    return UINT64_C(1) << ((letter + 10 * name.len) % 64);
}

/* fields_next() if it may be there; nobody else calls it. */
const struct field *fields_next_far(const struct fields *f, struct str name,
                                    const struct field *prev);

/* The first of that name after `prev` (NULL: of all); NULL if there is none. */
static inline const struct field *fields_next(const struct fields *f, struct str name,
                                              const struct field *prev)
{
    return f->names & fields_bit(name) ? fields_next_far(f, name, prev) : NULL;
}

size_t fields_count(const struct fields *f, struct str name);

static inline struct str fields_value(const struct fields *f, struct str name)
{
    const struct field *at = fields_next(f, name, NULL);

    return at ? at->value : STR_NONE; /* of the first */
}

/* Cuts the next element of a comma-separated list off `*rest`, without blanks and never
 * empty; false: that was all. A comma in a quoted string separates nothing. */
bool fields_item(struct str *rest, struct str *item);

/* fields_list() from that field on; nobody else calls it. */
bool fields_list_far(const struct fields *f, const struct field *at, struct str token);

/* Whether a field of that name lists the token. */
static inline bool fields_list(const struct fields *f, struct str name, struct str token)
{
    const struct field *at = fields_next(f, name, NULL);

    return at && fields_list_far(f, at, token);
}

/* Whether the connection stays, by what is said in HTTP/1.`minor`. */
bool fields_keep_alive(const struct fields *f, int minor);

/* Whether a field is between neighbours only and not passed on: those HTTP knows to be,
 * and those that Connection names. */
bool fields_is_hop(const struct fields *f, struct str name);

#endif
