#include "engine/script.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/vast.h"
#include "engine/script-write.h"
#include "trace/limits.h"

_Static_assert(sizeof(struct script_op) == 40 && sizeof(struct script_step) == 20,
               "there are millions of them");

void script_init(struct script *s, struct shelf *shelf, const struct leaf_rules *rules,
                 struct script_reader *reader)
{
    *s = (struct script){ .shelf = shelf, .rules = *rules, .reader = reader };
    map_init(&s->method_index);
    map_init(&s->masks);
    map_init(&s->hidden);
    map_init(&s->events);
    map_init(&s->refused);
    script_write_begin(s);
}

static void list_playable(struct script *s)
{
    s->playable = mem_alloc((s->session_count + 1) * sizeof *s->playable);
    for (uint32_t i = 0; i < s->session_count; i++)
        if (s->sessions[i].count && i + 1 != s->stateless)
            s->playable[s->playable_count++] = i;
    if (s->stateless && s->sessions[s->stateless - 1].count)
        s->playable[s->playable_count++] = s->stateless - 1;
    if (!s->playable_count)
        s->playable_count = 1; /* the first, if only to greet */
}

/* A request recorded without a response cannot be matched, unless the client cancelled it (the
 * live one may do so, too) or it is a subscription, which needs none. */
static void drop_unanswered(struct script *s)
{
    for (uint32_t op = 1; op < s->op_count; op++) {
        struct script_op *o = &s->ops[op];
        const struct mcp_method *known;

        if (!(o->flags & STRAND_COUNTS) || o->flags & (STRAND_ANSWERED | STRAND_CANCELLED))
            continue;
        known = script_method(s, op)->known;
        if (known && known->class == MCP_CLASS_LISTEN)
            continue;
        o->flags &= (uint8_t)~STRAND_COUNTS;
        s->sessions[o->session].count--;
        s->unanswered++;
    }
}

void script_finish(struct script *s)
{
    if (!s->writing)
        return;
    script_write_end(s);
    drop_unanswered(s);
    list_playable(s);
}

void script_release(struct script *s)
{
    script_write_end(s);
    vast_release(s->ops, s->op_cap, sizeof *s->ops);
    vast_release(s->steps, s->step_cap, sizeof *s->steps);
    free(s->methods);
    free(s->sessions);
    free(s->playable);
    map_release(&s->method_index);
    map_release(&s->masks);
    map_release(&s->hidden);
    map_release(&s->events);
    map_release(&s->refused);
    arena_release(&s->arena);
}

void script_link_step(struct script *s, uint32_t op, uint32_t step)
{
    struct script_op *o = &s->ops[op];

    s->steps[step].waits = !o->questions;
    s->steps[step].next = o->last ? s->steps[o->last].next : step;
    if (o->last)
        s->steps[o->last].next = step;
    o->last = step;
}

void script_text_init(struct script_text *t)
{
    *t = (struct script_text){ 0 };
    buf_init(&t->text, LIMIT_LINE);
    json_init(&t->json);
}

void script_text_release(struct script_text *t)
{
    buf_release(&t->text);
    json_release(&t->json);
    arena_release(&t->arena);
}

static bool read_at(const struct script *s, struct shelf_place where, struct script_text *t,
                    struct json_val *root, struct err *e)
{
    struct json_fault fault;

    arena_clear(&t->arena);
    if (!s->shelf->fetch(s->shelf, where, &t->text, e))
        return false;
    if (!json_scan(&t->json, buf_str(&t->text), &fault))
        return err_set(e, ERR_IO, "the recording has changed since it was read");
    *root = json_root(&t->json);
    return true;
}

static struct shelf_place place_of_op(const struct script_op *o)
{
    return (struct shelf_place){ (uint64_t)o->at_high << 32 | o->at_low, o->len };
}

bool script_fetch_op(const struct script *s, uint32_t op, struct buf *to, struct err *e)
{
    return s->shelf->fetch(s->shelf, place_of_op(&s->ops[op]), to, e);
}

static struct shelf_place place_of_step(const struct script_step *o)
{
    return (struct shelf_place){ (uint64_t)o->at_high << 32 | o->at_low, o->len };
}

bool script_fetch_step(const struct script *s, uint32_t step, struct buf *to, struct err *e)
{
    return s->shelf->fetch(s->shelf, place_of_step(&s->steps[step]), to, e);
}

bool script_read_op(const struct script *s, uint32_t op, struct script_text *t,
                    struct json_val *root, struct err *e)
{
    return read_at(s, place_of_op(&s->ops[op]), t, root, e);
}

bool script_read_step(const struct script *s, uint32_t step, struct script_text *t,
                      struct json_val *root, struct err *e)
{
    return read_at(s, place_of_step(&s->steps[step]), t, root, e);
}

bool script_find_method(const struct script *s, struct str name, uint32_t *index)
{
    uintptr_t found = (uintptr_t)map_get(&s->method_index, name);

    *index = (uint32_t)(found - 1);
    return found != 0;
}

enum { SUBJECT_SEED = 1, CURSOR_SEED, STATE_SEED, RETRY_SEED, TASK_SEED, WILD_SEED };

uint32_t script_plain_subject_key(struct str subject)
{
    return script_fold(hash_bytes(subject, SUBJECT_SEED));
}

/* Server-minted values come back from the live client as they were recorded, so a page
 * and a round of input can be told by them. What only answers a task's questions is no
 * round: tasks have no other params than those and their id. Nor is a poll to become a task,
 * although clients repeat in it what made its task one. */
uint32_t script_key_about(struct json_val subject, struct json_val params, bool wild)
{
    struct json_iter it = json_each(params);
    struct arena a = { 0 };
    uint64_t key = wild ? WILD_SEED : hash_bytes(json_text(subject, &a), SUBJECT_SEED);
    uint64_t state = 0, task = 0, cursor = 0;
    bool input = false, about_task = false;

    if (json_type(params) != JSON_OBJECT)
        return script_fold(key);
    while (json_next(&it)) {
        struct str name = json_text(it.key, &a);

        if (str_eq(name, STR("cursor")))
            cursor = hash_bytes(json_text(it.value, &a), CURSOR_SEED);
        else if (str_eq(name, STR("requestState")))
            state = hash_bytes(json_text(it.value, &a), STATE_SEED);
        else if (str_eq(name, STR("task")) && json_type(it.value) == JSON_OBJECT)
            task = TASK_SEED;
        else if (str_eq(name, STR("inputResponses")))
            input = true;
        else if (str_eq(name, STR("taskId")))
            about_task = true;
    }
    if (input && !state && !about_task)
        state = RETRY_SEED;
    if (about_task)
        task = 0;
    if (cursor | state | task)
        key = hash_mix(hash_mix(hash_mix(key, cursor), state), task);
    arena_release(&a);
    return script_fold(key);
}

uint32_t script_subject_key(struct str method, struct json_val params, bool wild)
{
    return script_key_about(mcp_subject(method, params), params, wild);
}

struct script_refusal script_refusal(const struct script *s, uint32_t op)
{
    uint8_t flags = s->ops[op].flags;
    uint64_t key = op;
    const struct script_refusal *how =
        flags & STRAND_COUNTS ? NULL : map_get(&s->refused, map_number(&key));

    if (how)
        return *how;
    return (struct script_refusal){ .unanswered = !(flags & (STRAND_COUNTS | STRAND_ANSWERED |
                                                             STRAND_OPENING)) };
}
