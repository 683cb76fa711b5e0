#include "runtime/http-clients.h"

#include <stdlib.h>

#include "base/mem.h"
#include "runtime/listen-config.h"
#include "trace/limits.h"
#include "trace/record.h"
#include "wire/cors.h"

enum {
    GRACE_MS = 1000, /* for clients to read responses at the end */
    NOTHING = 204,
    REFUSED = 400, /* and above */
    TOO_LARGE = 413,
    INTERNAL_ERROR = 500,
    QUEUE_MAX = 16 << 20,
    QUEUE_CHECK_BYTES =
        64 << 10, /* bytes between checks: each check flushes the loop's batched writes */
    BODY_KEEP = 16 << 10,
};

/* An exchange that the engine has not ended. */
struct http_clients_exchange {
    struct http_clients_exchange *next,
        **back;              /* in `open_exchanges`; `next` also in `finished` */
    struct http_exchange *x; /* NULL: its client has closed */
    uint64_t number;
    void *observed;         /* the observer's pointer */
    bool dispatched;        /* the engine has got it */
    bool is_pending;        /* the engine will answer later: it is in `pending` */
    size_t unchecked_bytes; /* bytes since the last check of its queue */
    struct buf body;
    struct event_request request;
};

static void free_exchange(struct http_clients_exchange *q)
{
    if (q)
        buf_release(&q->body);
    free(q);
}

/* Keeps one with its memory, unless that is large. */
static void free_finished(struct http_clients *s)
{
    while (s->finished && !s->driver->stepping) {
        struct http_clients_exchange *q = s->finished;

        s->finished = q->next;
        if (!s->spare && q->body.cap <= BODY_KEEP)
            s->spare = q;
        else
            free_exchange(q);
    }
}

static struct http_clients_exchange *new_exchange(struct http_clients *s,
                                                  struct http_exchange *x)
{
    struct http_clients_exchange *q = s->spare;

    s->spare = NULL;
    if (!q) {
        q = mem_new(struct http_clients_exchange);
        buf_init(&q->body, s->body_max);
    }
    buf_clear(&q->body);
    *q = (struct http_clients_exchange){ .x = x,
                                         .number = ++s->exchange_count,
                                         .body = q->body };
    q->next = s->open_exchanges;
    q->back = &s->open_exchanges;
    if (q->next)
        q->next->back = &q->next;
    s->open_exchanges = q;
    return q;
}

/* Returns NULL if it has ended or was not dispatched. Most are answered at once and are
 * `current`. */
static struct http_clients_exchange *find_exchange(const struct http_clients *s,
                                                   uint64_t number)
{
    if (s->current && s->current->number == number)
        return s->current;
    return map_get(&s->pending, map_number_key(&number));
}

static void unlink_exchange(struct http_clients *s, struct http_clients_exchange *q)
{
    *q->back = q->next;
    if (q->next)
        q->next->back = q->back;
    if (s->current == q)
        s->current = NULL;
    if (q->is_pending)
        map_remove(&s->pending, map_number_key(&q->number));
}

/* Frees it later: the engine may still use the request it has just answered. */
static void finish_exchange(struct http_clients *s, struct http_clients_exchange *q)
{
    unlink_exchange(s, q);
    q->next = s->finished;
    s->finished = q;
    free_finished(s);
}

/* Returns the headers of a response, with CORS headers for an accepted Origin. */
static const struct headers *with_cors_headers(struct http_clients *s,
                                               const struct http_exchange *x,
                                               const struct headers *own)
{
    if (x->origin == ORIGIN_NONE)
        return own;
    headers_clear(&s->cors_headers);
    for (size_t i = 0; i < own->count; i++)
        headers_add(&s->cors_headers, own->at[i].name, own->at[i].value);
    cors_add_headers(&s->cors_headers, &x->head->headers);
    return &s->cors_headers;
}

/* `lines` may be NULL. */
static void reject_request(struct http_clients *s, struct http_exchange *x, void *observed,
                           const struct headers *lines, struct http_access_decision v)
{
    struct headers own = { .at = NULL };

    if (s->observer)
        s->observer->rejected(s->to, observed, v.status, v.text);
    if (!lines)
        http_access_add_headers(&own, v.status);
    http_exchange_send_error(x, v.status, lines ? lines : &own, str_z(v.text));
    headers_release(&own);
}

