#include "bridge/backends.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcp/error-code.h"

enum { BAD_REQUEST = 400, BAD_GATEWAY = 502, INITIALIZE_S = 60, SECOND_US = 1000000 };

#define CLIENT_INFO "{\"name\":\"mcpreel\",\"version\":\"" MCPREEL_VERSION "\"}"

struct backend *backend_new(uint64_t number)
{
    struct backend *s = mem_new(struct backend);

    s->number = number;
    buf_init(&s->send_queue, BACKEND_SEND_QUEUE_MAX + LIMIT_LINE * 3);
    return s;
}

void backend_free(struct backend *s)
{
    if (s->role != BACKEND_SPARE)
        id_map_release(&s->ids);
    buf_release(&s->send_queue);
    message_queue_release(&s->undelivered);
    free(s);
}

struct message_queue_item *backend_take_excess(struct backend *s)
{
    bool much = s->undelivered.count >= MESSAGE_QUEUE_MAX ||
                s->undelivered.bytes > BACKEND_UNDELIVERED_MAX;

    return much ? message_queue_pop(&s->undelivered) : NULL;
}

struct str backend_sse_session_id(struct str id, struct arena *a)
{
    return arena_printf(a, "\n%.*s", STR_ARG(id));
}

void backend_open_sse(struct backend *s, struct legacy_sse *sse, uint64_t exchange,
                      struct session_ids *ids)
{
    struct arena a = { 0 };
    struct str name;
    bool minted;

    s->sse = legacy_sse_open(sse, exchange);
    s->sse->owner = s;
    name = backend_sse_session_id(str_z(s->sse->id), &a);
    memcpy(s->id, name.at, name.len + 1);
    s->session = session_ids_add(ids, name, &minted);
    arena_release(&a);
}

void backend_fail_requests(struct backend *s, struct pending_responses *t,
                           struct legacy_sse *sse, const struct http_rejection *v)
{
    while (s->ids.first) {
        struct id_map_request *c = s->ids.first;
        struct pending_response *x = pending_find(t, c->exchange);

        if (s->sse && !c->cancelled)
            legacy_sse_send(sse, s->sse,
                            http_response_error_text(pending_http_response(t), v, c->id));
        else if (x && x->stream && !c->cancelled)
            pending_respond(t, x, http_response_error_text(pending_http_response(t), v, c->id));
        else if (x)
            pending_reject(t, x, v, x->is_batch || c->cancelled ? STR_NONE : c->id);
        id_map_remove(&s->ids, c);
    }
}

static bool has_waiting_client(const struct backend *s, const struct pending_responses *t)
{
    return pending_has_client(t, s) || s->sse;
}

struct backend *backend_find_idle(const struct map *servers, const struct pending_responses *t)
{
    struct backend *idle = NULL;

    for (struct map_entry *e = NULL; (e = map_next(servers, e));) {
        struct backend *s = e->value;

        if (!s->ending && (!idle || s->last_used_us < idle->last_used_us) &&
            !has_waiting_client(s, t))
            idle = s;
    }
    return idle;
}

/* Returns the oldest request on whose response a message can be sent. `*more`: there is
 * another. */
static struct pending_response *find_open_request(const struct backend *s,
                                                  const struct pending_responses *t, bool gone,
                                                  bool *more)
{
    struct pending_response *found = NULL;

    *more = false;
    for (const struct id_map_request *c = s->ids.first; c && !*more; c = c->next) {
        struct pending_response *x = pending_find(t, c->exchange);

        if (!x || x == found || x->disconnected != gone || !pending_can_stream(x))
            continue;
        *more = found != NULL;
        found = found ? found : x;
    }
    return found;
}

struct pending_response *backend_find_stream(const struct backend *s,
                                             const struct pending_responses *t,
                                             bool other_stream)
{
    bool more, others;
    struct pending_response *connected_stream = s->get_stream && !s->get_stream->disconnected
                                                    ? s->get_stream
                                                    : NULL,
                            *open = find_open_request(s, t, false, &more);

    if (other_stream && s->get_stream)
        return s->get_stream;
    if (connected_stream && (more || !open))
        return connected_stream;
    if (open)
        return open;
    open = find_open_request(s, t, true, &others);
    return s->get_stream && (others || !open) ? s->get_stream : open;
}

/* `response_due_us` is when the next response would be due at one for each second. */
bool backend_may_respond(struct backend *s, int64_t now_us)
{
    int64_t burst = (int64_t)BACKEND_RESPONSES_MAX * SECOND_US;

    if (s->response_due_us < now_us)
        s->response_due_us = now_us;
    if (s->response_due_us + SECOND_US > now_us + burst)
        return false;
    s->response_due_us += SECOND_US;
    return true;
}

