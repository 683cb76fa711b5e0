#include "index/index.h"

#include <stdlib.h>

#include "base/big-array.h"
#include "base/hash.h"
#include "base/mem.h"
#include "index/index-build.h"
#include "trace/limits.h"

_Static_assert(sizeof(struct recorded_call) == 40 && sizeof(struct recorded_step) == 20,
               "there are millions of them");

void index_init(struct index *s, struct message_store *store, const struct params_rules *rules,
                struct index_observer *observer)
{
    *s = (struct index){ .store = store, .rules = *rules, .observer = observer };
    map_init(&s->method_index);
    map_init(&s->redacted_params);
    map_init(&s->unmarked_redacted);
    map_init(&s->sse_events);
    map_init(&s->rejections);
    index_build_begin(s);
}

static void list_sessions_with_calls(struct index *s)
{
    s->sessions_with_calls = mem_alloc((s->session_count + 1) * sizeof *s->sessions_with_calls);
    for (uint32_t i = 0; i < s->session_count; i++)
        if (s->sessions[i].matchable_count && i + 1 != s->stateless_session)
            s->sessions_with_calls[s->sessions_with_calls_count++] = i;
    if (s->stateless_session && s->sessions[s->stateless_session - 1].matchable_count)
        s->sessions_with_calls[s->sessions_with_calls_count++] = s->stateless_session - 1;
    if (!s->sessions_with_calls_count)
        s->sessions_with_calls_count =
            1; /* the first one, so that initialize can be answered */
}

/* Removes requests without a response from matching, except those that the client cancelled
 * (the live client may do so, too) and subscriptions, which need none. */
static void drop_unanswered(struct index *s)
{
    for (uint32_t call = 1; call < s->call_count; call++) {
        struct recorded_call *o = &s->calls[call];
        const struct mcp_method *known;

        if (!(o->flags & CALL_MATCHABLE) || o->flags & (CALL_HAS_RESPONSE | CALL_CANCELLED))
            continue;
        known = index_method(s, call)->known;
        if (known && known->class == MCP_CLASS_LISTEN)
            continue;
        o->flags &= (uint8_t)~CALL_MATCHABLE;
        s->sessions[o->session].matchable_count--;
        s->unanswered++;
    }
}

void index_finish(struct index *s)
{
    if (!s->build)
        return;
    index_build_end(s);
    drop_unanswered(s);
    list_sessions_with_calls(s);
}

void index_release(struct index *s)
{
    index_build_end(s);
    big_array_release(s->calls, s->call_cap, sizeof *s->calls);
    big_array_release(s->steps, s->step_cap, sizeof *s->steps);
    free(s->methods);
    free(s->sessions);
    free(s->sessions_with_calls);
    free(s->reduced_keys);
    free(s->lines);
    map_release(&s->method_index);
    map_release(&s->redacted_params);
    map_release(&s->unmarked_redacted);
    map_release(&s->sse_events);
    map_release(&s->rejections);
    arena_release(&s->arena);
}

void index_append_step(struct index *s, uint32_t call, uint32_t step)
{
    struct recorded_call *o = &s->calls[call];

    s->steps[step].waits_for_client = !o->open_server_requests;
    s->steps[step].next = o->last_step ? s->steps[o->last_step].next : step;
    if (o->last_step)
        s->steps[o->last_step].next = step;
    o->last_step = step;
}

void index_message_init(struct index_message *t)
{
    *t = (struct index_message){ 0 };
    buf_init(&t->text, LIMIT_LINE);
    json_init(&t->json);
}

void index_message_release(struct index_message *t)
{
    buf_release(&t->text);
    json_release(&t->json);
    arena_release(&t->arena);
}

static bool read_message(const struct index *s, struct message_ref where,
                         struct index_message *t, struct json_val *root, struct err *e)
{
    struct json_fault fault;

    arena_clear(&t->arena);
    if (!s->store->fetch(s->store, where, &t->text, e))
        return false;
    if (!json_scan(&t->json, buf_str(&t->text), &fault))
        return err_set(e, ERR_IO, "the recording has changed since it was read");
    *root = json_root(&t->json);
    return true;
}

static struct message_ref call_place(const struct recorded_call *o)
{
    return (struct message_ref){ .at = (uint64_t)o->offset_high << 32 | o->offset_low,
                                 .len = o->len };
}

bool index_fetch_call(const struct index *s, uint32_t call, struct buf *to, struct err *e)
{
    return s->store->fetch(s->store, call_place(&s->calls[call]), to, e);
}

static struct message_ref step_place(const struct recorded_step *o)
{
    return (struct message_ref){ .at = (uint64_t)o->offset_high << 32 | o->offset_low,
                                 .len = o->len };
}

