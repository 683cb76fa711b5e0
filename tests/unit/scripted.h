/* tests/unit/scripted.h - a script of a recording in terse lines, with its shelf and all a
 * matcher may need. */
#ifndef SCRIPTED_H
#define SCRIPTED_H

#include "engine/match.h"
#include "terse.h"
#include "test.h"

struct scripted {
    struct shelf_memory shelf;
    struct fuzzy fuzzy;
    struct script script;
    struct script_text text;
};

/* Most tests are about requests alone: without a response they could not be matched. */
static inline void scripted_answer_all(struct script *s)
{
    for (uint32_t op = 1; op < s->op_count; op++)
        if (s->ops[op].flags & STRAND_COUNTS && !(s->ops[op].flags & STRAND_CANCELLED))
            s->ops[op].flags |= STRAND_ANSWERED;
}

static inline void scripted_init(struct scripted *s, enum match_mode mode,
                                 const char *recording)
{
    struct leaf_rules rules = matcher_rules(mode, false);

    shelf_memory_init(&s->shelf);
    fuzzy_init(&s->fuzzy, &s->script);
    script_text_init(&s->text);
    script_init(&s->script, &s->shelf.shelf, &rules, &s->fuzzy.reader);
    terse_pour(&s->script.sink, recording);
    scripted_answer_all(&s->script);
    script_finish(&s->script);
}

static inline void scripted_release(struct scripted *s)
{
    script_release(&s->script);
    script_text_release(&s->text);
    fuzzy_release(&s->fuzzy);
    shelf_memory_release(&s->shelf);
}

static inline struct json_val scripted_op(struct scripted *s, uint32_t op)
{
    struct err e = ERR_NONE;
    struct json_val root;

    if (!script_read_op(&s->script, op, &s->text, &root, &e))
        fail_msg("%s", e.msg);
    return root;
}

static inline struct json_val scripted_step(struct scripted *s, uint32_t step)
{
    struct err e = ERR_NONE;
    struct json_val root;

    if (!script_read_step(&s->script, step, &s->text, &root, &e))
        fail_msg("%s", e.msg);
    return root;
}

/* Every strand of a recording with its steps, each as `show` has it; `n` is the member of that
 * name in the step's message. */
static inline void scripted_check(const char *recording, const char *want,
                                  void (*show)(struct buf *to, const struct script_step *step,
                                               struct str n))
{
    struct scripted s;
    struct buf got;

    buf_init(&got, 1 << 20);
    scripted_init(&s, MATCH_SEQUENTIAL, recording);
    for (uint32_t op = 1; op < s.script.op_count; op++) {
        buf_printf(&got, "%s%u:", op > 1 ? "; " : "", op);
        for (uint32_t step = script_first_step(&s.script, op); step;
             step = script_next_step(&s.script, op, step))
            show(&got, &s.script.steps[step],
                 json_raw(json_get(scripted_step(&s, step), STR("n"))));
    }
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
    scripted_release(&s);
}

#endif
