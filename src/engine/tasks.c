#include "engine/tasks.h"

/* The latest poll that was answered, and the next one; 0: there is none. */
struct polls {
    uint32_t last, next;
};

static struct polls find_polls(const struct tasks *t, struct str task)
{
    struct polls p = { 0, 0 };
    uint32_t method;

    if (!script_find_method(t->queues->script, STR("tasks/get"), &method))
        return p;
    p.next = queues_find(t->queues, t->session, method, script_plain_subject_key(task));
    while (p.next && spent_has(t->spent, p.next)) {
        p.last = p.next;
        p.next = t->queues->next[p.next];
    }
    return p;
}

/* It told that the task has ended or wants input. */
static bool is_due(const struct tasks *t, uint32_t poll)
{
    return t->queues->script->ops[poll].flags & STRAND_DUE;
}

bool tasks_goes_on(const struct tasks *t, struct str task)
{
    struct polls p = find_polls(t, task);

    return p.last && p.next && !is_due(t, p.last);
}

static bool is_update(const struct tasks *t, uint32_t op, uint32_t method, uint32_t key)
{
    const struct script_op *o = &t->queues->script->ops[op];

    return o->method == method && o->subject_key == key && o->session == t->session &&
           o->flags & STRAND_COUNTS;
}

/* Between two polls the recorded client gave input that the live one has not given. */
static bool lacks_update(const struct tasks *t, struct polls p, uint32_t key)
{
    uint32_t method;

    if (!script_find_method(t->queues->script, STR("tasks/update"), &method))
        return false;
    for (uint32_t op = p.last + 1; op < p.next; op++)
        if (is_update(t, op, method, key) && !spent_has(t->spent, op))
            return true;
    return false;
}

/* A question that the recorded client had answered before the next poll, but the live one
 * has not. */
static bool owes_reply(const struct tasks *t, uint32_t op, uint32_t next)
{
    const struct script *s = t->queues->script;

    for (uint32_t step = script_first_step(s, op); step; step = script_next_step(s, op, step))
        if (s->steps[step].kind == STEP_REPLY && s->steps[step].ms <= s->ops[next].ms &&
            (!spent_has(t->spent, op) || stage_has_before(t->stage, op, step)))
            return true;
    return false;
}

static bool lacks_reply(const struct tasks *t, struct polls p, uint32_t key)
{
    uint32_t method, op;

    if (!script_find_method(t->queues->script, STR("tasks/result"), &method))
        return false;
    for (op = queues_find(t->queues, t->session, method, key); op; op = t->queues->next[op])
        if (op < p.next && owes_reply(t, op, p.next))
            return true;
    return false;
}

bool tasks_waits(const struct tasks *t, struct str task)
{
    uint32_t key = script_plain_subject_key(task);
    struct polls p = find_polls(t, task);

    return p.last && p.next && is_due(t, p.last) &&
           (lacks_update(t, p, key) || lacks_reply(t, p, key));
}

static void renew_queue(const struct tasks *t, uint32_t head)
{
    spent_queue(t->spent, head)->next = head;
    for (uint32_t op = head; op; op = t->queues->next[op])
        spent_mark(t->spent, op, false);
}

/* Wherever they are queued. */
static void renew_updates(const struct tasks *t, uint32_t key)
{
    const struct script *s = t->queues->script;
    uint32_t method;

    if (!script_find_method(s, STR("tasks/update"), &method))
        return;
    for (uint32_t op = 1; op < s->op_count; op++)
        if (is_update(t, op, method, key) && spent_has(t->spent, op))
            renew_queue(t, queues_of(t->queues, op));
}

void tasks_renew(const struct tasks *t, struct str task)
{
    uint32_t key = script_plain_subject_key(task), head;

    for (uint32_t i = 0; i < t->queues->script->method_count; i++) {
        if (queues_class(t->queues, i) != MCP_CLASS_POLL)
            continue;
        head = queues_find(t->queues, t->session, i, key);
        if (head)
            renew_queue(t, head);
    }
    renew_updates(t, key);
}
