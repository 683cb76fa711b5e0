#include "engine/http-mock.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "engine/discover.h"
#include "engine/http-listeners.h"
#include "mcp/code.h"
#include "trace/limits.h"

enum {
    OK = 200,
    ACCEPTED = 202,
    BAD_REQUEST = 400,
    NOT_FOUND = 404,
    NOT_ALLOWED = 405,
    CONFLICT = 409,
    UNAVAILABLE = 503,
};

static void hear_session(struct action_sink *self, const struct action *a);

static void take_shared(struct http_mock *m)
{
    m->shared = mem_new(struct http_mock_client);
    m->shared->session = m->mock.first;
    m->shared->session->shared = true;
}

void http_mock_init(struct http_mock *m, const struct script *script,
                    const struct http_script *http, struct fuzzy *fuzzy,
                    const struct http_mock_options *options, struct action_sink *out)
{
    *m = (struct http_mock){
        .sink = { hear_session }, .out = out, .options = *options, .http = http
    };
    m->rules = http->rules;
    m->rules.modern = script->modern;
    m->rules.legacy = script->legacy || !script->modern;
    m->rules.sessions = http->rules.sessions && m->rules.legacy;
    m->rules.unchecked = options->mock.recorder;
    m->rules.versions = discover_versions(script, &m->lasting);
    m->options.mock.shared = !m->rules.sessions;
    mock_init(&m->mock, script, fuzzy, &m->options.mock, &m->sink);
    session_ids_init(&m->ids);
    map_init(&m->clients);
    map_init(&m->calls);
    map_init(&m->timers);
    http_streams_init(&m->streams, out);
    sse_sessions_init(&m->sse, out, options->random);
    http_answer_init(&m->answer, out);
    json_init(&m->json);
    take_shared(m);
}

static void free_client(struct http_mock_client *c)
{
    unheard_release(&c->unheard);
    free(c);
}

static void free_call(struct http_mock_call *c)
{
    buf_release(&c->answers);
    free(c);
}

void http_mock_release(struct http_mock *m)
{
    for (struct map_entry *e = NULL; (e = map_next(&m->calls, e));)
        free_call(e->value);
    for (struct map_entry *e = NULL; (e = map_next(&m->clients, e));)
        free_client(e->value);
    free_client(m->shared);
    map_release(&m->calls);
    map_release(&m->clients);
    map_release(&m->timers);
    http_streams_release(&m->streams);
    sse_sessions_release(&m->sse);
    session_ids_release(&m->ids);
    json_release(&m->json);
    arena_release(&m->arena);
    arena_release(&m->lasting);
    http_answer_release(&m->answer);
    mock_release(&m->mock);
}

static struct str id_of(const struct http_mock_client *c)
{
    return c->number ? str_z(c->id) : STR_NONE;
}

static void refuse(struct http_mock *m, uint64_t exchange, const struct http_verdict *v,
                   struct str id)
{
    http_answer_refuse(&m->answer, exchange, v, id);
    m->refused++;
}

static void refuse_plainly(struct http_mock *m, uint64_t exchange, unsigned status,
                           struct str text)
{
    struct http_verdict v = { .status = status, .code = MCP_SERVER_ERROR, .text = text };

    refuse(m, exchange, &v, STR_NONE);
}

/* Most are answered before anybody else is heard. */
static struct http_mock_call *find_call(const struct http_mock *m, uint64_t exchange)
{
    if (m->newest && m->newest->number == exchange)
        return m->newest;
    return exchange ? map_get(&m->calls, map_number(&exchange)) : NULL;
}

static void drop_call(struct http_mock *m, struct http_mock_call *c)
{
    if (m->newest == c)
        m->newest = NULL;
    map_remove(&m->calls, map_number(&c->number));
    free_call(c);
}

/* The recorded server closed the stream at this point, for the client to come back. */
static void cut_off(struct http_mock *m, struct http_mock_call *c)
{
    struct http_mock_call *on = find_call(m, c->stream->exchange);

    http_streams_cut(&m->streams, c->stream);
    if (c->stream->exchange || !on)
        return;
    if (on == c)
        c->gone = true;
    else
        drop_call(m, on);
}

/* Repeats what happened on the recorded stream beside its messages, if the recorded server
 * would have done so for this client. */
