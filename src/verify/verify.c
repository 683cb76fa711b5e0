#include "verify/verify.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/shell-split.h"
#include "mcp/error-code.h"
#include "mcp/id.h"
#include "trace/limits.h"

/* The session numbers its timers from 1; ours have this bit. */
#define OWN_TIMER ((uint64_t)1 << 63)
#define POLL_TIMER ((uint64_t)1 << 62)

enum { HTTP_FORBIDDEN = 403 };
enum { SETTLE_US = 500 * 1000, POLL_US = 200 * 1000, REASON_MAX = 4096 };

/* A recorded call that was sent and has no verdict yet. */
struct verify_call {
    uint32_t call, number, line;
    uint64_t request; /* live; of a repeated poll the last one */
    int64_t first_sent_us;
    int64_t took_us;  /* -1: no response yet */
    uint64_t sent_at; /* `notifications.count` when it was sent */
    bool got_progress;
    bool rejected;            /* a server request was rejected while it was open */
    struct buf live;          /* the response, while a notification is awaited */
    struct verify_call *next; /* in `unsettled` */
    size_t subject_len;
    char subject[];
};

static struct str subject_of(const struct verify_call *c)
{
    return str_n(c->subject, c->subject_len);
}

static struct str call_key(const uint64_t *call)
{
    return map_number_key(call);
}

static const struct mcp_session_events session_events;

void verify_init(struct verify *s, const struct verify_config *config, uint32_t session,
                 uint32_t first_number, struct action_sink *out,
                 const struct verify_events *events, void *to)
{
    *s = (struct verify){ .config = config,
                          .events = events,
                          .to = to,
                          .session = session,
                          .item = index_order_first(config->order, session),
                          .ahead = index_order_first(config->order, session),
                          .last_number = first_number - 1 };
    mcp_session_init(&s->mcp, out, config->timeout_us, &session_events, s);
    rebind_init(&s->rebind, config->rules);
    live_request_init(&s->request, &s->rebind, config->secret, config->secret_arg);
    judge_init(&s->judge, config->rules, config->rules->like_mcp_recorder ? NULL : &s->rebind);
    server_requests_init(&s->server_requests, config->index, config->order, session, &s->judge);
    s->server_requests.answer = config->answer;
    s->server_requests.answer_arg = config->answer_arg;
    tool_list_init(&s->tools);
    notifications_init(&s->notifications, config->index, config->order, session, config->http);
    map_init(&s->by_request);
    map_init(&s->by_call);
    map_init(&s->live_ids);
    buf_init(&s->block_reason, REASON_MAX);
    buf_init(&s->not_mcp, REASON_MAX);
    index_message_init(&s->message);
}

static void free_call(struct verify_call *c)
{
    buf_release(&c->live);
    free(c);
}

void verify_release(struct verify *s)
{
    for (struct map_entry *e = NULL; (e = map_next(&s->by_request, e));)
        free_call(e->value);
    while (s->unsettled) {
        struct verify_call *c = s->unsettled;

        s->unsettled = c->next;
        free_call(c);
    }
    mcp_session_release(&s->mcp);
    rebind_release(&s->rebind);
    live_request_release(&s->request);
    judge_release(&s->judge);
    server_requests_release(&s->server_requests);
    tool_list_release(&s->tools);
    map_release(&s->by_request);
    map_release(&s->by_call);
    map_release(&s->live_ids);
    notifications_release(&s->notifications);
    buf_release(&s->block_reason);
    buf_release(&s->not_mcp);
    index_message_release(&s->message);
}

bool verify_has_requests(const struct verify_config *config, uint32_t session)
{
    const struct index_order *order = config->order;

    for (uint32_t i = index_order_first(order, session); i; i = order->items[i].next)
        if (order->items[i].kind == ORDER_REQUEST)
            return true;
    return false;
}

static const struct mcp_method *known_method(const struct verify *s, uint32_t call)
{
    return index_method(s->config->index, call)->known;
}

static bool is_listen(const struct verify_config *config, uint32_t call)
{
    const struct mcp_method *known = index_method(config->index, call)->known;

    return known && known->class == MCP_CLASS_LISTEN;
}

/* Whether there is nothing to compare a response with. */
static bool lacks_response(const struct verify_config *config, uint32_t call)
{
    return !(config->index->calls[call].flags & (CALL_HAS_RESPONSE | CALL_CANCELLED)) &&
           !is_listen(config, call);
}

#define WITHOUT_RESPONSE STR("it was recorded without a response")

struct str verify_obstacle(const struct verify_config *config, uint32_t call,
                           struct json_val request, struct arena *a)
{
    struct live_request live;
    struct rebind nothing;
    struct str why = STR_NONE;

    if (lacks_response(config, call))
        return WITHOUT_RESPONSE;
    rebind_init(&nothing, config->rules);
    live_request_init(&live, &nothing, config->secret, config->secret_arg);
    if (live_request_make(&live, request, STR("1")) == LIVE_REQUEST_SKIPPED)
        why = arena_str(a, buf_str(&live.reason));
    live_request_release(&live);
    rebind_release(&nothing);
    return why;
}

