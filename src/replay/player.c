#include "replay/player.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcp/error-code.h"
#include "mcp/id.h"
#include "mcp/meta.h"
#include "mcp/params-compare.h"
#include "replay/player-send.h"
#include "replay/replay-report.h"
#include "trace/limits.h"

enum {
    /* Clients that drop the progress handler of a request when its response comes lose progress
     * that arrives together with it: the TypeScript SDK does. Messages on another stream are
     * read in any order. Real servers do not respond in the same instant. */
    RESPONSE_GAP_US = 5000,

    /* How long tasks/result waits for the client to poll its task, so that it sees the states
     * of the task first. */
    HOLD_US = 100 * 1000,
};

void player_init(struct player *s, const struct index *idx, struct actions *actions,
                 struct replay_report *report, double pace, uint64_t *timers)
{
    *s = (struct player){
        .index = idx, .actions = actions, .report = report, .pace = pace, .last_timer = timers
    };
    map_init(&s->open_server_requests);
    map_init(&s->notification_counts);
    buf_init(&s->capabilities, LIMIT_MESSAGE);
    buf_init(&s->text, LIMIT_MESSAGE * 2);
    index_message_init(&s->recorded);
}

static void free_active(struct player *s)
{
    while (s->active) {
        struct player_call *next = s->active->next;
        free(s->active);
        s->active = next;
    }
    for (struct map_entry *e = NULL; (e = map_next(&s->open_server_requests, e));)
        free(e->value);
    map_release(&s->open_server_requests);
    map_init(&s->open_server_requests);
}

void player_release(struct player *s)
{
    free_active(s);
    map_release(&s->open_server_requests);
    map_release(&s->notification_counts);
    buf_release(&s->capabilities);
    buf_release(&s->text);
    index_message_release(&s->recorded);
}

static void drop_server_requests(struct player *s, struct player_call *p)
{
    for (struct map_entry *e = NULL;
         p->open_requests && (e = map_next(&s->open_server_requests, e));) {
        struct player_server_request *q = e->value;
        if (q->call != p)
            continue;
        map_remove(&s->open_server_requests, e->key);
        free(q);
        p->open_requests--;
        e = NULL; /* start over: the map has changed */
    }
}

/* Frees calls that are done. Called after all have advanced: one call can end another. */
static void free_done(struct player *s)
{
    for (struct player_call **at = &s->active; *at;) {
        struct player_call *p = *at;
        if (!p->done) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        drop_server_requests(s, p);
        free(p);
    }
}

static uint64_t notification_count(const struct player *s, struct str method)
{
    return (uint64_t)(uintptr_t)map_get(&s->notification_counts, method);
}

/* Returns the recorded time between two moments, scaled by the pace. */
static int64_t scaled_delay(const struct player *s, uint32_t from_ms, uint32_t to_ms)
{
    return s->pace > 0 && to_ms > from_ms ? (int64_t)((to_ms - from_ms) * 1000.0 * s->pace) : 0;
}

/* Returns how long the next step still has to be delayed. */
static int64_t time_left(const struct player *s, struct player_call *p)
{
    const struct recorded_step *step = &s->index->steps[p->step];
    int64_t left = p->since_us + scaled_delay(s, p->since_ms, step->ms) - s->now_us;

    if (step->kind == STEP_RESPONSE && p->sent_before_response && left < RESPONSE_GAP_US)
        left = RESPONSE_GAP_US;
    if (left > 0)
        p->since_us = s->now_us + left; /* the next delay counts from when this one is due */
    return left;
}

static bool sends_nothing(const struct player_call *p, const struct recorded_step *step)
{
    return step->kind == STEP_CLIENT_RESPONSE || step->kind == STEP_WAIT_FOR_NOTIFICATION ||
           (p->is_repeat && step->kind != STEP_RESPONSE && step->kind != STEP_PROGRESS);
}

/* Whether the next step has to wait for an event that advances the call again. */
static bool must_wait(struct player *s, struct player_call *p)
{
    const struct recorded_step *step = &s->index->steps[p->step];
    int64_t left;

    if (p->timer || (step->waits_for_client && p->open_requests))
        return true;
    if (step->kind == STEP_WAIT_FOR_NOTIFICATION && !p->is_repeat)
        return notification_count(s, index_awaited_notification(s->index, step)) < step->len;
    if (p->delay_done || sends_nothing(p, step))
        return false;
    left = time_left(s, p);
    if (left <= 0)
        return false;
    p->delay_done = true;
    p->timer = player_send_set_timer(s, left);
    return true;
}