static void keep_time(struct http_mock *m, struct http_mock_call *c)
{
    struct http_stream *x = c->stream;
    bool primes = c->fact && http_script_primes(c->version, c->fact->version);

    while (c->beat && c->beat->after <= x->messages) {
        const struct http_beat *b = c->beat;

        c->beat = b->next;
        if (!x->has_ids || !primes)
            continue;
        if (b->cut)
            cut_off(m, c);
        else
            http_streams_prime(&m->streams, x, b->retry_ms);
    }
}

/* The answer becomes a stream. */
static void begin_stream(struct http_mock *m, struct http_mock_call *c)
{
    const struct http_fact *f = c->fact;
    bool has_ids = f && f->has_ids && !c->modern;

    if (!c->gone)
        http_answer_open(&m->answer, c->number, id_of(c->client));
    c->stream =
        http_streams_new(&m->streams, c->client->number, c->gone ? 0 : c->number, has_ids);
    keep_time(m, c);
}

static void begin(struct http_mock *m, const struct action_way *way)
{
    struct http_mock_call *c = find_call(m, way->exchange);

    if (!c || c->fact)
        return;
    c->fact = http_script_fact(m->http, way->seq);
    c->beat = c->fact ? c->fact->beats : NULL;
    if (c->fact && c->fact->sse && c->takes_sse && !c->stream)
        begin_stream(m, c);
}

static unsigned status_of(const struct http_mock_call *c, struct str text)
{
    if (c->fact && c->fact->status && c->fact->answered)
        return c->fact->status;
    return http_rules_status_of(c->modern, text);
}

static void answer_json(struct http_mock *m, struct http_mock_call *c, struct str text)
{
    if ((c->batch && !http_answer_collect(&c->answers, c->owed, &text)) || c->gone)
        return;
    http_answer_start(&m->answer, STR("application/json"), id_of(c->client));
    http_answer_send(&m->answer, c->number, c->batch ? OK : status_of(c, text), text);
}

/* All was answered. Its stream may have gone on with another exchange. */
static void finish_call(struct http_mock *m, struct http_mock_call *c)
{
    uint64_t on = c->stream ? c->stream->exchange : 0;
    struct http_mock_call *listener = on != c->number ? find_call(m, on) : NULL;

    if (c->stream)
        http_streams_finish(&m->streams, c->stream);
    if (listener)
        drop_call(m, listener);
    drop_call(m, c);
}

static void send_on(struct http_mock *m, struct http_mock_call *c, const struct action *a)
{
    const struct script_event *as = script_event_of(m->mock.script, a->way.step);
    bool last = a->way.last;
    bool as_stream =
        c->stream || (c->takes_sse && (!last || (c->fact && c->fact->sse))) || !c->takes_json;

    if (!last && !c->stream && (!c->takes_sse || (c->fact && c->fact->json))) {
        http_listeners_tell(m, c->client, a->text, as);
        return;
    }
    if (!as_stream) {
        answer_json(m, c, a->text);
    } else {
        if (!c->stream)
            begin_stream(m, c);
        http_streams_tell(&m->streams, c->stream, a->text, as->name, as->retry_ms);
        if (!last)
            keep_time(m, c);
    }
    if (last && !--c->owed)
        finish_call(m, c);
}

static void set_timer(struct http_mock *m, const struct action *a)
{
    uint64_t of = m->at ? m->at->number + 1 : 0;

    if (of)
        map_put(&m->timers, map_number(&a->timer), (void *)(uintptr_t)of);
    m->out->put(m->out, a);
}

/* All that is for a client of HTTP+SSE is told on the one stream that it has. */
static void send_sse(struct http_mock *m, struct http_mock_client *to, struct http_mock_call *c,
                     const struct action *a)
{
    sse_sessions_send(&m->sse, to->sse, a->text);
    if (c && a->way.last && !--c->owed)
        drop_call(m, c);
}

/* What was recorded on another stream goes there; but nothing is left to a stream that this
 * client may never open if that of its call can be had: a question is worth beginning one for.
 * A client that takes none at all is not asked. */