static bool is_poll(const struct verify *s, uint32_t call)
{
    return str_eq(index_method(s->config->index, call)->name, STR("tasks/get"));
}

/* Verdicts. */

static void put_verdict(struct verify *s, struct call_verdict *v, uint32_t call,
                        struct str live)
{
    v->session = s->session + 1;
    if (call) {
        v->seq = s->config->index->calls[call].seq;
        v->method = index_method(s->config->index, call)->name;
    }
    s->events->verdict(s->to, v, call, live);
}

/* Why a call is not sent. */
struct unsent {
    enum verdict_kind kind;
    struct str reason;
    bool not_read_only;
};

/* A verdict on a call that was not sent. */
static void put_unsent(struct verify *s, const struct index_order_item *item, uint32_t number,
                       const struct unsent *why)
{
    uint32_t call = item->number;
    struct json_val params = json_get(json_root(&s->message.json), STR("params"));
    struct json_val subject = mcp_method_subject(known_method(s, call), params);
    struct call_verdict v = { .number = number,
                              .line = item->line,
                              .kind = why->kind,
                              .reason = why->reason,
                              .not_read_only = why->not_read_only,
                              .duration_us = -1,
                              .subject = json_text(subject, &s->message.arena) };

    put_verdict(s, &v, call, STR_NONE);
}

/* Proposes a path for --rebind if the request of a failed call has a value in whose place the
 * live server returned another one. Reads the request into `message`. */
static void propose_rebind(struct verify *s, uint32_t call)
{
    struct json_val root;
    struct err e = ERR_NONE;
    struct str path;
    struct buf word;

    if (s->judge.failure == FAILURE_NONE || !s->rebind.proposals.count ||
        !index_read_call(s->config->index, call, &s->message, &root, &e))
        return;
    path = rebind_propose(&s->rebind, json_get(root, STR("params")));
    if (!path.len)
        return;
    buf_init(&word, REASON_MAX);
    shell_quote(&word, path);
    judge_hint(
        &s->judge,
        arena_printf(&s->judge.arena,
                     "the request repeats a recorded value, but the live server returned "
                     "another one: --rebind %.*s sends that",
                     STR_ARG(buf_str(&word))));
    buf_release(&word);
}

/* Says why the live response of a call must not be accepted, beyond its own findings. */
static void obstruct(struct verify *s, const struct verify_call *c, struct str live)
{
    struct judge *j = &s->judge;

    if (!live.len)
        judge_obstruct(j, STR("there is none"));
    if (c->rejected)
        judge_obstruct(j, STR("mcpreel rejected a server request during the call"));
    if (j->count && str_eq(j->findings[0].rule, STR("error-in-place-of-result")) &&
        str_eq(index_method(s->config->index, c->call)->name, STR("initialize")))
        judge_obstruct(j, STR("initialize failed"));
}

/* A verdict by the findings of the judge. Does not keep `message`. */
static void put_judged(struct verify *s, const struct verify_call *c, struct str reason,
                       struct str live)
{
    struct judge *j = &s->judge;
    struct call_verdict v = { .number = c->number,
                              .line = c->line,
                              .kind = VERDICT_PASSED,
                              .failure = j->failure,
                              .reason = reason,
                              .duration_us = c->took_us,
                              .subject = subject_of(c),
                              .volatile_count = j->volatile_count,
                              .ignored_count = j->ignored_count };

    obstruct(s, c, live);
    v.obstacle = j->obstacle;
    propose_rebind(s, c->call);
    judge_finish(j);
    for (size_t i = 0; i < j->count; i++) {
        j->findings[i].line = c->line;
        j->findings[i].seq = s->config->index->calls[c->call].seq;
    }
    v.findings = j->findings;
    v.finding_count = j->count;
    if (j->failure != FAILURE_NONE)
        v.kind = VERDICT_FAILED;
    else if (j->volatile_count)
        v.kind = VERDICT_VOLATILE;
    put_verdict(s, &v, c->call, live);
}

/* Judging. */

static uint32_t response_step(const struct index *index, uint32_t call)
{
    for (uint32_t step = index_first_step(index, call); step;
         step = index_next_step(index, call, step))
        if (index->steps[step].kind == STEP_RESPONSE)
            return step;
    return 0;
}

static void stop_with_error(struct verify *s, const struct err *e)
{
    if (s->error.kind == ERR_OK)
        s->error = *e;
    if (!s->block_reason.len)
        buf_add(&s->block_reason, STR("the recording cannot be read"));
}

/* Reads the recorded response; absent if there is none. */
static struct json_val recorded_response(struct verify *s, uint32_t call)
{
    uint32_t step = response_step(s->config->index, call);
    struct json_val root = JSON_VAL_NONE;
    struct err e = ERR_NONE;

