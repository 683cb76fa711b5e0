#include "client/mcp-session.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcp/error-code.h"
#include "mcp/method.h"

struct mcp_session_request {
    uint64_t number;
    int64_t sent_us;
    bool cancelled;   /* no event follows */
    bool cancellable; /* initialize is not */
    size_t method_len;
    char method[];
};

void mcp_session_init(struct mcp_session *s, struct action_sink *out, int64_t timeout_us,
                      const struct mcp_session_events *events, void *to)
{
    *s = (struct mcp_session){
        .events = events, .to = to, .timeout_us = timeout_us, .first_id = 1
    };
    actions_init(&s->actions, out);
    map_init(&s->pending);
}

void mcp_session_release(struct mcp_session *s)
{
    for (struct map_entry *e = NULL; (e = map_next(&s->pending, e));)
        free(e->value);
    map_release(&s->pending);
    actions_release(&s->actions);
    arena_release(&s->arena);
}

/* Returns the JSON-RPC id of a request. */
static unsigned long long id_of(const struct mcp_session *s, uint64_t number)
{
    return (unsigned long long)(number - 1 + s->first_id);
}

static struct mcp_session_request *find_request(const struct mcp_session *s, uint64_t number)
{
    return map_get(&s->pending, map_number_key(&number));
}

static void remove_request(struct mcp_session *s, struct mcp_session_request *q)
{
    if (!q->cancelled)
        s->open_count--;
    map_remove(&s->pending, map_number_key(&q->number));
    free(q);
}

/* One timer is enough: all requests have the same limit, and the oldest is the first. */
static void set_timer(struct mcp_session *s)
{
    struct map_entry *e = NULL;
    const struct mcp_session_request *q;

    if (!s->timeout_us || s->timer_set)
        return;
    while ((e = map_next(&s->pending, e))) {
        q = e->value;
        if (q->cancelled)
            continue;
        s->timer_set = true;
        actions_set_timer(&s->actions, ++s->timer_count,
                          q->sent_us + s->timeout_us - s->now_us);
        return;
    }
}

uint64_t mcp_session_add_request(struct mcp_session *s, struct str method)
{
    struct mcp_session_request *q = mem_alloc(sizeof *q + method.len);

    *q = (struct mcp_session_request){ .number = ++s->last_request,
                                       .sent_us = s->now_us,
                                       .cancellable = !str_eq(method, STR("initialize")),
                                       .method_len = method.len };
    memcpy(q->method, method.at, method.len);
    map_put(&s->pending, map_number_key(&q->number), q);
    s->open_count++;
    set_timer(s);
    return q->number;
}

void mcp_session_send(struct mcp_session *s, struct str message)
{
    if (!s->closed)
        actions_send(&s->actions, message);
}

uint64_t mcp_session_request(struct mcp_session *s, struct str method, struct str params)
{
    uint64_t number = mcp_session_add_request(s, method);

    if (!s->closed)
        actions_send_request(&s->actions, arena_printf(&s->arena, "%llu", id_of(s, number)),
                             method, params);
    return number;
}

void mcp_session_notify(struct mcp_session *s, struct str method, struct str params)
{
    if (!s->closed)
        actions_send_notification(&s->actions, method, params);
}

void mcp_session_forget(struct mcp_session *s, uint64_t request)
{
    struct mcp_session_request *q = find_request(s, request);

    if (!q || q->cancelled)
        return;
    q->cancelled = true;
    s->open_count--;
}

static void send_cancelled(struct mcp_session *s, uint64_t request, struct str reason)
{
    mcp_session_notify(s, STR("notifications/cancelled"),
                       arena_printf(&s->arena, "{\"requestId\":%llu,\"reason\":\"%.*s\"}",
                                    id_of(s, request), STR_ARG(reason)));
}

void mcp_session_cancel(struct mcp_session *s, uint64_t request, struct str reason)
{
    const struct mcp_session_request *q = find_request(s, request);

    if (!q || q->cancelled)
        return;
    send_cancelled(s, request, reason);
    mcp_session_forget(s, request);
}

void mcp_session_respond(struct mcp_session *s, struct str id, struct str result)
{
    if (!s->closed)
        actions_send_result(&s->actions, id, result);
}

void mcp_session_reject(struct mcp_session *s, struct str id, int64_t code, struct str message)
{
    if (!s->closed)
        actions_send_error(&s->actions, id, code, message, STR_NONE);
}

static struct mcp_session_request *find_by_id(const struct mcp_session *s, struct json_val id)
{
    int64_t n;

    if (json_type(id) != JSON_NUMBER || !json_int(id, &n) || n < (int64_t)s->first_id)
        return NULL;
    return find_request(s, (uint64_t)n - s->first_id + 1);
}

static void lose_request(struct mcp_session *s, struct mcp_session_request *q,
                         enum mcp_session_loss loss, struct str why, unsigned http_status)
{
    uint64_t number = q->number;
    bool cancelled = q->cancelled;

