/* diff/call-list.h - the calls of a recording that are compared, each with its hashes for the
 * alignment (diff/align.h).
 *
 * Observes an index while it is built (index/index.h), whose rules decide which params count:
 * the key is a hash of the method and of the params after the ignore rules. Requests of the
 * same method and subject (tool, prompt, URI) are of one kind; so are all requests of a list
 * method, or of a method that polls a task, because the server generates their cursors and ids.
 *
 * initialize, server/discover and ping are not in the list. 24 bytes for each call. */
#ifndef DIFF_CALL_LIST_H
#define DIFF_CALL_LIST_H

#include "diff/align.h"
#include "index/index.h"

struct call_list {
    struct index_observer observer; /* to be given to index_init() */
    const struct index *index;      /* borrowed; set by call_list_init() */
    struct align_item *items;
    uint32_t *calls; /* the number of each item in the index */
    size_t count, item_cap, call_cap;
};

void call_list_init(struct call_list *l, const struct index *index);
void call_list_release(struct call_list *l);

/* Removes the calls for which `selected` returns false. An error of it ends the selection. */
bool call_list_select(struct call_list *l,
                      bool (*selected)(void *arg, uint32_t call, bool *is, struct err *e),
                      void *arg, struct err *e) MUST_CHECK;

#endif
