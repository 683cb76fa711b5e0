#include "transport/http-client.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/ascii.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/mem.h"
#include "loop/timer.h"

enum {
    CONNECT_MS = 30 * 1000,
    /* Most servers close a connection that was idle for 5 s. A request sent at that moment is
     * lost, so a connection is not reused that late. The margin is the same if the server
     * announces its timeout (Keep-Alive). */
    IDLE_MS = 4000,
    IDLE_MARGIN_MS = 1000,
    IDLE_MAX_MS = 60 * 1000,
    SWEEP_MS = 500,
    IDLE_SLOTS = 256, /* keys are numbered consecutively */
    CREDENTIALS_MAX = 8 << 10,
    HEAD_USUAL = 512,
    HEAD_MAX = 1 << 20, /* of a request; parsed heads are smaller */
};

/* A connection, used by a transfer or idle. */
struct pooled_conn {
    struct http_client *client;
    struct upstream_conn *conn;
    uint64_t reuse_key;
    struct http_transfer *transfer;  /* NULL: idle */
    struct pooled_conn *prev, *next; /* in the idle list of its slot */
    int64_t expires_us;              /* when an idle connection is closed */
};

struct http_client {
    struct loop *loop;
    struct upstream_connector *connector;
    struct arena text; /* texts of the other members */
    struct url url;
    struct request_write_config write_config;
    struct pooled_conn *idle[IDLE_SLOTS]; /* lists, by reuse_key modulo IDLE_SLOTS */
    size_t idle_count;
    struct timer *expiry_timer;
    size_t transfers;
};

struct http_transfer {
    struct http_client *client;
    struct pooled_conn *conn; /* NULL once the transfer is over */
    const struct http_transfer_events *events;
    void *to;
    struct response_head head; /* until it was reported */
    struct body body;          /* from then on */
    int64_t reuse_ms;          /* how long the connection may idle afterwards; 0: close it */
    unsigned call_depth;       /* calls on the stack: it is freed when the last one returns */
    bool is_head_request, chunked; /* of the request */
    bool finished;                 /* the request is complete */
    bool in_body, until_close;
    bool closed;
};

static struct pooled_conn **idle_slot(struct http_client *c, uint64_t reuse_key)
{
    return &c->idle[reuse_key % IDLE_SLOTS];
}

static void remove_idle(struct pooled_conn *k)
{
    if (k->prev)
        k->prev->next = k->next;
    else
        *idle_slot(k->client, k->reuse_key) = k->next;
    if (k->next)
        k->next->prev = k->prev;
    k->prev = k->next = NULL;
    k->client->idle_count--;
}

static void pooled_conn_close(struct pooled_conn *k)
{
    if (!k->transfer)
        remove_idle(k);
    upstream_conn_close(k->conn);
    free(k);
}

/* Closes the idle connections that have expired; all of them if `now_us` is INT64_MAX. */
static void close_expired(struct http_client *c, int64_t now_us)
{
    for (size_t i = 0; i < IDLE_SLOTS; i++) {
        for (struct pooled_conn *k = c->idle[i], *next; k; k = next) {
            next = k->next;
            if (k->expires_us <= now_us)
                pooled_conn_close(k);
        }
    }
}

static void on_expiry_timer(void *to)
{
    struct http_client *c = to;

    close_expired(c, clock_mono_us());
    if (c->idle_count)
        timer_set(c->expiry_timer, SWEEP_MS);
}

/* Parses Keep-Alive: "timeout=5, max=1000", in seconds; -1 without a timeout. */
static int64_t keep_alive_timeout_ms(const struct headers *f)
{
    const struct header *at = headers_next(f, STR("keep-alive"), NULL);
    struct str rest = at ? at->value : STR_NONE, item;

    while (headers_next_item(&rest, &item)) {
        int64_t s = 0;

        if (!str_starts(item, STR("timeout=")))
            continue;
        item = str_skip(item, 8);
        for (size_t i = 0; i < item.len && s < IDLE_MAX_MS; i++) {
            if (!ascii_is_digit(item.at[i]))
                return -1;
            s = s * 10 + (item.at[i] - '0');
        }
        return item.len ? s * 1000 : -1;
    }
    return -1;
}

static int64_t reuse_limit_ms(const struct headers *f)
{
    int64_t announced_ms = keep_alive_timeout_ms(f);

    if (announced_ms < 0)
        return IDLE_MS;
    announced_ms -= IDLE_MARGIN_MS;
    return announced_ms > IDLE_MAX_MS ? IDLE_MAX_MS : announced_ms;
}