static bool stays_open(const struct player *s, const struct player_call *p)
{
    const struct recorded_call *call = &s->index->calls[p->call];

    return p->subscription_open ||
           (!(call->flags & CALL_HAS_RESPONSE) && call->flags & CALL_CANCELLED);
}

/* Sends all steps that can be sent now. A call whose steps were all sent is done. */
static void advance(struct player *s, struct player_call *p)
{
    const struct recorded_call *call = &s->index->calls[p->call];

    for (; p->step; p->step = index_next_step(s->index, p->call, p->step)) {
        if (must_wait(s, p))
            return;
        player_send_step(s, p);
        p->delay_done = false;
    }
    if (p->open_requests || (p->id.len && stays_open(s, p)))
        return; /* the recorded client cancelled it; the live one may, too */
    player_send_set_route(s, p);
    if (p->id.len && !(call->flags & CALL_HAS_RESPONSE))
        actions_send_error(s->actions, p->id, MCP_SERVER_ERROR,
                           STR("this request was recorded without a response"), STR_NONE);
    p->done = true;
}

/* Advances a call after an event: the next delay counts from now. */
static void resume_call(struct player *s, struct player_call *p)
{
    p->since_us = s->now_us;
    advance(s, p);
}

/* Returns the recorded id of a subscription, which its events name. */
static struct str recorded_subscription_id(struct player *s, uint32_t call)
{
    struct json_val root;
    const struct mcp_method *known;

    if (s->index->calls[call].flags & CALL_PREAMBLE)
        return STR_NONE;
    known = index_method(s->index, call)->known;
    if (!known || known->class != MCP_CLASS_LISTEN ||
        !index_read_call(s->index, call, &s->recorded, &root, &s->error))
        return STR_NONE;
    return mcp_id_key(json_get(root, STR("id")), &s->recorded.arena);
}

static bool has_progress(const struct index *s, uint32_t call)
{
    uint32_t step = index_first_step(s, call);

    while (step && s->steps[step].kind != STEP_PROGRESS)
        step = index_next_step(s, call, step);
    return step != 0;
}

/* Returns the recorded progress token, if the live client has another one and it is long enough
 * to be found in texts. Reads nothing if neither call has progress. */
static struct str find_recorded_token(struct player *s, uint32_t call, struct str live)
{
    enum { TOKEN_LEN_MIN = 6 };
    struct json_val root;
    struct str token;

    if (s->index->calls[call].flags & CALL_PREAMBLE ||
        (!live.len && !has_progress(s->index, call)) ||
        !index_read_call(s->index, call, &s->recorded, &root, &s->error))
        return STR_NONE;
    token = json_raw(mcp_progress_token(json_get(json_get(root, STR("params")), MCP_META_KEY)));
    if (str_eq(token, live))
        return STR_NONE;
    if (str_starts(token, STR("\"")))
        token = str_n(token.at + 1, token.len - 2);
    return token.len < TOKEN_LEN_MIN ? STR_NONE : token;
}

/* A subscription without a filter asks for nothing. */
static struct str filter_of(struct json_val params)
{
    struct json_val filter = json_get(params, STR("notifications"));

    return json_exists(filter) ? json_raw(filter) : STR("{}");
}

static struct player_call *new_call(struct player *s, uint32_t call,
                                    const struct mcp_message *live, struct str task_id)
{
    struct json_val params = live ? live->params : JSON_VAL_NONE;
    bool is_initialize = live && str_eq(live->method, STR("initialize"));
    struct str id = live ? json_raw(live->id) : STR_NONE;
    struct json_val meta = live ? live->meta : JSON_VAL_NONE;
    struct str token = json_raw(mcp_progress_token(meta));
    struct json_val version =
        is_initialize ? json_get(params, STR("protocolVersion")) : JSON_VAL_NONE;
    struct str subscription = recorded_subscription_id(s, call);
    struct str filter = subscription.len ? filter_of(params) : STR_NONE;
    struct str recorded_token =
        subscription.len ? STR_NONE : find_recorded_token(s, call, token);
    size_t texts = id.len + token.len + recorded_token.len + json_raw(version).len +
                   filter.len + subscription.len + task_id.len;
    struct player_call *p = mem_alloc(sizeof *p + texts);
    char *at = (char *)(p + 1);

    p->id = str_copy_to(&at, id);
    p->token = str_copy_to(&at, token);
    p->recorded_token = str_copy_to(&at, recorded_token);
    p->version = str_copy_to(&at, json_raw(version));
    p->filter = str_copy_to(&at, filter);
    p->subscription_id = str_copy_to(&at, subscription);
    p->held_task = str_copy_to(&at, task_id);
    p->requested_version = mcp_version_parse(json_text(version, &s->recorded.arena));
    p->log_level = client_filter_log_level(meta);
    return p;
}

