#include "transport/http-conn.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/record.h"

/* Heads and bodies as others have it; a keep-alive that ends before its clients' own is a
 * request lost now and then, so it is long. */
const struct http_patience http_conn_patience = {
    .head_ms = 10000,
    .idle_ms = 120000,
    .body_ms = 30000,
    .body_rate = 1024,
    .take_ms = 120000,
    .linger_ms = 2000,
};

struct http_conn_intake {
    struct request request;
    enum place host, origin; /* of the request */
    struct body body;
    bool in_body;
};

/* Memory for reading a request: nobody has it but while one comes. */

/* The same for all requests of a connection, and of few others: what comes on it is like what
 * came before. */
static struct http_conn_intake **spare_of(const struct http_conn *c)
{
    return &c->house->spare[c->number % HTTP_CONN_SPARES];
}

static void take_intake(struct http_conn *c)
{
    if (c->intake)
        return;
    c->intake = *spare_of(c);
    *spare_of(c) = NULL;
    if (c->intake)
        return;
    c->intake = mem_new(struct http_conn_intake);
    request_init(&c->intake->request);
}

static void free_intake(struct http_conn_intake *in)
{
    if (!in)
        return;
    request_release(&in->request);
    free(in);
}

static void leave_body(struct http_conn_intake *in)
{
    if (in->in_body)
        body_release(&in->body);
    in->in_body = false;
}

static void give_intake(struct http_conn *c)
{
    struct http_conn_intake *in = c->intake;

    c->intake = NULL;
    if (!in)
        return;
    leave_body(in);
    request_clear(&in->request);
    if (*spare_of(c))
        free_intake(in);
    else
        *spare_of(c) = in;
}

void http_conn_house_release(struct http_conn_house *h)
{
    for (size_t i = 0; i < HTTP_CONN_SPARES; i++) {
        free_intake(h->spare[i]);
        h->spare[i] = NULL;
    }
    buf_release(&h->desk);
}

/* Where it stands. */

static bool has_exchange(const struct http_conn *c)
{
    return c->state == HTTP_CONN_BODY || c->state == HTTP_CONN_ANSWER;
}

static void enter(struct http_conn *c, enum http_conn_state state)
{
    c->state = state;
    c->since_ms = -1;
}

static void send(struct http_conn *c, struct str bytes)
{
    c->written += bytes.len;
    c->house->port->write(c->at, bytes);
}

static void forget_input(struct http_conn *c)
{
    give_intake(c);
    buf_release(&c->ahead);
    buf_init(&c->ahead, HTTP_CONN_AHEAD_MAX);
    if (c->paused)
        c->house->port->read(c->at, true);
    c->paused = false;
}

static void close_now(struct http_conn *c, bool reset)
{
    forget_input(c);
    enter(c, HTTP_CONN_OVER);
    c->house->port->close(c->at, reset);
}

static void linger(struct http_conn *c)
{
    forget_input(c);
    c->house->port->finish(c->at);
    enter(c, HTTP_CONN_LINGER);
}

static void break_off(struct http_conn *c)
{
    forget_input(c);
    if (c->house->port->queued(c->at))
        enter(c, HTTP_CONN_FLUSH);
    else
        close_now(c, true);
}

/* What the exchange wants of us. */

static void on_write(void *at, struct str bytes)
{
    send(at, bytes);
}

/* What one rare answer needed must not stay for good. */
static struct buf *on_desk(void *at)
{
    const struct http_conn *c = at;
    struct buf *desk = &c->house->desk;

    if (desk->cap > BUF_SPARE)
        buf_release(desk);
    buf_clear(desk);
    return desk;
}

static void on_read(void *at, bool on)
{
    struct http_conn *c = at;

    if (c->paused == !on)
        return;
    c->paused = !on;
    c->since_ms = -1;
    c->house->port->read(c->at, on);
}

static void on_begun(void *at)
{
    struct http_conn *c = at;

    if (c->state == HTTP_CONN_ANSWER)
        give_intake(c);
}

/* It says no more, and has been told everything. */
static void part(struct http_conn *c)
{
    if (c->house->port->queued(c->at))
        c->deaf = true;
    else
        close_now(c, false);
}

static void on_ended(void *at)
{
    struct http_conn *c = at;

    if (c->ended && !c->ahead.len && !c->feeding) {
        linger(c);
        part(c);
        return;
    }
    if (c->exchange.last || c->stopping || c->deaf) {
        linger(c);
        return;
    }
    BUG_IF(c->state != HTTP_CONN_ANSWER);
    enter(c, HTTP_CONN_HEAD);
    if (c->ahead.len && !c->feeding)
        c->house->port->soon(c->at);
}

