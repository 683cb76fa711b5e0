#include "transport/http-relay.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/limits.h"
#include "trace/record.h"
#include "wire/coding.h"
#include "wire/cors.h"
#include "wire/response.h"
#include "wire/same-path.h"

enum {
    HIGH_WATER = 256 << 10,
    TARGET_MAX = 64 << 10,
    TEXT_MAX = 512,
    FOUND = 302,
    FORBIDDEN = 403,
    CHANGED_MAX = 4 * HTTP_RELAY_HELD_MAX, /* of a body */
};

/* A body that waits until it is whole, and the head of the answer that it belongs to. */
struct held {
    struct buf body;
    struct answer answer;
    struct arena text;
};

/* An answer of ours that waits until the request is whole. */
struct owed {
    unsigned status;
    struct err why;
};

/* What the owner sees of it is its beginning. */
struct passage {
    struct http_passage open;
    struct http_relay *relay;
    struct exchange *exchange; /* NULL: it was all answered */
    struct http_transfer *transfer;
    struct held *asking;    /* not NULL: the request is held, and there is no transfer yet */
    struct held *answering; /* not NULL: the answer is, and the client has nothing of it */
    struct owed *owed;      /* not NULL: the server has failed, and there is no transfer more */
    struct passage *prev, *next;
    bool begun;    /* there is the head of an answer, for the client */
    bool sized;    /* `left` says how much of it is missing */
    bool posted;   /* its target is kept */
    bool told_end; /* to the owner */
    uint64_t left;
    uint64_t sent; /* bytes of the request */
};

struct http_relay {
    struct http_server *server;
    struct http_client *client;
    const struct http_gate *gate;
    const struct http_relay_events *events;
    void *to;
    const struct http_relay_changes *changes; /* may be NULL */
    void *changes_to;
    struct passage *passages;
    size_t count;
    uint64_t number;
    bool keep_host;
    const char *base;
};

static void settle(const struct passage *p)
{
    p->relay->events->settle(p->relay->to);
}

static void tell_end(struct passage *p, enum http_relay_by by, bool clean, const char *text)
{
    struct http_relay_end end = { .by = by, .clean = clean, .text = text };

    if (p->told_end)
        return;
    p->told_end = true;
    p->relay->events->end(p->relay->to, &p->open, &end);
    settle(p);
}

static struct passage *passage_new(struct http_relay *r, struct exchange *x)
{
    struct passage *p = mem_new(struct passage);

    p->relay = r;
    p->exchange = x;
    p->open.number = ++r->number;
    p->open.connection = x->connection;
    p->open.host = x->host;
    p->open.origin = x->origin;
    p->next = r->passages;
    if (p->next)
        p->next->prev = p;
    r->passages = p;
    r->count++;
    x->user = p;
    return p;
}

static struct held *held_new(void)
{
    struct held *h = mem_new(struct held);

    *h = (struct held){ .answer = { .status = 0 } };
    buf_init(&h->body, HTTP_RELAY_HELD_MAX);
    return h;
}

static void held_free(struct held *h)
{
    if (!h)
        return;
    fields_release(&h->answer.fields);
    arena_release(&h->text);
    buf_release(&h->body);
    free(h);
}

static bool held_has_room(const struct held *h, struct str bytes)
{
    return bytes.len <= HTTP_RELAY_HELD_MAX - h->body.len;
}

static void passage_free(struct passage *p)
{
    if (p->prev)
        p->prev->next = p->next;
    else
        p->relay->passages = p->next;
    if (p->next)
        p->next->prev = p->prev;
    p->relay->count--;
    http_transfer_close(p->transfer);
    held_free(p->asking);
    held_free(p->answering);
    free(p->owed);
    free(p);
}

/* An answer of ours, which a page can see, unless it is the page that is kept out. What others
 * say about a failure may hold what JSON would escape. */
static void answer_ourselves(struct passage *p, enum http_relay_by by, unsigned status,
                             const char *text)
{
    struct fields shared = { .at = NULL };
    struct exchange *x = p->exchange;
    char plain[TEXT_MAX];
    struct buf id;
    size_t n = 0;

    buf_init(&id, EXCHANGE_ID_MAX);
    buf_add(&id, x->id);
    x->id = buf_str(&id);
    for (; text[n] && n < sizeof plain - 1; n++)
        plain[n] = (unsigned char)text[n] < 0x20 || text[n] == '\\' ? ' '
                   : text[n] == '"'                                 ? '\''
                                                                    : text[n];
    plain[n] = '\0';
    p->relay->events->own(p->relay->to, &p->open, status, plain);
    tell_end(p, by, true, NULL);
    passage_free(p);
    if (status != FORBIDDEN)
        cors_share(&shared, &x->head->fields);
    http_gate_add_lines(&shared, status);
    exchange_refuse(x, status, &shared, str_z(plain));
    buf_release(&id);
    fields_release(&shared);
}

