#include "engine/tasks.h"

/* The latest poll that was answered, and the next one; 0: there is none. */
struct polls {
    uint32_t last, next;
};

/* The first request of a method about a task, of those that are polls; 0: there is none. */
static uint32_t first_of(const struct tasks *t, struct str method, uint32_t key)
{
    uint32_t index;

    if (!script_find_method(t->queues->script, method, &index))
        return 0;
    return queues_find(t->queues, t->session, index, key);
}

static struct polls find_polls(const struct tasks *t, struct str task)
{
    struct polls p = { 0, first_of(t, STR("tasks/get"), script_plain_subject_key(task)) };

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

uint32_t tasks_polled_ms(const struct tasks *t, struct str task)
{
    struct polls p = find_polls(t, task);

    return p.last ? t->queues->script->ops[p.last].ms : 0;
}

static uint32_t answer_of(const struct script *s, uint32_t op)
{
    uint32_t step = script_first_step(s, op);

    while (step && s->steps[step].kind != STEP_ANSWER)
        step = script_next_step(s, op, step);
    return step;
}

enum state { STATE_OPEN, STATE_COMPLETED, STATE_FAILED, STATE_CANCELLED };

/* What a poll told. What cannot be read is said when it is to be sent. */
static enum state state_of(const struct tasks *t, uint32_t poll)
{
    static const char *const ends[] = { [STATE_COMPLETED] = "completed",
                                        [STATE_FAILED] = "failed",
                                        [STATE_CANCELLED] = "cancelled" };
    enum state state = STATE_OPEN;
    struct json_val root, status;
    struct script_text text;
    struct err e = ERR_NONE;

    if (!is_due(t, poll))
        return STATE_OPEN;
    script_text_init(&text);
    if (script_read_step(t->queues->script, answer_of(t->queues->script, poll), &text, &root,
                         &e)) {
        status = json_get(json_get(root, STR("result")), STR("status"));
        for (int i = STATE_COMPLETED; i <= STATE_CANCELLED; i++)
            if (json_is(status, str_z(ends[i])))
                state = (enum state)i;
    }
    script_text_release(&text);
    return state;
}

/* It is of that method and about that task, wherever it is queued. */
static bool is_about(const struct tasks *t, uint32_t op, uint32_t method, uint32_t key)
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
        if (is_about(t, op, method, key) && !spent_has(t->spent, op))
            return true;
    return false;
}

/* The next poll tells that the recorded client had cancelled the task. The live one has
 * not. */
static bool lacks_cancel(const struct tasks *t, struct polls p, uint32_t key)
{
    uint32_t method, op = first_of(t, STR("tasks/get"), key);
    bool lacks = false;

    if (!script_find_method(t->queues->script, STR("tasks/cancel"), &method) ||
        state_of(t, p.next) != STATE_CANCELLED)
        return false;
    for (; op < p.next; op++)
        if (is_about(t, op, method, key)) {
            if (spent_has(t->spent, op))
                return false;
            lacks = true;
        }
    return lacks;
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
    for (uint32_t op = first_of(t, STR("tasks/result"), key); op; op = t->queues->next[op])
        if (op < p.next && owes_reply(t, op, p.next))
            return true;
    return false;
}

bool tasks_waits(const struct tasks *t, struct str task)
{
    uint32_t key = script_plain_subject_key(task);
    struct polls p = find_polls(t, task);

    if (!p.last || !p.next)
        return false;
    return (is_due(t, p.last) && (lacks_update(t, p, key) || lacks_reply(t, p, key))) ||
           lacks_cancel(t, p, key);
}

/* The client has what the task came to, if `end` is how it ended: one that failed comes to
 * an error, but not each error says that its task has failed. */
static bool has_result(const struct tasks *t, uint32_t key, enum state end)
{
    const struct script *s = t->queues->script;

    for (uint32_t op = first_of(t, STR("tasks/result"), key); op; op = t->queues->next[op])
        if (spent_has(t->spent, op) && s->ops[op].flags & STRAND_ANSWERED &&
            (end == STATE_FAILED || s->ops[op].flags & STRAND_SUCCEEDED) &&
            !stage_has_before(t->stage, op, answer_of(s, op)))
            return true;
    return false;
}

/* Polls are not asked for any more, but count as if they had been. */
static void pass(const struct tasks *t, uint32_t from, uint32_t to)
{
    for (; from && from < to; from = t->queues->next[from]) {
        spent_mark(t->spent, from, true);
        if (t->queues->script->ops[from].flags & STRAND_SUCCEEDED)
            spent_queue(t->spent, queues_of(t->queues, from))->last = from;
    }
}

void tasks_catch_up(const struct tasks *t, struct str task)
{
    uint32_t key = script_plain_subject_key(task), end;
    struct polls p = find_polls(t, task);
    enum state state = STATE_OPEN;

    if (!first_of(t, STR("tasks/result"), key))
        return;
    for (end = p.next; end; end = t->queues->next[end]) {
        state = state_of(t, end);
        if (state != STATE_OPEN)
            break;
    }
    if (end && state != STATE_CANCELLED && has_result(t, key, state))
        pass(t, p.next, end);
}

void tasks_cancel(const struct tasks *t, struct str task, uint32_t cancel)
{
    pass(t, find_polls(t, task).next, cancel);
}

static void renew_queue(const struct tasks *t, uint32_t head)
{
    for (uint32_t op = head; op; op = t->queues->next[op]) {
        queues_renew(t->queues, t->spent, op);
        queues_renew(t->equal, t->spent, op);
    }
}

static void renew_method(const struct tasks *t, struct str name, uint32_t key)
{
    const struct script *s = t->queues->script;
    uint32_t method;

    if (!script_find_method(s, name, &method))
        return;
    for (uint32_t op = 1; op < s->op_count; op++)
        if (is_about(t, op, method, key) && spent_has(t->spent, op))
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
    renew_method(t, STR("tasks/update"), key);
    renew_method(t, STR("tasks/cancel"), key);
}