static void add_idle(struct pooled_conn *k, int64_t ms)
{
    struct http_client *c = k->client;
    struct pooled_conn **slot = idle_slot(c, k->reuse_key);

    if (!c->idle_count++)
        timer_set(c->expiry_timer, SWEEP_MS);
    k->transfer = NULL;
    k->expires_us = clock_mono_us() + ms * 1000;
    k->next = *slot;
    if (k->next)
        k->next->prev = k;
    *slot = k;
    upstream_conn_read(k->conn, true); /* to notice when the server closes it */
}

static void enter(struct http_transfer *t)
{
    t->call_depth++;
}

static void leave(struct http_transfer *t)
{
    if (--t->call_depth || !t->closed)
        return;
    if (t->in_body)
        body_release(&t->body);
    else
        response_head_release(&t->head);
    free(t);
}

/* Detaches the connection from the transfer: keeps it for reuse or closes it. */
static void release_conn(struct http_transfer *t, bool reusable)
{
    struct pooled_conn *k = t->conn;

    t->conn = NULL;
    if (reusable && t->reuse_ms > 0 && t->finished && !upstream_conn_queued(k->conn))
        add_idle(k, t->reuse_ms);
    else
        pooled_conn_close(k);
}

static void fail_transfer(struct http_transfer *t, enum http_client_error fault,
                          const struct err *why)
{
    release_conn(t, false);
    t->events->failed(t->to, fault, why);
}

static void fail_invalid(struct http_transfer *t, const char *what)
{
    struct err e = ERR_NONE;

    err_set(&e, ERR_PEER, "the server's response is not valid HTTP: %s", what);
    fail_transfer(t, HTTP_CLIENT_INVALID_RESPONSE, &e);
}

static void complete_transfer(struct http_transfer *t, bool nothing_left)
{
    release_conn(t, nothing_left);
    t->events->complete(t->to);
}

/* Returns the complete body if it came with the head, so that small responses are forwarded in
 * one piece. */
static struct str complete_body(const struct response_head *r, struct str in)
{
    if (r->bodiless || r->body.kind != BODY_LENGTH || in.len < r->body.length)
        return STR_NONE;
    return str_n(in.at, (size_t)r->body.length);
}

/* Reports the head and frees its memory: the body may be a stream that lasts for hours. */
static void deliver_head(struct http_transfer *t, struct str *in)
{
    struct response_head r = t->head;
    struct str body = complete_body(&r, *in);

    t->in_body = true;
    t->until_close = r.until_close;
    t->reuse_ms = r.keep_alive ? reuse_limit_ms(&r.headers) : 0;
    body_init(&t->body, r.bodiless ? (struct body_framing){ .kind = BODY_NONE } : r.body);
    if (body.len) {
        t->body.remaining = 0;
        *in = str_skip(*in, body.len);
    }
    t->events->head(t->to, &r, body);
    response_head_release(&r);
}

static void feed_head(struct http_transfer *t, struct str *in)
{
    enum response_head_next next = response_head_feed(&t->head, in, t->is_head_request);

    if (next == RESPONSE_HEAD_REJECTED)
        fail_invalid(t, t->head.reason);
    else if (next == RESPONSE_HEAD_COMPLETE && t->head.status == 101)
        fail_invalid(t, "status 101, which was not requested");
    else if (next == RESPONSE_HEAD_COMPLETE && t->head.status < 200)
        response_head_clear(&t->head);
    else if (next == RESPONSE_HEAD_COMPLETE)
        deliver_head(t, in);
}

static void feed_body(struct http_transfer *t, struct str *in)
{
    struct str data = *in;
    enum body_next next = BODY_DATA;

    if (t->until_close)
        *in = STR_NONE;
    else
        next = body_next(&t->body, in, &data);
    if (next == BODY_DATA && data.len)
        t->events->data(t->to, data);
    else if (next == BODY_END)
        complete_transfer(t, in->len == 0);
    else if (next == BODY_REJECTED)
        fail_invalid(t, reject_reason_text(t->body.chunked.reason));
}

/* Returns whether to go on parsing: there is input, or the body is complete without any. */
static bool has_input(const struct http_transfer *t, struct str in)
{
    if (!t->conn || t->closed)
        return false;
    return in.len || (t->in_body && !t->until_close && t->body.kind != BODY_CHUNKED &&
                      t->body.remaining == 0);
}

