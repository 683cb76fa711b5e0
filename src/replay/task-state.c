#include "replay/task-state.h"

/* The latest poll that was used, and the next one; 0: none. */
struct polls {
    uint32_t last, next;
};

/* Returns the first call of a method about a task; 0: none. */
static uint32_t first_call_about(const struct task_state *t, struct str method, uint32_t key)
{
    uint32_t index;

    if (!index_find_method(t->candidates->index, method, &index))
        return 0;
    return candidates_find(t->candidates, t->session, index, key);
}

static struct polls find_polls(const struct task_state *t, struct str task)
{
    struct polls p = { 0, first_call_about(t, STR("tasks/get"), index_subject_only_key(task)) };

    while (p.next && used_set_has(t->used_set, p.next)) {
        p.last = p.next;
        p.next = t->candidates->next[p.next];
    }
    return p;
}

/* Whether a poll says that the task has ended or waits for input. */
static bool has_task_ended(const struct task_state *t, uint32_t poll)
{
    return t->candidates->index->calls[poll].flags & CALL_TASK_ENDED;
}

bool task_state_is_running(const struct task_state *t, struct str task)
{
    struct polls p = find_polls(t, task);

    return p.last && p.next && !has_task_ended(t, p.last);
}

uint32_t task_state_polled_ms(const struct task_state *t, struct str task)
{
    struct polls p = find_polls(t, task);

    return p.last ? t->candidates->index->calls[p.last].ms : 0;
}

static uint32_t response_step(const struct index *s, uint32_t call)
{
    uint32_t step = index_first_step(s, call);

    while (step && s->steps[step].kind != STEP_RESPONSE)
        step = index_next_step(s, call, step);
    return step;
}

enum task_status { TASK_OPEN, TASK_COMPLETED, TASK_FAILED, TASK_CANCELLED };

/* Returns the status that a poll reports. A read error is reported when the poll is sent. */
static enum task_status polled_status(const struct task_state *t, uint32_t poll)
{
    static const char *const ends[] = {
        [TASK_COMPLETED] = "completed", [TASK_FAILED] = "failed", [TASK_CANCELLED] = "cancelled"
    };
    enum task_status state = TASK_OPEN;
    struct json_val root, status;
    struct index_message text;
    struct err e = ERR_NONE;

    if (!has_task_ended(t, poll))
        return TASK_OPEN;
    index_message_init(&text);
    if (index_read_step(t->candidates->index, response_step(t->candidates->index, poll), &text,
                        &root, &e)) {
        status = json_get(json_get(root, STR("result")), STR("status"));
        for (int i = TASK_COMPLETED; i <= TASK_CANCELLED; i++)
            if (json_is(status, str_z(ends[i])))
                state = (enum task_status)i;
    }
    index_message_release(&text);
    return state;
}

/* Whether a call is of that method and about that task, in any list. */
static bool is_about(const struct task_state *t, uint32_t call, uint32_t method, uint32_t key)
{
    const struct recorded_call *o = &t->candidates->index->calls[call];

    return o->method == method && o->subject_key == key && o->session == t->session &&
           o->flags & CALL_MATCHABLE;
}

/* Whether the recorded client sent input between two polls that the live one has not sent. */
static bool lacks_update(const struct task_state *t, struct polls p, uint32_t key)
{
    uint32_t method;

    if (!index_find_method(t->candidates->index, STR("tasks/update"), &method))
        return false;
    for (uint32_t call = p.last + 1; call < p.next; call++)
        if (is_about(t, call, method, key) && !used_set_has(t->used_set, call))
            return true;
    return false;
}

/* Whether the next poll reports a cancellation by the recorded client that the live one has not
 * sent. */
static bool lacks_cancel(const struct task_state *t, struct polls p, uint32_t key)
{
    uint32_t method, call = first_call_about(t, STR("tasks/get"), key);
    bool lacks = false;

    if (!index_find_method(t->candidates->index, STR("tasks/cancel"), &method) ||
        polled_status(t, p.next) != TASK_CANCELLED)
        return false;
    for (; call < p.next; call++)
        if (is_about(t, call, method, key)) {
            if (used_set_has(t->used_set, call))
                return false;
            lacks = true;
        }
    return lacks;
}

/* Whether the recorded client had answered a server request before the next poll, and the live
 * one has not. */
