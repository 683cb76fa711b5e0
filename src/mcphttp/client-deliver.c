#include "mcphttp/client-deliver.h"

#include "mcp/error-code.h"
#include "trace/limits.h"
#include "json/splice.h"

static bool deliver_record(struct sink *self, const struct record *r, struct err *e);

void client_deliver_init(struct client_deliver *t, struct actions *actions,
                         struct client_session *session, struct arena *arena)
{
    *t = (struct client_deliver){
        .sink = { deliver_record }, .actions = actions, .session = session, .arena = arena
    };
    message_parser_init(&t->parser);
}

void client_deliver_release(struct client_deliver *t)
{
    client_pending_release(&t->pending);
    message_parser_release(&t->parser);
}

static void complete_request(struct client_deliver *t, struct client_pending_request *w,
                             const struct mcp_message *m)
{
    if (w->kind == CLIENT_PENDING_INITIALIZE) {
        t->initializing = false;
        client_session_set_value(
            &t->session->version,
            json_text(json_get(m->result, STR("protocolVersion")), t->arena));
    }
    if (w->kind == CLIENT_PENDING_TOOLS_LIST)
        param_headers_update(&t->session->param_headers, m->result);
    client_pending_remove(&t->pending, w);
}

/* Delivers an error without id as the response to the only request of its exchange. */
static void deliver_error_without_id(struct client_deliver *t, const struct mcp_message *m)
{
    struct client_pending_request *w = client_pending_find_only(&t->pending, t->exchange);
    struct json_splice edit;
    struct buf text;

    if (!w) {
        actions_report(t->actions, LOG_WARN, "server error without request id: %.*s",
                       STR_ARG(json_raw(m->error)));
        return;
    }
    buf_init(&text, LIMIT_LINE);
    json_splice_init(&edit, m->root);
    json_splice_set(&edit, m->root, STR("id"), w->id);
    json_splice_apply(&edit, &text);
    complete_request(t, w, m);
    actions_send(t->actions, buf_str(&text));
    buf_release(&text);
}

static void deliver_response(struct client_deliver *t, const struct mcp_message *m)
{
    struct client_pending_request *w;

    if (t->exchange->schemas) {
        client_schemas_read_page(t->exchange->schemas, m);
        param_headers_update(&t->session->param_headers, m->result);
        return;
    }
    w = client_pending_find(&t->pending, m->id, t->exchange);
    if (w)
        complete_request(t, w, m);
    else
        client_exchange_set_unexpected(t->exchange, json_raw(m->id));
    actions_send(t->actions, json_raw(m->root));
}

static void deliver_message(struct client_deliver *t, const struct mcp_message *m)
{
    enum json_type id = json_type(m->id);

    if (m->kind == MCP_ERROR && (id == JSON_ABSENT || id == JSON_NULL))
        deliver_error_without_id(t, m);
    else if (mcp_is_response(m))
        deliver_response(t, m);
    else
        actions_send(t->actions, json_raw(m->root));
}

static bool deliver_record(struct sink *self, const struct record *r, struct err *e)
{
    struct client_deliver *t = (struct client_deliver *)self;

    (void)e;
    if (r->kind == RECORD_MESSAGE)
        deliver_message(t, r->message.parsed);
    else
        actions_report(t->actions, LOG_WARN,
                       "the server sent data that is not a JSON-RPC message");
    return true;
}

void client_deliver_text(struct client_deliver *t, struct client_exchange *exchange,
                         struct str text)
{
    struct err e = ERR_NONE;

    t->exchange = exchange;
    if (!message_parser_text(&t->parser, TO_CLIENT, text, &t->sink, &e))
        BUG("the sink rejected a record");
}

enum parse_kind client_deliver_classify(struct client_deliver *t, struct str text)
{
    return message_parser_peek(&t->parser, text);
}

struct mcp_message client_deliver_message(const struct client_deliver *t)
{
    return mcp_classify(json_root(&t->parser.json), t->arena);
}

bool client_deliver_is_response(const struct client_deliver *t,
                                const struct client_exchange *exchange)
{
    struct mcp_message m = client_deliver_message(t);
    const struct client_pending_request *w = client_pending_find(&t->pending, m.id, exchange);

    return mcp_is_response(&m) && w && w->carrier == exchange;
}

void client_deliver_classified(struct client_deliver *t, struct client_exchange *exchange)
{
    struct err e = ERR_NONE;

    t->exchange = exchange;
    if (!message_parser_peeked(&t->parser, TO_CLIENT, &t->sink, &e))
        BUG("the sink rejected a record");
}

void client_deliver_fail(struct client_deliver *t, const void *carrier, unsigned status,
                         struct str why)
{
    struct client_pending_request *w;

    while ((w = client_pending_find_first(&t->pending, carrier))) {
        struct str data =
            status ? arena_printf(t->arena, "{\"httpStatus\":%u}", status) : STR_NONE;

        t->initializing = t->initializing && w->kind != CLIENT_PENDING_INITIALIZE;
        if (!w->cancelled) {
            actions_report(t->actions, LOG_WARN, "%.*s: %.*s", STR_ARG(w->method),
                           STR_ARG(why));
            actions_send_error(t->actions, w->id, MCP_SERVER_ERROR, why, data);
        }
        client_pending_remove(&t->pending, w);
    }
}

/* Logs one line, for any number of requests. */
static void report_failed(struct client_deliver *t, struct str why)
{
    const struct client_pending_request *first = NULL;
    size_t count = 0;

    for (const struct client_pending_request *w = t->pending.first; w; w = w->next) {
        if (w->cancelled)
            continue;
        if (!count++)
            first = w;
    }
    if (count == 1)
        actions_report(t->actions, LOG_WARN, "%.*s: %.*s", STR_ARG(first->method),
                       STR_ARG(why));
    else if (count)
        actions_report(t->actions, LOG_WARN, "%zu requests: %.*s", count, STR_ARG(why));
}

void client_deliver_fail_all(struct client_deliver *t, struct str why)
{
    report_failed(t, why);
    t->initializing = false;
    for (struct client_pending_request *w; (w = t->pending.first);
         client_pending_remove(&t->pending, w))
        if (!w->cancelled)
            actions_send_error(t->actions, w->id, MCP_SERVER_ERROR, why, STR_NONE);
}