static void conn_data(void *to, struct str bytes)
{
    struct pooled_conn *k = to;
    struct http_transfer *t = k->transfer;

    if (!t) { /* data on an idle connection */
        pooled_conn_close(k);
        return;
    }
    enter(t);
    do {
        if (t->in_body)
            feed_body(t, &bytes);
        else
            feed_head(t, &bytes);
    } while (has_input(t, bytes));
    leave(t);
}

static void conn_end(void *to, bool clean)
{
    struct pooled_conn *k = to;
    struct http_transfer *t = k->transfer;
    struct err e = ERR_NONE;

    if (!t) {
        pooled_conn_close(k);
        return;
    }
    enter(t);
    if (!t->in_body) {
        err_set(&e, ERR_PEER, "the server closed the connection without a response");
        fail_transfer(t, HTTP_CLIENT_NO_RESPONSE, &e);
    } else if (t->until_close && clean) {
        complete_transfer(t, false);
    } else {
        err_set(&e, ERR_PEER,
                "the server closed the connection before its response was complete");
        fail_transfer(t, HTTP_CLIENT_TRUNCATED, &e);
    }
    leave(t);
}

static void conn_failed(void *to, enum upstream_conn_error fault, const struct err *why)
{
    struct pooled_conn *k = to;
    struct http_transfer *t = k->transfer;

    enter(t);
    fail_transfer(t, (enum http_client_error)fault, why);
    leave(t);
}

static void conn_drained(void *to)
{
    struct pooled_conn *k = to;
    struct http_transfer *t = k->transfer;

    if (!t || !t->events->drained)
        return;
    enter(t);
    t->events->drained(t->to);
    leave(t);
}

static const struct upstream_conn_events conn_events = {
    .failed = conn_failed, .data = conn_data, .end = conn_end, .drained = conn_drained
};

static struct pooled_conn *acquire_conn(struct http_client *c, uint64_t reuse_key)
{
    int64_t now = clock_mono_us();
    struct pooled_conn *k;

    for (k = *idle_slot(c, reuse_key); k; k = k->next) {
        if (k->reuse_key == reuse_key && k->expires_us > now)
            break;
    }
    if (k) {
        remove_idle(k);
        return k;
    }
    k = mem_new(struct pooled_conn);
    *k = (struct pooled_conn){ .client = c, .reuse_key = reuse_key };
    k->conn = upstream_conn_open(c->connector, &conn_events, k);
    return k;
}

static void add_decoded(struct buf *to, struct str s)
{
    while (s.len) {
        char c = s.at[0];

        s = str_skip(s, str_parse_percent(s, &c) ? 3 : 1);
        buf_add_ch(to, c);
    }
}

/* Adds the userinfo of the URL as Authorization. */
static void add_credentials(struct http_client *c, struct str userinfo)
{
    struct buf plain, value;

    if (!userinfo.at ||
        headers_next(&c->write_config.extra_headers, STR("authorization"), NULL))
        return;
    buf_init(&plain, CREDENTIALS_MAX);
    buf_init(&value, CREDENTIALS_MAX * 2);
    add_decoded(&plain, userinfo);
    if (str_find(userinfo, ':') == userinfo.len)
        buf_add_ch(&plain, ':');
    buf_add(&value, STR("Basic "));
    base64_encode(&value, buf_str(&plain));
    headers_add(&c->write_config.extra_headers, STR("Authorization"),
                arena_str(&c->text, buf_str(&value)));
    buf_release(&plain);
    buf_release(&value);
}

/* Rejects framing and hop-by-hop headers: the client composes those itself. */
static bool add_extra_headers(struct http_client *c, const struct headers *extra, struct err *e)
{
    for (size_t i = 0; i < extra->count; i++) {
        const struct header *f = &extra->at[i];
        struct headers none = { .at = NULL };

        if (!headers_is_token(f->name))
            return err_set(e, ERR_USAGE, "a header name is not a token");
        if (!headers_is_value(f->value))
            return err_set(e, ERR_USAGE, "header '%.*s' holds a control character",
                           STR_ARG(f->name));
        if (headers_is_hop_by_hop(&none, f->name) ||
            headers_equal_nocase(f->name, STR("content-length")) ||
            headers_equal_nocase(f->name, STR("expect")))
            return err_set(e, ERR_USAGE, "header '%.*s' cannot be set", STR_ARG(f->name));
        headers_add(&c->write_config.extra_headers, arena_str(&c->text, f->name),
                    arena_str(&c->text, f->value));
    }
    return true;
}