struct str backend_handshake_request(const struct backend *s)
{
    if (s->role == BACKEND_SHARED_STATEFUL)
        return STR("{\"jsonrpc\":\"2.0\",\"id\":" BACKEND_HANDSHAKE_ID
                   ",\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                   "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":" CLIENT_INFO "}}");
    return STR("{\"jsonrpc\":\"2.0\",\"id\":" BACKEND_HANDSHAKE_ID
               ",\"method\":\"server/discover\",\"params\":{\"_meta\":{"
               "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
               "\"io.modelcontextprotocol/clientInfo\":" CLIENT_INFO
               ",\"io.modelcontextprotocol/clientCapabilities\":{}}}}");
}

bool backend_is_version_error(const struct mcp_message *m)
{
    int64_t code;

    return m->kind == MCP_ERROR && json_int(json_get(m->error, STR("code")), &code) &&
           code == MCP_UNSUPPORTED_VERSION;
}

static bool names_stateless(struct json_val versions, struct arena *a)
{
    struct json_iter it = json_each(versions);

    while (json_type(versions) == JSON_ARRAY && json_next(&it))
        if (mcp_version_protocol(mcp_version_parse(json_text(it.value, a))) ==
            MCP_PROTOCOL_STATELESS)
            return true;
    return false;
}

static bool is_stateless(const struct mcp_message *m, struct str *versions, struct arena *a)
{
    bool refused = backend_is_version_error(m);
    struct json_val named = refused
                                ? json_get(json_get(m->error, STR("data")), STR("supported"))
                                : json_get(m->result, STR("supportedVersions"));

    *versions =
        json_type(named) == JSON_ARRAY ? json_raw(named) : STR(BACKEND_STATELESS_VERSIONS);
    return refused || names_stateless(named, a);
}

bool backend_check_handshake(const struct backend *s, const struct mcp_message *m,
                             struct str *versions, struct http_rejection *v, struct arena *a)
{
    *v = (struct http_rejection){ .status = BAD_REQUEST,
                                  .code = MCP_SERVER_ERROR,
                                  .text = STR("Bad Request: Server not initialized") };
    if (s->role == BACKEND_SHARED_STATELESS)
        return is_stateless(m, versions, a);
    v->status = BAD_GATEWAY;
    v->text = STR("the server rejected initialize");
    if (backend_is_version_error(m))
        *v = (struct http_rejection){ .status = BAD_REQUEST,
                                      .code = MCP_UNSUPPORTED_VERSION,
                                      .text = STR("Unsupported protocol version"),
                                      .data = json_raw(json_get(m->error, STR("data"))) };
    return m->kind == MCP_RESULT;
}

/* The first byte of a line in `send_queue`: whose it is. */
enum { BY_MCPREEL_MARK = 'm', BY_CLIENT_MARK = 'c' };

void backends_init(struct backends *f, size_t max, struct action_sink *out)
{
    *f = (struct backends){ .out = out, .max = max };
    map_init(&f->all);
    map_init(&f->sessions);
    map_init(&f->timers);
    session_ids_init(&f->ids);
}

void backends_release(struct backends *f)
{
    for (struct map_entry *e = NULL; (e = map_next(&f->all, e));)
        backend_free(e->value);
    map_release(&f->all);
    map_release(&f->sessions);
    map_release(&f->timers);
    session_ids_release(&f->ids);
}

struct backend *backends_find(const struct backends *f, uint64_t number)
{
    return map_get(&f->all, map_number_key(&number));
}

struct backend *backends_find_session(const struct backends *f, uint64_t session)
{
    return map_get(&f->sessions, map_number_key(&session));
}

enum backends_capacity backends_room(const struct backends *f)
{
    if (f->all.count >= 2 * f->max)
        return BACKENDS_NO_ROOM;
    return f->active < f->max ? BACKENDS_ROOM : BACKENDS_ROOM_IF_ONE_RETIRES;
}

void backends_put_action(struct backends *f, enum action_kind kind, const struct backend *s,
                         struct str text)
{
    struct action a = { .kind = kind, .server = s->number, .text = text };

    f->out->put(f->out, &a);
}

void backends_put_mcpreel_action(struct backends *f, enum action_kind kind,
                                 const struct backend *s, struct str text)
{
    struct action a = { .kind = kind, .server = s->number, .text = text, .by_mcpreel = true };

    f->out->put(f->out, &a);
}

static void start_process(struct backends *f, struct backend *s)
{
    BUG_IF(f->processes >= f->max);
    f->processes++;
    s->start_deferred = false;
    backends_put_action(f, ACTION_START_UPSTREAM, s, STR_NONE);
}

static struct backend *add_backend(struct backends *f, int64_t now_us)
{
    struct backend *s = backend_new(++f->last_number);