static void on_aborted(void *at, bool unframed)
{
    struct http_conn *c = at;

    if (unframed)
        break_off(c);
    else
        linger(c);
}

static size_t on_queued(const void *at)
{
    const struct http_conn *c = at;

    return c->house->port->queued(c->at);
}

static const struct exchange_port exchange_port = {
    .write = on_write,
    .desk = on_desk,
    .read = on_read,
    .begun = on_begun,
    .ended = on_ended,
    .aborted = on_aborted,
    .queued = on_queued,
};

/* Ends that the owner has not chosen. The state is left first: so the owner may do what it
 * likes when it is told, but for touching the exchange. */

static void lose_exchange(struct http_conn *c, const struct exchange_fault *why)
{
    c->exchange.over = true;
    c->exchange.head = NULL;
    c->house->events->gone(c->house->to, &c->exchange, why);
}

/* Tells the client as far as it can still be told, and whoever keeps the log. */
static void refuse(struct http_conn *c, struct exchange_fault why)
{
    bool there = has_exchange(c), begun = there && c->exchange.begun;
    struct buf text;

    if (begun) {
        why.status = 0;
        exchange_abort(&c->exchange);
    } else {
        buf_init(&text, 4096);
        exchange_compose_refusal(&text, why.status, there ? c->exchange.id : STR_NONE,
                                 str_z(why.text));
        send(c, buf_str(&text));
        buf_release(&text);
        linger(c);
    }
    if (there)
        lose_exchange(c, &why);
    else
        c->house->events->refused(c->house->to, c->number, &why);
}

static void refuse_input(struct http_conn *c, enum refusal why)
{
    refuse(c, (struct exchange_fault){ .kind = EXCHANGE_INVALID,
                                       .status = refusal_status(why),
                                       .text = refusal_text(why) });
}

void http_conn_turn_away(struct http_conn *c)
{
    refuse(c, (struct exchange_fault){
                  .kind = EXCHANGE_CROWD, .status = 503, .text = "too many connections" });
}

/* Whether the owner has an answer for who will not send all of its request. */
static bool is_answered_short(struct http_conn *c)
{
    const struct http_conn_house *h = c->house;

    if (h->events->cut)
        h->events->cut(h->to, &c->exchange);
    return c->exchange.over;
}

void http_conn_lost(struct http_conn *c)
{
    static const struct exchange_fault why = {
        .kind = EXCHANGE_LEFT,
        .text = "the client has closed the connection",
    };
    bool there = has_exchange(c);
    bool halfway = c->state == HTTP_CONN_HEAD && c->intake;

    if (c->state == HTTP_CONN_OVER)
        return;
    close_now(c, false);
    if (there)
        lose_exchange(c, &why);
    else if (halfway)
        c->house->events->refused(c->house->to, c->number, &why);
}

/* Whether a client that closed its side still waits for the answer, as far as can be told
 * now. */
static bool still_waits(struct http_conn *c)
{
    const struct exchange *x = &c->exchange;

    if (x->begun)
        return x->sized || c->doubted;
    if (x->old)
        return false;
    if (!c->doubted)
        send(c, STR("HTTP/1.1 100 Continue\r\n\r\n"));
    c->doubted = true;
    return true;
}

void http_conn_abandoned(struct http_conn *c)
{
    if (c->doubted)
        return;
    if (has_exchange(c) && still_waits(c)) {
        c->doubted = true;
        c->house->port->watch(c->at);
    } else {
        http_conn_lost(c);
    }
}

/* Who has its answer may close its side before it has taken all of it. */
void http_conn_ended(struct http_conn *c)
{
    bool more = c->state == HTTP_CONN_HEAD && c->ahead.len;

    c->ended = true;
    if (c->state == HTTP_CONN_BODY && is_answered_short(c))
        return;
    if (more || (c->state == HTTP_CONN_ANSWER && still_waits(c))) {
        c->exchange.last = c->exchange.last || !c->ahead.len;
        c->house->port->watch(c->at);
        return;
    }
    if (c->state == HTTP_CONN_HEAD && !c->intake && c->house->port->queued(c->at))
        linger(c);
    if (c->state == HTTP_CONN_LINGER)
        part(c);
    else if (c->state != HTTP_CONN_FLUSH)
        http_conn_lost(c);
}

/* Reading. */

/* Of a head that has come again both are known: they depend on nothing else. */
static void find_places(struct http_conn_intake *in, const struct url_authority *self)
{
    if (in->request.again)
        return;
    in->host = place_of_host(&in->request.host, self);
    in->origin = place_of_origin(&in->request.fields, self);
}

