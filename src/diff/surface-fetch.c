#include "diff/surface-fetch.h"

#include "client/handshake.h"
#include "mcp/error-code.h"
#include "mcp/meta.h"
#include "json/write.h"

enum { TEXT_MAX = 1 << 20 };

static void finish(struct surface_fetch *f)
{
    f->state = FETCH_DONE;
    surface_complete(f->surface);
    actions_finish(&f->mcp.actions, f->failure.len != 0);
}

static void fail(struct surface_fetch *f, struct str what, struct str why)
{
    buf_printf(&f->failure, "%.*s: %.*s", STR_ARG(what), STR_ARG(why));
    finish(f);
}

static void send_initialize(struct surface_fetch *f)
{
    struct buf params;

    buf_init(&params, TEXT_MAX);
    handshake_write_initialize(&params, f->version, STR("{}"));
    f->state = FETCH_INITIALIZE;
    mcp_session_request(&f->mcp, STR("initialize"), buf_str(&params));
    buf_release(&params);
}

/* Sends a request with a cursor, if there is one, and with the _meta of the stateless
 * protocol. */
static void send_request(struct surface_fetch *f, struct str method)
{
    struct buf params, meta;
    struct json_out o;

    buf_init(&params, TEXT_MAX);
    buf_init(&meta, TEXT_MAX);
    o = json_out_to(&params);
    json_out_object(&o);
    if (f->cursor.len)
        json_out_key_raw(&o, STR("cursor"), buf_str(&f->cursor));
    if (f->stateless) {
        handshake_write_meta(&meta, f->version, STR("{}"));
        json_out_key_raw(&o, MCP_META_KEY, buf_str(&meta));
    }
    json_out_end_object(&o);
    mcp_session_request(&f->mcp, method, buf_str(&params));
    buf_release(&meta);
    buf_release(&params);
}

static void send_discover(struct surface_fetch *f)
{
    f->version = MCP_VERSION_LATEST;
    f->stateless = true;
    f->state = FETCH_DISCOVER;
    send_request(f, STR("server/discover"));
}

/* Fetches the next list that the server offers. */
static void fetch_list(struct surface_fetch *f)
{
    buf_clear(&f->cursor);
    while (f->list < SURFACE_LISTS && !surface_offers(f->surface, f->list))
        f->list++;
    if (f->list == SURFACE_LISTS)
        finish(f);
    else
        send_request(f, surface_list_method(f->list));
}

static void begin_lists(struct surface_fetch *f)
{
    f->state = FETCH_LISTS;
    f->list = 0;
    fetch_list(f);
}

static struct str error_text(struct surface_fetch *f, const struct mcp_message *m)
{
    struct json_val code = json_get(m->error, STR("code"));
    struct str text = json_text(json_get(m->error, STR("message")), &f->mcp.arena);

    return arena_printf(&f->mcp.arena, "error %.*s: %.*s", STR_ARG(json_raw(code)),
                        STR_ARG(text));
}

static void handle_error(struct surface_fetch *f, const struct mcp_message *m)
{
    struct str text = error_text(f, m);

    switch (f->state) {
    case FETCH_INITIALIZE:
        if (!f->may_discover) {
            fail(f, STR("initialize"), text);
            return;
        }
        buf_add(&f->rejection, text);
        send_discover(f);
        break;
    case FETCH_DISCOVER:
        if (f->rejection.len)
            fail(f, STR("initialize"), buf_str(&f->rejection));
        else
            fail(f, STR("server/discover"), text);
        break;
    case FETCH_LISTS:
        if (!mcp_error_has_code(m, MCP_METHOD_NOT_FOUND)) {
            fail(f, surface_list_method(f->list), text);
            return;
        }
        actions_report(&f->mcp.actions, LOG_WARN,
                       "the server does not implement %.*s, although it offers it",
                       STR_ARG(surface_list_method(f->list)));
        f->list++;
        fetch_list(f);
        break;
    default:
        break;
    }
}

static bool check_page(struct surface_fetch *f, struct json_val cursor)
{
    if (json_type(cursor) == JSON_STRING && f->cursor.len &&
        str_eq(json_raw(cursor), buf_str(&f->cursor)))
        fail(f, surface_list_method(f->list), STR("the same cursor came twice"));
    else if (++f->pages > SURFACE_FETCH_PAGES)
        fail(f, surface_list_method(f->list), STR("too many pages"));
    else if (f->bytes > SURFACE_FETCH_BYTES)
        fail(f, surface_list_method(f->list), STR("the lists are too large"));
    else
        return true;
    return false;
}