    if (step && !index_read_step(s->config->index, step, &s->message, &root, &e)) {
        stop_with_error(s, &e);
        return JSON_VAL_NONE;
    }
    return root;
}

static void add_missing_notification(void *arg, struct str method)
{
    struct verify *s = arg;
    struct finding f = { .rule = STR("notification-missing"), .severity = FINDING_ERROR };

    f.message = arena_printf(&s->judge.arena, "the server did not send %.*s", STR_ARG(method));
    judge_add(&s->judge, FAILURE_CONTENT, &f);
    judge_obstruct(&s->judge, STR("a notification is missing, and a response cannot bring it"));
}

/* Returns whether a kind of notification of the call has not come. With `missing`, it is called
 * for each. */
static bool find_missing(struct verify *s, const struct verify_call *c,
                         void (*missing)(void *arg, struct str method))
{
    const struct notifications_call call = { c->call, c->sent_at, c->got_progress };

    return notifications_find_missing(&s->notifications, &call, missing, s);
}

static void settle_complete(struct verify *s);

/* Gives the verdict on a call whose notifications have come, or will not. */
static void put_complete(struct verify *s, struct verify_call *c, struct str live)
{
    notifications_take(&s->notifications, c->call, s->by_request.count > 0);
    put_judged(s, c, STR_NONE, live);
    free_call(c);
}

/* A schema that the live server lists binds its results. */
static void judge_tool_result(struct verify *s, const struct verify_call *c,
                              struct json_val recorded, struct json_val live)
{
    const struct tool_list_entry *tool = tool_list_find(&s->tools, subject_of(c));

    if (tool && !s->config->rules->like_mcp_recorder)
        judge_output_schema(&s->judge, tool->output_schema, recorded, live);
}

/* Judges a response. If only a notification is missing, the verdict waits for it. */
static void judge_call(struct verify *s, struct verify_call *c, struct json_val live)
{
    struct str method = index_method(s->config->index, c->call)->name;
    struct json_val recorded = recorded_response(s, c->call);

    rebind_learn(&s->rebind, method, recorded, live);
    judge_clear(&s->judge);
    judge_response(&s->judge, method, is_poll(s, c->call), recorded, live);
    if (str_eq(method, STR("tools/call")))
        judge_tool_result(s, c, recorded, live);
    rebind_confirm(&s->rebind, method, s->judge.failure == FAILURE_NONE ? recorded : live);
    if (s->judge.failure != FAILURE_NONE)
        rebind_lose(&s->rebind, (struct rebind_loss){ c->call, "failed" }, method, recorded);
    if (find_missing(s, c, NULL)) {
        buf_clear(&c->live);
        buf_add(&c->live, json_raw(live));
        c->next = s->unsettled;
        s->unsettled = c;
        return;
    }
    put_complete(s, c, json_raw(live));
    settle_complete(s);
}

/* Gives the verdict on a call that waited for a notification. */
static void settle_call(struct verify *s, struct verify_call *c)
{
    struct str method = index_method(s->config->index, c->call)->name;
    struct json_val recorded = recorded_response(s, c->call);
    struct json live;
    struct json_fault fault;

    json_init(&live);
    if (!json_scan(&live, buf_str(&c->live), &fault))
        BUG("it was a message before");
    judge_clear(&s->judge);
    judge_response(&s->judge, method, is_poll(s, c->call), recorded, json_root(&live));
    if (str_eq(method, STR("tools/call")))
        judge_tool_result(s, c, recorded, json_root(&live));
    (void)find_missing(s, c, add_missing_notification);
    put_complete(s, c, buf_str(&c->live));
    json_release(&live);
}

static void settle_all(struct verify *s)
{
    struct verify_call *reversed = NULL;

    while (s->unsettled) { /* the newest is first */
        struct verify_call *c = s->unsettled;

        s->unsettled = c->next;
        c->next = reversed;
        reversed = c;
    }
    while (reversed) {
        struct verify_call *c = reversed;

        reversed = c->next;
        settle_call(s, c);
    }
}

/* Gives verdicts to calls whose notification has come meanwhile. While a call is open, it may
 * be the one that a notification belongs to. */
static void settle_complete(struct verify *s)
{
    struct verify_call **at = &s->unsettled;

    while (*at && !s->by_request.count) {
        struct verify_call *c = *at;

        if (find_missing(s, c, NULL)) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        settle_call(s, c);
    }
}

/* Sending. */

static bool is_blocked(const struct verify *s)
{
    return s->block_reason.len || s->mcp.closed;
}

static struct str block_reason(const struct verify *s)
{
    return s->block_reason.len ? buf_str(&s->block_reason) : STR("the server has exited");
}

static void remember_id(struct verify *s, struct json_val request, uint64_t number)
{
    map_put(&s->live_ids, mcp_id_key(json_get(request, STR("id")), &s->message.arena),
            (void *)(uintptr_t)number);
}

static uint64_t live_id(struct verify *s, struct json_val id)
{
    return (uint64_t)(uintptr_t)map_get(&s->live_ids, mcp_id_key(id, &s->message.arena));
}

