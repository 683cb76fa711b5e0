#include "replay/passthrough.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "mcp/error-code.h"
#include "mcp/id.h"
#include "mcp/meta.h"
#include "trace/limits.h"
#include "json/splice.h"

/* A client request that was forwarded. */
struct passthrough_call {
    struct passthrough_call *next;
    uint64_t id;             /* under which it was forwarded */
    bool sent;               /* set when initialize is done */
    struct str client_id;    /* the client's id, as JSON */
    struct str client_token; /* the client's progress token, as JSON; empty: none */
    struct str text;         /* as it is forwarded */
    const void *client;
    uint64_t exchange;
    bool cannot_receive_requests; /* its client accepts no server requests */
};

/* A server request that was sent to a client. */
struct passthrough_server_request {
    const void *client; /* of the call it was sent with; NULL: there was none */
    uint64_t exchange;
    struct str id; /* the upstream's, as JSON */
};

#define INITIALIZE_ID "\"mcpreel-greeting\""

enum {
    INITIALIZE_S = 60,
    SILENCE_S = 300,
    SECOND_US = 1000000,
    REPORTED_MAX = 16,
    CANCELLED_MAX = 1 << 10,
};

void passthrough_init(struct passthrough *u, struct actions *actions, uint64_t *timers,
                      bool is_remote)
{
    *u = (struct passthrough){ .actions = actions,
                               .last_timer = timers,
                               .is_remote = is_remote };
    map_init(&u->server_requests);
    recent_keys_init(&u->cancelled_ids, CANCELLED_MAX);
    map_init(&u->reported);
    buf_init(&u->client_initialize_params, LIMIT_MESSAGE);
    buf_init(&u->text, LIMIT_MESSAGE * 2);
}

/* A client may still respond; the response is dropped. */
static void cancel_server_requests(struct passthrough *u)
{
    for (struct map_entry *at = NULL; (at = map_next(&u->server_requests, at));) {
        recent_keys_add(&u->cancelled_ids, at->key, 1, 0);
        free(at->value);
    }
    map_release(&u->server_requests);
    map_init(&u->server_requests);
}

void passthrough_release(struct passthrough *u)
{
    while (u->calls) {
        struct passthrough_call *next = u->calls->next;
        free(u->calls);
        u->calls = next;
    }
    cancel_server_requests(u);
    map_release(&u->server_requests);
    recent_keys_release(&u->cancelled_ids);
    map_release(&u->reported);
    buf_release(&u->client_initialize_params);
    buf_release(&u->text);
    arena_release(&u->arena);
}

void passthrough_note_initialize(struct passthrough *u, const struct mcp_message *live)
{
    buf_clear(&u->client_initialize_params);
    buf_add(&u->client_initialize_params, json_raw(live->params));
}

static struct str replace_value(struct passthrough *u, struct json_val root,
                                struct json_val value, struct str raw)
{
    struct json_splice edit;

    buf_clear(&u->text);
    json_splice_init(&edit, root);
    json_splice_replace(&edit, value, raw);
    json_splice_apply(&edit, &u->text);
    BUG_IF(u->text.full);
    return buf_str(&u->text);
}

/* Routes the next actions to the exchange of a call; NULL: to none. */
static void route_to_call(struct passthrough *u, const struct passthrough_call *c)
{
    u->actions->route = (struct route){ .exchange = c ? c->exchange : 0 };
}

static void send_initialize(struct passthrough *u)
{
    struct str params = buf_str(&u->client_initialize_params);

    if (!params.len)
        params =
            STR("{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                "\"clientInfo\":{\"name\":\"mcpreel\",\"version\":\"" MCPREEL_VERSION "\"}}");
    buf_clear(&u->text);
    buf_add(&u->text,
            STR("{\"jsonrpc\":\"2.0\",\"id\":" INITIALIZE_ID ",\"method\":\"initialize\","
                "\"params\":"));
    buf_add(&u->text, params);
    buf_add_ch(&u->text, '}');
    actions_send_upstream(u->actions, buf_str(&u->text));
    u->initialize_pending = true;
}

