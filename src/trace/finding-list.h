/* trace/finding-list.h - an owned list of findings, in the order they were added.
 *
 * Every output of a command is written from the same list. Owns copies of all texts. */
#ifndef TRACE_FINDING_LIST_H
#define TRACE_FINDING_LIST_H

#include "base/arena.h"
#include "trace/finding.h"

struct finding_list {
    struct finding *at;
    size_t count, cap;
    struct arena arena; /* texts; the caller may allocate here, too */
};

void finding_list_init(struct finding_list *l);
void finding_list_release(struct finding_list *l);

/* Adds a copy. */
void finding_list_add(struct finding_list *l, const struct finding *f);

/* Returns whether there is a finding of this severity. */
bool finding_list_has(const struct finding_list *l, enum finding_severity severity);

#endif