/* The answer as the client gets it; its fields are to be released. */
static struct answer answer_of(const struct reply *r)
{
    struct answer a = { .status = r->status, .phrase = r->phrase, .length = r->body.length };

    a.body = r->body.kind == BODY_LENGTH                      ? EXCHANGE_SIZED
             : r->body.kind == BODY_CHUNKED || r->until_close ? EXCHANGE_STREAM
                                                              : EXCHANGE_EMPTY;
    for (size_t i = 0; i < r->fields.count; i++) {
        const struct field *f = &r->fields.at[i];

        if (!fields_is_hop(&r->fields, f->name) && !response_owns(f->name))
            fields_add(&a.fields, f->name, f->value);
    }
    return a;
}

/* The answer and all of its body; `held`: somebody may want that changed. The passage may end
 * with it. */
static void answer_whole(struct passage *p, const struct answer *a, struct str body, bool held)
{
    const struct http_relay *r = p->relay;
    struct exchange *x = p->exchange;
    struct err e = ERR_NONE;
    struct buf changed;
    bool ok;

    buf_init(&changed, CHANGED_MAX);
    if (held)
        r->changes->answer_body(r->changes_to, &p->open, x->head, body, &changed);
    p->exchange = NULL;
    ok = exchange_answer(x, a, changed.len ? buf_str(&changed) : body, &e);
    BUG_IF(!ok); /* it was read by the same rules */
    buf_release(&changed);
}

static void answer_head(struct passage *p, const struct answer *a)
{
    struct err e = ERR_NONE;
    bool ok = exchange_head(p->exchange, a, &e);

    BUG_IF(!ok);
}

/* The head stays for as long as its body comes. */
static void hold_answer(struct passage *p, const struct answer *a)
{
    struct held *h = held_new();

    h->answer = *a;
    h->answer.phrase = arena_str(&h->text, a->phrase);
    h->answer.fields = (struct fields){ .at = NULL };
    for (size_t i = 0; i < a->fields.count; i++)
        fields_add(&h->answer.fields, arena_str(&h->text, a->fields.at[i].name),
                   arena_str(&h->text, a->fields.at[i].value));
    p->answering = h;
}

/* It will not be whole, or is too long: what there is goes on as it came. */
static void let_answer_go(struct passage *p)
{
    if (!p->answering)
        return;
    answer_head(p, &p->answering->answer);
    exchange_write(p->exchange, buf_str(&p->answering->body));
    held_free(p->answering);
    p->answering = NULL;
}

static void server_head(void *to, const struct reply *r, struct str body)
{
    struct passage *p = to;
    const struct http_relay *relay = p->relay;
    struct answer a = answer_of(r);
    struct arena text = { .blocks = NULL };
    bool wanted =
        relay->changes &&
        relay->changes->answer(relay->changes_to, &p->open, p->exchange->head, &a, &text) &&
        !r->bodiless;

    p->begun = true;
    p->exchange->id = STR_NONE;
    p->sized = !r->bodiless && r->body.kind == BODY_LENGTH;
    p->left = r->body.length;
    relay->events->head(relay->to, &p->open, p->exchange->head, r);
    if (body.len) {
        relay->events->answer(relay->to, &p->open, body);
        tell_end(p, HTTP_RELAY_SERVER, true, NULL);
        answer_whole(p, &a, body, wanted && body.len <= HTTP_RELAY_HELD_MAX);
    } else {
        settle(p);
        if (wanted)
            hold_answer(p, &a);
        else
            answer_head(p, &a);
    }
    fields_release(&a.fields);
    arena_release(&text);
}

/* False: nothing more of it may go on, and the passage is gone. */
static bool edit(struct passage *p, struct str *bytes, bool last)
{
    struct exchange *x = p->exchange;
    const char *why = NULL;

    if (!p->open.edited || p->sized ||
        p->relay->events->edit(p->relay->to, &p->open, bytes, last, &why))
        return true;
    settle(p);
    exchange_write(x, *bytes);
    tell_end(p, HTTP_RELAY_SELF, false, why);
    passage_free(p);
    exchange_abort(x);
    return false;
}

