/* filter/filter-keys.h - the table of the keys of a filter.
 *
 * The parser, the evaluation, the help and the documentation use the same rows. */
#ifndef FILTER_FILTER_KEYS_H
#define FILTER_FILTER_KEYS_H

#include "filter/filter.h"

/* The type of the member of the view at `offset`, which decides the values that a key takes. */
enum filter_type {
    FILTER_TYPE_TEXT,     /* struct str */
    FILTER_TYPE_WORDS,    /* uint64_t: bits of `words` */
    FILTER_TYPE_NUMBER,   /* int64_t, as all that follow */
    FILTER_TYPE_DURATION, /* microseconds */
    FILTER_TYPE_BYTES,
    FILTER_TYPE_TIME,    /* `t`; `wall` for a date or a time of day */
    FILTER_TYPE_CONTENT, /* bits of `words`, found in `message` */
    FILTER_TYPE_PATH,    /* a JSON path in `message` */
};

struct filter_word {
    const char *name; /* NULL ends the list */
    uint64_t bits;    /* any of these */
    const char *help; /* NULL: an alias, which the help omits */
};

/* Where a path starts. */
enum filter_root {
    FILTER_ROOT_MESSAGE,
    FILTER_ROOT_ARGUMENTS,
    FILTER_ROOT_RESULT,
    FILTER_ROOT_META
};

struct filter_key {
    const char *name;  /* NULL ends the table */
    const char *alias; /* NULL: none */
    enum filter_type type;
    size_t offset;    /* offsetof in struct filter_view */
    unsigned has_bit; /* enum filter_has; 0: a member without such a bit */
    const struct filter_word *words;
    enum filter_root root;
    const char *help, *example;
};

extern const struct filter_key filter_keys[];

/* Finds a key by name or alias; NULL: there is none. */
const struct filter_key *filter_key_find(struct str name);

/* Returns whether ":" means ">" after this name: "larger-than:1MB" is "size:>1MB". */
bool filter_key_means_greater(struct str name);

/* Finds a word of a key; NULL: there is none. */
const struct filter_word *filter_key_word(const struct filter_key *key, struct str name);

/* Return the key, or the word of a key, nearest to a misspelled name; NULL: none is near. */
const char *filter_key_nearest(struct str name);
const char *filter_key_nearest_word(const struct filter_key *key, struct str name);

#endif
