/* report/show-select.h - parses FILE, FILE:N, FILE:#SEQ and the filter of `show`. */
#ifndef REPORT_SHOW_SELECT_H
#define REPORT_SHOW_SELECT_H

#include "base/arena.h"
#include "base/sys.h"
#include "filter/filter.h"

struct show_select {
    const char *path;
    uint64_t number; /* of an operation or message; 0: all */
    bool is_message; /* `number` is that of a message */
};

/* Parses the operand. If a file of that whole name exists, it is the path. ERR_USAGE if the
 * text after the colon is not a number and the path before it is a file. The path lives in `a`.
 */
bool show_select_parse(struct show_select *p, const struct sys *sys, const char *operand,
                       struct arena *a, struct err *e) MUST_CHECK;

/* Joins `words` to one query and parses it together with the `more_count` queries of `more`:
 * all of them must match. The error shows the part of the query that is wrong. */
bool show_select_filter(struct filter **out, char *const *words, size_t count,
                        const char *const *more, size_t more_count, struct err *e) MUST_CHECK;

#endif
