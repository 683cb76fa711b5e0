#include "replay/player-send.h"

#include "base/mem.h"
#include "index/id-offset.h"
#include "mcp/error-code.h"
#include "mcp/id.h"
#include "mcp/meta.h"
#include "replay/client-filter.h"
#include "replay/replay-report.h"
#include "replay/version-bridge.h"
#include "json/splice.h"

/* How long a client has to respond to a server request */
enum { CLIENT_RESPONSE_US = 60 * 1000000 };

struct json_val player_send_read_step(struct player *s, uint32_t step)
{
    struct json_val root = JSON_VAL_NONE;

    if (s->error.kind != ERR_OK ||
        !index_read_step(s->index, step, &s->recorded, &root, &s->error))
        return JSON_VAL_NONE;
    return root;
}

void player_send_set_route(struct player *s, const struct player_call *p)
{
    const struct recorded_step *step = &s->index->steps[p->step];

    s->actions->route = (struct route){ .exchange = p->exchange,
                                        .seq = s->index->calls[p->call].seq,
                                        .step = p->step,
                                        .other_stream = p->step && step->other_stream };
}

static void send_spliced(struct player *s, struct json_splice *edit)
{
    buf_clear(&s->text);
    json_splice_apply(edit, &s->text);
    BUG_IF(s->text.full);
    actions_send(s->actions, buf_str(&s->text));
}

/* Notes a recorded progress token in a message. Tokens are only replaced where the protocol has
 * them, not inside texts. */
static void note_recorded_token(struct player *s, const struct player_call *p,
                                struct str message)
{
    if (p->recorded_token.len && str_contains(message, p->recorded_token))
        replay_report_add_token(s->report, p->call);
}

/* Keeps the recorded version unless the live client requests an older one. */
static void set_version(struct player *s, const struct player_call *p, struct json_val version,
                        struct json_splice *edit)
{
    enum mcp_version recorded = mcp_version_parse(json_text(version, &s->recorded.arena));
    bool older = p->requested_version != MCP_VERSION_UNKNOWN && p->requested_version < recorded;

    s->version = older ? p->requested_version : recorded;
    if (older)
        json_splice_replace(edit, version, p->version);
}

/* Sends a response with only its id replaced, if the offset of the id is known. */
static bool send_unparsed(struct player *s, const struct player_call *p)
{
    struct buf *read = &s->recorded.text;
    struct str id;

    if (p->version.len || p->convert_protocol || s->error.kind != ERR_OK ||
        !index_fetch_step(s->index, p->step, read, &s->error) ||
        !id_offset_find(buf_str(read), s->index->steps[p->step].id_offset, &id))
        return false;
    buf_clear(&s->text);
    buf_add(&s->text, str_n(read->at, (size_t)(id.at - read->at)));
    buf_add(&s->text, p->id);
    buf_add(&s->text, str_skip(buf_str(read), (size_t)(id.at - read->at) + id.len));
    BUG_IF(s->text.full);
    s->actions->route.is_final = true;
    actions_send(s->actions, buf_str(&s->text));
    return true;
}

static bool send_parsed(struct player *s, const struct player_call *p)
{
    struct json_val root = player_send_read_step(s, p->step);
    struct json_splice edit;

    if (!json_exists(root)) {
        actions_send_error(s->actions, p->id, MCP_INTERNAL_ERROR,
                           STR("the recording cannot be read"), STR_NONE);
        return false;
    }
    json_splice_init(&edit, root);
    json_splice_replace(&edit, json_get(root, STR("id")), p->id);
    if (p->version.len)
        set_version(s, p, json_get(json_get(root, STR("result")), STR("protocolVersion")),
                    &edit);
    if (p->convert_protocol)
        version_bridge_to_stateless(&edit, root, index_method(s->index, p->call)->known);
    s->actions->route.is_final = true;
    send_spliced(s, &edit);
    return true;
}

static void send_response(struct player *s, struct player_call *p)
{
    if (!send_unparsed(s, p) && !send_parsed(s, p))
        return;
    note_recorded_token(s, p, buf_str(&s->text));
    s->response_count++;
    p->sent_before_response = p->subscription_open = false;
    if (p->convert_protocol) /* later steps are not part of the response */
        p->step = s->index->calls[p->call].last_step;
}