static void send_message(struct http_mock *m, const struct action *a)
{
    struct http_mock_call *c = find_call(m, a->way.exchange);
    struct http_mock_client *to = c ? c->client : m->at;
    bool deaf = c && !c->client->ear && (a->way.asks || c->stream);

    if (to && to->sse) {
        send_sse(m, to, c, a);
        return;
    }
    if (deaf && !c->stream && !c->takes_sse) {
        m->unasked = c->number;
        return;
    }
    if (deaf && !c->stream)
        begin_stream(m, c);
    if (c && (!a->way.apart || deaf))
        send_on(m, c, a);
    else if (m->at && !a->way.last)
        http_listeners_tell(m, m->at, a->text, script_event_of(m->mock.script, a->way.step));
}

static void end_sse(struct http_mock *m, struct http_mock_client *c)
{
    if (c->sse)
        sse_sessions_end(&m->sse, c->sse);
    c->sse = NULL;
}

/* It ends: so does everything that anybody waits for. */
static void end_all(struct http_mock *m)
{
    struct map_entry *e;

    while ((e = map_next(&m->calls, NULL))) {
        struct http_mock_call *c = e->value;

        if (!c->stream && !c->gone)
            refuse_plainly(m, c->number, UNAVAILABLE, STR("the replay has ended"));
        drop_call(m, c);
    }
    for (e = NULL; (e = map_next(&m->streams.open, e));)
        http_streams_hang_up(&m->streams, e->value);
    for (e = NULL; (e = map_next(&m->clients, e));)
        end_sse(m, e->value);
}

/* Nobody answers it any more: its client has cancelled it, by a message of its own. */
static void drop_answer(struct http_mock *m, uint64_t exchange)
{
    struct http_mock_call *c = find_call(m, exchange);

    if (!c || --c->owed)
        return;
    if (!c->stream && !c->gone && !c->client->sse) {
        http_answer_start(&m->answer, STR_NONE, STR_NONE);
        http_answer_send(&m->answer, c->number, ACCEPTED, STR_NONE);
    }
    finish_call(m, c);
}

static void hear_session(struct action_sink *self, const struct action *a)
{
    struct http_mock *m = (struct http_mock *)self;

    switch (a->kind) {
    case ACTION_SEND:
        send_message(m, a);
        break;
    case ACTION_BEGIN:
        begin(m, &a->way);
        break;
    case ACTION_DROP:
        drop_answer(m, a->way.exchange);
        break;
    case ACTION_SET_TIMER:
        set_timer(m, a);
        break;
    case ACTION_SEND_UPSTREAM:
        m->passed = m->at ? m->at : m->passed;
        m->out->put(m->out, a);
        break;
    case ACTION_FINISH:
        end_all(m);
        m->out->put(m->out, a);
        break;
    default:
        m->out->put(m->out, a);
    }
}

/* Everything that a client waits for ends with its session. */
static void drop_client(struct http_mock *m, struct http_mock_client *c)
{
    struct http_verdict over = http_rules_no_session();

    for (struct map_entry *e = NULL; (e = map_next(&m->calls, e));) {
        struct http_mock_call *call = e->value;

        if (call->client != c)
            continue;
        if (!call->stream && !call->gone)
            refuse(m, call->number, &over, STR_NONE);
        drop_call(m, call);
        e = NULL; /* the map has changed */
    }
    for (struct map_entry *e = NULL; (e = map_next(&m->streams.open, e));) {
        struct http_stream *x = e->value;

        if (x->session != c->number)
            continue;
        http_streams_hang_up(&m->streams, x);
        http_streams_drop(&m->streams, x);
        e = NULL;
    }
    end_sse(m, c);
    if (m->passed == c)
        m->passed = NULL;
    session_ids_end(&m->ids, str_z(c->id));
    map_remove(&m->clients, map_number(&c->number));
    mock_drop_client(&m->mock, c->of);
    free_client(c);
}

/* With an `exchange` that asks for the stream of HTTP+SSE, or 0. An id of that kind does not do
 * in a header line. */
static struct http_mock_client *new_client(struct http_mock *m, uint64_t exchange)
{
    struct http_mock_client *c;
    bool minted;

    if (m->clients.count >= HTTP_MOCK_CLIENTS)
        drop_client(m, map_next(&m->clients, NULL)->value);
    c = mem_new(struct http_mock_client);
    if (exchange) {
        c->sse = sse_sessions_open(&m->sse, exchange);
        c->sse->user = c;
        snprintf(c->id, sizeof c->id, "\n%s", c->sse->id);
    } else {
        session_ids_make(c->id, m->options.random);
    }
    c->number = session_ids_named(&m->ids, str_z(c->id), &minted);
    c->of = mock_add_client(&m->mock);
    c->session = &c->of->session;
    map_put(&m->clients, map_number(&c->number), c);
    m->at = c;
    session_open(c->session, m->now_us);
    m->at = NULL;
    return c;
}