static struct str number_text(struct verify *s, uint64_t number)
{
    return arena_printf(&s->message.arena, "%llu", (unsigned long long)number);
}

static void track_call(struct verify *s, const struct index_order_item *item, uint32_t number,
                       uint64_t request, struct str subject)
{
    struct verify_call *c = mem_alloc(sizeof *c + subject.len);
    uint64_t key = item->number;

    if (!s->by_request.count && !s->unsettled)
        notifications_forget(&s->notifications);
    *c = (struct verify_call){ .call = item->number,
                               .line = item->line,
                               .number = number,
                               .request = request,
                               .first_sent_us = s->mcp.now_us,
                               .took_us = -1,
                               .sent_at = s->notifications.count,
                               .subject_len = subject.len };
    memcpy(c->subject, subject.at ? subject.at : "", subject.len);
    buf_init(&c->live, LIMIT_MESSAGE);
    map_put(&s->by_request, map_number_key(&request), c);
    map_put(&s->by_call, call_key(&key), c);
}

static bool may_call(struct verify *s, struct str tool, struct unsent *why)
{
    const struct tool_list_entry *entry;

    if (!s->config->read_only)
        return true;
    entry = tool_list_find(&s->tools, tool);
    if (entry && entry->read_only)
        return true;
    why->not_read_only = true;
    why->reason = entry ? STR("the server does not mark the tool as read-only "
                              "(--include-destructive sends it)")
                        : STR("the server does not list the tool");
    return false;
}

/* Notes the values of requests ahead, before responses have them. */
static void note_ahead(struct verify *s)
{
    const struct index_order *order = s->config->order;
    struct json_val root;
    struct err e = ERR_NONE;

    while (s->ahead && !is_blocked(s) && rebind_has_room(&s->rebind)) {
        const struct index_order_item *item = &order->items[s->ahead];

        s->ahead = item->next;
        if (item->kind != ORDER_REQUEST)
            continue;
        if (!index_read_call(s->config->index, item->number, &s->message, &root, &e)) {
            stop_with_error(s, &e);
            return;
        }
        rebind_note_later(&s->rebind, json_get(root, STR("params")));
    }
}

/* Decides whether the request in `message` is sent. */
static bool is_wanted(struct verify *s, uint32_t call, struct json_val root, struct unsent *why)
{
    struct str method = index_method(s->config->index, call)->name;
    struct json_val name = json_get(json_get(root, STR("params")), STR("name"));

    if (s->config->selected &&
        !s->config->selected(s->config->selected_arg, call, root, &why->reason))
        return false;
    if (lacks_response(s->config, call)) {
        why->reason = WITHOUT_RESPONSE;
        return false;
    }
    return !str_eq(method, STR("tools/call")) ||
           may_call(s, json_text(name, &s->message.arena), why);
}

static void send_made(struct verify *s, const struct index_order_item *item, uint32_t number,
                      struct json_val root)
{
    uint32_t call = item->number;
    struct json_val params = json_get(root, STR("params"));
    struct json_val subject = mcp_method_subject(known_method(s, call), params);
    struct str method = index_method(s->config->index, call)->name;
    uint64_t request = mcp_session_add_request(&s->mcp, method);

    remember_id(s, root, request);
    track_call(s, item, number, request, json_text(subject, &s->message.arena));
    mcp_session_send(&s->mcp, buf_str(&s->request.text));
}

static struct str blocker_text(struct verify *s)
{
    const struct rebind_loss *loss = &s->request.loss;

    return arena_printf(&s->message.arena, "it needs a value of #%u, which %s",
                        s->config->index->calls[loss->call].seq, loss->fate);
}

/* The values of the response to a call are unavailable. Does not keep `message`. */
static void lose_values(struct verify *s, uint32_t call, const char *fate)
{
    rebind_lose(&s->rebind, (struct rebind_loss){ call, fate },
                index_method(s->config->index, call)->name, recorded_response(s, call));
}

static void leave_out(struct verify *s, const struct index_order_item *item, uint32_t number,
                      const struct unsent *why)
{
    put_unsent(s, item, number, why);
    lose_values(s, item->number, why->kind == VERDICT_SKIPPED ? "was skipped" : "was blocked");
}