static void server_data(void *to, struct str bytes)
{
    struct passage *p = to;

    p->relay->events->answer(p->relay->to, &p->open, bytes);
    if (!edit(p, &bytes, false))
        return;
    p->left -= p->sized ? bytes.len : 0;
    if (p->sized && p->left == 0) /* with these bytes its reader has all */
        tell_end(p, HTTP_RELAY_SERVER, true, NULL);
    else
        settle(p);
    if (p->answering && held_has_room(p->answering, bytes)) {
        buf_add(&p->answering->body, bytes);
        return;
    }
    let_answer_go(p);
    exchange_write(p->exchange, bytes);
    if (exchange_queued(p->exchange) > HIGH_WATER)
        http_transfer_read(p->transfer, false);
}

static void server_whole(void *to)
{
    struct passage *p = to;
    struct str rest = STR_NONE;
    struct exchange *x;

    if (!edit(p, &rest, true))
        return;
    if (rest.len)
        exchange_write(p->exchange, rest);
    tell_end(p, HTTP_RELAY_SERVER, true, NULL);
    if (p->answering)
        answer_whole(p, &p->answering->answer, buf_str(&p->answering->body), true);
    x = p->exchange;
    passage_free(p);
    if (x)
        exchange_end(x);
}

static unsigned status_of(enum http_fault fault)
{
    return fault == HTTP_SCARCE ? 503 : fault == HTTP_TIMEOUT ? 504 : 502;
}

static void pay(struct passage *p)
{
    answer_ourselves(p, HTTP_RELAY_FAULT, p->owed->status, p->owed->why.msg);
}

/* What the client has to say is worth keeping, though there is nobody to hear it: the rest of
 * it is read before it is told so. */
static void owe(struct passage *p, unsigned status, const struct err *why)
{
    p->owed = mem_new(struct owed);
    *p->owed = (struct owed){ .status = status, .why = *why };
    http_transfer_close(p->transfer);
    p->transfer = NULL;
    if (p->exchange->whole || p->sent > LIMIT_MESSAGE)
        pay(p);
    else
        exchange_read(p->exchange, true);
}

static void server_failed(void *to, enum http_fault fault, const struct err *why)
{
    struct passage *p = to;
    struct exchange *x = p->exchange;

    if (!p->begun) {
        owe(p, status_of(fault), why);
        return;
    }
    tell_end(p, fault == HTTP_CUT ? HTTP_RELAY_SERVER : HTTP_RELAY_FAULT, false, why->msg);
    let_answer_go(p);
    passage_free(p);
    exchange_abort(x);
}

static void server_drained(void *to)
{
    struct passage *p = to;

    if (!p->exchange->whole)
        exchange_read(p->exchange, true);
}

static const struct http_events server_events = { .head = server_head,
                                                  .data = server_data,
                                                  .drained = server_drained,
                                                  .whole = server_whole,
                                                  .failed = server_failed };

static void add_query(struct buf *to, struct str query)
{
    if (!query.len)
        return;
    buf_add_ch(to, str_find(buf_str(to), '?') < to->len ? '&' : '?');
    buf_add(to, query);
}

/* Whether a path is appended to the base: its last segment is that of an MCP endpoint. */
static bool is_appended(const struct http_relay *relay, const struct url *url, struct str path)
{
    while (path.len && path.at[path.len - 1] == '/')
        path.len--;
    return relay->base && !same_path(path, url->path) &&
           (str_ends(path, STR("/mcp")) || str_ends(path, STR("/sse")));
}

static void append_path(struct buf *to, const char *base, const struct url *url,
                        struct str path)
{
    struct str before = str_z(base);

    while (before.len && before.at[before.len - 1] == '/')
        before.len--;
    if (str_ends(url->path, path) && str_ends(before, path)) {
        buf_add(to, url->path);
        return;
    }
    buf_add(to, before);
    buf_add(to, path);
}

/* The target of the request that goes to the server. */
static void map_target(struct buf *to, const struct http_relay *relay, const struct url *url,
                       const struct request *r, bool endpoint)
{
    if (!endpoint) {
        buf_add(to, r->path);
        add_query(to, r->query);
        return;
    }
    if (str_eq(r->path, STR("/")))
        buf_add(to, url->path.len ? url->path : STR("/"));
    else if (is_appended(relay, url, r->path))
        append_path(to, relay->base, url, r->path);
    else
        buf_add(to, r->path); /* as it is spelled: the server may tell it apart */
    add_query(to, url->query);
    if (!str_eq(r->query, url->query))
        add_query(to, r->query);
}

