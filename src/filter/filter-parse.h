/* filter/filter-parse.h - parses a query into terms and a program that combines them.
 *
 * The query must be UTF-8 and at most FILTER_QUERY_MAX bytes long. */
#ifndef FILTER_FILTER_PARSE_H
#define FILTER_FILTER_PARSE_H

#include "base/buf.h"
#include "filter/filter-value.h"
#include "json/path.h"

enum { FILTER_QUERY_MAX = 16 << 10 };

struct filter_term {
    const struct filter_key *key; /* NULL: a bare text */
    struct json_path *path;       /* FILTER_TYPE_PATH */
    bool negated;                 /* "!=": a value exists, and none of `values` matches */
    struct filter_value *values;  /* one must match; empty: the path must exist */
    size_t count;
};

/* The program is in postfix form: a byte is the index of a term, or an operator. */
enum { FILTER_AND = FILTER_MAX_TERMS, FILTER_OR, FILTER_NOT };

struct filter {
    struct arena arena;
    struct str query; /* a copy; texts of terms borrow from it */
    struct filter_term terms[FILTER_MAX_TERMS];
    size_t count;
    struct buf program;
};

/* Parses `f->query` into terms and program. */
bool filter_parse(struct filter *f, struct filter_fault *fault, struct err *e) MUST_CHECK;

#endif