static void send_request(struct verify *s, const struct index_order_item *item)
{
    uint32_t call = item->number, number = ++s->last_number;
    struct json_val root;
    struct err e = ERR_NONE;
    struct unsent why = { .kind = VERDICT_SKIPPED };
    struct str id;

    note_ahead(s);
    if (!index_read_call(s->config->index, call, &s->message, &root, &e)) {
        stop_with_error(s, &e);
        return;
    }
    rebind_note_request(&s->rebind, json_get(root, STR("params")));
    if (!is_wanted(s, call, root, &why)) {
        leave_out(s, item, number, &why);
        return;
    }
    if (is_blocked(s)) {
        why = (struct unsent){ .kind = VERDICT_BLOCKED, .reason = block_reason(s) };
        put_unsent(s, item, number, &why);
        return;
    }
    id = number_text(s, mcp_session_next_request(&s->mcp));
    switch (live_request_make(&s->request, root, id)) {
    case LIVE_REQUEST_MADE:
        send_made(s, item, number, root);
        break;
    case LIVE_REQUEST_BLOCKED:
        why = (struct unsent){ .kind = VERDICT_BLOCKED, .reason = blocker_text(s) };
        leave_out(s, item, number, &why);
        break;
    case LIVE_REQUEST_SKIPPED:
        why.reason = buf_str(&s->request.reason);
        leave_out(s, item, number, &why);
        break;
    }
}

/* The client cancelled a request: the same is done live. Nothing is compared then. */
static void end_cancelled(struct verify *s, uint64_t request)
{
    struct verify_call *c = map_remove(&s->by_request, map_number_key(&request));
    uint64_t key;

    if (!c)
        return;
    key = c->call;
    map_remove(&s->by_call, call_key(&key));
    mcp_session_forget(&s->mcp, request);
    judge_clear(&s->judge);
    put_judged(s, c, STR_NONE, STR_NONE);
    free_call(c);
}

static void report_notification(struct verify *s, const struct index_order_item *item,
                                struct json_val root, bool sent)
{
    struct call_verdict v = { .line = item->line,
                              .kind = sent ? VERDICT_PASSED : VERDICT_SKIPPED,
                              .number = ++s->last_number,
                              .duration_us = -1 };

    v.method = json_text(json_get(root, STR("method")), &s->message.arena);
    put_verdict(s, &v, 0, STR_NONE);
}

static void send_notification(struct verify *s, const struct index_order_item *item)
{
    struct json_val root, id;
    struct err e = ERR_NONE;
    uint64_t request = 0;
    struct str live = STR_NONE;
    bool cancels, sent;

    if (!index_read_step(s->config->index, item->number, &s->message, &root, &e)) {
        stop_with_error(s, &e);
        return;
    }
    cancels = json_is(json_get(root, STR("method")), STR("notifications/cancelled"));
    id = json_get(json_get(root, STR("params")), STR("requestId"));
    if (cancels && json_exists(id)) {
        request = live_id(s, id);
        live = number_text(s, request);
    }
    sent = !is_blocked(s) && (!cancels || request) &&
           live_request_make(&s->request, root, live) == LIVE_REQUEST_MADE;
    if (sent)
        mcp_session_send(&s->mcp, buf_str(&s->request.text));
    if (request)
        end_cancelled(s, request);
    if (s->config->notifications)
        report_notification(s, item, root, sent);
}

/* mcp-recorder reports GET and DELETE. They belong to the session, which opens and ends them
 * itself. */
static void report_http_request(struct verify *s, const struct index_order_item *item)
{
    struct call_verdict v = { .kind = VERDICT_PASSED, .duration_us = -1 };
    struct err e = ERR_NONE;

    if (!s->config->notifications)
        return;
    if (!index_fetch_step(s->config->index, item->number, &s->message.text, &e)) {
        stop_with_error(s, &e);
        return;
    }
    v.number = ++s->last_number;
    v.method = buf_str(&s->message.text);
    put_verdict(s, &v, 0, STR_NONE);
}

static bool is_waiting_for(const struct verify *s, uint32_t call)
{
    uint64_t key = call;

    return map_get(&s->by_call, call_key(&key)) != NULL;
}

static void settle(struct verify *s);

/* Whether the live list of tools has to be known before the item can be sent. */
static bool needs_tools(const struct verify *s, const struct index_order_item *item)
{
    return s->config->read_only && !s->tools.known && !is_blocked(s) &&
           item->kind == ORDER_REQUEST &&
           str_eq(index_method(s->config->index, item->number)->name, STR("tools/call"));
}

static void request_tools(struct verify *s, struct str cursor)
{
    struct str params = cursor.len
                            ? arena_printf(&s->mcp.arena, "{\"cursor\":%.*s}", STR_ARG(cursor))
                            : STR("{}");

    s->state = VERIFY_TOOL_LIST;
    s->own_request = mcp_session_request(&s->mcp, STR("tools/list"), params);
}

/* Sends everything up to the next response that has not come yet. */
static void advance(struct verify *s)
{
    while (s->item && s->state == VERIFY_SEND) {
        const struct index_order_item *item = &s->config->order->items[s->item];

        if (item->kind == ORDER_RESPONSE && is_waiting_for(s, item->number) &&
            !is_listen(s->config, item->number))
            return;
        if (needs_tools(s, item)) {
            request_tools(s, STR_NONE);
            return;
        }
        s->item = item->next;
        if (item->kind == ORDER_REQUEST)
            send_request(s, item);
        else if (item->kind == ORDER_NOTIFICATION)
            send_notification(s, item);
        else if (item->kind == ORDER_HTTP_REQUEST)
            report_http_request(s, item);
    }
    if (s->state == VERIFY_SEND)
        settle(s);
}

