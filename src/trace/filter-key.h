/* trace/filter-key.h - the keys a filter knows, one row each.
 *
 * The same rows feed the parser, the evaluation, help and the documentation. */
#ifndef TRACE_FILTER_KEY_H
#define TRACE_FILTER_KEY_H

#include "trace/filter.h"

/* What stands in the view at `at`, and so what values may follow. */
enum filter_type {
    FILTER_TEXT,     /* struct str */
    FILTER_WORDS,    /* uint64_t: bits of `words` */
    FILTER_NUMBER,   /* int64_t, as all that follow */
    FILTER_DURATION, /* microseconds */
    FILTER_BYTES,
    FILTER_MOMENT,  /* `t`, or `wall` for a clock's time */
    FILTER_CONTENT, /* bits of `words`, found in `message` */
    FILTER_PATH,    /* a place in `message` */
};

struct filter_word {
    const char *name;  /* NULL ends the list */
    uint64_t bits;     /* any of these */
    const char *about; /* NULL: another spelling, which help does not mention */
};

/* Where a path starts. */
enum filter_root { ROOT_MESSAGE, ROOT_ARGUMENTS, ROOT_RESULT, ROOT_META };

struct filter_key {
    const char *name; /* NULL ends the table */
    const char *also; /* another spelling; NULL: none */
    enum filter_type type;
    size_t at;    /* offsetof in struct filter_view */
    unsigned has; /* the bit that says it is there */
    const struct filter_word *words;
    enum filter_root root;
    const char *about, *example;
};

extern const struct filter_key filter_keys[];

/* By any of its spellings; NULL: there is none. */
const struct filter_key *filter_key_find(struct str name);

/* "larger-than:1MB" is "size:>1MB". */
bool filter_key_means_greater(struct str name);

const struct filter_word *filter_key_word(const struct filter_key *key, struct str name);

/* The likeliest key, or word of one, for a misspelled one; NULL: none is near. */
const char *filter_key_nearest(struct str name);
const char *filter_key_nearest_word(const struct filter_key *key, struct str name);

#endif
