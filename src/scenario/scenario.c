#include "scenario/scenario.h"

#include "mcp/error-code.h"
#include "json/splice.h"
#include "json/write.h"

enum { PARAMS_MAX = 32 << 20, LIST_MAX = 64 << 20 };

/* Verdicts. */

static struct call_verdict make_verdict(struct scenario *s, enum verdict_kind kind)
{
    struct call_verdict v = { .number = ++s->number,
                              .session = s->ordinal,
                              .scenario = s->plan->name,
                              .line = s->plan->line,
                              .method = STR("initialize"),
                              .kind = kind,
                              .duration_us = -1 };

    if (s->state == SCENARIO_ACTION) {
        const struct scenario_action *a = &s->plan->actions[s->action];

        v.line = a->line;
        v.method = a->method;
        v.subject = a->subject;
    }
    return v;
}

/* Gives a verdict to the actions that are not sent. */
static void block_rest(struct scenario *s)
{
    size_t next = s->state == SCENARIO_ACTION ? s->action + 1 : 0;

    s->failed = true;
    s->state = SCENARIO_ACTION;
    for (s->action = next; s->action < s->plan->action_count; s->action++) {
        struct call_verdict v = make_verdict(s, VERDICT_BLOCKED);

        v.reason = STR("a request before it failed");
        s->events->verdict(s->to, &v);
    }
    s->state = SCENARIO_DONE;
}

/* Gives a failed verdict to the current request; no other one is sent. */
static void give_up(struct scenario *s, struct call_verdict *v, enum verdict_failure failure,
                    struct str reason)
{
    v->kind = VERDICT_FAILED;
    v->failure = failure;
    v->reason = reason;
    s->events->verdict(s->to, v);
    block_rest(s);
}

static void fail(struct scenario *s, struct call_verdict *v, enum verdict_failure failure,
                 struct str reason)
{
    give_up(s, v, failure, reason);
    actions_finish(&s->mcp.actions, 0);
}

/* Requests. */

static void send_initialize(struct scenario *s)
{
    const struct scenario_answers *answers = &s->plan->answers;
    struct buf params;
    struct json_out o;

    buf_init(&params, PARAMS_MAX);
    o = json_out_to(&params);
    json_out_object(&o);
    json_out_key_str(&o, STR("protocolVersion"), STR(SCENARIO_PROTOCOL));
    json_out_key(&o, STR("capabilities"));
    json_out_object(&o);
    if (answers->sampling_count)
        json_out_key_raw(&o, STR("sampling"), STR("{}"));
    if (answers->elicitation_count)
        json_out_key_raw(&o, STR("elicitation"), STR("{}"));
    if (answers->roots.len)
        json_out_key_raw(&o, STR("roots"), STR("{}"));
    json_out_end_object(&o);
    json_out_key(&o, STR("clientInfo"));
    json_out_object(&o);
    json_out_key_str(&o, STR("name"), STR("mcpreel"));
    json_out_key_str(&o, STR("version"), STR(MCPREEL_VERSION));
    json_out_end_object(&o);
    json_out_end_object(&o);
    mcp_session_request(&s->mcp, STR("initialize"), buf_str(&params));
    buf_release(&params);
}

/* Sends the request of the current action, with the cursor of the last page if there is one. */
static void send_action(struct scenario *s)
{
    const struct scenario_action *a = &s->plan->actions[s->action];
    struct buf params;

    buf_init(&params, PARAMS_MAX);
    if (s->pages)
        buf_printf(&params, "{\"cursor\":%s}", buf_z(&s->cursor));
    else
        scenario_values_fill(&s->values, a->params, &params);
    if (params.full) {
        struct call_verdict v = make_verdict(s, VERDICT_FAILED);

        fail(s, &v, FAILURE_PROTOCOL, STR("the request is too large with its saved values"));
    } else {
        mcp_session_request(&s->mcp, a->method, buf_str(&params));
    }
    buf_release(&params);
}

static void start_action(struct scenario *s)
{
    s->pages = 0;
    s->pages_us = 0;
    buf_clear(&s->items);
    buf_clear(&s->cursor);
    if (s->action < s->plan->action_count) {
        send_action(s);
        return;
    }
    s->state = SCENARIO_DONE;
    actions_finish(&s->mcp.actions, 0);
}

/* Lists of several pages. */

