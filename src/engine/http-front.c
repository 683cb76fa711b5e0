#include "engine/http-front.h"

#include <stdlib.h>

#include "engine/front-ask.h"
#include "mcp/code.h"
#include "trace/limits.h"

enum {
    OK = 200,
    ACCEPTED = 202,
    BAD_REQUEST = 400,
    NOT_FOUND = 404,
    CONFLICT = 409,
    BAD_GATEWAY = 502,
    UNAVAILABLE = 503,
};

static void put_on(struct action_sink *self, const struct action *a)
{
    struct http_front *f = (struct http_front *)self;
    struct action marked = *a;

    marked.own = f->own.len > 0;
    marked.why = f->own;
    f->out->put(f->out, &marked);
}

void http_front_init(struct http_front *f, const struct http_front_options *options,
                     struct action_sink *out)
{
    *f = (struct http_front){ .sink = { put_on }, .out = out, .options = *options };
    http_turns_init(&f->turns, &f->sink);
    sse_sessions_init(&f->sse, &f->sink, options->random);
    front_servers_init(&f->servers, options->max_servers, out);
    buf_init(&f->versions, LIMIT_LINE);
    buf_add(&f->versions, STR(FRONT_SERVER_MODERN));
    http_params_init(&f->params);
    json_init(&f->json);
}

void http_front_release(struct http_front *f)
{
    http_turns_release(&f->turns);
    sse_sessions_release(&f->sse);
    front_servers_release(&f->servers);
    buf_release(&f->versions);
    http_params_release(&f->params);
    json_release(&f->json);
    arena_release(&f->arena);
}

uint64_t http_front_session(const struct http_front *f, uint64_t server)
{
    const struct front_server *s = front_servers_find(&f->servers, server);

    return s ? s->session : 0;
}

static void report(struct http_front *f, enum log_level level, struct str text)
{
    struct action a = { .kind = ACTION_REPORT, .level = level, .text = text };

    f->out->put(f->out, &a);
}

static void refuse(struct http_front *f, uint64_t exchange, const struct http_verdict *v,
                   struct str id)
{
    f->own = v->text;
    http_answer_refuse(&f->turns.answer, exchange, v, id);
    f->own = STR_NONE;
}

static struct http_verdict no(unsigned status, struct str text)
{
    return (struct http_verdict){ .status = status, .code = MCP_SERVER_ERROR, .text = text };
}

/* Everybody who waits for something of a server's hears no more of it. Streams that a client
 * has ended with its session end as a server would have it. */
static void dismiss(struct http_front *f, struct front_server *s, const struct http_verdict *v)
{
    struct map_entry *e = NULL;

    f->own = v->text;
    front_server_fail(s, &f->turns, &f->sse, v);
    if (v->status < BAD_GATEWAY)
        f->own = STR_NONE;
    if (s->sse)
        sse_sessions_end(&f->sse, s->sse);
    s->sse = NULL;
    while ((e = map_next(&f->turns.open, e))) {
        struct http_turn *x = e->value;

        if (x->of != s)
            continue;
        http_turns_drop(&f->turns, x);
        e = NULL; /* the map has changed */
    }
    f->own = STR_NONE;
}

/* `s` may be freed: one that has no process is forgotten at once. */
static void end_server(struct http_front *f, struct front_server *s,
                       const struct http_verdict *v)
{
    dismiss(f, s, v);
    front_servers_retire(&f->servers, s);
    if (s->waiting)
        front_servers_forget(&f->servers, s);
    else
        front_servers_act(&f->servers, ACTION_END_UPSTREAM, s, STR_NONE);
}

/* The place of whoever has been idle longest; false if nobody is. */
static bool make_room(struct http_front *f)
{
    enum front_room room = front_servers_room(&f->servers);
    struct http_verdict v = http_rules_no_session();
    struct front_server *idle;

    if (room != FRONT_ROOM_IF_ONE_RETIRES)
        return room == FRONT_ROOM;
    idle = front_server_idle(&f->servers.all, &f->turns);
    if (!idle)
        return false;
    report(f, LOG_INFO,
           STR("the session that was idle longest has ended: another one needs its server"));
    end_server(f, idle, &v);
    return true;
}

