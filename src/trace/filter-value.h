/* trace/filter-value.h - one value of a filter: what it says, and whether it fits. */
#ifndef TRACE_FILTER_VALUE_H
#define TRACE_FILTER_VALUE_H

#include "base/regex.h"
#include "trace/filter-key.h"

enum filter_op {
    FILTER_IS,
    FILTER_IS_NOT,
    FILTER_GREATER,
    FILTER_GREATER_EQUAL,
    FILTER_LESS,
    FILTER_LESS_EQUAL,
    FILTER_LIKE, /* a regular expression follows, with or without slashes */
};

/* A value as it stands in the query, without quotes or slashes. */
struct filter_token {
    enum { TOKEN_WORD, TOKEN_STRING, TOKEN_REGEX } kind;
    struct str text;
};

/* The two scales a moment may be measured on, and the time of day. */
enum filter_scale { SCALE_OFFSET, SCALE_DATE, SCALE_DAY };

struct filter_value {
    enum { VALUE_TEXT, VALUE_PATTERN, VALUE_RANGE, VALUE_REAL, VALUE_BITS } kind;
    struct str text;     /* VALUE_TEXT */
    bool quoted;         /* and nothing but a string fits it */
    struct str number;   /* the same in normal form, if it may be a number; else empty */
    struct regex *regex; /* VALUE_PATTERN */
    int64_t from, to;    /* VALUE_RANGE, both included */
    enum filter_scale scale;
    double low, high;  /* VALUE_REAL */
    bool above, below; /* without the ends themselves */
    uint64_t bits;     /* VALUE_BITS */
};

/* What `key` makes of a token. `key` is NULL for a text that is looked for anywhere. Texts
 * live in `a`, but for those of words, which are borrowed. */
bool filter_value_init(struct filter_value *v, const struct filter_key *key, enum filter_op op,
                       struct filter_token token, struct arena *a, struct err *e) MUST_CHECK;
void filter_value_release(struct filter_value *v);

bool filter_value_fits_text(const struct filter_value *v, struct str text);
bool filter_value_fits_number(const struct filter_value *v, int64_t n);
bool filter_value_fits_json(const struct filter_value *v, struct json_val json);

#endif