static void send_progress(struct player *s, struct player_call *p)
{
    struct json_val root, token;
    struct json_splice edit;

    if (!p->token.len)
        return; /* the client did not ask for progress */
    root = player_send_read_step(s, p->step);
    token = json_get(json_get(root, STR("params")), STR("progressToken"));
    if (!json_exists(token))
        return;
    json_splice_init(&edit, root);
    json_splice_replace(&edit, token, p->token);
    send_spliced(s, &edit);
    p->sent_before_response = true;
}

uint64_t player_send_set_timer(struct player *s, int64_t delay_us)
{
    actions_set_timer(s->actions, ++*s->last_timer, delay_us);
    return *s->last_timer;
}

/* Sends a server request if the client supports it. Keeps its recorded id unless a server
 * request with the same id is open. */
static void send_server_request(struct player *s, struct player_call *p)
{
    struct json_val root = player_send_read_step(s, p->step), id = json_get(root, STR("id"));
    struct arena *a = &s->recorded.arena;
    struct str method = json_text(json_get(root, STR("method")), a), key = mcp_id_key(id, a);
    struct player_server_request *q;
    struct json_splice edit;

    if (!key.len)
        return;
    if (!client_filter_supports_request(buf_str(&s->capabilities), s->version, method,
                                        json_get(root, STR("params")))) {
        replay_report_add_server_request(s->report, p->call, method,
                                         SERVER_REQUEST_UNSUPPORTED);
        actions_report(s->actions, LOG_WARN, "skipped %.*s: the client does not support it",
                       STR_ARG(method));
        return;
    }
    json_splice_init(&edit, root);
    if (map_get(&s->open_server_requests, key)) {
        struct str name =
            arena_printf(a, "mcpreel-%llu", (unsigned long long)++s->renamed_count);
        json_splice_replace(&edit, id, arena_printf(a, "\"%s\"", name.at));
        key = arena_printf(a, "s%s", name.at);
    }
    q = mem_new(struct player_server_request);
    q->call = p;
    q->step = p->step;
    map_put(&s->open_server_requests, key, q);
    p->open_requests++;
    replay_report_add_server_request(s->report, p->call, method, SERVER_REQUEST_SENT);
    s->actions->route.is_request = true;
    send_spliced(s, &edit);
    note_recorded_token(s, p, buf_str(&s->text));
    q->timer = player_send_set_timer(s, CLIENT_RESPONSE_US);
}

static bool wants_event(struct player *s, const struct player_call *to, struct json_val root)
{
    struct mcp_message m = mcp_classify(root, &s->recorded.arena);
    struct json_fault fault;
    struct json j;
    bool wanted = true;

    json_init(&j);
    if (to->filter.len && json_scan(&j, to->filter, &fault))
        wanted = client_filter_wants(json_root(&j), &m);
    json_release(&j);
    return wanted;
}

static bool is_acknowledgement(struct json_val root)
{
    return json_is(json_get(root, STR("method")),
                   STR("notifications/subscriptions/acknowledged"));
}

/* Reduces the recorded grant to what the live client asks for. */
static void narrow_grant(struct player *s, const struct player_call *to,
                         struct json_val granted, struct json_splice *edit)
{
    struct json_fault fault;
    struct json j;

    json_init(&j);
    if (to->filter.len && json_scan(&j, to->filter, &fault))
        json_splice_replace(edit, granted,
                            client_filter_grant(json_root(&j), granted, &s->recorded.arena));
    json_release(&j);
}

/* Sends an event, or the end, of a subscription to one live subscriber. Events are only sent
 * after the acknowledgement. */