static bool is_endpoint(const struct http_relay *relay, const struct url *url, struct str path)
{
    return str_eq(path, STR("/")) || same_path(path, url->path) ||
           is_appended(relay, url, path);
}

static bool is_posted(const struct http_relay *r, const struct request *head)
{
    return r->events->posted && r->events->posted(r->to, head);
}

static struct str readable(struct arena *a, const struct passage *p, struct str codings)
{
    struct buf text;
    struct str left;

    if (p->open.unpacked)
        return STR("identity");
    buf_init(&text, TARGET_MAX);
    coding_narrow(&text, codings);
    left = arena_str(a, buf_str(&text));
    buf_release(&text);
    return left;
}

/* The head for the server, but for changes. */
static void compose_ask(struct passage *p, const struct request *r, struct ask *a,
                        struct arena *text)
{
    const struct url *url = http_client_url(p->relay->client);
    struct buf target;

    *a = (struct ask){ .method = r->method, .body = r->body };
    buf_init(&target, TARGET_MAX);
    map_target(&target, p->relay, url, r, p->open.endpoint && !p->posted);
    a->target = arena_str(text, buf_str(&target));
    buf_release(&target);
    for (size_t i = 0; i < r->fields.count; i++) {
        const struct field *f = &r->fields.at[i];

        if (p->open.endpoint && fields_same(f->name, STR("accept-encoding")))
            fields_add(&a->fields, f->name, readable(text, p, f->value));
        else if (p->relay->keep_host || !fields_same(f->name, STR("host")))
            fields_add(&a->fields, f->name, f->value);
    }
}

/* `body`: what was held of the request's; `whole`: that is all. Holds it now if it is wanted
 * and was not. */
static void ask_server(struct passage *p, const struct request *r, const struct held *body,
                       bool whole)
{
    const struct http_relay *relay = p->relay;
    struct arena text = { .blocks = NULL };
    struct buf changed;
    struct ask a;
    bool wanted;

    compose_ask(p, r, &a, &text);
    wanted = relay->changes && relay->changes->ask(relay->changes_to, &p->open, r, &a, &text) &&
             r->body.kind != BODY_NONE;
    buf_init(&changed, CHANGED_MAX);
    if (wanted && whole)
        relay->changes->ask_body(relay->changes_to, &p->open, r, buf_str(&body->body),
                                 &changed);
    if (changed.len && a.body.kind == BODY_LENGTH)
        a.body.length = changed.len;
    if (wanted && !body)
        p->asking = held_new();
    else
        p->transfer =
            http_transfer_start(relay->client, p->open.connection, &a, &server_events, p);
    if (body)
        http_transfer_send(p->transfer, changed.len ? buf_str(&changed) : buf_str(&body->body));
    buf_release(&changed);
    fields_release(&a.fields);
    arena_release(&text);
}

/* What was held of the request goes, changed if it is whole. */
static void let_request_go(struct passage *p, const struct request *r, bool whole)
{
    struct held *h = p->asking;

    if (!h)
        return;
    p->asking = NULL;
    ask_server(p, r, h, whole);
    held_free(h);
}

/* Sends the client elsewhere, if it has to go there; the passage is over then. */
static bool send_away(struct passage *p, const struct request *head)
{
    const struct http_relay *r = p->relay;
    struct answer a = { .status = FOUND };
    struct exchange *x = p->exchange;
    struct err e = ERR_NONE;
    struct buf location;
    bool ok;

    buf_init(&location, TARGET_MAX);
    if (r->changes)
        r->changes->detour(r->changes_to, &p->open, head, &location);
    if (location.len) {
        fields_add(&a.fields, STR("Location"), buf_str(&location));
        r->events->own(r->to, &p->open, FOUND, "it goes on at the server's own address");
        tell_end(p, HTTP_RELAY_SELF, true, NULL);
        passage_free(p);
        ok = exchange_answer(x, &a, STR_NONE, &e);
        BUG_IF(!ok); /* it consists of what was read */
        fields_release(&a.fields);
    }
    ok = location.len > 0;
    buf_release(&location);
    return ok;
}