static void start_silence_timer(struct passthrough *u, int64_t seconds)
{
    u->activity_since_timer = false;
    u->silence_timer = ++*u->last_timer;
    actions_set_timer(u->actions, u->silence_timer, seconds * SECOND_US);
}

static void start(struct passthrough *u, bool stateless)
{
    u->state = stateless ? PASSTHROUGH_READY : PASSTHROUGH_INITIALIZING;
    if (!u->started)
        actions_start_upstream(u->actions);
    u->started = true;
    if (u->state == PASSTHROUGH_INITIALIZING) { /* the start may have failed */
        if (!u->initialize_pending)
            send_initialize(u);
        start_silence_timer(u, INITIALIZE_S);
    }
}

static void send_unsent(struct passthrough *u)
{
    for (struct passthrough_call *c = u->calls; c; c = c->next)
        if (!c->sent) {
            c->sent = true;
            actions_send_upstream(u->actions, c->text);
        }
}

static void report_once(struct passthrough *u, struct str why)
{
    if (map_get(&u->reported, why) || u->reported.count >= REPORTED_MAX)
        return;
    map_put(&u->reported, why, u);
    actions_report(u->actions,
                   passthrough_has_pending(u) && !u->is_remote ? LOG_ERROR : LOG_WARN,
                   "passthrough server: %.*s", STR_ARG(why));
}

static void report_recovered(struct passthrough *u)
{
    if (!u->reported.count)
        return;
    map_release(&u->reported);
    map_init(&u->reported);
    actions_report(u->actions, LOG_INFO, "the passthrough server responds again");
}

/* `why` is empty if the upstream has ended. */
static void reject_call(struct passthrough *u, struct str id, struct str why)
{
    u->failed = true;
    buf_clear(&u->text);
    buf_printf(&u->text, "not recorded, and the passthrough server %s%.*s",
               why.len ? "does not respond: " : "has ended", STR_ARG(why));
    actions_send_error(u->actions, id, MCP_SERVER_ERROR, buf_str(&u->text), STR_NONE);
}

/* Sends an error to every waiting client. */
static void fail(struct passthrough *u, enum passthrough_state state, struct str why)
{
    if (u->state == PASSTHROUGH_ENDED)
        return;
    u->state = state;
    cancel_server_requests(u);
    report_once(u, why);
    while (u->calls) {
        struct passthrough_call *c = u->calls;
        route_to_call(u, c);
        reject_call(u, c->client_id, u->is_remote ? why : STR_NONE);
        u->calls = c->next;
        free(c);
    }
}

/* A remote upstream may work again later. */
static void fail_for_now(struct passthrough *u, struct str why)
{
    fail(u, u->is_remote ? PASSTHROUGH_IDLE : PASSTHROUGH_ENDED, why);
}

/* Replaces the id and the progress token of a request by ours. */
static struct str rewrite_request(struct passthrough *u, const struct mcp_message *live,
                                  struct str id)
{
    struct json_splice edit;

    buf_clear(&u->text);
    json_splice_init(&edit, live->root);
    json_splice_replace(&edit, live->id, id);
    json_splice_replace(&edit, mcp_progress_token(live->meta), id);
    json_splice_apply(&edit, &u->text);
    BUG_IF(u->text.full);
    return buf_str(&u->text);
}

static struct passthrough_call *new_call(struct passthrough *u, const struct mcp_message *live)
{
    char id[24];
    size_t id_len = (size_t)snprintf(id, sizeof id, "%llu", (unsigned long long)++u->last_id);
    struct str text = rewrite_request(u, live, str_n(id, id_len)), theirs = json_raw(live->id);
    struct str token = json_raw(mcp_progress_token(live->meta));
    struct passthrough_call *c = mem_alloc(sizeof *c + text.len + theirs.len + token.len);
    char *at = (char *)(c + 1);