void player_start(struct player *s, uint32_t call, const struct mcp_message *live, bool again)
{
    player_start_held(s, call, live, again, (struct task_hold){ STR_NONE, 0 });
}

static void hold_call(struct player *s, struct player_call *p, uint32_t since_ms)
{
    int64_t left = p->step ? scaled_delay(s, since_ms, s->index->steps[p->step].ms) : 0;

    p->timer = player_send_set_timer(s, left > HOLD_US ? left : HOLD_US);
}

void player_restart_hold(struct player *s, struct task_hold hold)
{
    for (struct player_call *p = s->active; p; p = p->next)
        if (p->held_task.len && str_eq(p->held_task, hold.task_id))
            hold_call(s, p, hold.since_ms);
}

void player_start_held(struct player *s, uint32_t call, const struct mcp_message *live,
                       bool again, struct task_hold hold)
{
    struct player_call *p = new_call(s, call, live, hold.task_id), **end = &s->active;

    p->call = call;
    p->step = index_first_step(s->index, call);
    p->exchange = live ? s->exchange : 0;
    p->is_repeat = again;
    p->convert_protocol = s->convert_protocol;
    p->subscription_open = p->subscription_id.len > 0;
    p->since_us = s->now_us;
    p->since_ms = s->index->calls[call].ms;
    while (*end)
        end = &(*end)->next;
    *end = p;
    player_send_set_route(s, p);
    actions_call_started(s->actions);
    if (hold.task_id.len)
        hold_call(s, p, hold.since_ms);
    advance(s, p);
    free_done(s);
}

void player_end_hold(struct player *s, struct str task_id)
{
    for (struct player_call *p = s->active; p; p = p->next)
        if (p->held_task.len && (!task_id.len || str_eq(p->held_task, task_id))) {
            p->held_task = STR_NONE;
            p->timer = 0;
            resume_call(s, p);
        }
    free_done(s);
}

static struct json_val result_or_error(struct json_val message)
{
    struct json_val result = json_get(message, STR("result"));

    return json_exists(result) ? result : json_get(message, STR("error"));
}

/* Compares the live client's response with the recorded one, and reports a difference. */
static void compare_response(struct player *s, const struct player_server_request *q,
                             const struct mcp_message *live)
{
    static const struct params_rules rules = { .include_meta = false };
    uint32_t call = q->call->call, step = q->step;
    struct json_val root = player_send_read_step(s, step);
    struct arena a = { 0 };
    struct str method = arena_str(&a, json_text(json_get(root, STR("method")), &a));
    struct str key = arena_str(&a, mcp_id_key(json_get(root, STR("id")), &a));

    while ((step = index_next_step(s->index, call, step))) {
        if (s->index->steps[step].kind != STEP_CLIENT_RESPONSE)
            continue;
        root = player_send_read_step(s, step);
        if (!str_eq(mcp_id_key(json_get(root, STR("id")), &a), key))
            continue;
        if (!params_equal(result_or_error(root), result_or_error(live->root), &rules,
                          (struct params_mask){ NULL, 0 })) {
            replay_report_add_server_request(s->report, call, method, SERVER_REQUEST_DIFFERS);
            actions_report(s->actions, LOG_INFO,
                           "the client's response to %.*s differs from the recording",
                           STR_ARG(method));
        }
        break;
    }
    arena_release(&a);
}

bool player_handle_response(struct player *s, const struct mcp_message *live)
{
    struct arena a = { 0 };
    struct player_server_request *q =
        map_remove(&s->open_server_requests, mcp_id_key(live->id, &a));
    struct player_call *p;

    arena_release(&a);
    if (!q)
        return false;
    p = q->call;
    compare_response(s, q, live);
    free(q);
    p->open_requests--;
    resume_call(s, p);
    free_done(s);
    return true;
}

void player_handle_notification(struct player *s, struct str method)
{
    map_put(&s->notification_counts, method,
            (void *)(uintptr_t)(notification_count(s, method) + 1));
    for (struct player_call *p = s->active; p; p = p->next)
        if (p->step && s->index->steps[p->step].kind == STEP_WAIT_FOR_NOTIFICATION)
            resume_call(s, p);
    free_done(s);
}

