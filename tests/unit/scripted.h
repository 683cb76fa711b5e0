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

static inline void scripted_init(struct scripted *s, enum match_mode mode,
                                 const char *recording)
{
    struct leaf_rules rules = matcher_rules(mode, false);

    shelf_memory_init(&s->shelf);
    fuzzy_init(&s->fuzzy, &s->script);
    script_text_init(&s->text);
    script_init(&s->script, &s->shelf.shelf, &rules, &s->fuzzy.reader);
    terse_pour(&s->script.sink, recording);
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

#endif