/* Answers a CORS preflight without the engine. */
static void answer_preflight(struct http_clients *s, struct http_exchange *x, void *observed)
{
    struct http_exchange_response a = { .status = NOTHING };
    struct err e = ERR_NONE;

    if (s->observer)
        s->observer->rejected(s->to, observed, NOTHING, "CORS preflight");
    cors_add_preflight_headers(&a.headers, x->head);
    BUG_IF(!http_exchange_respond(x, &a, STR_NONE, &e)); /* all headers come from the request */
    headers_release(&a.headers);
}

static void reject_too_large(struct http_clients *s, struct http_exchange *x, void *observed)
{
    static const struct http_access_decision large = { .status = TOO_LARGE,
                                                       .text = "the message is too large" };
    static const struct headers none = { .at = NULL };

    reject_request(s, x, observed, with_cors_headers(s, x, &none), large);
}

static void on_request(void *to, struct http_exchange *x)
{
    struct http_clients *s = to;
    struct http_access_decision v =
        http_access_check(&s->access_rules, x->head, x->host, x->origin, false);
    void *observed = s->observer ? s->observer->request(s->to, x) : NULL;
    struct http_clients_exchange *q;

    if (v.status) {
        listen_config_log_rejected(s->driver->app->log, &s->logged_rejections,
                                   s->observer ? NULL : &x->head->headers, &v);
        reject_request(s, x, observed, NULL, v);
        return;
    }
    if (cors_is_preflight(x->head)) {
        answer_preflight(s, x, observed);
        return;
    }
    if (x->head->body.kind == BODY_LENGTH && x->head->body.length > s->body_max) {
        reject_too_large(s, x, observed);
        return;
    }
    q = new_exchange(s, x);
    q->observed = observed;
    x->user = q;
    http_exchange_send_continue(x);
}

static void on_data(void *to, struct http_exchange *x, struct str bytes)
{
    struct http_clients *s = to;
    struct http_clients_exchange *q = x->user;
    void *observed = q->observed;

    buf_add(&q->body, bytes);
    if (s->observer)
        s->observer->request_data(s->to, observed, bytes);
    if (!q->body.full)
        return;
    x->user = NULL;
    finish_exchange(s, q);
    reject_too_large(s, x, observed);
}

static void on_whole(void *to, struct http_exchange *x)
{
    struct http_clients *s = to;
    struct http_clients_exchange *q = x->user;

    if (s->observer)
        s->observer->request_end(s->to, q->observed);
    q->dispatched = true;
    q->request = (struct event_request){
        .method = x->head->method,
        .path = x->head->path,
        .query = x->head->query,
        .headers = &x->head->headers,
        .host = origin_if_allowed(x->host),
        .origin = origin_if_allowed(x->origin),
        .body = buf_str(&q->body),
    };
    s->current = q;
    driver_dispatch(s->driver, (struct event){ .kind = EVENT_HTTP_REQUEST,
                                               .exchange = q->number,
                                               .request = &q->request });
    if (s->current) {
        s->current = NULL;
        q->is_pending = true;
        map_put(&s->pending, map_number_key(&q->number), q);
    }
    free_finished(s);
}

static void on_drained(void *to, struct http_exchange *x)
{
    (void)to;
    (void)x;
}

static void on_gone(void *to, struct http_exchange *x, const struct http_exchange_failure *why)
{
    struct http_clients *s = to;
    struct http_clients_exchange *q = x->user;
    uint64_t number;

    if (!q)
        return;
    if (s->observer)
        s->observer->closed(s->to, q->observed, why);
    number = q->number;
    q->x = NULL;
    if (q->dispatched) {
        driver_dispatch(s->driver,
                        (struct event){ .kind = EVENT_CLIENT_CLOSED, .exchange = number });
        q = find_exchange(s, number);
    }
    if (q)
        finish_exchange(s, q);
}

static void on_refused(void *to, uint64_t connection, const struct http_exchange_failure *why)
{
    struct http_clients *s = to;

    listen_config_log_refused(s->driver->app->log, &s->logged_fd_limit, connection, why);
}

static const struct http_exchange_events events = {
    .request = on_request,
    .data = on_data,
    .request_complete = on_whole,
    .drained = on_drained,
    .aborted = on_gone,
    .rejected = on_refused,
};

bool http_clients_open(struct http_clients *s, struct loop *l, struct driver *driver,
                       const struct listen_address *address, struct err *e)
{
    struct http_server_config config = { .host = address->host, .port = address->port };

    *s = (struct http_clients){ .driver = driver,
                                .access_rules = { .allow_remote =
                                                      address->scope != LISTEN_LOOPBACK },
                                .body_max = LIMIT_MESSAGE,
                                .queue_max = QUEUE_MAX };
    map_init(&s->pending);
    return http_server_open(&s->server, l, &config, &events, s, e);
}

