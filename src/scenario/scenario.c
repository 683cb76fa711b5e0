#include "scenario/scenario.h"

#include "client/handshake.h"
#include "mcp/error-code.h"
#include "mcp/meta.h"
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
                              .method = s->state == SCENARIO_DISCOVER ? STR("server/discover")
                                                                      : STR("initialize"),
                              .kind = kind,
                              .duration_us = -1 };

    if (s->state == SCENARIO_ACTION) {
        const struct scenario_action *a = &s->plan->actions[s->action];

        v.line = a->line;
        v.method = s->method.len ? buf_str(&s->method) : a->method;
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
    buf_clear(&s->method);
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

/* Appends the capabilities that the answers of the scenario need. */
static void write_capabilities(const struct scenario_answers *answers, struct buf *to)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    if (answers->sampling_count)
        json_out_key_raw(&o, STR("sampling"), STR("{}"));
    if (answers->elicitation_count)
        json_out_key_raw(&o, STR("elicitation"), STR("{}"));
    if (answers->roots.len)
        json_out_key_raw(&o, STR("roots"), STR("{}"));
    json_out_end_object(&o);
}

static void send_initialize(struct scenario *s)
{
    struct buf params;

    buf_init(&params, PARAMS_MAX);
    handshake_write_initialize(&params, SCENARIO_PROTOCOL, buf_str(&s->capabilities));
    mcp_session_request(&s->mcp, STR("initialize"), buf_str(&params));
    buf_release(&params);
}

/* Adds what the scenarios file does not have: the _meta of a stateless request, unless it is
 * there, and required input. Params that are no object stay as they are. */
static void complete_params(struct scenario *s, struct buf *params)
{
    struct json_splice splice;
    struct json_fault fault;
    struct json j;
    struct buf meta, text;

    if (!s->stateless || params->full)
        return;
    buf_init(&meta, PARAMS_MAX);
    buf_init(&text, PARAMS_MAX);
    json_init(&j);
    handshake_write_meta(&meta, MCP_VERSION_LATEST, buf_str(&s->capabilities));
    if (!json_scan(&j, params->len ? buf_str(params) : STR("{}"), &fault))
        BUG("params are JSON");
    json_splice_init(&splice, json_root(&j));
    if (!json_exists(json_get(json_root(&j), MCP_META_KEY)))
        json_splice_set(&splice, json_root(&j), MCP_META_KEY, buf_str(&meta));
    if (s->input.len)
        json_splice_set(&splice, json_root(&j), STR("inputResponses"), buf_str(&s->input));
    if (s->request_state.len)
        json_splice_set(&splice, json_root(&j), STR("requestState"),
                        buf_str(&s->request_state));
    json_splice_apply(&splice, &text);
    buf_clear(params);
    buf_add(params, buf_str(&text));
    params->full = params->full || text.full;
    json_release(&j);
    buf_release(&text);
    buf_release(&meta);
}

static void send_discover(struct scenario *s)
{
    struct buf params;

    s->state = SCENARIO_DISCOVER;
    s->stateless = true;
    buf_init(&params, PARAMS_MAX);
    complete_params(s, &params);
    mcp_session_request(&s->mcp, STR("server/discover"), buf_str(&params));
    buf_release(&params);
}

/* Sets the method of the current action. That of a raw request may refer to saved values; a
 * value that is no string becomes its JSON. */
static void fill_method(struct scenario *s)
{
    struct str method = s->plan->actions[s->action].method, rest = method, name;
    struct json_fault fault;
    struct json_val value;
    struct json j;
    struct buf filled;

    buf_clear(&s->method);
    if (!scenario_values_next_reference(&rest, &name)) {
        buf_add(&s->method, method);
        return;
    }
    json_init(&j);
    buf_init(&filled, PARAMS_MAX);
    scenario_values_fill(&s->values, json_write_str_in(&s->arena, method), &filled);
    s->method.full = filled.full;
    if (!filled.full) {
        if (!json_scan(&j, buf_str(&filled), &fault))
            BUG("saved values are JSON");
        value = json_root(&j);
        buf_add(&s->method, json_type(value) == JSON_STRING ? json_text(value, &s->arena)
                                                            : json_raw(value));
    }
    buf_release(&filled);
    json_release(&j);
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
    complete_params(s, &params);
    if (params.full || s->method.full) {
        struct call_verdict v = make_verdict(s, VERDICT_FAILED);

        fail(s, &v, FAILURE_PROTOCOL, STR("the request is too large with its saved values"));
    } else {
        mcp_session_request(&s->mcp, buf_str(&s->method), buf_str(&params));
    }
    buf_release(&params);
}