static bool call_lacks_response(const struct task_state *t, uint32_t call, uint32_t next)
{
    const struct index *s = t->candidates->index;

    for (uint32_t step = index_first_step(s, call); step; step = index_next_step(s, call, step))
        if (s->steps[step].kind == STEP_CLIENT_RESPONSE &&
            s->steps[step].ms <= s->calls[next].ms &&
            (!used_set_has(t->used_set, call) || player_is_before_step(t->player, call, step)))
            return true;
    return false;
}

static bool lacks_response(const struct task_state *t, struct polls p, uint32_t key)
{
    for (uint32_t call = first_call_about(t, STR("tasks/result"), key); call;
         call = t->candidates->next[call])
        if (call < p.next && call_lacks_response(t, call, p.next))
            return true;
    return false;
}

bool task_state_waits_for_client(const struct task_state *t, struct str task)
{
    uint32_t key = index_subject_only_key(task);
    struct polls p = find_polls(t, task);

    if (!p.last || !p.next)
        return false;
    return (has_task_ended(t, p.last) &&
            (lacks_update(t, p, key) || lacks_response(t, p, key))) ||
           lacks_cancel(t, p, key);
}

/* Whether the client has the result of a task that ended with `end`. A failed task has an error
 * as its result, but not each error means that the task failed. */
static bool has_result(const struct task_state *t, uint32_t key, enum task_status end)
{
    const struct index *s = t->candidates->index;

    for (uint32_t call = first_call_about(t, STR("tasks/result"), key); call;
         call = t->candidates->next[call])
        if (used_set_has(t->used_set, call) && s->calls[call].flags & CALL_HAS_RESPONSE &&
            (end == TASK_FAILED || s->calls[call].flags & CALL_SUCCEEDED) &&
            !player_is_before_step(t->player, call, response_step(s, call)))
            return true;
    return false;
}

/* Marks polls as used that are skipped. */
static void mark_polls_used(const struct task_state *t, uint32_t from, uint32_t to)
{
    for (; from && from < to; from = t->candidates->next[from]) {
        used_set_mark(t->used_set, from, true);
        if (t->candidates->index->calls[from].flags & CALL_SUCCEEDED)
            used_set_state(t->used_set, candidates_list_of(t->candidates, from))->last_success =
                from;
    }
}

void task_state_skip_to_end(const struct task_state *t, struct str task)
{
    uint32_t key = index_subject_only_key(task), end;
    struct polls p = find_polls(t, task);
    enum task_status state = TASK_OPEN;

    if (!first_call_about(t, STR("tasks/result"), key))
        return;
    for (end = p.next; end; end = t->candidates->next[end]) {
        state = polled_status(t, end);
        if (state != TASK_OPEN)
            break;
    }
    if (end && state != TASK_CANCELLED && has_result(t, key, state))
        mark_polls_used(t, p.next, end);
}

void task_state_note_cancelled(const struct task_state *t, struct str task, uint32_t cancel)
{
    mark_polls_used(t, find_polls(t, task).next, cancel);
}

static void reset_list(const struct task_state *t, uint32_t head)
{
    for (uint32_t call = head; call; call = t->candidates->next[call]) {
        candidates_reset_call(t->candidates, t->used_set, call);
        candidates_reset_call(t->equal_candidates, t->used_set, call);
        candidates_reset_call(t->reduced_candidates, t->used_set, call);
    }
}

static void reset_method(const struct task_state *t, struct str name, uint32_t key)
{
    const struct index *s = t->candidates->index;
    uint32_t method;

    if (!index_find_method(s, name, &method))
        return;
    for (uint32_t call = 1; call < s->call_count; call++)
        if (is_about(t, call, method, key) && used_set_has(t->used_set, call))
            reset_list(t, candidates_list_of(t->candidates, call));
}

void task_state_restart(const struct task_state *t, struct str task)
{
    uint32_t key = index_subject_only_key(task), head;

    for (uint32_t i = 0; i < t->candidates->index->method_count; i++) {
        if (candidates_method_class(t->candidates, i) != MCP_CLASS_POLL)
            continue;
        head = candidates_find(t->candidates, t->session, i, key);
        if (head)
            reset_list(t, head);
    }
    reset_method(t, STR("tasks/update"), key);
    reset_method(t, STR("tasks/cancel"), key);
}