void http_clients_close(struct http_clients *s)
{
    static const struct http_exchange_failure ended = { .kind = HTTP_EXCHANGE_SHUTDOWN,
                                                        .text = RECORD_WHY_STOPPED };

    http_server_close(s->server);
    free_finished(s);
    while (s->open_exchanges) {
        struct http_clients_exchange *q = s->open_exchanges;

        if (s->observer)
            s->observer->closed(s->to, q->observed, &ended);
        unlink_exchange(s, q);
        free_exchange(q);
    }
    free_exchange(s->spare);
    headers_release(&s->cors_headers);
    map_release(&s->pending);
}

/* Ends the engine's part of an exchange and returns the HTTP exchange. */
static struct http_exchange *detach_exchange(struct http_clients *s,
                                             struct http_clients_exchange *q)
{
    struct http_exchange *x = q->x;

    x->user = NULL;
    q->x = NULL;
    finish_exchange(s, q);
    return x;
}

/* Logs an error status, unless an observer records it. Not the path: it may be a secret. */
static void log_error_response(struct http_clients *s, const struct http_exchange *x,
                               const struct action *a)
{
    if (a->status >= REFUSED && !s->observer)
        log_printf(s->driver->app->log, LOG_DEBUG, "responded to a %.*s request with %u: %.*s",
                   STR_ARG(x->head->method), a->status, STR_ARG(a->text));
}

static void send_response(struct http_clients *s, struct http_clients_exchange *q,
                          const struct action *a)
{
    struct http_exchange_response head = { .status = a->status,
                                           .headers = *with_cors_headers(s, q->x, a->headers) };
    struct http_exchange *x = detach_exchange(s, q);
    struct err e = ERR_NONE;

    log_error_response(s, x, a);
    if (!http_exchange_respond(x, &head, a->text, &e))
        http_exchange_send_error(x, INTERNAL_ERROR, NULL,
                                 STR("the recorded response cannot be sent over HTTP"));
}

static void open_stream(struct http_clients *s, struct http_clients_exchange *q,
                        const struct action *a)
{
    struct http_exchange_response head = { .status = a->status,
                                           .headers = *with_cors_headers(s, q->x, a->headers),
                                           .body = HTTP_EXCHANGE_STREAM };
    struct err e = ERR_NONE;

    BUG_IF(!http_exchange_send_head(q->x, &head, &e));
}

static bool exceeds_queue(const struct http_clients *s, struct http_clients_exchange *q,
                          size_t more)
{
    q->unchecked_bytes += more;
    if (q->unchecked_bytes < QUEUE_CHECK_BYTES)
        return false;
    q->unchecked_bytes = 0;
    return http_exchange_queued(q->x) > s->queue_max;
}

/* Streams have no flow control, so the queue of a client that does not read is limited. */
static void write_stream(struct http_clients *s, struct http_clients_exchange *q,
                         struct str text)
{
    static const struct http_exchange_failure slow = {
        .kind = HTTP_EXCHANGE_TIMEOUT, .text = "the client does not read its stream"
    };
    uint64_t number = q->number;

    if (!exceeds_queue(s, q, text.len)) {
        http_exchange_write(q->x, text);
        return;
    }
    if (s->observer)
        s->observer->closed(s->to, q->observed, &slow);
    http_exchange_abort(detach_exchange(s, q));
    driver_dispatch(s->driver,
                    (struct event){ .kind = EVENT_CLIENT_CLOSED, .exchange = number });
}

void http_clients_act(struct http_clients *s, const struct action *a)
{
    struct http_clients_exchange *q = find_exchange(s, a->route.exchange);

    if (!q || !q->x)
        return; /* the engine will get EVENT_CLIENT_CLOSED */
    if (s->observer)
        s->observer->response(s->to, q->observed, a);
    if (a->kind == ACTION_HTTP_RESPONSE)
        send_response(s, q, a);
    else if (a->kind == ACTION_STREAM_OPEN)
        open_stream(s, q, a);
    else if (a->kind == ACTION_STREAM_WRITE)
        write_stream(s, q, a->text);
    else if (a->kind == ACTION_STREAM_END)
        http_exchange_end(detach_exchange(s, q));
}

void http_clients_finish(struct http_clients *s, void (*done)(void *to), void *to)
{
    http_server_stop(s->server, GRACE_MS, done, to);
}