static void add_items(struct scenario *s, struct json_val list)
{
    struct str raw = json_raw(list);

    if (json_type(list) != JSON_ARRAY || !json_count(list))
        return;
    if (s->items.len)
        buf_add_ch(&s->items, ',');
    buf_add(&s->items, str_n(raw.at + 1, raw.len - 2));
}

/* Notes a page. Returns whether another one follows; then its request was sent, or the scenario
 * has failed. */
static bool continue_list(struct scenario *s, const struct mcp_message *m,
                          struct call_verdict *v)
{
    const struct scenario_action *a = &s->plan->actions[s->action];
    struct json_val result = json_get(m->root, STR("result"));
    struct json_val cursor = json_get(result, STR("nextCursor"));

    if (!a->all_pages || !json_exists(result))
        return false;
    add_items(s, json_get(result, str_z(a->kind->list)));
    s->pages++;
    if (json_type(cursor) != JSON_STRING)
        return false;
    if (str_eq(json_raw(cursor), buf_str(&s->cursor)) || s->pages == SCENARIO_PAGES_MAX ||
        s->items.full) {
        fail(s, v, FAILURE_PROTOCOL,
             s->pages == SCENARIO_PAGES_MAX ? STR("the list has too many pages")
             : s->items.full                ? STR("the list is too large")
                                            : STR("the server sent the same cursor twice"));
        return true;
    }
    buf_clear(&s->cursor);
    buf_add(&s->cursor, json_raw(cursor));
    s->number--; /* the list gets one verdict */
    send_action(s);
    return true;
}

/* Returns the response to judge: for a list of several pages one with all items. */
static struct json_val merge_pages(struct scenario *s, const struct mcp_message *m)
{
    const char *name = s->plan->actions[s->action].kind->list;
    struct json_val list =
        name ? json_get(json_get(m->root, STR("result")), str_z(name)) : JSON_VAL_NONE;
    struct json_splice splice;
    struct json_fault fault;
    struct str items;

    if (s->pages < 2 || !json_exists(list))
        return m->root;
    buf_clear(&s->merged_text);
    items = arena_printf(&s->arena, "[%.*s]", STR_ARG(buf_str(&s->items)));
    json_splice_init(&splice, m->root);
    json_splice_replace(&splice, list, items);
    json_splice_apply(&splice, &s->merged_text);
    return json_scan(&s->merged, buf_str(&s->merged_text), &fault) ? json_root(&s->merged)
                                                                   : m->root;
}

/* Responses. */

static void handle_action_response(struct scenario *s, const struct mcp_message *m,
                                   int64_t took_us)
{
    struct call_verdict v = make_verdict(s, VERDICT_PASSED);

    s->pages_us += took_us;
    v.duration_us = s->pages_us;
    if (continue_list(s, m, &v))
        return;
    v.findings = scenario_expect_judge(&s->plan->actions[s->action].expect, merge_pages(s, m),
                                       &s->values, &s->arena, &v.finding_count);
    if (v.finding_count) {
        fail(s, &v, FAILURE_CONTENT, STR_NONE);
        return;
    }
    s->events->verdict(s->to, &v);
    s->action++;
    start_action(s);
}

static void handle_initialized(struct scenario *s, const struct mcp_message *m, int64_t took_us)
{
    struct call_verdict v = make_verdict(s, VERDICT_PASSED);
    struct json_val text = json_get(json_get(m->root, STR("error")), STR("message"));

    v.duration_us = took_us;
    if (m->kind == MCP_ERROR) {
        fail(s, &v, FAILURE_ERROR,
             arena_printf(&s->arena, "the server rejected initialize: %.*s",
                          STR_ARG(json_text(text, &s->arena))));
        return;
    }
    s->events->verdict(s->to, &v);
    mcp_session_notify(&s->mcp, STR("notifications/initialized"), STR_NONE);
    s->state = SCENARIO_ACTION;
    start_action(s);
}

static void on_response(void *to, uint64_t request, const struct mcp_message *m,
                        int64_t took_us)
{
    struct scenario *s = to;

    (void)request; /* there is one at a time */
    s->responses++;
    if (s->state == SCENARIO_HANDSHAKE)
        handle_initialized(s, m, took_us);
    else if (s->state == SCENARIO_ACTION)
        handle_action_response(s, m, took_us);
}