static void handle_page(struct surface_fetch *f, struct json_val result)
{
    struct json_val cursor = json_get(result, STR("nextCursor"));

    f->bytes += json_raw(result).len;
    if (!surface_add_result(f->surface, surface_list_method(f->list), f->cursor.len != 0,
                            result, 0)) {
        fail(f, surface_list_method(f->list), STR("the result has no list"));
        return;
    }
    if (!check_page(f, cursor))
        return;
    if (json_type(cursor) == JSON_STRING) {
        buf_clear(&f->cursor);
        buf_add(&f->cursor, json_raw(cursor));
        send_request(f, surface_list_method(f->list));
        return;
    }
    f->list++;
    fetch_list(f);
}

static void handle_result(struct surface_fetch *f, struct json_val result)
{
    switch (f->state) {
    case FETCH_INITIALIZE:
        if (!surface_add_result(f->surface, STR("initialize"), false, result, 0)) {
            fail(f, STR("initialize"), STR("the result is not an object"));
            return;
        }
        mcp_session_notify(&f->mcp, STR("notifications/initialized"), STR_NONE);
        begin_lists(f);
        break;
    case FETCH_DISCOVER:
        if (!surface_add_result(f->surface, STR("server/discover"), false, result, 0)) {
            fail(f, STR("server/discover"), STR("the result is not an object"));
            return;
        }
        begin_lists(f);
        break;
    case FETCH_LISTS:
        handle_page(f, result);
        break;
    default:
        break;
    }
}

static void on_response(void *to, uint64_t request, const struct mcp_message *m,
                        int64_t took_us)
{
    struct surface_fetch *f = to;

    (void)request;
    (void)took_us;
    f->spoke = true;
    if (m->kind == MCP_RESULT)
        handle_result(f, m->result);
    else
        handle_error(f, m);
}

static void on_no_response(void *to, uint64_t request, enum mcp_session_loss loss,
                           struct str why, unsigned http_status)
{
    static const struct str methods[] = { [FETCH_INITIALIZE] = STR_INIT("initialize"),
                                          [FETCH_DISCOVER] = STR_INIT("server/discover") };
    struct surface_fetch *f = to;

    (void)request;
    f->timed_out = loss == SESSION_TIMED_OUT;
    if (f->timed_out)
        why = STR("no response in time");
    if (f->state == FETCH_DONE)
        return;
    if (f->state == FETCH_INITIALIZE && f->may_discover &&
        handshake_is_rejection(http_status)) {
        buf_add(&f->rejection, why);
        send_discover(f);
    } else if (f->state == FETCH_DISCOVER && f->rejection.len) {
        fail(f, STR("initialize"), buf_str(&f->rejection));
    } else {
        struct str method =
            f->state == FETCH_LISTS ? surface_list_method(f->list) : methods[f->state];

        if (!why.len)
            f->unanswered = method;
        fail(f, method, why.len ? why : STR("the server closed its output"));
    }
}

static void on_notification(void *to, const struct mcp_message *m, uint64_t request)
{
    (void)to;
    (void)m;
    (void)request;
}

static void on_server_request(void *to, const struct mcp_message *m)
{
    struct surface_fetch *f = to;

    mcp_session_reject(&f->mcp, json_raw(m->id), MCP_METHOD_NOT_FOUND,
                       STR("mcpreel only reads the lists of the server"));
}

static void on_violation(void *to, struct str what, struct str text)
{
    struct surface_fetch *f = to;

    (void)text;
    actions_report(&f->mcp.actions, LOG_DEBUG, "the server broke the protocol: %.*s",
                   STR_ARG(what));
}

static const struct mcp_session_events session_events = {
    on_response, on_no_response, on_notification, on_server_request, on_violation,
};

void surface_fetch_init(struct surface_fetch *f, struct surface *to, enum mcp_version version,
                        int64_t timeout_us, struct action_sink *out)
{
    *f = (struct surface_fetch){
        .surface = to,
        .version = version ? version : MCP_2025_11_25,
        .may_discover = !version,
    };
    mcp_session_init(&f->mcp, out, timeout_us, &session_events, f);
    buf_init(&f->cursor, TEXT_MAX);
    buf_init(&f->rejection, TEXT_MAX);
    buf_init(&f->failure, TEXT_MAX);
}

void surface_fetch_release(struct surface_fetch *f)
{
    mcp_session_release(&f->mcp);
    buf_release(&f->cursor);
    buf_release(&f->rejection);
    buf_release(&f->failure);
}

void surface_fetch_step(struct surface_fetch *f, const struct event *ev)
{
    mcp_session_step(&f->mcp, ev);
    if (ev->kind != EVENT_OPENED)
        return;
    if (mcp_version_protocol(f->version) == MCP_PROTOCOL_STATELESS)
        send_discover(f);
    else
        send_initialize(f);
}