    c->id = u->last_id;
    c->text = str_copy_to(&at, text);
    c->client_id = str_copy_to(&at, theirs);
    c->client_token = str_copy_to(&at, token);
    c->exchange = u->actions->route.exchange;
    return c;
}

void passthrough_forward(struct passthrough *u, const struct mcp_message *live, bool stateless,
                         const void *of)
{
    struct passthrough_call **end = &u->calls;

    if (u->state == PASSTHROUGH_ENDED) {
        reject_call(u, json_raw(live->id), STR_NONE);
        return;
    }
    if (u->session_suspect && !u->calls) {
        u->state = PASSTHROUGH_IDLE;
        u->session_suspect = false;
    }
    u->forwarded++;
    while (*end)
        end = &(*end)->next;
    *end = new_call(u, live);
    (*end)->client = of;
    if (u->state == PASSTHROUGH_IDLE)
        start(u, stateless);
    if (u->state != PASSTHROUGH_INITIALIZING && u->state != PASSTHROUGH_READY)
        return;
    if (!u->silence_timer)
        start_silence_timer(u, SILENCE_S);
    else
        u->activity_since_timer = true; /* the silence counts from now */
    if (u->state == PASSTHROUGH_READY)
        send_unsent(u);
}

static struct passthrough_call **find_call(struct passthrough *u, struct json_val id)
{
    struct passthrough_call **at = &u->calls;
    int64_t number = -1;

    if (json_type(id) != JSON_NUMBER || !json_int(id, &number))
        number = -1;
    while (*at && (int64_t)(*at)->id != number)
        at = &(*at)->next;
    return at;
}

/* If a remote upstream cannot be reached, the transport responds in its place with this
 * code. */
static bool is_transport_error(const struct passthrough *u, const struct mcp_message *m)
{
    return u->is_remote && mcp_error_has_code(m, MCP_SERVER_ERROR);
}

static struct str initialize_error_text(struct passthrough *u, const struct mcp_message *m)
{
    struct str text = json_text(json_get(m->error, STR("message")), &u->arena);

    if (is_transport_error(u, m))
        return text;
    return arena_printf(&u->arena, "it rejected initialize: %.*s", STR_ARG(text));
}