static void reset_input(struct scenario *s)
{
    buf_clear(&s->input);
    buf_clear(&s->request_state);
}

static void start_action(struct scenario *s)
{
    s->pages = 0;
    s->pages_us = 0;
    s->rounds = 0;
    reset_input(s);
    buf_clear(&s->items);
    buf_clear(&s->cursor);
    if (s->action < s->plan->action_count) {
        fill_method(s);
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

/* Answers. */

static struct str find_answer(struct scenario *s, struct str method)
{
    return scenario_answers_take(&s->plan->answers, &s->used_answers, method);
}

/* Appends an object with an answer to each request. False: one has none. */
static bool write_input(struct scenario *s, struct json_val requests, struct buf *to)
{
    struct json_out o = json_out_to(to);
    struct json_iter it = json_each(requests);

    json_out_object(&o);
    while (json_next(&it)) {
        struct str method = json_text(json_get(it.value, STR("method")), &s->arena);
        struct str result = find_answer(s, method);

        if (!result.len) {
            actions_report(&s->mcp.actions, LOG_WARN,
                           "%.*s: no answer to the server request %.*s; the call ends without "
                           "it",
                           STR_ARG(s->plan->name), STR_ARG(method));
            return false;
        }
        json_out_key_raw(&o, json_text(it.key, &s->arena), result);
    }
    json_out_end_object(&o);
    return true;
}

/* Sends a stateless request again with the input that its response requires. Returns whether it
 * was sent, or the scenario has failed. */
static bool continue_call(struct scenario *s, const struct mcp_message *m,
                          struct call_verdict *v)
{
    struct json_val result = json_get(m->root, STR("result"));
    struct json_val requests = json_get(result, STR("inputRequests"));
    struct json_val request_state = json_get(result, STR("requestState"));

    if (!s->stateless || !json_is(json_get(result, STR("resultType")), STR("input_required")))
        return false;
    if (s->rounds++ == SCENARIO_INPUT_ROUNDS) {
        fail(s, v, FAILURE_PROTOCOL, STR("the server required input too often"));
        return true;
    }
    reset_input(s);
    if (json_exists(requests) && !write_input(s, requests, &s->input))
        return false;
    buf_add(&s->request_state, json_raw(request_state));
    s->number--; /* the call gets one verdict */
    send_action(s);
    return true;
}

/* Responses. */

static void handle_action_response(struct scenario *s, const struct mcp_message *m,
                                   int64_t took_us)
{
    struct call_verdict v = make_verdict(s, VERDICT_PASSED);

    s->pages_us += took_us;
    v.duration_us = s->pages_us;
    if (continue_call(s, m, &v) || continue_list(s, m, &v))
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

/* The server has no other handshake, or rejects this one, too. */
static void fail_handshake(struct scenario *s)
{
    struct call_verdict v;

    s->state = SCENARIO_INITIALIZE;
    v = make_verdict(s, VERDICT_FAILED);
    fail(s, &v, FAILURE_ERROR,
         arena_printf(&s->arena, "the server rejected initialize: %.*s",
                      STR_ARG(buf_str(&s->rejection))));
}

static void handle_handshake(struct scenario *s, const struct mcp_message *m, int64_t took_us)
{
    struct json_val text = json_get(json_get(m->root, STR("error")), STR("message"));
    struct call_verdict v;

    if (m->kind == MCP_ERROR && s->state == SCENARIO_INITIALIZE) {
        buf_add(&s->rejection, json_text(text, &s->arena));
        send_discover(s);
        return;
    }
    if (m->kind == MCP_ERROR) {
        fail_handshake(s);
        return;
    }
    v = make_verdict(s, VERDICT_PASSED);
    v.duration_us = took_us;
    if (s->events->server)
        s->events->server(s->to, v.method, json_raw(m->root));
    s->events->verdict(s->to, &v);
    if (!s->stateless)
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
    if (s->state == SCENARIO_INITIALIZE || s->state == SCENARIO_DISCOVER)
        handle_handshake(s, m, took_us);
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
    if (http_status)
        why = arena_printf(&s->arena, "the server answered HTTP %u: %.*s", http_status,
                           STR_ARG(why));
    if (s->state == SCENARIO_INITIALIZE && handshake_is_rejection(http_status)) {
        buf_add(&s->rejection, why);
        send_discover(s);
        return;
    }
    if (s->state == SCENARIO_DISCOVER) {
        fail_handshake(s);
        return;
    }
    v = make_verdict(s, VERDICT_FAILED);
    if (loss == SESSION_TIMED_OUT)
        why = STR("the time limit is over");
    else if (loss == SESSION_CLOSED)
        why = STR("the server closed the connection or exited");
    fail(s, &v, FAILURE_MISSING, why);
}

static void on_notification(void *to, const struct mcp_message *m, uint64_t request)
{
    (void)to;
    (void)m;
    (void)request; /* it is in the recording */
}

static void on_server_request(void *to, const struct mcp_message *m)
{
    struct scenario *s = to;
    struct str result = find_answer(s, m->method);

    if (result.len) {
        mcp_session_respond(&s->mcp, json_raw(m->id), result);
        return;
    }
    actions_report(&s->mcp.actions, LOG_WARN,
                   "%.*s: no answer to the server request %.*s; it was rejected",
                   STR_ARG(s->plan->name), STR_ARG(m->method));
    mcp_session_reject(&s->mcp, json_raw(m->id), MCP_METHOD_NOT_FOUND, STR("Method not found"));
}

static void on_violation(void *to, struct str what, struct str text)
{
    struct scenario *s = to;

    (void)text; /* it is in the recording */
    actions_report(&s->mcp.actions, s->warned ? LOG_DEBUG : LOG_WARN,
                   "%.*s: the server broke the protocol: %.*s", STR_ARG(s->plan->name),
                   STR_ARG(what));
    s->warned = true;
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
    buf_init(&s->method, PARAMS_MAX);
    buf_init(&s->items, LIST_MAX);
    buf_init(&s->cursor, LIST_MAX);
    buf_init(&s->merged_text, 2 * (size_t)LIST_MAX);
    buf_init(&s->rejection, PARAMS_MAX);
    buf_init(&s->input, PARAMS_MAX);
    buf_init(&s->request_state, PARAMS_MAX);
    buf_init(&s->capabilities, PARAMS_MAX);
    write_capabilities(&plan->answers, &s->capabilities);
}

void scenario_release(struct scenario *s)
{
    mcp_session_release(&s->mcp);
    scenario_values_release(&s->values);
    json_release(&s->merged);
    buf_release(&s->method);
    buf_release(&s->items);
    buf_release(&s->cursor);
    buf_release(&s->merged_text);
    buf_release(&s->rejection);
    buf_release(&s->input);
    buf_release(&s->request_state);
    buf_release(&s->capabilities);
    arena_release(&s->arena);
}

void scenario_step(struct scenario *s, const struct event *ev)
{
    arena_clear(&s->arena);
    if (ev->kind == EVENT_INPUT_CLOSED && ev->shutting_down)
        scenario_abandon(s, STR("the run was interrupted"));
    mcp_session_step(&s->mcp, ev);
    if (ev->kind == EVENT_OPENED && s->state == SCENARIO_BEGIN) {
        s->state = SCENARIO_INITIALIZE;
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