static struct http_mock_client *find_client(const struct http_mock *m, uint64_t number)
{
    return number ? map_get(&m->clients, map_number(&number)) : m->shared;
}

/* The client of a session id. If ids are not checked, all clients without a live session share
 * one. */
static struct http_mock_client *session_client(const struct http_mock *m, uint64_t number)
{
    struct http_mock_client *c = find_client(m, number);

    return c || !m->rules.unchecked ? c : m->shared;
}

/* A request that is fine. */
struct asked {
    uint64_t exchange;
    const struct http_call *call;
    uint64_t session;
    struct str path;
    bool opens; /* it asks for a stream of HTTP+SSE */
};

static struct http_mock_call *new_call(struct http_mock *m, const struct asked *q,
                                       struct http_mock_client *client)
{
    struct http_mock_call *c = mem_new(struct http_mock_call);
    enum mcp_version agreed =
        client->number ? client->session->stage.version : MCP_VERSION_UNKNOWN;

    c->number = q->exchange;
    c->client = client;
    c->takes_json = q->call->accept.of[MEDIA_JSON].q > 0 && !client->sse;
    c->takes_sse = q->call->accept.of[MEDIA_SSE].q > 0 && !client->sse;
    c->version = http_call_spoken(q->call, agreed, &m->arena);
    buf_init(&c->answers, LIMIT_LINE * 3);
    map_put(&m->calls, map_number(&c->number), c);
    m->newest = c;
    return c;
}

static struct http_mock_client *client_of(struct http_mock *m, const struct asked *q,
                                          bool modern)
{
    const struct mcp_message *msg = q->call->message;

    if (modern || !m->rules.sessions)
        return m->shared;
    if (q->session)
        return session_client(m, q->session);
    if (msg && str_eq(msg->method, STR("initialize")))
        return new_client(m, 0);
    BUG_IF(!m->rules.unchecked); /* by the rules */
    return m->shared;
}

static void hear_batch(struct http_mock *m, struct http_mock_client *c, uint64_t exchange,
                       struct json_val batch)
{
    struct json_iter it = json_each(batch);

    while (json_next(&it)) {
        struct mcp_message as = mcp_classify(it.value, &m->arena);

        session_hear_value(c->session, exchange, it.value, &as, m->now_us);
    }
}

/* What is asked is answered in its own time; what is only told is accepted at once. */
static void hear_body(struct http_mock *m, const struct asked *q, struct http_mock_client *c,
                      bool modern)
{
    struct json_val root = json_root(&m->json);
    bool batch = q->call->kind == INTAKE_BATCH;
    struct http_mock_call *call;
    size_t owed = http_call_owed(q->call, root, &m->arena);

    if (owed) {
        call = new_call(m, q, c);
        call->owed = owed;
        call->modern = modern;
        call->batch = batch;
        call->gone = c->sse != NULL; /* it has its answer already */
    }
    m->at = c;
    if (batch)
        hear_batch(m, c, q->exchange, root);
    else
        session_hear_value(c->session, q->exchange, root, q->call->message, m->now_us);
    m->at = NULL;
    if (owed || c->sse)
        return;
    http_answer_start(&m->answer, STR_NONE, STR_NONE);
    http_answer_send(&m->answer, q->exchange, ACCEPTED, STR_NONE);
}

static void hear_post(struct http_mock *m, const struct asked *q)
{
    bool modern = http_call_is_modern(q->call, &m->arena);

    hear_body(m, q, client_of(m, q, modern), modern);
}

/* The exchange of a call that is waited for again on another one. */
static void move_call(struct http_mock *m, struct http_stream *x, uint64_t exchange)
{
    for (struct map_entry *e = NULL; (e = map_next(&m->calls, e));) {
        struct http_mock_call *c = e->value;

        if (c->stream != x || c->number == exchange)
            continue;
        c->gone = false;
        if (c->listens) {
            drop_call(m, c);
            return;
        }
    }
}

