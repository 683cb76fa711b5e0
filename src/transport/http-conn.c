#include "transport/http-conn.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/record.h"

/* Heads and bodies as in other servers. The idle time is long: if it ends before the client's,
 * a request is lost now and then. */
const struct http_conn_timeouts http_conn_default_timeouts = {
    .head_ms = 10000,
    .idle_ms = 120000,
    .body_ms = 30000,
    .body_rate = 1024,
    .write_ms = 120000,
    .linger_ms = 2000,
};

struct http_conn_parser {
    struct request_head request;
    enum origin_kind host, origin; /* of the request */
    struct body body;
    bool in_body;
};

/* Parsers. A connection has one only while a request comes. */

/* The slot depends on the connection: its next head probably equals the one before, which is
 * then still in the parser. */
static struct http_conn_parser **spare_slot(const struct http_conn *c)
{
    return &c->shared->spare_parsers[c->number % HTTP_CONN_SPARE_PARSERS];
}

static void acquire_parser(struct http_conn *c)
{
    if (c->parser)
        return;
    c->parser = *spare_slot(c);
    *spare_slot(c) = NULL;
    if (c->parser)
        return;
    c->parser = mem_new(struct http_conn_parser);
    request_head_init(&c->parser->request);
}

static void free_parser(struct http_conn_parser *in)
{
    if (!in)
        return;
    request_head_release(&in->request);
    free(in);
}

static void release_body(struct http_conn_parser *in)
{
    if (in->in_body)
        body_release(&in->body);
    in->in_body = false;
}

static void release_parser(struct http_conn *c)
{
    struct http_conn_parser *in = c->parser;

    c->parser = NULL;
    if (!in)
        return;
    release_body(in);
    request_head_clear(&in->request);
    if (*spare_slot(c))
        free_parser(in);
    else
        *spare_slot(c) = in;
}

void http_conn_shared_release(struct http_conn_shared *h)
{
    for (size_t i = 0; i < HTTP_CONN_SPARE_PARSERS; i++) {
        free_parser(h->spare_parsers[i]);
        h->spare_parsers[i] = NULL;
    }
    buf_release(&h->compose_buf);
}

/* State. */

static bool has_exchange(const struct http_conn *c)
{
    return c->state == HTTP_CONN_BODY || c->state == HTTP_CONN_RESPONSE;
}

static void set_state(struct http_conn *c, enum http_conn_state state)
{
    c->state = state;
    c->since_ms = -1;
}

static void send_bytes(struct http_conn *c, struct str bytes)
{
    c->written += bytes.len;
    c->shared->io->write(c->io_arg, bytes);
}

static void discard_pending_input(struct http_conn *c)
{
    release_parser(c);
    buf_release(&c->pipelined);
    buf_init(&c->pipelined, HTTP_CONN_PIPELINED_MAX);
    if (c->body_paused)
        c->shared->io->read(c->io_arg, true);
    c->body_paused = false;
}

static void close_now(struct http_conn *c, bool reset)
{
    discard_pending_input(c);
    set_state(c, HTTP_CONN_CLOSED);
    c->shared->io->close(c->io_arg, reset);
}

static void start_linger(struct http_conn *c)
{
    discard_pending_input(c);
    c->shared->io->finish(c->io_arg);
    set_state(c, HTTP_CONN_LINGER);
}

static void abort_connection(struct http_conn *c)
{
    discard_pending_input(c);
    if (c->shared->io->queued(c->io_arg))
        set_state(c, HTTP_CONN_FLUSH);
    else
        close_now(c, true);
}

/* Functions for the exchange. */

static void on_write(void *at, struct str bytes)
{
    send_bytes(at, bytes);
}

/* Frees the memory of a rare, large response. */
static struct buf *on_compose_buf(void *at)
{
    const struct http_conn *c = at;
    struct buf *compose = &c->shared->compose_buf;

    if (compose->cap > BUF_SPARE_MAX)
        buf_release(compose);
    buf_clear(compose);
    return compose;
}

static void on_read(void *at, bool on)
{
    struct http_conn *c = at;

    if (c->body_paused == !on)
        return;
    c->body_paused = !on;
    c->since_ms = -1;
    c->shared->io->read(c->io_arg, on);
}

