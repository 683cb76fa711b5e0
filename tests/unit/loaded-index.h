/* tests/unit/loaded-index.h - the index of a recording in terse lines, with its message store
 * and a matcher. */
#ifndef LOADED_INDEX_H
#define LOADED_INDEX_H

#include "match/match.h"
#include "terse.h"
#include "test.h"

struct loaded_index {
    struct message_store_memory store;
    struct fuzzy fuzzy;
    struct index index;
    struct index_message text;
};

/* Most tests are about requests alone: without a response they could not be matched. */
static inline void loaded_index_answer_all(struct index *s)
{
    for (uint32_t op = 1; op < s->call_count; op++)
        if (s->calls[op].flags & CALL_MATCHABLE && !(s->calls[op].flags & CALL_CANCELLED))
            s->calls[op].flags |= CALL_HAS_RESPONSE;
}

static inline void loaded_index_init_with(struct loaded_index *s,
                                          const struct params_rules *rules,
                                          const char *recording)
{
    message_store_memory_init(&s->store);
    fuzzy_init(&s->fuzzy, &s->index);
    index_message_init(&s->text);
    index_init(&s->index, &s->store.store, rules, &s->fuzzy.observer);
    terse_feed(&s->index.sink, recording);
    loaded_index_answer_all(&s->index);
    index_finish(&s->index);
}

static inline void loaded_index_init(struct loaded_index *s, enum match_mode mode,
                                     const char *recording)
{
    struct params_rules rules = matcher_rules(&(struct match_options){ .mode = mode }, false);

    loaded_index_init_with(s, &rules, recording);
}

/* Options without rules, for a report. */
static inline const struct match_options *loaded_index_exact(void)
{
    static const struct match_options exact = { .mode = MATCH_BY_REQUEST };

    return &exact;
}

static inline void loaded_index_release(struct loaded_index *s)
{
    index_release(&s->index);
    index_message_release(&s->text);
    fuzzy_release(&s->fuzzy);
    message_store_memory_release(&s->store);
}

static inline struct json_val loaded_index_call(struct loaded_index *s, uint32_t op)
{
    struct err e = ERR_NONE;
    struct json_val root;

    if (!index_read_call(&s->index, op, &s->text, &root, &e))
        fail_msg("%s", e.msg);
    return root;
}

static inline struct json_val loaded_index_step(struct loaded_index *s, uint32_t step)
{
    struct err e = ERR_NONE;
    struct json_val root;

    if (!index_read_step(&s->index, step, &s->text, &root, &e))
        fail_msg("%s", e.msg);
    return root;
}

/* Every call of a recording with its steps, each as `show` writes it; `n` is the member of that
 * name in the step's message. */
static inline void
loaded_index_check(const char *recording, const char *want,
                   void (*show)(struct buf *to, const struct recorded_step *step, struct str n))
{
    struct loaded_index s;
    struct buf got;

    buf_init(&got, 1 << 20);
    loaded_index_init(&s, MATCH_SEQUENTIAL, recording);
    for (uint32_t op = 1; op < s.index.call_count; op++) {
        buf_printf(&got, "%s%u:", op > 1 ? "; " : "", op);
        for (uint32_t step = index_first_step(&s.index, op); step;
             step = index_next_step(&s.index, op, step))
            show(&got, &s.index.steps[step],
                 json_raw(json_get(loaded_index_step(&s, step), STR("n"))));
    }
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
    loaded_index_release(&s);
}

#endif