static void hear_get(struct http_mock *m, const struct asked *q)
{
    struct http_mock_client *c = session_client(m, q->session);
    struct str last = http_call_header(q->call, STR("last-event-id"));
    struct http_stream *x;
    struct http_mock_call *call;
    uint64_t after;

    x = last.len ? http_streams_find(&m->streams, c->number, last, &after) : NULL;
    if (!x && c->number && c->ear && c->ear->exchange) {
        refuse_plainly(m, q->exchange, CONFLICT,
                       STR("Conflict: Only one SSE stream is allowed per session"));
        return;
    }
    http_answer_open(&m->answer, q->exchange, id_of(c));
    call = new_call(m, q, c);
    call->listens = true;
    if (!x) {
        http_listeners_add(m, call);
        return;
    }
    call->stream = x;
    move_call(m, x, q->exchange);
    http_streams_resume(&m->streams, x, q->exchange, after);
    if (!x->exchange)
        drop_call(m, call);
}

static void hear_delete(struct http_mock *m, const struct asked *q)
{
    struct http_mock_client *c = session_client(m, q->session);
    unsigned status =
        m->http->delete_status && !m->rules.unchecked ? m->http->delete_status : OK;

    if (status < BAD_REQUEST && c != m->shared)
        drop_client(m, c);
    http_answer_start(&m->answer, STR_NONE, STR_NONE);
    if (status == NOT_ALLOWED)
        http_answer_field(&m->answer, STR("Allow"), STR("GET, POST"));
    http_answer_send(&m->answer, q->exchange, status, STR_NONE);
}

static void hear_posted(struct http_mock *m, const struct asked *q)
{
    struct http_verdict over = http_rules_no_session();

    if (q->call->state != SESSION_LIVE) {
        refuse(m, q->exchange, &over, STR_NONE);
        return;
    }
    sse_sessions_accept(&m->sse, q->exchange);
    hear_body(m, q, find_client(m, q->session), false);
}

static void hear(struct http_mock *m, const struct asked *q)
{
    if (q->call->posted)
        hear_posted(m, q);
    else if (q->opens)
        new_client(m, q->exchange);
    else if (str_eq(q->call->method, STR("POST")))
        hear_post(m, q);
    else if (str_eq(q->call->method, STR("GET")))
        hear_get(m, q);
    else
        hear_delete(m, q);
}

/* A client that comes back for one of our events is not told what another was, who came for
 * one that nobody knew; nor is one that begins with HTTP+SSE told what was said to one that
 * should have named its session. */
static const struct http_odd *find_odd(struct http_mock *m, const struct asked *q)
{
    const struct http_odd *odd =
        q->opens || (m->rules.unchecked && str_eq(q->call->method, STR("DELETE")))
            ? NULL
            : http_script_odd(m->http, q->call, q->path, &m->arena);
    struct str last = odd ? http_call_header(q->call, STR("last-event-id")) : STR_NONE;
    uint64_t n;

    if (odd && !odd->wrong && last.len && http_streams_find(&m->streams, q->session, last, &n))
        return NULL;
    return odd;
}

/* To which session it belongs, and whether it asks for one of HTTP+SSE. */
static void place_request(struct http_mock *m, const struct step_request *r, struct asked *q,
                          struct http_call *call)
{
    struct str id = http_call_header(call, STR("mcp-session-id"));

    call->posted = sse_sessions_means(r->method, r->path, r->query);
    if (call->posted)
        id = arena_printf(&m->arena, "\n%.*s", STR_ARG(sse_sessions_id(r->query)));
    call->state = session_ids_look(&m->ids, id, &q->session);
    q->opens = m->rules.legacy && http_script_opens_sse(m->http, call, r->path);
}

static void note_era(struct http_mock *m, const struct http_call *call, bool refused)
{
    other_era_hear(&m->mock.host.era, &m->mock.say, m->mock.script, &m->rules, call, refused,
                   &m->arena);
}