static bool open_connector(struct http_client *c, const struct http_client_config *config,
                           struct err *e)
{
    const struct url_authority *a = &c->url.authority;
    bool bracketed = a->ip.kind == IP_V6;
    struct upstream_connector_config where = { .url = &c->url,
                                               .cacert = config->cacert,
                                               .connect_ms = config->connect_ms
                                                                 ? config->connect_ms
                                                                 : CONNECT_MS };

    c->write_config.host = arena_printf(&c->text, "%s%.*s%s", bracketed ? "[" : "",
                                        STR_ARG(a->host), bracketed ? "]" : "");
    if (a->port >= 0)
        c->write_config.host =
            arena_printf(&c->text, "%.*s:%d", STR_ARG(c->write_config.host), a->port);
    return upstream_connector_new(&c->connector, c->loop, &where, e);
}

bool http_client_new(struct http_client **out, struct loop *l,
                     const struct http_client_config *config, struct err *e)
{
    struct http_client *c = mem_new(struct http_client);

    c->loop = l;
    if (!url_parse(&c->url, arena_str(&c->text, config->url), e) ||
        !add_extra_headers(c, &config->extra_headers, e) || !open_connector(c, config, e)) {
        http_client_free(c);
        return false;
    }
    add_credentials(c, c->url.authority.userinfo);
    c->expiry_timer = timer_new(l, on_expiry_timer, c);
    *out = c;
    return true;
}

void http_client_free(struct http_client *c)
{
    if (!c)
        return;
    BUG_IF(c->transfers);
    close_expired(c, INT64_MAX);
    timer_close(c->expiry_timer);
    upstream_connector_free(c->connector);
    headers_release(&c->write_config.extra_headers);
    arena_release(&c->text);
    free(c);
}

const struct url *http_client_url(const struct http_client *c)
{
    return &c->url;
}

struct http_transfer *http_transfer_start(struct http_client *c, uint64_t reuse_key,
                                          const struct outgoing_request *request,
                                          const struct http_transfer_events *events, void *to)
{
    struct http_transfer *t = mem_new(struct http_transfer);
    struct buf head;

    *t = (struct http_transfer){ .client = c, .events = events, .to = to };
    t->is_head_request = str_eq(request->method, STR("HEAD"));
    t->chunked = request->body.kind == BODY_CHUNKED;
    t->finished = request->body.kind == BODY_NONE;
    response_head_init(&t->head);
    t->conn = acquire_conn(c, reuse_key);
    t->conn->transfer = t;
    c->transfers++;
    buf_init(&head, HEAD_MAX);
    buf_reserve(&head, HEAD_USUAL);
    request_write(&head, request, &c->write_config);
    BUG_IF(head.full);
    upstream_conn_write(t->conn->conn, buf_str(&head));
    buf_release(&head);
    if (t->finished)
        upstream_conn_flush(t->conn->conn);
    return t;
}

void http_transfer_send(struct http_transfer *t, struct str bytes)
{
    struct buf open;

    if (!t->conn || !bytes.len)
        return;
    BUG_IF(t->finished);
    if (!t->chunked) {
        upstream_conn_write(t->conn->conn, bytes);
        return;
    }
    buf_init(&open, 64);
    chunked_write_size(&open, bytes.len);
    upstream_conn_write(t->conn->conn, buf_str(&open));
    upstream_conn_write(t->conn->conn, bytes);
    upstream_conn_write(t->conn->conn, STR(CHUNKED_CHUNK_END));
    buf_release(&open);
}

void http_transfer_finish(struct http_transfer *t)
{
    if (t->finished)
        return;
    t->finished = true;
    if (!t->conn)
        return;
    if (t->chunked)
        upstream_conn_write(t->conn->conn, STR(CHUNKED_LAST_CHUNK));
    upstream_conn_flush(t->conn->conn);
}

size_t http_transfer_queued(const struct http_transfer *t)
{
    return t->conn ? upstream_conn_queued(t->conn->conn) : 0;
}

void http_transfer_read(struct http_transfer *t, bool on)
{
    if (t->conn)
        upstream_conn_read(t->conn->conn, on);
}

void http_transfer_close(struct http_transfer *t)
{
    if (!t || t->closed)
        return;
    enter(t);
    if (t->conn)
        release_conn(t, false);
    t->client->transfers--;
    t->closed = true;
    leave(t);
}

void http_client_close_idle(struct http_client *c, uint64_t reuse_key)
{
    for (struct pooled_conn *k = *idle_slot(c, reuse_key), *next; k; k = next) {
        next = k->next;
        if (k->reuse_key == reuse_key)
            pooled_conn_close(k);
    }
}