static bool send_to_subscriber(struct player *s, struct player_call *to, struct json_val root)
{
    struct json_val id = json_get(root, STR("id"));
    struct json_val tag = mcp_meta(json_get(root, STR("params")), MCP_META_SUBSCRIPTION);
    struct json_splice edit;

    if (!wants_event(s, to, root) || (!to->acknowledged && !is_acknowledgement(root)))
        return false;
    json_splice_init(&edit, root);
    json_splice_replace(&edit, json_exists(id) ? id : tag, to->id);
    if (is_acknowledgement(root))
        narrow_grant(s, to, json_get(json_get(root, STR("params")), STR("notifications")),
                     &edit);
    if (json_exists(id))
        json_splice_replace(
            &edit, mcp_meta(json_get(root, STR("result")), MCP_META_SUBSCRIPTION), to->id);
    s->actions->route.exchange = to->exchange;
    s->actions->route.is_final = json_exists(id);
    send_spliced(s, &edit);
    to->acknowledged = true;
    if (json_exists(id)) {
        s->response_count++;
        to->subscription_open = false;
    }
    return true;
}

/* Sends an event to all live clients of the recorded subscription. An acknowledgement, or a
 * repeated call, is only for the one whose request it follows. */
static void send_event(struct player *s, struct player_call *p)
{
    struct json_val root = player_send_read_step(s, p->step), id = json_get(root, STR("id"));
    struct json_val tag = mcp_meta(json_get(root, STR("params")), MCP_META_SUBSCRIPTION);
    struct str key = mcp_id_key(json_exists(id) ? id : tag, &s->recorded.arena);
    bool only_p = p->is_repeat || is_acknowledgement(root);

    for (struct player_call *to = s->active; to && key.len; to = to->next)
        if (to->subscription_open && str_eq(to->subscription_id, key) && (to == p || !only_p)) {
            if (send_to_subscriber(s, to, root) && to->exchange != p->exchange)
                p->sent_before_response = true;
            to->done = to->done || (!to->subscription_open && to != p);
        }
}

/* Returns the log level that the recorded client requested. */
static enum client_log_level recorded_level(struct player *s, uint32_t call)
{
    struct json_val root;

    if (s->index->calls[call].flags & CALL_PREAMBLE ||
        !index_read_call(s->index, call, &s->recorded, &root, &s->error))
        return CLIENT_LOG_ALL;
    return client_filter_log_level(json_get(json_get(root, STR("params")), MCP_META_KEY));
}

/* Leaves out a log message below the live client's level, unless the recorded server also sent
 * it unrequested. */
static void send_notification(struct player *s, struct player_call *p)
{
    struct json_val root = player_send_read_step(s, p->step);

    if (!client_filter_accepts_log(p->log_level, root)) {
        enum client_log_level then = recorded_level(s, p->call);

        root = player_send_read_step(s, p->step);
        if (client_filter_accepts_log(then, root))
            return;
    }
    if (!json_exists(root) || (p->convert_protocol && !version_bridge_can_send(root)))
        return;
    actions_send(s->actions, json_raw(root));
    note_recorded_token(s, p, json_raw(root));
    p->sent_before_response =
        p->sent_before_response || (s->actions->route.other_stream && p->exchange);
}

void player_send_step(struct player *s, struct player_call *p)
{
    const struct recorded_step *step = &s->index->steps[p->step];
    bool silent =
        p->is_repeat && (step->kind == STEP_NOTIFICATION || step->kind == STEP_SERVER_REQUEST);

    if (silent)
        return;
    p->since_ms = step->ms;
    player_send_set_route(s, p);
    switch ((enum step_kind)step->kind) {
    case STEP_NOTIFICATION:
        send_notification(s, p);
        break;
    case STEP_PROGRESS:
        send_progress(s, p);
        break;
    case STEP_SUBSCRIPTION_EVENT:
        send_event(s, p);
        break;
    case STEP_SERVER_REQUEST:
        if (!p->convert_protocol) /* else it is a ping, which the stateless protocol does not
                                     have */
            send_server_request(s, p);
        break;
    case STEP_RESPONSE:
        send_response(s, p);
        break;
    case STEP_CLIENT_RESPONSE:
    case STEP_WAIT_FOR_NOTIFICATION:
    case STEP_CLIENT_NOTIFICATION:
    case STEP_HTTP_REQUEST:
        break;
    }
}
