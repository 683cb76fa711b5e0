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
    /* Most servers close a connection that was idle for 5 s. A request that crosses with
     * that is lost, so none is sent so late; where a server says how long it waits, the
     * margin is the same. */
    IDLE_MS = 4000,
    IDLE_MARGIN_MS = 1000,
    IDLE_MAX_MS = 60 * 1000,
    SWEEP_MS = 500,
    SLOTS = 256, /* lanes are numbered one after the other */
    CREDENTIALS_MAX = 8 << 10,
    HEAD_USUAL = 512,
    HEAD_MAX = 1 << 20, /* of a request; heads that were read are smaller */
};

/* A connection, in use by a transfer or idle. */
struct link {
    struct http_client *client;
    struct dial *dial;
    uint64_t lane;
    struct http_transfer *transfer; /* NULL: it is idle */
    struct link *prev, *next;       /* among the idle ones of its slot */
    int64_t until_us;               /* when it is idle no more */
};

struct http_client {
    struct loop *loop;
    struct dialer *dialer;
    struct arena text; /* what the rest is borrowed from */
    struct url url;
    struct ask_manner manner;
    struct link *idle[SLOTS]; /* by lane */
    size_t idle_count;
    struct timer *sweep;
    size_t transfers;
};

struct http_transfer {
    struct http_client *client;
    struct link *link; /* NULL once it is over */
    const struct http_events *events;
    void *to;
    struct reply reply;    /* until it was told */
    struct body body;      /* from then on */
    int64_t keep_ms;       /* how long the connection is good for another one; 0: not */
    unsigned inside;       /* calls of ours that are under way */
    bool to_head, chunked; /* the request: is HEAD; goes out in chunks */
    bool finished;         /* all of the request was given */
    bool in_body, until_close;
    bool closed;
};

static struct link **slot_of(struct http_client *c, uint64_t lane)
{
    return &c->idle[lane % SLOTS];
}

static void unlist(struct link *k)
{
    if (k->prev)
        k->prev->next = k->next;
    else
        *slot_of(k->client, k->lane) = k->next;
    if (k->next)
        k->next->prev = k->prev;
    k->prev = k->next = NULL;
    k->client->idle_count--;
}

static void link_close(struct link *k)
{
    if (!k->transfer)
        unlist(k);
    dial_close(k->dial);
    free(k);
}

/* Those that are idle since long, or, if that is INT64_MAX, all of them. */
static void close_idle(struct http_client *c, int64_t now_us)
{
    for (size_t i = 0; i < SLOTS; i++) {
        for (struct link *k = c->idle[i], *next; k; k = next) {
            next = k->next;
            if (k->until_us <= now_us)
                link_close(k);
        }
    }
}

static void sweep(void *to)
{
    struct http_client *c = to;

    close_idle(c, clock_mono_us());
    if (c->idle_count)
        timer_set(c->sweep, SWEEP_MS);
}