bool index_fetch_step(const struct index *s, uint32_t step, struct buf *to, struct err *e)
{
    return s->store->fetch(s->store, step_place(&s->steps[step]), to, e);
}

bool index_read_call(const struct index *s, uint32_t call, struct index_message *t,
                     struct json_val *root, struct err *e)
{
    return read_message(s, call_place(&s->calls[call]), t, root, e);
}

bool index_read_step(const struct index *s, uint32_t step, struct index_message *t,
                     struct json_val *root, struct err *e)
{
    return read_message(s, step_place(&s->steps[step]), t, root, e);
}

bool index_find_method(const struct index *s, struct str name, uint32_t *index)
{
    uintptr_t found = (uintptr_t)map_get(&s->method_index, name);

    *index = (uint32_t)(found - 1);
    return found != 0;
}

enum { SUBJECT_SEED = 1, CURSOR_SEED, STATE_SEED, RETRY_SEED, TASK_SEED, REDACTED_SEED };

uint32_t index_subject_only_key(struct str subject)
{
    return index_fold_hash(hash_bytes(subject, SUBJECT_SEED));
}

/* Cursor and requestState are made by the server, so a live client sends the recorded ones:
 * they tell pages and rounds of input apart. inputResponses of a task are no round of their
 * own: such a request has no other params. A poll creates no task, although clients repeat the
 * `task` param in it. */
uint32_t index_subject_key_of(struct json_val subject, struct json_val params,
                              bool redacted_subject)
{
    struct json_iter it = json_each(params);
    struct arena a = { 0 };
    uint64_t key =
        redacted_subject ? REDACTED_SEED : hash_bytes(json_text(subject, &a), SUBJECT_SEED);
    uint64_t state = 0, task = 0, cursor = 0;
    bool input = false, about_task = false;

    if (json_type(params) != JSON_OBJECT)
        return index_fold_hash(key);
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
    return index_fold_hash(key);
}

uint32_t index_subject_key(struct str method, struct json_val params, bool redacted_subject)
{
    return index_subject_key_of(mcp_subject(method, params), params, redacted_subject);
}

struct index_rejection index_rejection(const struct index *s, uint32_t call)
{
    uint8_t flags = s->calls[call].flags;
    uint64_t key = call;
    const struct index_rejection *how =
        flags & CALL_MATCHABLE ? NULL : map_get(&s->rejections, map_number_key(&key));

    if (how)
        return *how;
    return (struct index_rejection){
        .unanswered = !(flags & (CALL_MATCHABLE | CALL_HAS_RESPONSE | CALL_PREAMBLE))
    };
}

#define DEFAULT_EVENT_NAME "message"

static const struct index_sse_event default_event = { .name = STR_INIT(DEFAULT_EVENT_NAME),
                                                      .retry_ms = -1 };

/* Avoids parsing most events: few have a name or a retry. */
static bool may_be_unusual(struct str event)
{
    return str_contains(event, STR("\"retry\"")) ||
           (str_contains(event, STR("\"event\"")) &&
            !str_contains(event, STR("\"event\":\"" DEFAULT_EVENT_NAME "\"")));
}

/* A name with a line break cannot have been sent; the default is used. */
static struct str event_name(struct json_val event, struct arena *a)
{
    struct str name = json_text(json_get(event, STR("event")), a);
    bool can_be =
        name.len && str_find(name, '\n') == name.len && str_find(name, '\r') == name.len;

    return can_be ? name : default_event.name;
}

static int64_t event_retry(struct json_val event)
{
    int64_t ms;

    return json_int(json_get(event, STR("retry")), &ms) && ms >= 0 ? ms : -1;
}

void index_note_sse_event(struct index *s, uint32_t step, struct str event)
{
    uint64_t key = step;
    struct index_sse_event *x;
    struct json_fault fault;
    struct json j;

    if (!event.len || !may_be_unusual(event))
        return;
    json_init(&j);
    if (json_scan(&j, event, &fault)) {
        x = arena_new(&s->arena, struct index_sse_event);
        x->name = arena_str(&s->arena, event_name(json_root(&j), &s->arena));
        x->retry_ms = event_retry(json_root(&j));
        map_put(&s->sse_events, map_number_key(&key), x);
    }
    json_release(&j);
}

const struct index_sse_event *index_sse_event(const struct index *s, uint32_t step)
{
    uint64_t key = step;
    const struct index_sse_event *x =
        s->sse_events.count ? map_get(&s->sse_events, map_number_key(&key)) : NULL;

    return x ? x : &default_event;
}