static struct front_server *take_server(struct http_front *f, enum front_role role)
{
    if (!f->servers.spare && !make_room(f))
        return NULL;
    return front_servers_take(&f->servers, role, f->now_us);
}

/* Who speaks the era without sessions was asked about that once; after that it need not be
 * greeted. */
static struct front_server *share_server(struct http_front *f, bool modern)
{
    struct front_server *s = f->servers.shared[modern];

    if (s)
        return s;
    s = take_server(f, modern ? SHARED_MODERN : SHARED_LEGACY);
    if (s && (!modern || f->modern == MODERN_UNKNOWN))
        front_servers_greet(&f->servers, s);
    return s;
}

/* The session gets its name with the first head of an answer, so that sessions are numbered as
 * everybody sees them. */
static void name_session(struct http_front *f, struct front_server *s, struct http_turn *x)
{
    bool minted;

    if (s->role != OF_SESSION)
        return;
    if (!s->session) {
        session_ids_make(s->id, f->options.random);
        s->session = session_ids_named(&f->servers.ids, str_z(s->id), &minted);
        front_servers_enter(&f->servers, s);
    }
    x->session = s->session;
    x->session_id = str_z(s->id);
}

static void say(struct http_front *f, struct front_server *s, struct http_turn *x,
                struct str text)
{
    name_session(f, s, x);
    http_turns_say(&f->turns, x, text);
}

static void say_to_client(struct http_front *f, struct front_server *s,
                          const struct server_said *said)
{
    struct http_turn *x = front_server_whom(s, &f->turns, said->apart);

    if (x)
        say(f, s, x, said->text);
    else
        front_servers_keep(&f->servers, s, said->text);
}

static void note_answer(struct http_front *f, struct front_server *s,
                        const struct server_call *c, const struct mcp_message *m)
{
    struct json_val version = json_get(m->result, STR("protocolVersion"));

    if (str_eq(c->method, STR("tools/list")) && s->role == SHARED_MODERN)
        http_params_learn(&f->params, m->result);
    if (str_eq(c->method, STR("initialize")) && json_exists(version))
        s->version = mcp_version_parse(json_text(version, &f->arena));
}

/* A server that will not be initialized has no session. */
static void refuse_session(struct http_front *f, struct front_server *s, struct http_turn *x,
                           const struct server_said *said, const struct mcp_message *m)
{
    struct http_verdict v = http_rules_no_session();

    x->modern = front_server_wants_other(m);
    server_link_done(&s->link, said->call);
    http_turns_answer(&f->turns, x, said->text);
    end_server(f, s, &v);
}

/* Nobody waits any longer for what was asked in an exchange. */
static void cancel_calls(struct http_front *f, struct front_server *s, uint64_t exchange)
{
    struct str cancel;

    while ((cancel = server_link_cancel(&s->link, exchange)).len)
        front_servers_send(&f->servers, s, cancel, true);
}

/* A server that takes back what it was asked for says nothing more about it, nor about what
 * else came with it. */
static void end_call(struct http_front *f, struct front_server *s, struct http_turn *x,
                     const struct server_said *said)
{
    struct http_verdict v = no(BAD_GATEWAY, STR("the server has cancelled the request"));
    struct server_call *c = said->call;
    uint64_t exchange = c->exchange;

    if (http_turns_can_say(x))
        say(f, s, x, said->text);
    f->own = x->stream ? STR_NONE : v.text;
    http_turns_refuse(&f->turns, x, &v, c->id);
    f->own = STR_NONE;
    server_link_done(&s->link, c);
    cancel_calls(f, s, exchange);
}