    remove_request(s, q);
    if (!cancelled)
        s->events->no_response(s->to, number, loss, why, http_status);
}

/* Whether mcphttp/client composed the error because there was no response. */
static bool is_transport_error(const struct mcp_session *s, const struct mcp_message *m,
                               unsigned *http_status)
{
    int64_t status = 0;
    bool has_status =
        json_int(json_get(json_get(m->error, STR("data")), STR("httpStatus")), &status);

    if (!mcp_error_has_code(m, MCP_SERVER_ERROR) || !(has_status || s->loss_announced))
        return false;
    *http_status = status > 0 && status < 1000 ? (unsigned)status : 0;
    return true;
}

static void handle_response(struct mcp_session *s, const struct mcp_message *m)
{
    struct mcp_session_request *q = find_by_id(s, m->id);
    unsigned status = 0;
    uint64_t number;
    int64_t took_us;

    if (!q) {
        s->events->violation(s->to, STR("a response to a request that is not open"),
                             json_raw(m->root));
        return;
    }
    if (m->kind == MCP_ERROR && is_transport_error(s, m, &status)) {
        lose_request(s, q, SESSION_LOST,
                     json_text(json_get(m->error, STR("message")), &s->arena), status);
        return;
    }
    number = q->number;
    took_us = s->now_us - q->sent_us;
    if (q->cancelled) {
        remove_request(s, q);
        return;
    }
    remove_request(s, q);
    s->events->response(s->to, number, m, took_us);
}

static void handle_notification(struct mcp_session *s, const struct mcp_message *m)
{
    struct mcp_session_request *q = NULL;

    if (str_eq(m->method, STR("notifications/progress")))
        q = find_by_id(s, json_get(m->params, STR("progressToken")));
    s->events->notification(s->to, m, q ? q->number : 0);
}

/* Returns whether a message of the server is our own request. A method that both sides may send
 * does not prove it. */
static bool is_echo(const struct mcp_session_request *q, const struct mcp_message *m)
{
    const struct mcp_method *known = mcp_method_find(m->method);

    return q && str_eq(str_n(q->method, q->method_len), m->method) &&
           (!known || known->dir == MCP_C2S);
}

static void handle_server_request(struct mcp_session *s, const struct mcp_message *m)
{
    struct mcp_session_request *q = find_by_id(s, m->id);

    if (is_echo(q, m))
        lose_request(s, q, SESSION_ECHOED, STR_NONE, 0);
    else if (str_eq(m->method, STR("ping")))
        mcp_session_respond(s, json_raw(m->id), STR("{}"));
    else
        s->events->server_request(s->to, m);
}

static void handle_message(struct mcp_session *s, const struct record *r)
{
    struct mcp_message m;

    if (r->kind == RECORD_RAW) {
        s->events->violation(s->to, STR("output that is not a JSON-RPC message"),
                             r->bytes.bytes);
        return;
    }
    if (r->kind != RECORD_MESSAGE)
        return;
    m = mcp_classify(r->message.msg, &s->arena);
    if (mcp_is_response(&m))
        handle_response(s, &m);
    else if (m.kind == MCP_NOTIFICATION)
        handle_notification(s, &m);
    else if (m.kind == MCP_REQUEST)
        handle_server_request(s, &m);
    s->loss_announced = false;
}

static void time_out(struct mcp_session *s, struct mcp_session_request *q)
{
    if (q->cancellable && !q->cancelled)
        send_cancelled(s, q->number, STR("time limit"));
    lose_request(s, q, SESSION_TIMED_OUT, STR_NONE, 0);
}

/* Returns the oldest request that is over its limit; NULL: none. */
static struct mcp_session_request *find_overdue(const struct mcp_session *s)
{
    for (struct map_entry *e = NULL; (e = map_next(&s->pending, e));) {
        struct mcp_session_request *q = e->value;

        if (!q->cancelled)
            return s->now_us - q->sent_us >= s->timeout_us ? q : NULL;
    }
    return NULL;
}

static void handle_timer(struct mcp_session *s, uint64_t timer)
{
    struct mcp_session_request *q;

    if (!s->timer_set || timer != s->timer_count)
        return;
    s->timer_set = false;
    while ((q = find_overdue(s)))
        time_out(s, q);
    set_timer(s);
}

static void handle_close(struct mcp_session *s, struct str why)
{
    struct map_entry *e;

    s->closed = true;
    while ((e = map_next(&s->pending, NULL)))
        lose_request(s, e->value, SESSION_CLOSED, why, 0);
}

void mcp_session_step(struct mcp_session *s, const struct event *ev)
{
    s->now_us = ev->now_us;
    arena_clear(&s->arena);
    switch (ev->kind) {
    case EVENT_RECORD:
        handle_message(s, ev->record);
        break;
    case EVENT_TIMER:
        handle_timer(s, ev->timer);
        break;
    case EVENT_INPUT_CLOSED:
        handle_close(s, ev->why);
        break;
    case EVENT_UPSTREAM_LOST:
        s->loss_announced = true;
        break;
    default:
        break;
    }
}
