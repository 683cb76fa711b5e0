/* tests/unit/call-diff-run.h - compares the calls of two recordings in terse lines. */
#ifndef CALL_DIFF_RUN_H
#define CALL_DIFF_RUN_H

#include "diff/call-diff.h"
#include "terse.h"
#include "test.h"

struct call_diff_run_side {
    struct message_store_memory store;
    struct index index;
    struct call_list calls;
};

static inline void call_diff_run_load(struct call_diff_run_side *s, const char *recording,
                                      const struct compare_rules *rules)
{
    const struct params_rules params = { .ignore = rules };

    message_store_memory_init(&s->store);
    call_list_init(&s->calls, &s->index);
    index_init(&s->index, &s->store.store, &params, &s->calls.observer);
    terse_feed(&s->index.sink, recording);
    index_finish(&s->index);
}

static inline void call_diff_run_release(struct call_diff_run_side *s)
{
    call_list_release(&s->calls);
    index_release(&s->index);
    message_store_memory_release(&s->store);
}

/* Compares; `rules` may be NULL. The rest of `d` is set by the caller. */
static inline struct call_diff_totals call_diff_run_both(struct call_diff d, const char *before,
                                                         const char *after,
                                                         const struct compare_rules *given)
{
    struct call_diff_run_side sides[2];
    struct compare_rules rules;
    struct call_diff_totals totals;
    struct err e = ERR_NONE;

    compare_rules_init(&rules);
    d.rules = given ? given : &rules;
    call_diff_run_load(&sides[0], before, d.rules);
    call_diff_run_load(&sides[1], after, d.rules);
    d.before = &sides[0].calls;
    d.after = &sides[1].calls;
    if (!call_diff_run(&d, &totals, &e))
        fail_msg("%s", e.msg);
    call_diff_run_release(&sides[0]);
    call_diff_run_release(&sides[1]);
    compare_rules_release(&rules);
    return totals;
}

#endif