static void begin_exchange(struct http_conn *c)
{
    const struct request *r = &c->intake->request;
    const struct http_conn_house *h = c->house;
    bool none = body_is_none(r->body);

    exchange_init(&c->exchange, r, &exchange_port, c);
    find_places(c->intake, h->self);
    c->exchange.host = c->intake->host;
    c->exchange.origin = c->intake->origin;
    c->exchange.connection = c->number;
    c->exchange.whole = none;
    c->used = true;
    c->got = 0;
    if (!none) {
        body_init(&c->intake->body, r->body);
        c->intake->in_body = true;
    }
    enter(c, none ? HTTP_CONN_ANSWER : HTTP_CONN_BODY);
    h->events->request(h->to, &c->exchange);
    if (none && has_exchange(c))
        h->events->whole(h->to, &c->exchange);
}

static bool read_head(struct http_conn *c, struct str *in)
{
    take_intake(c);
    switch (request_feed(&c->intake->request, in)) {
    case REQUEST_MORE:
        return false;
    case REQUEST_WHOLE:
        begin_exchange(c);
        return true;
    case REQUEST_REFUSED:
        refuse_input(c, c->intake->request.why);
        return false;
    }
    BUG("no such answer");
}

static void end_body(struct http_conn *c)
{
    leave_body(c->intake);
    if (c->paused)
        on_read(c, true);
    enter(c, HTTP_CONN_ANSWER);
    c->exchange.whole = true;
    if (c->exchange.begun)
        give_intake(c);
    c->house->events->whole(c->house->to, &c->exchange);
}

static bool read_body(struct http_conn *c, struct str *in)
{
    struct str data;

    switch (body_next(&c->intake->body, in, &data)) {
    case BODY_MORE:
        return false;
    case BODY_DATA:
        c->exchange.waiting = false;
        c->got += data.len;
        c->house->events->data(c->house->to, &c->exchange, data);
        return true;
    case BODY_END:
        end_body(c);
        return true;
    case BODY_REFUSED:
        refuse_input(c, c->intake->body.chunked.why);
        return false;
    }
    BUG("no such answer");
}

/* Answers are there for it that it does not take. */
static bool is_owed_much(const struct http_conn *c)
{
    return c->state == HTTP_CONN_HEAD && !c->intake &&
           c->house->port->queued(c->at) > HTTP_CONN_OWED_MAX;
}

static void consume(struct http_conn *c, struct str *in)
{
    bool more = true;

    c->feeding = true;
    while (more) {
        if (c->state == HTTP_CONN_HEAD && in->len && !c->stopping && !is_owed_much(c))
            more = read_head(c, in);
        else if (c->state == HTTP_CONN_BODY)
            more = read_body(c, in);
        else
            more = false;
    }
    c->feeding = false;
    if (c->state == HTTP_CONN_HEAD && c->intake && !request_begun(&c->intake->request) &&
        !c->intake->request.empty_line)
        give_intake(c);
}

static void drop(struct http_conn *c, size_t n)
{
    c->dropped += n;
    if (c->state == HTTP_CONN_LINGER && c->dropped > HTTP_CONN_LINGER_MAX)
        close_now(c, false);
}

/* What comes too early, or for nobody. */
static void put_aside(struct http_conn *c, struct str bytes)
{
    if (!bytes.len || c->state == HTTP_CONN_OVER)
        return;
    if ((!has_exchange(c) && !is_owed_much(c)) || c->deaf) {
        drop(c, bytes.len);
        return;
    }
    buf_add(&c->ahead, bytes);
    if (!c->ahead.full)
        return;
    if (!has_exchange(c)) {
        linger(c);
        return;
    }
    c->deaf = true;
    buf_release(&c->ahead);
    buf_init(&c->ahead, HTTP_CONN_AHEAD_MAX);
}

static void take(struct http_conn *c, struct str bytes)
{
    BUG_IF(c->feeding);
    if (!c->ahead.len && !c->deaf)
        consume(c, &bytes);
    put_aside(c, bytes);
}

void http_conn_go_on(struct http_conn *c)
{
    struct buf ahead = c->ahead;

    if (c->state != HTTP_CONN_HEAD || !ahead.len || is_owed_much(c))
        return;
    buf_init(&c->ahead, HTTP_CONN_AHEAD_MAX);
    take(c, buf_str(&ahead));
    buf_release(&ahead);
    if (c->ended)
        http_conn_ended(c);
}

void http_conn_feed(struct http_conn *c, struct str bytes)
{
    http_conn_go_on(c);
    take(c, bytes);
}

void http_conn_drained(struct http_conn *c)
{
    if (c->state == HTTP_CONN_FLUSH)
        close_now(c, true);
    else if (c->state == HTTP_CONN_LINGER && c->deaf)
        close_now(c, false);
    else if (has_exchange(c))
        c->house->events->drained(c->house->to, &c->exchange);
    else if (c->state == HTTP_CONN_HEAD && c->ahead.len)
        c->house->port->soon(c->at);
}