static void client_request(void *to, struct exchange *x)
{
    struct http_relay *r = to;
    struct passage *p = passage_new(r, x);
    struct http_gate_verdict v;

    p->posted = is_posted(r, x->head);
    p->open.endpoint = p->posted || is_endpoint(r, http_client_url(r->client), x->head->path);
    v = http_gate_judge(r->gate, x->head, x->host, x->origin, p->open.endpoint);
    p->open.verdict = v;
    r->events->request(r->to, &p->open, x->head);
    if (v.status) {
        answer_ourselves(p, HTTP_RELAY_SELF, v.status, v.text);
        return;
    }
    if (send_away(p, x->head))
        return;
    settle(p);
    ask_server(p, x->head, NULL, false);
    exchange_go_on(x);
}

static void client_data(void *to, struct exchange *x, struct str bytes)
{
    struct http_relay *r = to;
    struct passage *p = x->user;

    p->sent += bytes.len;
    r->events->body(r->to, &p->open, bytes);
    settle(p);
    if (p->owed) {
        if (p->sent > LIMIT_MESSAGE)
            pay(p);
        return;
    }
    if (p->asking && held_has_room(p->asking, bytes)) {
        buf_add(&p->asking->body, bytes);
        return;
    }
    let_request_go(p, x->head, false);
    http_transfer_send(p->transfer, bytes);
    if (http_transfer_queued(p->transfer) > HIGH_WATER)
        exchange_read(x, false);
}

static void client_whole(void *to, struct exchange *x)
{
    struct http_relay *r = to;
    struct passage *p = x->user;

    x->id = r->events->asked(r->to, &p->open);
    settle(p);
    if (p->owed) {
        pay(p);
        return;
    }
    let_request_go(p, x->head, true);
    http_transfer_finish(p->transfer);
}

static void client_cut(void *to, struct exchange *x)
{
    struct passage *p = x->user;

    (void)to;
    if (p->owed)
        pay(p);
}

static void client_drained(void *to, struct exchange *x)
{
    struct passage *p = x->user;

    (void)to;
    if (p->transfer)
        http_transfer_read(p->transfer, true);
}

static void client_gone(void *to, struct exchange *x, const struct exchange_fault *why)
{
    struct passage *p = x->user;

    (void)to;
    tell_end(p, why->kind == EXCHANGE_LEFT ? HTTP_RELAY_CLIENT : HTTP_RELAY_SELF, false,
             why->text);
    passage_free(p);
}

/* What it left idle at the server is of no use to anybody else. */
static void client_left(void *to, uint64_t connection)
{
    struct http_relay *r = to;

    http_client_leave(r->client, connection);
}

static void client_refused(void *to, uint64_t connection, const struct exchange_fault *why)
{
    struct http_relay *r = to;

    r->events->refused(r->to, connection, why);
}

static const struct exchange_events client_events = {
    .request = client_request,
    .data = client_data,
    .whole = client_whole,
    .cut = client_cut,
    .drained = client_drained,
    .gone = client_gone,
    .refused = client_refused,
    .left = client_left,
};

bool http_relay_open(struct http_relay **out, struct loop *l,
                     const struct http_relay_config *config,
                     const struct http_relay_events *events, void *to, struct err *e)
{
    struct http_relay *r = mem_new(struct http_relay);
    struct http_server_config listen = config->listen;

    listen.descriptors = 1; /* a client has a connection of its own to the server */
    *r = (struct http_relay){
        .gate = config->gate,
        .keep_host = config->keep_host,
        .base = config->base,
        .events = events,
        .to = to,
        .changes = config->changes,
        .changes_to = config->changes_to,
    };
    if (!http_client_new(&r->client, l, &config->server, e) ||
        !http_server_open(&r->server, l, &listen, &client_events, r, e)) {
        http_relay_close(r);
        return false;
    }
    *out = r;
    return true;
}

const struct url_authority *http_relay_at(const struct http_relay *r)
{
    return http_server_at(r->server);
}

size_t http_relay_open_count(const struct http_relay *r)
{
    return r->count;
}

void http_relay_stop(struct http_relay *r, uint64_t grace_ms, void (*done)(void *to), void *to)
{
    http_server_stop(r->server, grace_ms, done, to);
}

void http_relay_close(struct http_relay *r)
{
    if (!r)
        return;
    http_server_close(r->server);
    while (r->passages) {
        tell_end(r->passages, HTTP_RELAY_SELF, false, RECORD_WHY_ENDED);
        passage_free(r->passages);
    }
    http_client_free(r->client);
    free(r);
}