static void on_response_begun(void *at)
{
    struct http_conn *c = at;

    if (c->state == HTTP_CONN_RESPONSE)
        release_parser(c);
}

/* Closes a connection whose both sides have ended, once the queue is sent. */
static void close_when_sent(struct http_conn *c)
{
    if (c->shared->io->queued(c->io_arg))
        c->discard_input = true;
    else
        close_now(c, false);
}

static void on_ended(void *at)
{
    struct http_conn *c = at;

    if (c->input_closed && !c->pipelined.len && !c->feeding) {
        start_linger(c);
        close_when_sent(c);
        return;
    }
    if (c->exchange.close_after || c->stopping || c->discard_input) {
        start_linger(c);
        return;
    }
    BUG_IF(c->state != HTTP_CONN_RESPONSE);
    set_state(c, HTTP_CONN_HEAD);
    if (c->pipelined.len && !c->feeding)
        c->shared->io->resume_later(c->io_arg);
}

static void on_aborted(void *at, bool unframed)
{
    struct http_conn *c = at;

    if (unframed)
        abort_connection(c);
    else
        start_linger(c);
}

static size_t on_queued(const void *at)
{
    const struct http_conn *c = at;

    return c->shared->io->queued(c->io_arg);
}

static const struct http_exchange_io exchange_io = {
    .write = on_write,
    .compose_buf = on_compose_buf,
    .read = on_read,
    .response_begun = on_response_begun,
    .ended = on_ended,
    .aborted = on_aborted,
    .queued = on_queued,
};

/* Ends not chosen by the owner. The state changes before the event, so that the owner may call
 * anything in it, except functions of this exchange. */

static void fail_exchange(struct http_conn *c, const struct http_exchange_failure *why)
{
    c->exchange.done = true;
    c->exchange.head = NULL;
    c->shared->events->aborted(c->shared->to, &c->exchange, why);
}

/* Sends an error response unless a response has begun, and reports the failure. */
static void reject_request(struct http_conn *c, struct http_exchange_failure why)
{
    bool there = has_exchange(c), begun = there && c->exchange.response_begun;
    struct buf text;

    if (begun) {
        why.status = 0;
        http_exchange_abort(&c->exchange);
    } else {
        buf_init(&text, 4096);
        http_exchange_write_error(&text, why.status, there ? c->exchange.rpc_id : STR_NONE,
                                  str_z(why.text));
        send_bytes(c, buf_str(&text));
        buf_release(&text);
        start_linger(c);
    }
    if (there)
        fail_exchange(c, &why);
    else
        c->shared->events->rejected(c->shared->to, c->number, &why);
}

static void reject_invalid(struct http_conn *c, enum reject_reason why)
{
    reject_request(c, (struct http_exchange_failure){ .kind = HTTP_EXCHANGE_INVALID_REQUEST,
                                                      .status = reject_reason_status(why),
                                                      .text = reject_reason_text(why) });
}

void http_conn_reject_overload(struct http_conn *c)
{
    reject_request(c, (struct http_exchange_failure){ .kind = HTTP_EXCHANGE_OVERLOAD,
                                                      .status = 503,
                                                      .text = "too many connections" });
}

/* Reports an incomplete body; returns whether the owner has ended the exchange. */
static bool handle_short_body(struct http_conn *c)
{
    const struct http_conn_shared *h = c->shared;

    if (h->events->request_incomplete)
        h->events->request_incomplete(h->to, &c->exchange);
    return c->exchange.done;
}

void http_conn_lost(struct http_conn *c)
{
    static const struct http_exchange_failure why = {
        .kind = HTTP_EXCHANGE_CLIENT_CLOSED,
        .text = "the client has closed the connection",
    };
    bool there = has_exchange(c);
    bool halfway = c->state == HTTP_CONN_HEAD && c->parser;

    if (c->state == HTTP_CONN_CLOSED)
        return;
    close_now(c, false);
    if (there)
        fail_exchange(c, &why);
    else if (halfway)
        c->shared->events->rejected(c->shared->to, c->number, &why);
}