static void say_last(struct http_front *f, struct front_server *s, struct http_turn *x,
                     const struct server_said *said, const struct mcp_message *m)
{
    if (s->role == OF_SESSION && !s->version && m->kind == MCP_ERROR &&
        str_eq(said->call->method, STR("initialize"))) {
        refuse_session(f, s, x, said, m);
        return;
    }
    note_answer(f, s, said->call, m);
    server_link_done(&s->link, said->call);
    if (x->gone && !x->stream)
        front_servers_act(&f->servers, ACTION_UNHEARD, s, said->text);
    name_session(f, s, x);
    http_turns_answer(&f->turns, x, said->text);
}

static void say_to_call(struct http_front *f, struct front_server *s,
                        const struct server_said *said, const struct mcp_message *m)
{
    struct http_turn *x = http_turns_find(&f->turns, said->call->exchange);

    BUG_IF(!x); /* those who go take their calls with them */
    if (said->last && m->kind == MCP_NOTIFICATION)
        end_call(f, s, x, said);
    else if (said->last)
        say_last(f, s, x, said, m);
    else if (http_turns_can_say(x))
        say(f, s, x, said->text);
    else if (s->role == OF_SESSION)
        say_to_client(f, s, said);
    else
        front_servers_act(&f->servers, ACTION_UNHEARD, s, said->text);
}