/* The end. */

static void report_count(void *arg, struct str method, uint64_t recorded, uint64_t live)
{
    struct verify *s = arg;
    struct finding f = { .rule = STR("notification-count"), .severity = FINDING_ERROR };

    judge_clear(&s->judge);
    f.message = arena_printf(&s->judge.arena,
                             "session %u: %.*s was recorded %llu times and came %llu times",
                             s->session + 1, STR_ARG(method), (unsigned long long)recorded,
                             (unsigned long long)live);
    s->events->finding(s->to, &f);
}

static void report_dropped(struct verify *s)
{
    struct finding f = { .rule = STR("rebind-limit"), .severity = FINDING_WARNING };

    if (!s->rebind.dropped)
        return;
    judge_clear(&s->judge);
    f.message = arena_printf(&s->judge.arena,
                             "session %u: %llu values were dropped, the oldest first, because "
                             "at most %d are kept: a request may have got a recorded value in "
                             "place of the live one",
                             s->session + 1, (unsigned long long)s->rebind.dropped, REBIND_MAX);
    s->events->finding(s->to, &f);
}

static void finish(struct verify *s)
{
    if (s->state == VERIFY_DONE)
        return;
    s->state = VERIFY_DONE;
    settle_all(s);
    if (s->config->strict && !is_blocked(s))
        notifications_compare_counts(&s->notifications, report_count, s);
    report_dropped(s);
    actions_finish(&s->mcp.actions, 0);
}

/* Returns whether no response is awaited: the call is a subscription, or the client cancelled
 * it by closing its HTTP response, as the stateless protocol has it. */
static bool ends_without_response(const struct verify *s, uint32_t call)
{
    unsigned flags = s->config->index->calls[call].flags;

    return is_listen(s->config, call) ||
           (flags & CALL_CANCELLED && !(flags & CALL_HAS_RESPONSE));
}

/* Calls without a response that are open at the end have done what they could. */
static void end_open_calls(struct verify *s)
{
    struct map_entry *e = NULL;

    while ((e = map_next(&s->by_request, e))) {
        const struct verify_call *c = e->value;

        if (ends_without_response(s, c->call)) {
            if (!is_listen(s->config, c->call)) /* else the transport waits for its response */
                mcp_session_cancel(&s->mcp, c->request, STR("the client ended the call"));
            end_cancelled(s, c->request);
            e = NULL;
        }
    }
}

/* Waits for open calls and then, for a moment, for notifications. */
static void settle(struct verify *s)
{
    end_open_calls(s);
    if (s->by_request.count)
        return;
    if (!s->unsettled || is_blocked(s)) {
        finish(s);
        return;
    }
    if (s->state == VERIFY_SETTLE)
        return;
    s->state = VERIFY_SETTLE;
    s->settle_timer = OWN_TIMER;
    actions_set_timer(&s->mcp.actions, s->settle_timer, SETTLE_US);
}

/* The beginning. */

/* Returns whether the first request is server/discover: such a client needs no initialize. */
static bool begins_with_discover(const struct verify *s)
{
    const struct index_order *order = s->config->order;
    uint32_t i = s->item;

    while (i && order->items[i].kind != ORDER_REQUEST)
        i = order->items[i].next;
    return i && str_eq(index_method(s->config->index, order->items[i].number)->name,
                       STR("server/discover"));
}

static bool needs_handshake(const struct verify *s)
{
    return !s->config->index->sessions[s->session].initialize_call &&
           !index_is_stateless(s->config->index, s->session) && !begins_with_discover(s);
}

static void begin(struct verify *s)
{
    note_ahead(s);
    if (!needs_handshake(s)) {
        s->state = VERIFY_SEND;
        advance(s);
        return;
    }
    s->state = VERIFY_HANDSHAKE;
    s->own_request = mcp_session_request(
        &s->mcp, STR("initialize"),
        STR("{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
            "\"clientInfo\":{\"name\":\"mcpreel\",\"version\":\"" MCPREEL_VERSION "\"}}"));
}

static void block(struct verify *s, const char *fmt, struct str what)
{
    if (!s->block_reason.len)
        buf_printf(&s->block_reason, fmt, STR_ARG(what));
}

/* Handles the response to a request of our own; NULL: there is none. */
static void handle_own_response(struct verify *s, const struct mcp_message *m)
{
    struct json_val cursor;

    if (!m || m->kind != MCP_RESULT) {
        struct str text = m ? json_text(json_get(m->error, STR("message")), &s->mcp.arena)
                            : STR("no response");

        if (s->state == VERIFY_HANDSHAKE)
            block(s, "initialize failed: %.*s", text);
        s->tools.known = true; /* and empty: no tool is called */
        s->state = VERIFY_SEND;
        advance(s);
        return;
    }
    if (s->state == VERIFY_HANDSHAKE) {
        mcp_session_notify(&s->mcp, STR("notifications/initialized"), STR_NONE);
        s->state = VERIFY_SEND;
        advance(s);
        return;
    }
    tool_list_add(&s->tools, m->result);
    cursor = json_get(m->result, STR("nextCursor"));
    if (json_type(cursor) == JSON_STRING) {
        request_tools(s, json_raw(cursor));
        return;
    }
    s->state = VERIFY_SEND;
    advance(s);
}