/* Returns whether a client that closed its side may still wait for the response; sends 100
 * Continue to find out. */
static bool is_still_waiting(struct http_conn *c)
{
    const struct http_exchange *x = &c->exchange;

    if (x->response_begun)
        return x->sized || c->half_closed;
    if (x->is_http10)
        return false;
    if (!c->half_closed)
        send_bytes(c, STR("HTTP/1.1 100 Continue\r\n\r\n"));
    c->half_closed = true;
    return true;
}

void http_conn_closed_unread(struct http_conn *c)
{
    if (c->half_closed)
        return;
    if (has_exchange(c) && is_still_waiting(c)) {
        c->half_closed = true;
        c->shared->io->watch_reset(c->io_arg);
    } else {
        http_conn_lost(c);
    }
}

/* A client may close its side before it has taken all of the response. */
void http_conn_input_closed(struct http_conn *c)
{
    bool more = c->state == HTTP_CONN_HEAD && c->pipelined.len;

    c->input_closed = true;
    if (c->state == HTTP_CONN_BODY && handle_short_body(c))
        return;
    if (more || (c->state == HTTP_CONN_RESPONSE && is_still_waiting(c))) {
        c->exchange.close_after = c->exchange.close_after || !c->pipelined.len;
        c->shared->io->watch_reset(c->io_arg);
        return;
    }
    if (c->state == HTTP_CONN_HEAD && !c->parser && c->shared->io->queued(c->io_arg))
        start_linger(c);
    if (c->state == HTTP_CONN_LINGER)
        close_when_sent(c);
    else if (c->state != HTTP_CONN_FLUSH)
        http_conn_lost(c);
}

/* Input. */

/* A repeated head has the same classes: they depend on nothing else. */
static void classify_origin(struct http_conn_parser *in, const struct url_authority *self)
{
    if (in->request.same_as_previous)
        return;
    in->host = origin_classify_host(&in->request.host, self);
    in->origin = origin_classify(&in->request.headers, self);
}

static void begin_exchange(struct http_conn *c)
{
    const struct request_head *r = &c->parser->request;
    const struct http_conn_shared *h = c->shared;
    bool none = body_is_empty(r->body);

    http_exchange_init(&c->exchange, r, &exchange_io, c);
    classify_origin(c->parser, h->self);
    c->exchange.host = c->parser->host;
    c->exchange.origin = c->parser->origin;
    c->exchange.connection = c->number;
    c->exchange.request_complete = none;
    c->had_request = true;
    c->body_bytes = 0;
    if (!none) {
        body_init(&c->parser->body, r->body);
        c->parser->in_body = true;
    }
    set_state(c, none ? HTTP_CONN_RESPONSE : HTTP_CONN_BODY);
    h->events->request(h->to, &c->exchange);
    if (none && has_exchange(c))
        h->events->request_complete(h->to, &c->exchange);
}

static bool read_head(struct http_conn *c, struct str *in)
{
    acquire_parser(c);
    switch (request_head_feed(&c->parser->request, in)) {
    case REQUEST_HEAD_MORE:
        return false;
    case REQUEST_HEAD_COMPLETE:
        begin_exchange(c);
        return true;
    case REQUEST_HEAD_REJECTED:
        reject_invalid(c, c->parser->request.reason);
        return false;
    }
    BUG("unknown result of the parser");
}

static void end_body(struct http_conn *c)
{
    release_body(c->parser);
    if (c->body_paused)
        on_read(c, true);
    set_state(c, HTTP_CONN_RESPONSE);
    c->exchange.request_complete = true;
    if (c->exchange.response_begun)
        release_parser(c);
    c->shared->events->request_complete(c->shared->to, &c->exchange);
}

static bool read_body(struct http_conn *c, struct str *in)
{
    struct str data;

    switch (body_next(&c->parser->body, in, &data)) {
    case BODY_MORE:
        return false;
    case BODY_DATA:
        c->exchange.awaits_continue = false;
        c->body_bytes += data.len;
        c->shared->events->data(c->shared->to, &c->exchange, data);
        return true;
    case BODY_END:
        end_body(c);
        return true;
    case BODY_REJECTED:
        reject_invalid(c, c->parser->body.chunked.reason);
        return false;
    }
    BUG("unknown result of the parser");
}