/* Time. */

static void expire(struct http_conn *c, unsigned status, const char *text)
{
    struct exchange_fault why = { .kind = EXCHANGE_SLOW, .status = status, .text = text };

    if (status && !(has_exchange(c) && c->exchange.begun)) {
        refuse(c, why);
        return;
    }
    why.status = 0;
    if (has_exchange(c)) {
        close_now(c, true);
        lose_exchange(c, &why);
    } else {
        close_now(c, c->state == HTTP_CONN_FLUSH);
    }
}

/* Whether `limit` has passed since it last moved. */
static bool is_stuck(struct http_conn *c, int64_t now, uint64_t progress, unsigned limit)
{
    if (c->since_ms < 0 || progress != c->progress) {
        c->since_ms = now;
        c->progress = progress;
    }
    return now - c->since_ms >= limit;
}

/* Every byte buys time, but nobody can save it. */
static bool is_behind(struct http_conn *c, int64_t now)
{
    const struct http_patience *p = c->house->patience;

    if (c->since_ms < 0) {
        c->since_ms = now;
    } else {
        uint64_t bought = (c->got - c->progress) * 1000 / p->body_rate;

        c->since_ms =
            bought > (uint64_t)(now - c->since_ms) ? now : c->since_ms + (int64_t)bought;
    }
    c->progress = c->got;
    return now - c->since_ms >= p->body_ms;
}

static enum http_conn_wait what_for(const struct http_conn *c)
{
    if (c->state == HTTP_CONN_OVER)
        return HTTP_CONN_FOR_NOTHING;
    if (c->house->port->queued(c->at))
        return HTTP_CONN_FOR_TAKING;
    if (c->state == HTTP_CONN_HEAD)
        return c->intake || !c->used ? HTTP_CONN_FOR_HEAD : HTTP_CONN_FOR_REQUEST;
    if (c->state == HTTP_CONN_BODY && !c->paused && !c->exchange.waiting)
        return HTTP_CONN_FOR_BODY;
    return c->state == HTTP_CONN_LINGER ? HTTP_CONN_FOR_GOODBYE : HTTP_CONN_FOR_NOTHING;
}

void http_conn_tick(struct http_conn *c, int64_t now_ms)
{
    const struct http_patience *p = c->house->patience;
    enum http_conn_wait wait = what_for(c);

    if (wait != c->wait)
        c->since_ms = -1;
    c->wait = wait;
    if (wait == HTTP_CONN_FOR_TAKING) {
        if (is_stuck(c, now_ms, c->written - c->house->port->queued(c->at), p->take_ms))
            expire(c, 0, "the client does not take its answer");
    } else if (wait == HTTP_CONN_FOR_HEAD) {
        if (is_stuck(c, now_ms, 0, p->head_ms))
            expire(c, c->intake ? 408 : 0, "the head of a request took too long");
    } else if (wait == HTTP_CONN_FOR_REQUEST) {
        if (is_stuck(c, now_ms, 0, p->idle_ms))
            expire(c, 0, "no request came");
    } else if (wait == HTTP_CONN_FOR_BODY) {
        if (is_behind(c, now_ms) && !is_answered_short(c))
            expire(c, 408, "the body of a request comes too slowly");
    } else if (wait == HTTP_CONN_FOR_GOODBYE) {
        if (is_stuck(c, now_ms, 0, p->linger_ms))
            expire(c, 0, "the client does not hang up");
    }
}

/* Our own end. */

void http_conn_stop(struct http_conn *c)
{
    c->stopping = true;
    if (has_exchange(c))
        c->exchange.last = true;
    else if (c->state == HTTP_CONN_HEAD && c->house->port->queued(c->at))
        linger(c);
    else if (c->state == HTTP_CONN_HEAD)
        close_now(c, false);
}

void http_conn_abort(struct http_conn *c)
{
    static const struct exchange_fault why = {
        .kind = EXCHANGE_STOPPED,
        .status = 503,
        .text = RECORD_WHY_ENDED,
    };

    if (has_exchange(c))
        refuse(c, why);
    else if (c->state != HTTP_CONN_OVER)
        close_now(c, false);
}

void http_conn_init(struct http_conn *c, struct http_conn_house *h, void *at, uint64_t number)
{
    *c = (struct http_conn){ .house = h, .at = at, .number = number, .since_ms = -1 };
    buf_init(&c->ahead, HTTP_CONN_AHEAD_MAX);
}

void http_conn_release(struct http_conn *c)
{
    give_intake(c);
    buf_release(&c->ahead);
}