static void hear_request(struct http_mock *m, const struct event *ev)
{
    const struct step_request *r = ev->request;
    struct mcp_message msg = { .kind = MCP_OTHER };
    struct http_call call = http_call_of(r);
    struct asked q = { .exchange = ev->exchange, .call = &call, .path = r->path };
    struct http_rules rules = m->rules;
    const struct http_odd *odd;
    struct http_verdict v;
    struct str id;

    place_request(m, r, &q, &call);
    http_call_read(&call, &m->json, r->body, &msg, &m->arena);
    id = call.message ? json_raw(msg.id) : STR_NONE;
    if (str_starts(r->path, STR("/.well-known/"))) {
        refuse_plainly(m, ev->exchange, NOT_FOUND, STR("Not Found"));
        return;
    }
    odd = find_odd(m, &q);
    if (odd) {
        m->odd++;
        note_era(m, &call, odd->status >= BAD_REQUEST);
        http_answer_again(&m->answer, &m->streams, m->http, odd, ev->exchange, id);
        return;
    }
    if (call.posted || q.opens) /* that kind of session has no name in a header line */
        rules.sessions = false, rules.stream = rules.unnamed = true;
    v = http_rules_judge(&rules, &call, &m->arena);
    note_era(m, &call, v.status);
    if (v.status)
        refuse(m, ev->exchange, &v, id);
    else
        hear(m, &q);
}

static void leave_sse(struct http_mock *m, struct sse_session *session)
{
    struct http_mock_client *c = session->user;

    sse_sessions_gone(&m->sse, session);
    c->sse = NULL;
    drop_client(m, c);
}

/* Whoever closes the stream of the era without sessions has cancelled what it asked for;
 * before that it may come back for it. */
static void hear_gone(struct http_mock *m, uint64_t exchange)
{
    struct http_mock_call *c = find_call(m, exchange);
    struct http_stream *x = c ? c->stream : NULL;
    struct http_mock_client *client = c ? c->client : NULL;
    struct sse_session *session = sse_sessions_on(&m->sse, exchange);

    if (session)
        leave_sse(m, session);
    if (!c)
        return;
    c->gone = true;
    if (x && x->exchange == exchange)
        x->exchange = 0;
    if (!c->modern && !c->listens)
        return;
    if (c->modern) {
        m->at = client;
        session_gone(client->session, exchange, m->now_us);
        m->at = NULL;
    }
    drop_call(m, c);
    if (x)
        http_listeners_leave(m, client, x);
}

static void hear_timer(struct http_mock *m, const struct event *ev)
{
    uint64_t of = (uint64_t)(uintptr_t)map_remove(&m->timers, map_number(&ev->timer));
    struct http_mock_client *c = of ? find_client(m, of - 1) : NULL;

    if (!of) {
        mock_step(&m->mock, ev);
        return;
    }
    if (upstream_hear_timer(&m->mock.upstream, ev->timer))
        return;
    m->at = c;
    if (c)
        session_timer(c->session, ev->timer, ev->now_us);
    m->at = NULL;
}

static void close_client(struct http_mock *m, struct http_mock_client *c)
{
    m->at = c;
    session_close(c->session, true, m->now_us);
    m->at = NULL;
}

static void hear_end(struct http_mock *m)
{
    mock_hurry(&m->mock);
    other_era_end(&m->mock.host.era, &m->mock.say, m->mock.script);
    close_client(m, m->shared);
    for (struct map_entry *e = NULL; (e = map_next(&m->clients, e));)
        close_client(m, e->value);
}

/* What waits for the answer of somebody who could not be asked goes on without it. */
static void give_up_questions(struct http_mock *m)
{
    while (m->unasked) {
        const struct http_mock_call *c = find_call(m, m->unasked);

        m->unasked = 0;
        if (!c)
            return;
        m->at = c->client;
        session_unasked(c->client->session, c->number, m->now_us);
        m->at = NULL;
    }
}

void http_mock_step(struct http_mock *m, const struct event *ev)
{
    arena_clear(&m->arena);
    m->now_us = ev->now_us;
    switch (ev->kind) {
    case EVENT_REQUEST:
        if (m->mock.closed)
            refuse_plainly(m, ev->exchange, UNAVAILABLE, STR("the replay has ended"));
        else
            hear_request(m, ev);
        break;
    case EVENT_GONE:
        hear_gone(m, ev->exchange);
        break;
    case EVENT_TIMER:
        hear_timer(m, ev);
        break;
    case EVENT_CLOSED:
        hear_end(m);
        break;
    case EVENT_UPSTREAM:
    case EVENT_UPSTREAM_CLOSED:
    case EVENT_UPSTREAM_LOST:
        m->at = m->passed;
        mock_step(&m->mock, ev);
        m->at = NULL;
        break;
    default:
        break;
    }
    give_up_questions(m);
    mock_settle(&m->mock);
}