/* Returns whether too much of earlier responses is unsent to parse the next request. */
static bool has_unsent_responses(const struct http_conn *c)
{
    return c->state == HTTP_CONN_HEAD && !c->parser &&
           c->shared->io->queued(c->io_arg) > HTTP_CONN_UNSENT_MAX;
}

static void parse_input(struct http_conn *c, struct str *in)
{
    bool more = true;

    c->feeding = true;
    while (more) {
        if (c->state == HTTP_CONN_HEAD && in->len && !c->stopping && !has_unsent_responses(c))
            more = read_head(c, in);
        else if (c->state == HTTP_CONN_BODY)
            more = read_body(c, in);
        else
            more = false;
    }
    c->feeding = false;
    if (c->state == HTTP_CONN_HEAD && c->parser &&
        !request_head_has_begun(&c->parser->request) && !c->parser->request.empty_line)
        release_parser(c);
}

static void count_discarded(struct http_conn *c, size_t n)
{
    c->dropped += n;
    if (c->state == HTTP_CONN_LINGER && c->dropped > HTTP_CONN_LINGER_MAX)
        close_now(c, false);
}

/* Queues input after the current request, or drops it. */
static void queue_pipelined(struct http_conn *c, struct str bytes)
{
    if (!bytes.len || c->state == HTTP_CONN_CLOSED)
        return;
    if ((!has_exchange(c) && !has_unsent_responses(c)) || c->discard_input) {
        count_discarded(c, bytes.len);
        return;
    }
    buf_add(&c->pipelined, bytes);
    if (!c->pipelined.full)
        return;
    if (!has_exchange(c)) {
        start_linger(c);
        return;
    }
    c->discard_input = true;
    buf_release(&c->pipelined);
    buf_init(&c->pipelined, HTTP_CONN_PIPELINED_MAX);
}

static void handle_input(struct http_conn *c, struct str bytes)
{
    BUG_IF(c->feeding);
    if (!c->pipelined.len && !c->discard_input)
        parse_input(c, &bytes);
    queue_pipelined(c, bytes);
}

void http_conn_resume(struct http_conn *c)
{
    struct buf ahead = c->pipelined;

    if (c->state != HTTP_CONN_HEAD || !ahead.len || has_unsent_responses(c))
        return;
    buf_init(&c->pipelined, HTTP_CONN_PIPELINED_MAX);
    handle_input(c, buf_str(&ahead));
    buf_release(&ahead);
    if (c->input_closed)
        http_conn_input_closed(c);
}

void http_conn_feed(struct http_conn *c, struct str bytes)
{
    http_conn_resume(c);
    handle_input(c, bytes);
}

void http_conn_drained(struct http_conn *c)
{
    if (c->state == HTTP_CONN_FLUSH)
        close_now(c, true);
    else if (c->state == HTTP_CONN_LINGER && c->discard_input)
        close_now(c, false);
    else if (has_exchange(c))
        c->shared->events->drained(c->shared->to, &c->exchange);
    else if (c->state == HTTP_CONN_HEAD && c->pipelined.len)
        c->shared->io->resume_later(c->io_arg);
}

/* Timeouts. */

static void time_out(struct http_conn *c, unsigned status, const char *text)
{
    struct http_exchange_failure why = { .kind = HTTP_EXCHANGE_TIMEOUT,
                                         .status = status,
                                         .text = text };

    if (status && !(has_exchange(c) && c->exchange.response_begun)) {
        reject_request(c, why);
        return;
    }
    why.status = 0;
    if (has_exchange(c)) {
        close_now(c, true);
        fail_exchange(c, &why);
    } else {
        close_now(c, c->state == HTTP_CONN_FLUSH);
    }
}

/* Returns whether `progress` has not changed for `limit` ms. */
static bool has_stalled(struct http_conn *c, int64_t now, uint64_t progress, unsigned limit)
{
    if (c->since_ms < 0 || progress != c->progress) {
        c->since_ms = now;
        c->progress = progress;
    }
    return now - c->since_ms >= limit;
}

