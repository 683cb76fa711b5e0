/* cmd/call-filter.h - selects recorded calls by the filters of --only and --skip. */
#ifndef CMD_CALL_FILTER_H
#define CMD_CALL_FILTER_H

#include "filter/filter.h"
#include "index/index.h"

struct call_filter {
    struct filter *only, *skip; /* NULL: not given */
};

/* Parses the values of the options; each may be NULL. To be released in any case. */
bool call_filter_read(struct call_filter *f, const char *only, const char *skip,
                      struct err *e) MUST_CHECK;
void call_filter_release(struct call_filter *f);

static inline bool call_filter_is_given(const struct call_filter *f)
{
    return f->only || f->skip;
}

/* Returns whether the filters select a call; if not, `*why` says by which option. */
bool call_filter_selects(const struct call_filter *f, const struct index *index, uint32_t call,
                         struct json_val request, struct str *why);

#endif