static bool is_own_request(const struct verify *s, uint64_t request)
{
    return (s->state == VERIFY_HANDSHAKE || s->state == VERIFY_TOOL_LIST) &&
           request == s->own_request;
}

static void go_on(struct verify *s)
{
    if (s->state == VERIFY_SEND)
        advance(s);
    else if (s->state == VERIFY_SETTLE)
        settle(s);
}

static struct verify_call *take_call(struct verify *s, uint64_t request)
{
    struct verify_call *c = map_remove(&s->by_request, map_number_key(&request));
    uint64_t key;

    if (c) {
        key = c->call;
        map_remove(&s->by_call, call_key(&key));
    }
    return c;
}

/* Whether a poll has to be repeated, because the recorded task had ended. */
static bool must_repeat(struct verify *s, const struct verify_call *c,
                        const struct mcp_message *m)
{
    return is_poll(s, c->call) && m->kind == MCP_RESULT && judge_task_is_open(m->root) &&
           !judge_task_is_open(recorded_response(s, c->call)) &&
           s->mcp.now_us - c->first_sent_us < s->config->timeout_us;
}

static void repeat_poll(struct verify *s, uint64_t request)
{
    struct verify_call *c = map_get(&s->by_request, map_number_key(&request));
    struct json_val root;
    struct err e = ERR_NONE;

    if (!c || s->mcp.closed)
        return;
    if (!index_read_call(s->config->index, c->call, &s->message, &root, &e)) {
        stop_with_error(s, &e);
        return;
    }
    map_remove(&s->by_request, map_number_key(&request));
    c->request = mcp_session_add_request(&s->mcp, STR("tasks/get"));
    map_put(&s->by_request, map_number_key(&c->request), c);
    if (live_request_make(&s->request, root, number_text(s, c->request)) == LIVE_REQUEST_MADE)
        mcp_session_send(&s->mcp, buf_str(&s->request.text));
}

/* Blocks the rest after initialize, unless it was rejected when it was recorded, too. */
static void block_after_initialize(struct verify *s, uint32_t call, struct str why)
{
    if (str_eq(index_method(s->config->index, call)->name, STR("initialize")) &&
        json_exists(json_get(recorded_response(s, call), STR("result"))))
        block(s, "initialize failed: %.*s", why);
}

static void on_response(void *to, uint64_t request, const struct mcp_message *m,
                        int64_t took_us)
{
    struct verify *s = to;
    struct verify_call *c;

    s->responses++;
    if (is_own_request(s, request)) {
        handle_own_response(s, m);
        return;
    }
    c = map_get(&s->by_request, map_number_key(&request));
    if (!c)
        return;
    if (must_repeat(s, c, m)) {
        actions_set_timer(&s->mcp.actions, POLL_TIMER | request, POLL_US);
        return;
    }
    take_call(s, request);
    c->took_us = took_us;
    if (m->kind == MCP_RESULT &&
        str_eq(index_method(s->config->index, c->call)->name, STR("tools/list")))
        tool_list_add(&s->tools, m->result);
    if (m->kind == MCP_ERROR)
        block_after_initialize(s, c->call,
                               json_text(json_get(m->error, STR("message")), &s->mcp.arena));
    judge_call(s, c, m->root);
    go_on(s);
}

static struct str loss_text(struct verify *s, enum mcp_session_loss loss, struct str why)
{
    long long ms = (long long)(s->config->timeout_us / 1000);

    switch (loss) {
    case SESSION_TIMED_OUT:
        return arena_printf(&s->mcp.arena, "no response within %lld.%03lld s", ms / 1000,
                            ms % 1000);
    case SESSION_CLOSED:
        return why.len ? why : STR("the server closed the connection or exited");
    case SESSION_ECHOED:
        return STR("the server sent the request back");
    case SESSION_LOST:
        break;
    }
    return why;
}

static void on_no_response(void *to, uint64_t request, enum mcp_session_loss loss,
                           struct str why, unsigned http_status)
{
    struct verify *s = to;
    struct str text = loss_text(s, loss, why);
    struct finding f = { .rule = STR("no-response"), .severity = FINDING_ERROR };
    struct verify_call *c;

