/* trace/filter-parse.h - a query as the terms it asks about and how they go together. */
#ifndef TRACE_FILTER_PARSE_H
#define TRACE_FILTER_PARSE_H

#include "base/buf.h"
#include "trace/filter-value.h"
#include "json/path.h"

enum { FILTER_QUERY_MAX = 16 << 10 };

struct filter_term {
    const struct filter_key *key; /* NULL: a text, looked for anywhere */
    struct json_path *path;       /* FILTER_PATH */
    bool differs;                 /* "!=": there is one, and none of the values fits */
    struct filter_value *values;  /* any of them; none: it is there */
    size_t count;
};

/* The program is in postfix form: a byte is the index of a term, or an operator. */
enum { FILTER_AND = FILTER_TERMS, FILTER_OR, FILTER_NOT };

struct filter {
    struct arena arena;
    struct str query; /* a copy, which texts point into */
    struct filter_term terms[FILTER_TERMS];
    size_t count;
    struct buf program;
};

bool filter_parse(struct filter *f, struct filter_fault *fault, struct err *e) MUST_CHECK;

#endif