/* Stops waiting for a client's response. */
static void abandon_server_request(struct player *s, struct str key, const char *why)
{
    struct player_server_request *q = map_remove(&s->open_server_requests, key);
    struct player_call *p = q->call;
    struct str method = json_text(json_get(player_send_read_step(s, q->step), STR("method")),
                                  &s->recorded.arena);

    replay_report_add_server_request(s->report, p->call, method, SERVER_REQUEST_NO_RESPONSE);
    actions_report(s->actions, LOG_WARN, "no response to %.*s %s; continuing", STR_ARG(method),
                   why);
    free(q);
    p->open_requests--;
    resume_call(s, p);
}

void player_handle_timer(struct player *s, uint64_t timer)
{
    struct player_call *p = s->active;

    while (p && p->timer != timer)
        p = p->next;
    if (p) {
        p->timer = 0;
        p->held_task = STR_NONE;
        if (p->since_us > s->now_us)
            p->since_us = s->now_us; /* the clock of the loop may be slightly ahead */
        advance(s, p);
        free_done(s);
        return;
    }
    for (struct map_entry *e = NULL; (e = map_next(&s->open_server_requests, e));)
        if (((struct player_server_request *)e->value)->timer == timer) {
            abandon_server_request(s, e->key, "within 60 s");
            free_done(s);
            return;
        }
}

void player_skip_delays(struct player *s)
{
    s->pace = 0;
    for (struct player_call *p = s->active; p; p = p->next)
        if (p->timer) {
            p->timer = 0;
            p->held_task = STR_NONE;
            resume_call(s, p);
        }
    free_done(s);
}

void player_no_reply(struct player *s, uint64_t exchange)
{
    struct map_entry *e = NULL;

    while ((e = map_next(&s->open_server_requests, e))) {
        const struct player_server_request *q = e->value;

        if (exchange && q->call->exchange != exchange)
            continue;
        abandon_server_request(s, e->key,
                               exchange ? "(the client has no stream for it)"
                                        : "(the client closed its input)");
        e = NULL; /* start over: the map has changed */
    }
    free_done(s);
}

bool player_is_before_step(const struct player *s, uint32_t call, uint32_t step)
{
    for (const struct player_call *p = s->active; p; p = p->next)
        for (uint32_t at = p->call == call ? p->step : 0; at;
             at = index_next_step(s->index, call, at))
            if (at == step)
                return true;
    return false;
}

/* The end of a subscription can be a step of any call, as its events are. */
static bool awaits_subscription_end(const struct player *s)
{
    const struct player_call *p = s->active;

    while (p && !(p->subscription_open && s->index->calls[p->call].flags & CALL_HAS_RESPONSE))
        p = p->next;
    return p != NULL;
}

static bool will_respond(const struct player *s, const struct player_call *p, bool event_counts)
{
    uint8_t flags = s->index->calls[p->call].flags;

    if (p->id.len && !p->subscription_open && !(flags & (CALL_HAS_RESPONSE | CALL_CANCELLED)))
        return true; /* an error, as its last step */
    for (uint32_t step = p->step; step; step = index_next_step(s->index, p->call, step)) {
        uint8_t kind = s->index->steps[step].kind;
        if (kind == STEP_RESPONSE || (kind == STEP_SUBSCRIPTION_EVENT && event_counts))
            return true;
    }
    return false;
}

bool player_has_delayed_response(const struct player *s)
{
    bool event_counts = awaits_subscription_end(s);

    for (const struct player_call *p = s->active; p; p = p->next)
        if (p->timer && will_respond(s, p, event_counts))
            return true;
    return false;
}

void player_handle_cancel(struct player *s, struct json_val id)
{
    struct arena a = { 0 };
    struct str key = mcp_id_key(id, &a);
    struct json j;

    json_init(&j);
    for (struct player_call *p = s->active; p; p = p->next) {
        struct json_fault fault;

        if (!json_scan(&j, p->id, &fault) || !str_eq(mcp_id_key(json_root(&j), &a), key))
            continue;
        p->done = true;
        player_send_set_route(s, p);
        actions_call_cancelled(s->actions);
    }
    free_done(s);
    json_release(&j);
    arena_release(&a);
}

void player_handle_exchange_closed(struct player *s, uint64_t exchange)
{
    for (struct player_call *p = s->active; p; p = p->next)
        p->done = p->done || p->exchange == exchange;
    free_done(s);
}

void player_reset(struct player *s, struct json_val capabilities, bool shared)
{
    if (!shared)
        free_active(s);
    map_release(&s->notification_counts);
    map_init(&s->notification_counts);
    s->version = MCP_VERSION_UNKNOWN;
    buf_clear(&s->capabilities);
    buf_add(&s->capabilities, json_raw(capabilities));
}