/* Returns whether the body is too slow. Every byte adds time, but no more than up to now: a
 * fast start does not allow a slow end. */
static bool is_body_slow(struct http_conn *c, int64_t now)
{
    const struct http_conn_timeouts *p = c->shared->timeouts;

    if (c->since_ms < 0) {
        c->since_ms = now;
    } else {
        uint64_t bought = (c->body_bytes - c->progress) * 1000 / p->body_rate;

        c->since_ms =
            bought > (uint64_t)(now - c->since_ms) ? now : c->since_ms + (int64_t)bought;
    }
    c->progress = c->body_bytes;
    return now - c->since_ms >= p->body_ms;
}

static enum http_conn_wait current_wait(const struct http_conn *c)
{
    if (c->state == HTTP_CONN_CLOSED)
        return HTTP_CONN_WAIT_NONE;
    if (c->shared->io->queued(c->io_arg))
        return HTTP_CONN_WAIT_WRITE;
    if (c->state == HTTP_CONN_HEAD)
        return c->parser || !c->had_request ? HTTP_CONN_WAIT_HEAD : HTTP_CONN_WAIT_REQUEST;
    if (c->state == HTTP_CONN_BODY && !c->body_paused && !c->exchange.awaits_continue)
        return HTTP_CONN_WAIT_BODY;
    return c->state == HTTP_CONN_LINGER ? HTTP_CONN_WAIT_CLOSE : HTTP_CONN_WAIT_NONE;
}

void http_conn_tick(struct http_conn *c, int64_t now_ms)
{
    const struct http_conn_timeouts *p = c->shared->timeouts;
    enum http_conn_wait wait = current_wait(c);

    if (wait != c->wait)
        c->since_ms = -1;
    c->wait = wait;
    if (wait == HTTP_CONN_WAIT_WRITE) {
        if (has_stalled(c, now_ms, c->written - c->shared->io->queued(c->io_arg), p->write_ms))
            time_out(c, 0, "the client does not read its response");
    } else if (wait == HTTP_CONN_WAIT_HEAD) {
        if (has_stalled(c, now_ms, 0, p->head_ms))
            time_out(c, c->parser ? 408 : 0, "the head of a request took too long");
    } else if (wait == HTTP_CONN_WAIT_REQUEST) {
        if (has_stalled(c, now_ms, 0, p->idle_ms))
            time_out(c, 0, "no request within the time limit");
    } else if (wait == HTTP_CONN_WAIT_BODY) {
        if (is_body_slow(c, now_ms) && !handle_short_body(c))
            time_out(c, 408, "the request body arrives too slowly");
    } else if (wait == HTTP_CONN_WAIT_CLOSE) {
        if (has_stalled(c, now_ms, 0, p->linger_ms))
            time_out(c, 0, "the client did not close the connection");
    }
}

/* Shutdown. */

void http_conn_stop(struct http_conn *c)
{
    c->stopping = true;
    if (has_exchange(c))
        c->exchange.close_after = true;
    else if (c->state == HTTP_CONN_HEAD && c->shared->io->queued(c->io_arg))
        start_linger(c);
    else if (c->state == HTTP_CONN_HEAD)
        close_now(c, false);
}

void http_conn_abort(struct http_conn *c)
{
    static const struct http_exchange_failure why = {
        .kind = HTTP_EXCHANGE_SHUTDOWN,
        .status = 503,
        .text = RECORD_WHY_STOPPED,
    };

    if (has_exchange(c))
        reject_request(c, why);
    else if (c->state != HTTP_CONN_CLOSED)
        close_now(c, false);
}

void http_conn_init(struct http_conn *c, struct http_conn_shared *h, void *at, uint64_t number)
{
    *c = (struct http_conn){ .shared = h, .io_arg = at, .number = number, .since_ms = -1 };
    buf_init(&c->pipelined, HTTP_CONN_PIPELINED_MAX);
}

void http_conn_release(struct http_conn *c)
{
    release_parser(c);
    buf_release(&c->pipelined);
}