static void hear_greeting(struct http_front *f, struct front_server *s,
                          const struct mcp_message *m)
{
    bool modern = s->role == SHARED_MODERN;
    struct str versions = STR_NONE;
    struct http_verdict v;

    front_servers_own(&f->servers, ACTION_UNHEARD, s, json_raw(m->root));
    front_servers_answered(&f->servers, s);
    if (modern)
        f->modern = MODERN_NO;
    if (!front_server_greeted(s, m, &versions, &v, &f->arena)) {
        end_server(f, s, &v);
        return;
    }
    if (modern) {
        f->modern = MODERN_YES;
        buf_clear(&f->versions);
        buf_add(&f->versions, versions);
    } else {
        front_servers_own(
            &f->servers, ACTION_SEND_UPSTREAM, s,
            STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
    }
    front_servers_go_on(&f->servers, s);
}

/* In HTTP+SSE there is one stream for everything. */
static void say_all(struct http_front *f, struct front_server *s,
                    const struct server_said *said)
{
    sse_sessions_send(&f->sse, s->sse, said->text);
    if (said->last)
        server_link_done(&s->link, said->call);
}

/* Responds to a request of a server that several clients share. */
static void reply(struct http_front *f, struct front_server *s, const struct server_said *said,
                  const struct record *r)
{
    front_servers_own(&f->servers, ACTION_UNHEARD, s, json_raw(r->message.msg));
    if (front_server_may_reply(s, f->now_us))
        front_servers_own(&f->servers, ACTION_SEND_UPSTREAM, s, said->text);
}

static void hear_server(struct http_front *f, const struct event *ev)
{
    struct front_server *s = front_servers_find(&f->servers, ev->server);
    const struct record *r = ev->record;
    struct server_said said;
    struct mcp_message m;

    if (!s || r->kind != RECORD_MESSAGE)
        return; /* noise is nobody's */
    if (s->ending || s->role == SPARE) {
        front_servers_act(&f->servers, ACTION_UNHEARD, s, json_raw(r->message.msg));
        return;
    }
    m = mcp_classify(r->message.msg, &f->arena);
    if (s->greeting && mcp_is_response(&m) &&
        str_eq(json_raw(m.id), STR(FRONT_SERVER_HELLO_ID))) {
        hear_greeting(f, s, &m);
        return;
    }
    said = server_link_hear(&s->link, &m);
    if (s->sse)
        say_all(f, s, &said);
    else if (said.to == SAID_TO_CALL)
        say_to_call(f, s, &said, &m);
    else if (said.to == SAID_TO_CLIENT)
        say_to_client(f, s, &said);
    else if (said.to == SAID_TO_US)
        reply(f, s, &said, r);
    else
        front_servers_act(&f->servers, ACTION_UNHEARD, s, said.text);
}

static void lose_server(struct http_front *f, uint64_t number, struct str why)
{
    struct front_server *s = front_servers_find(&f->servers, number);
    struct http_verdict v = no(BAD_GATEWAY, STR_NONE);

    if (!s)
        return;
    if (!s->ending) {
        v.text = arena_printf(&f->arena, "server %llu is gone: %.*s",
                              (unsigned long long)number, STR_ARG(why));
        report(f, LOG_WARN, v.text);
        dismiss(f, s, &v);
        front_servers_retire(&f->servers, s);
    }
    front_servers_forget(&f->servers, s);
}

static void hear_timer(struct http_front *f, uint64_t timer)
{
    struct front_server *s = front_servers_timer(&f->servers, timer);
    struct http_verdict v = no(BAD_GATEWAY, STR("the server does not answer its greeting"));

    if (!s)
        return;
    report(f, LOG_WARN, STR("a server does not answer its greeting"));
    end_server(f, s, &v);
}

static struct http_turn *new_turn(struct http_front *f, struct front_server *s,
                                  const struct front_ask *q)
{
    struct http_turn *x = http_turns_new(&f->turns, q->exchange, &q->call.accept, s);

    x->has_ids = s->role == OF_SESSION;
    x->primes = http_call_spoken(&q->call, s->version, &f->arena) >= MCP_2025_11_25;
    x->modern = s->role == SHARED_MODERN;
    return x;
}

static void pass_value(struct http_front *f, struct front_server *s, uint64_t exchange,
                       struct json_val v)
{
    struct mcp_message m = mcp_classify(v, &f->arena);

    if (m.kind == MCP_REQUEST)
        front_servers_send(&f->servers, s, server_link_ask(&s->link, exchange, &m), false);
    else
        front_servers_send(&f->servers, s, server_link_tell(&s->link, &m), false);
}

static void pass_values(struct http_front *f, struct front_server *s, uint64_t exchange)
{
    struct json_val root = json_root(&f->json);
    struct json_iter it = json_each(root);

    if (json_type(root) != JSON_ARRAY)
        pass_value(f, s, exchange, root);
    else
        while (json_next(&it))
            pass_value(f, s, exchange, it.value);
}

static void accept(struct http_front *f, const struct front_ask *q)
{
    http_answer_start(&f->turns.answer, STR_NONE, STR_NONE);
    http_answer_send(&f->turns.answer, q->exchange, ACCEPTED, STR_NONE);
}

/* What is asked is answered in its own time; what is only told is accepted at once. Of an
 * array each part is a line of its own, which every server understands. */
static void pass_body(struct http_front *f, struct front_server *s, const struct front_ask *q)
{
    struct json_val root = json_root(&f->json);
    size_t owed = server_link_asks(root, &f->arena);
    struct http_turn *x;

    if (owed) {
        x = new_turn(f, s, q);
        x->owed = owed;
        x->batch = json_type(root) == JSON_ARRAY;
    }
    pass_values(f, s, q->exchange);
    if (!owed)
        accept(f, q);
}

static struct front_server *server_for(struct http_front *f, const struct front_ask *q)
{
    if (http_call_is_modern(&q->call, &f->arena))
        return share_server(f, true);
    if (q->session)
        return front_servers_of(&f->servers, q->session);
    return front_ask_is_initialize(q) ? take_server(f, OF_SESSION) : share_server(f, false);
}

/* Something that is told to a server that is shared, and that nobody has asked yet. */
static bool tells_nobody(struct http_front *f, const struct front_ask *q)
{
    const struct mcp_message *m = q->call.message;

    return m && m->kind != MCP_REQUEST && !q->session &&
           !f->servers.shared[http_call_is_modern(&q->call, &f->arena)];
}

static void refuse_another(struct http_front *f, const struct front_ask *q)
{
    struct http_verdict v = no(UNAVAILABLE, STR("all servers are in use: see --max-servers"));

    v.retry = STR("5");
    report(f, LOG_WARN,
           STR("a client was sent away: all servers are in use, and "
               "--max-servers does not allow another"));
    refuse(f, q->exchange, &v, q->id);
}

static void hear_post(struct http_front *f, const struct front_ask *q)
{
    static const struct http_verdict unclear = {
        .status = BAD_REQUEST,
        .code = MCP_INVALID_REQUEST,
        .text = STR_INIT("a member stands there twice, or does not belong there"),
    };
    struct http_verdict dead = no(BAD_GATEWAY, STR("Transport error: the server has ended"));
    struct front_server *s;

    if (tells_nobody(f, q)) {
        if (f->options.seed && !f->servers.running)
            refuse(f, q->exchange, &dead, STR_NONE);
        else
            accept(f, q);
        return;
    }
    s = server_for(f, q);
    if (!s || s->asked.len > FRONT_SERVER_ASKED) {
        refuse_another(f, q);
        return;
    }
    if (s->role != OF_SESSION && !server_link_is_clear(json_root(&f->json), &f->arena)) {
        refuse(f, q->exchange, &unclear, q->id);
        return;
    }
    s->used_us = f->now_us;
    pass_body(f, s, q);
}

static void start_listening(struct http_front *f, struct front_server *s,
                            const struct front_ask *q)
{
    struct http_turn *x = new_turn(f, s, q);

    name_session(f, s, x);
    http_turns_listen(&f->turns, x);
    s->ear = x;
    for (struct unheard_item *item; (item = unheard_take(&s->unheard));) {
        http_turns_say(&f->turns, x, str_n(item->text, item->len));
        free(item);
    }
}

static void hear_get(struct http_front *f, const struct front_ask *q)
{
    struct front_server *s = front_servers_of(&f->servers, q->session);
    struct str last = http_call_header(&q->call, STR("last-event-id"));
    struct http_verdict v =
        no(CONFLICT, STR("Conflict: Only one SSE stream is allowed per session"));
    bool over;

    s->used_us = f->now_us;
    if (last.len &&
        (http_turns_resume(&f->turns, s->session, last, q->exchange, str_z(s->id), &over) ||
         over))
        return;
    if (s->ear && !s->ear->gone)
        refuse(f, q->exchange, &v, STR_NONE);
    else if (s->ear)
        http_turns_rejoin(&f->turns, s->ear, q->exchange);
    else
        start_listening(f, s, q);
}

/* A session of HTTP+SSE, which is a stream. */
static void open_sse(struct http_front *f, const struct front_ask *q)
{
    struct front_server *s = take_server(f, OF_SESSION);

    if (!s) {
        refuse_another(f, q);
        return;
    }
    front_server_open_sse(s, &f->sse, q->exchange, &f->servers.ids);
    front_servers_enter(&f->servers, s);
}

static void hear_posted(struct http_front *f, const struct front_ask *q)
{
    struct front_server *s = q->session ? front_servers_of(&f->servers, q->session) : NULL;
    struct http_verdict v = http_rules_no_session();

    if (!s) {
        refuse(f, q->exchange, &v, q->id);
        return;
    }
    if (s->asked.len > FRONT_SERVER_ASKED) {
        refuse_another(f, q);
        return;
    }
    sse_sessions_accept(&f->sse, q->exchange);
    pass_values(f, s, s->sse->exchange);
}

/* Without a session only for `seed`. */
static void hear_delete(struct http_front *f, const struct front_ask *q)
{
    struct http_verdict v = http_rules_no_session();

    if (q->session)
        end_server(f, front_servers_of(&f->servers, q->session), &v);
    http_answer_start(&f->turns.answer, STR_NONE, STR_NONE);
    http_answer_send(&f->turns.answer, q->exchange, OK, STR_NONE);
}

/* Who names no session needs none to ask; but to listen, or to end one. */
static struct http_verdict judge(struct http_front *f, const struct front_ask *q)
{
    bool sse = q->call.posted || q->opens;
    struct http_rules rules = {
        .legacy = true,
        .modern = f->modern != MODERN_NO,
        .sessions =
            !sse && (q->call.state != SESSION_NONE || !str_eq(q->call.method, STR("POST"))),
        .stream = true,
        .unnamed = sse,
        .versions = buf_str(&f->versions),
        .params = &f->params,
    };

    return http_rules_judge(&rules, &q->call, &f->arena);
}

static bool is_bare_delete(const struct front_ask *q)
{
    return q->call.state == SESSION_NONE && str_eq(q->call.method, STR("DELETE"));
}

static void hear_request(struct http_front *f, const struct event *ev)
{
    struct http_verdict v = no(NOT_FOUND, STR("Not Found"));
    struct front_ask q;

    front_ask_read(&q, ev, &f->servers.ids, &f->json, &f->arena);
    if (f->closed)
        v = no(UNAVAILABLE, STR(RECORD_WHY_ENDED));
    else if (f->options.seed && is_bare_delete(&q))
        v.status = 0;
    else if (front_ask_is_ours(ev->request->path))
        v = judge(f, &q);
    if (v.status)
        refuse(f, q.exchange, &v, q.id);
    else if (q.call.posted)
        hear_posted(f, &q);
    else if (q.opens)
        open_sse(f, &q);
    else if (str_eq(q.call.method, STR("POST")))
        hear_post(f, &q);
    else if (str_eq(q.call.method, STR("GET")))
        hear_get(f, &q);
    else
        hear_delete(f, &q);
}

/* With its stream a session of HTTP+SSE is gone. */
static void lose_sse(struct http_front *f, struct sse_session *session)
{
    struct http_verdict v = http_rules_no_session();
    struct front_server *s = session->user;

    s->sse = NULL;
    sse_sessions_gone(&f->sse, session);
    end_server(f, s, &v);
}

/* Who has a session may come back; who has none has taken back what it asked for. */
static void hear_gone(struct http_front *f, uint64_t exchange)
{
    struct sse_session *session = sse_sessions_on(&f->sse, exchange);
    struct http_turn *x = http_turns_gone(&f->turns, exchange);
    struct front_server *s = x ? x->of : NULL;

    if (session)
        lose_sse(f, session);
    if (!x)
        return;
    s->used_us = f->now_us;
    if (s->role == OF_SESSION)
        return;
    cancel_calls(f, s, x->name);
    http_turns_drop(&f->turns, x);
}

static void hear_end(struct http_front *f)
{
    struct http_verdict v = no(UNAVAILABLE, STR(RECORD_WHY_ENDED));
    struct action finish = { .kind = ACTION_FINISH };

    if (f->closed)
        return;
    f->closed = true;
    for (struct map_entry *e = NULL; (e = map_next(&f->servers.all, e));) {
        struct front_server *s = e->value;

        if (s->ending)
            continue;
        end_server(f, s, &v);
        e = NULL; /* the map may have changed */
    }
    f->out->put(f->out, &finish);
}

void http_front_step(struct http_front *f, const struct event *ev)
{
    arena_clear(&f->arena);
    f->now_us = ev->now_us;
    switch (ev->kind) {
    case EVENT_OPENED:
        front_servers_start_spare(&f->servers, ev->now_us);
        break;
    case EVENT_REQUEST:
        hear_request(f, ev);
        break;
    case EVENT_GONE:
        hear_gone(f, ev->exchange);
        break;
    case EVENT_TIMER:
        hear_timer(f, ev->timer);
        break;
    case EVENT_UPSTREAM:
        hear_server(f, ev);
        break;
    case EVENT_UPSTREAM_CLOSED:
        lose_server(f, ev->server, ev->why);
        break;
    case EVENT_CLOSED:
        hear_end(f);
        break;
    default:
        break; /* no such peers */
    }
}