    if (http_status == HTTP_FORBIDDEN) /* of 401 the text says it */
        text = arena_printf(&s->mcp.arena,
                            "%.*s: if it wants a login, send credentials with --header-env",
                            STR_ARG(text));
    if (!s->not_mcp.len && (loss == SESSION_ECHOED || http_status / 100 == 2))
        buf_add(&s->not_mcp, text);
    if (is_own_request(s, request)) {
        block(s, "initialize failed: %.*s", text);
        handle_own_response(s, NULL);
        return;
    }
    c = take_call(s, request);
    if (!c)
        return;
    judge_clear(&s->judge);
    f.message = arena_str(&s->judge.arena, text);
    judge_add(&s->judge, FAILURE_MISSING, &f);
    lose_values(s, c->call, "did not get a response");
    block_after_initialize(s, c->call, text);
    put_judged(s, c, text, STR_NONE);
    free_call(c);
    go_on(s);
}

static void on_notification(void *to, const struct mcp_message *m, uint64_t request)
{
    struct verify *s = to;
    struct verify_call *c = map_get(&s->by_request, map_number_key(&request));

    notifications_add(&s->notifications, m->method);
    if (c)
        c->got_progress = true;
    if (s->unsettled) {
        settle_complete(s);
        go_on(s);
    }
}

static bool is_open(void *arg, uint32_t call)
{
    return is_waiting_for(arg, call);
}

/* Reports a server request to which the recording has no response. */
static void report_server_request(struct verify *s, const struct mcp_message *m,
                                  const struct server_request_reply *reply)
{
    struct finding f = reply->difference;

    f.severity = FINDING_ERROR;
    f.rule = reply->changed ? STR("server-request-changed") : STR("server-request-unknown");
    f.message = arena_printf(&s->judge.arena,
                             "session %u: the server sent %.*s%s; it was "
                             "rejected",
                             s->session + 1, STR_ARG(m->method),
                             reply->changed ? " with other params"
                                            : ", which the recording does not have");
    if (!reply->changed)
        f.live = json_raw(m->params);
    s->events->finding(s->to, &f);
}

/* The response to an open call may depend on the rejection. */
static void note_rejection(struct verify *s)
{
    for (struct map_entry *e = NULL; (e = map_next(&s->by_request, e));)
        ((struct verify_call *)e->value)->rejected = true;
}

static void on_server_request(void *to, const struct mcp_message *m)
{
    struct verify *s = to;
    struct server_request_reply reply;
    struct str id = json_raw(m->id);

    judge_clear(&s->judge);
    if (!server_requests_find(&s->server_requests, m, is_open, s, &reply)) {
        mcp_session_reject(&s->mcp, id, MCP_METHOD_NOT_FOUND,
                           STR("the recording has no response to this request"));
        note_rejection(s);
        report_server_request(s, m, &reply);
        return;
    }
    if (reply.result.len)
        mcp_session_respond(&s->mcp, id, reply.result);
    else
        actions_send(&s->mcp.actions,
                     arena_printf(&s->mcp.arena,
                                  "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":%.*s}",
                                  STR_ARG(id), STR_ARG(reply.error)));
}

static void on_violation(void *to, struct str what, struct str text)
{
    struct verify *s = to;
    struct finding f = { .rule = STR("protocol-violation"), .severity = FINDING_WARNING };

    judge_clear(&s->judge);
    f.message = arena_printf(&s->judge.arena, "session %u: the server sent %.*s",
                             s->session + 1, STR_ARG(what));
    f.live = judge_quote(&s->judge, text);
    s->events->finding(s->to, &f);
}

static const struct mcp_session_events session_events = {
    .response = on_response,
    .no_response = on_no_response,
    .notification = on_notification,
    .server_request = on_server_request,
    .violation = on_violation,
};

/* The server is gone: the rest gets its verdicts, and the session ends. */
static void end_closed(struct verify *s)
{
    if (s->state == VERIFY_DONE)
        return;
    s->state = VERIFY_SEND;
    advance(s);
    finish(s);
}

void verify_step(struct verify *s, const struct event *ev)
{
    if (ev->kind == EVENT_OPENED) {
        s->mcp.now_us = ev->now_us;
        begin(s);
        return;
    }
    if (ev->kind == EVENT_TIMER && ev->timer & OWN_TIMER) {
        finish(s);
        return;
    }
    if (ev->kind == EVENT_TIMER && ev->timer & POLL_TIMER) {
        s->mcp.now_us = ev->now_us;
        repeat_poll(s, ev->timer & ~POLL_TIMER);
        return;
    }
    if (ev->kind == EVENT_INPUT_CLOSED && ev->shutting_down) {
        verify_abandon(s, STR("interrupted"));
        return;
    }
    if (ev->kind == EVENT_INPUT_CLOSED && s->state != VERIFY_DONE)
        s->closed_early = true;
    mcp_session_step(&s->mcp, ev);
    if (ev->kind == EVENT_INPUT_CLOSED)
        end_closed(s);
}

void verify_abandon(struct verify *s, struct str why)
{
    if (s->state == VERIFY_DONE)
        return;
    block(s, "%.*s", why);
    mcp_session_step(
        &s->mcp,
        &(struct event){ .kind = EVENT_INPUT_CLOSED, .now_us = s->mcp.now_us, .why = why });
    end_closed(s);
}