static void on_no_response(void *to, uint64_t request, enum mcp_session_loss loss,
                           struct str why, unsigned http_status)
{
    struct scenario *s = to;
    struct call_verdict v;

    (void)request;
    if (s->state == SCENARIO_DONE)
        return;
    v = make_verdict(s, VERDICT_FAILED);
    if (loss == SESSION_TIMED_OUT)
        why = STR("the time limit is over");
    else if (loss == SESSION_CLOSED)
        why = STR("the server closed the connection or exited");
    else if (http_status)
        why = arena_printf(&s->arena, "the server answered HTTP %u: %.*s", http_status,
                           STR_ARG(why));
    fail(s, &v, FAILURE_MISSING, why);
}

static void on_notification(void *to, const struct mcp_message *m, uint64_t request)
{
    (void)to;
    (void)m;
    (void)request; /* it is in the recording */
}

/* Answers with the next of several results; the last one is used again. */
static void answer(struct scenario *s, const struct mcp_message *m, const struct str *results,
                   size_t count, size_t *used)
{
    mcp_session_respond(&s->mcp, json_raw(m->id), results[*used < count ? *used : count - 1]);
    ++*used;
}

static void on_server_request(void *to, const struct mcp_message *m)
{
    struct scenario *s = to;
    const struct scenario_answers *answers = &s->plan->answers;

    if (str_eq(m->method, STR("sampling/createMessage")) && answers->sampling_count) {
        answer(s, m, answers->sampling, answers->sampling_count, &s->samplings);
    } else if (str_eq(m->method, STR("elicitation/create")) && answers->elicitation_count) {
        answer(s, m, answers->elicitation, answers->elicitation_count, &s->elicitations);
    } else if (str_eq(m->method, STR("roots/list")) && answers->roots.len) {
        mcp_session_respond(&s->mcp, json_raw(m->id), answers->roots);
    } else {
        actions_report(&s->mcp.actions, LOG_WARN,
                       "%.*s: no answer to the server request %.*s; it was rejected",
                       STR_ARG(s->plan->name), STR_ARG(m->method));
        mcp_session_reject(&s->mcp, json_raw(m->id), MCP_METHOD_NOT_FOUND,
                           STR("Method not found"));
    }
}

static void on_violation(void *to, struct str what, struct str text)
{
    struct scenario *s = to;

    (void)text; /* it is in the recording */
    actions_report(&s->mcp.actions, LOG_WARN, "%.*s: the server broke the protocol: %.*s",
                   STR_ARG(s->plan->name), STR_ARG(what));
}

static const struct mcp_session_events session_events = {
    on_response, on_no_response, on_notification, on_server_request, on_violation,
};

void scenario_init(struct scenario *s, const struct scenario_plan *plan, uint32_t ordinal,
                   uint32_t first_number, int64_t timeout_us, struct action_sink *out,
                   const struct scenario_events *events, void *to)
{
    *s = (struct scenario){
        .plan = plan, .ordinal = ordinal, .number = first_number - 1, .events = events, .to = to
    };
    mcp_session_init(&s->mcp, out, timeout_us, &session_events, s);
    s->mcp.first_id = 0;
    scenario_values_init(&s->values);
    json_init(&s->merged);
    buf_init(&s->items, LIST_MAX);
    buf_init(&s->cursor, LIST_MAX);
    buf_init(&s->merged_text, 2 * (size_t)LIST_MAX);
}

void scenario_release(struct scenario *s)
{
    mcp_session_release(&s->mcp);
    scenario_values_release(&s->values);
    json_release(&s->merged);
    buf_release(&s->items);
    buf_release(&s->cursor);
    buf_release(&s->merged_text);
    arena_release(&s->arena);
}

void scenario_step(struct scenario *s, const struct event *ev)
{
    arena_clear(&s->arena);
    mcp_session_step(&s->mcp, ev);
    if (ev->kind == EVENT_OPENED && s->state == SCENARIO_BEGIN) {
        s->state = SCENARIO_HANDSHAKE;
        send_initialize(s);
    }
}

void scenario_abandon(struct scenario *s, struct str why)
{
    struct call_verdict v;

    if (s->state == SCENARIO_DONE)
        return;
    v = make_verdict(s, VERDICT_FAILED);
    give_up(s, &v, FAILURE_MISSING, why);
}
