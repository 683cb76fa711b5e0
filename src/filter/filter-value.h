/* filter/filter-value.h - parses one value of a query and compares it. */
#ifndef FILTER_FILTER_VALUE_H
#define FILTER_FILTER_VALUE_H

#include "base/regex.h"
#include "filter/filter-keys.h"

enum filter_op {
    FILTER_OP_IS,
    FILTER_OP_IS_NOT,
    FILTER_OP_GREATER,
    FILTER_OP_GREATER_EQUAL,
    FILTER_OP_LESS,
    FILTER_OP_LESS_EQUAL,
    FILTER_OP_REGEX, /* "~": the value is a regular expression, with or without slashes */
};

/* A value of the query without its quotes or slashes. */
struct filter_token {
    enum { FILTER_TOKEN_WORD, FILTER_TOKEN_STRING, FILTER_TOKEN_REGEX } kind;
    struct str text;
};

/* A time: since the start of the recording, a date, or a time of day. */
enum filter_scale { FILTER_SCALE_OFFSET, FILTER_SCALE_DATE, FILTER_SCALE_TIME_OF_DAY };

struct filter_value {
    enum {
        FILTER_VALUE_TEXT,
        FILTER_VALUE_REGEX,
        FILTER_VALUE_RANGE,
        FILTER_VALUE_REAL,
        FILTER_VALUE_BITS
    } kind;
    struct str text;     /* FILTER_VALUE_TEXT */
    bool quoted;         /* FILTER_VALUE_TEXT: matches only strings */
    struct str number;   /* `text` as a normalized number; empty: it is not one */
    struct regex *regex; /* FILTER_VALUE_REGEX */
    int64_t from, to;    /* FILTER_VALUE_RANGE */
    enum filter_scale scale;
    double low, high;                   /* FILTER_VALUE_REAL */
    bool low_exclusive, high_exclusive; /* of FILTER_VALUE_RANGE and FILTER_VALUE_REAL */
    uint64_t bits;                      /* FILTER_VALUE_BITS */
};

/* Parses a token as a value of `key`; `key` is NULL for a bare text. Texts live in `a` or are
 * borrowed from the token. */
bool filter_value_init(struct filter_value *v, const struct filter_key *key, enum filter_op op,
                       struct filter_token token, struct arena *a, struct err *e) MUST_CHECK;
void filter_value_release(struct filter_value *v);

bool filter_value_matches_text(const struct filter_value *v, struct str text);
bool filter_value_matches_number(const struct filter_value *v, int64_t n);
bool filter_value_matches_json(const struct filter_value *v, struct json_val json);

#endif