/* "timeout=5, max=1000", in seconds; -1: it does not say. */
static int64_t said_patience_ms(const struct fields *f)
{
    const struct field *at = fields_next(f, STR("keep-alive"), NULL);
    struct str rest = at ? at->value : STR_NONE, item;

    while (fields_item(&rest, &item)) {
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

static int64_t idle_ms(const struct fields *f)
{
    int64_t said = said_patience_ms(f);

    if (said < 0)
        return IDLE_MS;
    said -= IDLE_MARGIN_MS;
    return said > IDLE_MAX_MS ? IDLE_MAX_MS : said;
}

static void go_idle(struct link *k, int64_t ms)
{
    struct http_client *c = k->client;
    struct link **slot = slot_of(c, k->lane);

    if (!c->idle_count++)
        timer_set(c->sweep, SWEEP_MS);
    k->transfer = NULL;
    k->until_us = clock_mono_us() + ms * 1000;
    k->next = *slot;
    if (k->next)
        k->next->prev = k;
    *slot = k;
    dial_read(k->dial, true); /* to see its end */
}

static void enter(struct http_transfer *t)
{
    t->inside++;
}

static void leave(struct http_transfer *t)
{
    if (--t->inside || !t->closed)
        return;
    if (t->in_body)
        body_release(&t->body);
    else
        reply_release(&t->reply);
    free(t);
}

/* The connection is the transfer's no more. */
static void let_go(struct http_transfer *t, bool reusable)
{
    struct link *k = t->link;

    t->link = NULL;
    if (reusable && t->keep_ms > 0 && t->finished && !dial_queued(k->dial))
        go_idle(k, t->keep_ms);
    else
        link_close(k);
}

static void fail(struct http_transfer *t, enum http_fault fault, const struct err *why)
{
    let_go(t, false);
    t->events->failed(t->to, fault, why);
}

static void fail_invalid(struct http_transfer *t, const char *what)
{
    struct err e = ERR_NONE;

    err_set(&e, ERR_PEER, "the server's answer is not HTTP: %s", what);
    fail(t, HTTP_INVALID, &e);
}

static void be_whole(struct http_transfer *t, bool nothing_left)
{
    let_go(t, nothing_left);
    t->events->whole(t->to);
}

/* All of the body, if it lies behind the head: so small answers can go on in one piece. */
static struct str whole_body(const struct reply *r, struct str in)
{
    if (r->bodiless || r->body.kind != BODY_LENGTH || in.len < r->body.length)
        return STR_NONE;
    return str_n(in.at, (size_t)r->body.length);
}

/* The head is told, and its memory given back: what follows it may last for hours. */
static void begin(struct http_transfer *t, struct str *in)
{
    struct reply r = t->reply;
    struct str body = whole_body(&r, *in);

    t->in_body = true;
    t->until_close = r.until_close;
    t->keep_ms = r.keep_alive ? idle_ms(&r.fields) : 0;
    body_init(&t->body, r.bodiless ? (struct body_plan){ .kind = BODY_NONE } : r.body);
    if (body.len) {
        t->body.left = 0;
        *in = str_skip(*in, body.len);
    }
    t->events->head(t->to, &r, body);
    reply_release(&r);
}

static void feed_head(struct http_transfer *t, struct str *in)
{
    enum reply_next next = reply_feed(&t->reply, in, t->to_head);

    if (next == REPLY_REFUSED)
        fail_invalid(t, t->reply.why);
    else if (next == REPLY_WHOLE && t->reply.status == 101)
        fail_invalid(t, "a change of protocols that nobody asked for");
    else if (next == REPLY_WHOLE && t->reply.status < 200)
        reply_clear(&t->reply);
    else if (next == REPLY_WHOLE)
        begin(t, in);
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
        be_whole(t, in->len == 0);
    else if (next == BODY_REFUSED)
        fail_invalid(t, refusal_text(t->body.chunked.why));
}

/* A body of no bytes is whole without any. */
static bool is_pending(const struct http_transfer *t, struct str in)
{
    if (!t->link || t->closed)
        return false;
    return in.len ||
           (t->in_body && !t->until_close && t->body.kind != BODY_CHUNKED && t->body.left == 0);
}

static void link_data(void *to, struct str bytes)
{
    struct link *k = to;
    struct http_transfer *t = k->transfer;

    if (!t) { /* nobody asked */
        link_close(k);
        return;
    }
    enter(t);
    do {
        if (t->in_body)
            feed_body(t, &bytes);
        else
            feed_head(t, &bytes);
    } while (is_pending(t, bytes));
    leave(t);
}

static void link_end(void *to, bool clean)
{
    struct link *k = to;
    struct http_transfer *t = k->transfer;
    struct err e = ERR_NONE;

    if (!t) {
        link_close(k);
        return;
    }
    enter(t);
    if (!t->in_body) {
        err_set(&e, ERR_PEER, "the server closed the connection without an answer");
        fail(t, HTTP_CLOSED, &e);
    } else if (t->until_close && clean) {
        be_whole(t, false);
    } else {
        err_set(&e, ERR_PEER, "the server closed the connection before its answer was whole");
        fail(t, HTTP_CUT, &e);
    }
    leave(t);
}

static void link_failed(void *to, enum dial_fault fault, const struct err *why)
{
    struct link *k = to;
    struct http_transfer *t = k->transfer;

    enter(t);
    fail(t, (enum http_fault)fault, why);
    leave(t);
}

static void link_drained(void *to)
{
    struct link *k = to;
    struct http_transfer *t = k->transfer;

    if (!t || !t->events->drained)
        return;
    enter(t);
    t->events->drained(t->to);
    leave(t);
}

static const struct dial_events link_events = {
    .failed = link_failed, .data = link_data, .end = link_end, .drained = link_drained
};

static struct link *link_of_lane(struct http_client *c, uint64_t lane)
{
    int64_t now = clock_mono_us();
    struct link *k;

    for (k = *slot_of(c, lane); k; k = k->next) {
        if (k->lane == lane && k->until_us > now)
            break;
    }
    if (k) {
        unlist(k);
        return k;
    }
    k = mem_new(struct link);
    *k = (struct link){ .client = c, .lane = lane };
    k->dial = dial_open(c->dialer, &link_events, k);
    return k;
}

static void add_decoded(struct buf *to, struct str s)
{
    while (s.len) {
        char c = s.at[0];

        s = str_skip(s, str_percent(s, &c) ? 3 : 1);
        buf_add_ch(to, c);
    }
}

/* What stands before '@' in the URL, as the header it becomes. */
static void add_credentials(struct http_client *c, struct str userinfo)
{
    struct buf plain, value;

    if (!userinfo.at || fields_next(&c->manner.extra, STR("authorization"), NULL))
        return;
    buf_init(&plain, CREDENTIALS_MAX);
    buf_init(&value, CREDENTIALS_MAX * 2);
    add_decoded(&plain, userinfo);
    if (str_find(userinfo, ':') == userinfo.len)
        buf_add_ch(&plain, ':');
    buf_add(&value, STR("Basic "));
    base64_encode(&value, buf_str(&plain));
    fields_add(&c->manner.extra, STR("Authorization"), arena_str(&c->text, buf_str(&value)));
    buf_release(&plain);
    buf_release(&value);
}

/* Those that say how a message ends, or are between neighbours, are ours to say. */
static bool take_extra(struct http_client *c, const struct fields *extra, struct err *e)
{
    for (size_t i = 0; i < extra->count; i++) {
        const struct field *f = &extra->at[i];
        struct fields none = { .at = NULL };

        if (!fields_is_token(f->name))
            return err_set(e, ERR_USAGE, "a header name is not a word");
        if (!fields_is_value(f->value))
            return err_set(e, ERR_USAGE, "header '%.*s' holds a control character",
                           STR_ARG(f->name));
        if (fields_is_hop(&none, f->name) || fields_same(f->name, STR("content-length")) ||
            fields_same(f->name, STR("expect")))
            return err_set(e, ERR_USAGE, "header '%.*s' cannot be set", STR_ARG(f->name));
        fields_add(&c->manner.extra, arena_str(&c->text, f->name),
                   arena_str(&c->text, f->value));
    }
    return true;
}

static bool open_dialer(struct http_client *c, const struct http_client_config *config,
                        struct err *e)
{
    const struct url_authority *a = &c->url.authority;
    bool bracketed = a->ip.kind == IP_V6;
    struct dialer_config where = { .url = &c->url,
                                   .cacert = config->cacert,
                                   .connect_ms =
                                       config->connect_ms ? config->connect_ms : CONNECT_MS };

    c->manner.host = arena_printf(&c->text, "%s%.*s%s", bracketed ? "[" : "", STR_ARG(a->host),
                                  bracketed ? "]" : "");
    if (a->port >= 0)
        c->manner.host = arena_printf(&c->text, "%.*s:%d", STR_ARG(c->manner.host), a->port);
    return dialer_new(&c->dialer, c->loop, &where, e);
}

bool http_client_new(struct http_client **out, struct loop *l,
                     const struct http_client_config *config, struct err *e)
{
    struct http_client *c = mem_new(struct http_client);

    c->loop = l;
    if (!url_parse(&c->url, arena_str(&c->text, config->url), e) ||
        !take_extra(c, &config->extra, e) || !open_dialer(c, config, e)) {
        http_client_free(c);
        return false;
    }
    add_credentials(c, c->url.authority.userinfo);
    c->sweep = timer_new(l, sweep, c);
    *out = c;
    return true;
}

void http_client_free(struct http_client *c)
{
    if (!c)
        return;
    BUG_IF(c->transfers);
    close_idle(c, INT64_MAX);
    timer_close(c->sweep);
    dialer_free(c->dialer);
    fields_release(&c->manner.extra);
    arena_release(&c->text);
    free(c);
}

const struct url *http_client_url(const struct http_client *c)
{
    return &c->url;
}

struct http_transfer *http_transfer_start(struct http_client *c, uint64_t lane,
                                          const struct ask *ask,
                                          const struct http_events *events, void *to)
{
    struct http_transfer *t = mem_new(struct http_transfer);
    struct buf head;

    *t = (struct http_transfer){ .client = c, .events = events, .to = to };
    t->to_head = str_eq(ask->method, STR("HEAD"));
    t->chunked = ask->body.kind == BODY_CHUNKED;
    t->finished = ask->body.kind == BODY_NONE;
    reply_init(&t->reply);
    t->link = link_of_lane(c, lane);
    t->link->transfer = t;
    c->transfers++;
    buf_init(&head, HEAD_MAX);
    buf_space(&head, HEAD_USUAL);
    ask_compose(&head, ask, &c->manner);
    BUG_IF(head.full);
    dial_write(t->link->dial, buf_str(&head));
    buf_release(&head);
    if (t->finished)
        dial_flush(t->link->dial);
    return t;
}

void http_transfer_send(struct http_transfer *t, struct str bytes)
{
    struct buf open;

    if (!t->link || !bytes.len)
        return;
    BUG_IF(t->finished);
    if (!t->chunked) {
        dial_write(t->link->dial, bytes);
        return;
    }
    buf_init(&open, 64);
    chunked_open(&open, bytes.len);
    dial_write(t->link->dial, buf_str(&open));
    dial_write(t->link->dial, bytes);
    dial_write(t->link->dial, STR(CHUNKED_CLOSE));
    buf_release(&open);
}

void http_transfer_finish(struct http_transfer *t)
{
    if (t->finished)
        return;
    t->finished = true;
    if (!t->link)
        return;
    if (t->chunked)
        dial_write(t->link->dial, STR(CHUNKED_LAST));
    dial_flush(t->link->dial);
}

size_t http_transfer_queued(const struct http_transfer *t)
{
    return t->link ? dial_queued(t->link->dial) : 0;
}

void http_transfer_read(struct http_transfer *t, bool on)
{
    if (t->link)
        dial_read(t->link->dial, on);
}

void http_transfer_close(struct http_transfer *t)
{
    if (!t || t->closed)
        return;
    enter(t);
    if (t->link)
        let_go(t, false);
    t->client->transfers--;
    t->closed = true;
    leave(t);
}

void http_client_leave(struct http_client *c, uint64_t lane)
{
    for (struct link *k = *slot_of(c, lane), *next; k; k = next) {
        next = k->next;
        if (k->lane == lane)
            link_close(k);
    }
}