/* Also takes a late response. A late error changes nothing: the calls have failed already. */
static void finish_initialize(struct passthrough *u, const struct mcp_message *m)
{
    u->initialize_pending = false;
    if (m->kind == MCP_ERROR) {
        if (u->state == PASSTHROUGH_INITIALIZING)
            fail_for_now(u, initialize_error_text(u, m));
        return;
    }
    report_recovered(u);
    u->state = PASSTHROUGH_READY;
    actions_send_upstream(
        u->actions, STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
    send_unsent(u);
}

/* Handles a response of the transport. Returns true if the upstream could not be reached and
 * the client got that error. */
static bool report_transport_error(struct passthrough *u, const struct passthrough_call *c,
                                   const struct mcp_message *m)
{
    bool status = json_exists(json_get(json_get(m->error, STR("data")), STR("httpStatus")));
    struct arena a = { NULL, 0 };
    struct str text = json_text(json_get(m->error, STR("message")), &a);
    bool unreached = u->session_suspect && !status && map_get(&u->reported, text);

    if (unreached)
        reject_call(u, c->client_id, text);
    else if (!u->session_suspect && status)
        report_once(u, text);
    arena_release(&a);
    return unreached;
}

/* Sends a response of the upstream, or of the transport in its place, to the client. */
static void forward_response(struct passthrough *u, const struct passthrough_call *c,
                             const struct mcp_message *m)
{
    route_to_call(u, c);
    u->actions->route.is_final = true;
    if (!is_transport_error(u, m) || !report_transport_error(u, c, m))
        actions_send(u->actions, replace_value(u, m->root, m->id, c->client_id));
}

static void handle_response(struct passthrough *u, const struct mcp_message *m)
{
    struct passthrough_call **at, *c;

    if (str_eq(json_raw(m->id), STR(INITIALIZE_ID)) && u->initialize_pending) {
        finish_initialize(u, m);
        return;
    }
    at = find_call(u, m->id);
    c = *at;
    if (!c)
        return; /* no such request */
    if (m->kind == MCP_RESULT)
        report_recovered(u);
    forward_response(u, c, m);
    *at = c->next;
    free(c);
}

static struct passthrough_server_request *new_server_request(const struct passthrough_call *c,
                                                             struct str id)
{
    struct passthrough_server_request *q = mem_alloc(sizeof *q + id.len);
    char *at = (char *)(q + 1);

    q->client = c ? c->client : NULL;
    q->exchange = c ? c->exchange : 0;
    q->id = str_copy_to(&at, id);
    return q;
}

/* Returns the call that a server request goes with: the oldest whose client accepts it, else
 * the oldest. */
static const struct passthrough_call *call_for_server_request(const struct passthrough *u)
{
    const struct passthrough_call *c = u->calls;

    while (c && c->cannot_receive_requests)
        c = c->next;
    return c ? c : u->calls;
}

/* Uses an id that no recorded server request has. */
static void forward_server_request(struct passthrough *u, const struct mcp_message *m)
{
    const struct passthrough_call *c = call_for_server_request(u);
    struct str name =
        arena_printf(&u->arena, "mcpreel-up-%llu", (unsigned long long)++u->last_id);

    map_put(&u->server_requests, arena_printf(&u->arena, "s%s", name.at),
            new_server_request(c, json_raw(m->id)));
    route_to_call(u, c);
    u->actions->route.is_request = true;
    actions_send(u->actions,
                 replace_value(u, m->root, m->id, arena_printf(&u->arena, "\"%s\"", name.at)));
}

/* Progress goes to the client of its token, other notifications with the oldest call. */
static void forward_notification(struct passthrough *u, const struct mcp_message *m)
{
    struct json_val token = json_get(m->params, STR("progressToken"));
    const struct passthrough_call *c = u->calls;

    if (!str_eq(m->method, STR("notifications/progress"))) {
        route_to_call(u, c);
        actions_send(u->actions, json_raw(m->root));
        return;
    }
    c = *find_call(u, token);
    if (!c || !c->client_token.len)
        return; /* not requested, or cancelled */
    route_to_call(u, c);
    actions_send(u->actions, replace_value(u, m->root, token, c->client_token));
}

void passthrough_handle_record(struct passthrough *u, const struct record *r)
{
    struct mcp_message m;

    if (u->state == PASSTHROUGH_ENDED)
        return;
    u->activity_since_timer = true;
    if (r->kind != RECORD_MESSAGE) {
        actions_report(u->actions, LOG_WARN,
                       "the passthrough server sent data that is not a JSON-RPC message");
        return;
    }
    m = mcp_classify(r->message.msg, &u->arena);
    if (mcp_is_response(&m))
        handle_response(u, &m);
    else if (m.kind == MCP_REQUEST)
        forward_server_request(u, &m);
    else if (m.kind == MCP_NOTIFICATION)
        forward_notification(u, &m);
    arena_clear(&u->arena);
}

bool passthrough_handle_client_response(struct passthrough *u, const struct mcp_message *live)
{
    struct arena a = { 0 };
    struct str key = mcp_id_key(live->id, &a);
    struct passthrough_server_request *asked = map_remove(&u->server_requests, key);
    bool ours = asked || recent_keys_find(&u->cancelled_ids, key);

    arena_release(&a);
    if (!asked)
        return ours;
    u->activity_since_timer = true; /* the upstream can continue */
    actions_send_upstream(u->actions, replace_value(u, live->root, live->id, asked->id));
    free(asked);
    return true;
}

bool passthrough_handle_cancel(struct passthrough *u, const struct mcp_message *live,
                               const void *of)
{
    struct json_val id = json_get(live->params, STR("requestId"));
    struct passthrough_call **at = &u->calls, *c;
    char ours[24];

    while (*at && ((*at)->client != of || !str_eq((*at)->client_id, json_raw(id))))
        at = &(*at)->next;
    c = *at;
    if (!c)
        return false;
    if (c->sent) {
        int len = snprintf(ours, sizeof ours, "%llu", (unsigned long long)c->id);
        actions_send_upstream(u->actions,
                              replace_value(u, live->root, id, str_n(ours, (size_t)len)));
    }
    *at = c->next;
    free(c);
    return true;
}

/* Finds the first server request that was sent with a call of this client. */
static struct map_entry *find_server_request(const struct passthrough *u, const void *of,
                                             uint64_t exchange)
{
    struct map_entry *e = NULL;

    while ((e = map_next(&u->server_requests, e))) {
        const struct passthrough_server_request *q = e->value;

        if (q->client == of && (!exchange || q->exchange == exchange))
            break;
    }
    return e;
}

/* Responds with an error, so that the upstream does not wait. */
static void reject_server_requests(struct passthrough *u, const void *of, uint64_t exchange)
{
    struct map_entry *e;

    while ((e = find_server_request(u, of, exchange))) {
        struct passthrough_server_request *q = e->value;

        buf_clear(&u->text);
        buf_printf(&u->text,
                   "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":%d,\"message\":"
                   "\"the server request cannot be delivered to the client\"}}",
                   STR_ARG(q->id), MCP_SERVER_ERROR);
        u->activity_since_timer = true;
        actions_send_upstream(u->actions, buf_str(&u->text));
        recent_keys_add(&u->cancelled_ids, e->key, 1, 0);
        map_remove(&u->server_requests, e->key);
        free(q);
    }
}

void passthrough_note_unaskable(struct passthrough *u, const void *of, uint64_t exchange)
{
    for (struct passthrough_call *c = u->calls; c; c = c->next)
        c->cannot_receive_requests =
            c->cannot_receive_requests || (c->client == of && c->exchange == exchange);
    reject_server_requests(u, of, exchange);
}

void passthrough_drop_calls(struct passthrough *u, const void *of, uint64_t exchange)
{
    reject_server_requests(u, of, exchange);
    for (struct passthrough_call **at = &u->calls, *c; (c = *at);) {
        if (c->client != of || (exchange && c->exchange != exchange)) {
            at = &c->next;
            continue;
        }
        if (c->sent) {
            buf_clear(&u->text);
            buf_printf(&u->text,
                       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                       "\"params\":{\"requestId\":%llu}}",
                       (unsigned long long)c->id);
            actions_send_upstream(u->actions, buf_str(&u->text));
        }
        *at = c->next;
        free(c);
    }
}

/* The upstream got our notifications/initialized, so the client's is not forwarded. */
void passthrough_handle_notification(struct passthrough *u, const struct mcp_message *live)
{
    if (u->state == PASSTHROUGH_READY &&
        !str_eq(live->method, STR("notifications/initialized")))
        actions_send_upstream(u->actions, json_raw(live->root));
}

static bool is_silent(const struct passthrough *u)
{
    return !u->activity_since_timer && !u->server_requests.count;
}

bool passthrough_handle_timer(struct passthrough *u, uint64_t timer)
{
    if (!u->silence_timer || timer != u->silence_timer)
        return false;
    u->silence_timer = 0;
    if (u->state == PASSTHROUGH_INITIALIZING)
        fail_for_now(u, STR("it did not respond to initialize"));
    else if (passthrough_has_pending(u) && is_silent(u))
        fail_for_now(u, STR("it sent nothing for 300 s"));
    else if (passthrough_has_pending(u))
        start_silence_timer(u, SILENCE_S);
    return true;
}

void passthrough_abort(struct passthrough *u, struct str why)
{
    fail_for_now(u, why);
}

void passthrough_handle_closed(struct passthrough *u, struct str why)
{
    fail(u, PASSTHROUGH_ENDED, why);
}

void passthrough_handle_lost(struct passthrough *u, struct str why)
{
    if (u->state != PASSTHROUGH_READY)
        return;
    report_once(u, why);
    u->session_suspect = u->failed = true;
}