    BUG_IF(backends_room(f) != BACKENDS_ROOM);
    s->last_used_us = now_us;
    map_put(&f->all, map_number_key(&s->number), s);
    f->active++;
    s->start_deferred = f->processes >= f->max;
    if (!s->start_deferred)
        start_process(f, s);
    return s;
}

void backends_start_spare(struct backends *f, int64_t now_us)
{
    BUG_IF(f->spare);
    f->spare = add_backend(f, now_us);
}

struct backend *backends_assign(struct backends *f, enum backend_role role, int64_t now_us)
{
    struct backend *s = f->spare ? f->spare : add_backend(f, now_us);

    f->spare = NULL;
    s->role = role;
    id_map_init(&s->ids, role != BACKEND_SESSION);
    if (role != BACKEND_SESSION)
        f->shared[role == BACKEND_SHARED_STATELESS] = s;
    return s;
}

void backends_add_session(struct backends *f, struct backend *s)
{
    map_put(&f->sessions, map_number_key(&s->session), s);
}

void backends_start_handshake(struct backends *f, struct backend *s)
{
    struct action a = { .kind = ACTION_SET_TIMER,
                        .delay_us = (int64_t)INITIALIZE_S * SECOND_US };

    s->in_handshake = true;
    if (s->start_deferred)
        return; /* start_deferred() does it */
    backends_put_mcpreel_action(f, ACTION_SEND_UPSTREAM, s, backend_handshake_request(s));
    s->handshake_timer = a.timer = ++f->last_timer;
    map_put(&f->timers, map_number_key(&s->handshake_timer), s);
    f->out->put(f->out, &a);
}

void backends_stop_handshake_timer(struct backends *f, struct backend *s)
{
    map_remove(&f->timers, map_number_key(&s->handshake_timer));
}

static void send_now(struct backends *f, const struct backend *s, struct str text,
                     bool by_mcpreel)
{
    (by_mcpreel ? backends_put_mcpreel_action : backends_put_action)(f, ACTION_SEND_UPSTREAM, s,
                                                                     text);
}

void backends_flush_queue(struct backends *f, struct backend *s)
{
    struct str rest = buf_str(&s->send_queue);

    s->in_handshake = false;
    while (rest.len) {
        struct str line = str_cut(&rest, '\n');

        send_now(f, s, str_skip(line, 1), line.at[0] == BY_MCPREEL_MARK);
    }
    buf_release(&s->send_queue);
}

struct backend *backends_take_timer(struct backends *f, uint64_t timer)
{
    struct backend *s = map_remove(&f->timers, map_number_key(&timer));

    return s && !s->ending ? s : NULL;
}

void backends_send(struct backends *f, struct backend *s, struct str text, bool by_mcpreel)
{
    if (!text.len)
        return;
    if (!s->in_handshake && !s->start_deferred) {
        send_now(f, s, text, by_mcpreel);
        return;
    }
    buf_add_ch(&s->send_queue, by_mcpreel ? BY_MCPREEL_MARK : BY_CLIENT_MARK);
    buf_add(&s->send_queue, text);
    buf_add_ch(&s->send_queue, '\n');
}

static void drop_undelivered(struct backends *f, const struct backend *s,
                             struct message_queue_item *item)
{
    backends_put_action(f, ACTION_UNDELIVERED, s, str_n(item->text, item->len));
    free(item);
}

void backends_keep_undelivered(struct backends *f, struct backend *s, struct str text)
{
    struct message_queue_item *item;

    message_queue_push(&s->undelivered, text);
    while ((item = backend_take_excess(s)))
        drop_undelivered(f, s, item);
}

void backends_retire(struct backends *f, struct backend *s)
{
    struct message_queue_item *item;

    BUG_IF(s->ending);
    while ((item = message_queue_pop(&s->undelivered)))
        drop_undelivered(f, s, item);
    if (s->session) {
        session_ids_end(&f->ids, str_z(s->id));
        map_remove(&f->sessions, map_number_key(&s->session));
    }
    for (size_t i = 0; i < 2; i++)
        if (f->shared[i] == s)
            f->shared[i] = NULL;
    if (f->spare == s)
        f->spare = NULL;
    s->get_stream = NULL;
    s->ending = true;
    f->active--;
}

static void start_deferred(struct backends *f)
{
    for (struct map_entry *e = NULL; (e = map_next(&f->all, e));) {
        struct backend *s = e->value;

        if (!s->start_deferred)
            continue;
        start_process(f, s);
        if (s->in_handshake)
            backends_start_handshake(f, s);
        else
            backends_flush_queue(f, s);
        return;
    }
}

void backends_remove(struct backends *f, struct backend *s)
{
    BUG_IF(!s->ending);
    f->processes -= !s->start_deferred;
    map_remove(&f->all, map_number_key(&s->number));
    map_remove(&f->timers, map_number_key(&s->handshake_timer));
    backend_free(s);
    if (f->processes < f->max)
        start_deferred(f);
}
