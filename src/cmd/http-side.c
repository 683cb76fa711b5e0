#include "cmd/http-side.h"

#include <stdlib.h>

#include "base/mem.h"
#include "cmd/listening.h"
#include "trace/limits.h"
#include "trace/record.h"
#include "wire/cors.h"

enum {
    GRACE_MS = 1000, /* to take what was said, when we are to end */
    NOTHING = 204,
    REFUSED = 400, /* and above */
    TOO_LARGE = 413,
    UNSENDABLE = 500,
    QUEUE_MAX = 16 << 20,
    QUEUE_LOOK = 64 << 10, /* bytes between looks at it: a look sends what the loop holds */
    BODY_KEEP = 16 << 10,
};

/* An exchange that the engine has not ended. */
struct http_asking {
    struct http_asking *next, **back; /* among all; `next`: among those that were answered */
    struct exchange *x;               /* NULL: its client has gone */
    uint64_t number;
    void *seen;    /* by who watches */
    bool told;     /* the engine knows of it */
    bool waits;    /* it has been told all, and has not answered yet */
    size_t unseen; /* bytes since the last look at what is queued for it */
    struct buf body;
    struct step_request request;
};

static void free_asking(struct http_asking *q)
{
    if (q)
        buf_release(&q->body);
    free(q);
}

/* One is kept with its memory, unless that is large. */
static void sweep(struct http_side *s)
{
    while (s->answered && !s->drive->stepping) {
        struct http_asking *q = s->answered;

        s->answered = q->next;
        if (!s->spare && q->body.cap <= BODY_KEEP)
            s->spare = q;
        else
            free_asking(q);
    }
}

static struct http_asking *new_asking(struct http_side *s, struct exchange *x)
{
    struct http_asking *q = s->spare;

    s->spare = NULL;
    if (!q) {
        q = mem_new(struct http_asking);
        buf_init(&q->body, s->body_max);
    }
    buf_clear(&q->body);
    *q = (struct http_asking){ .x = x, .number = ++s->count, .body = q->body };
    q->next = s->asking;
    q->back = &s->asking;
    if (q->next)
        q->next->back = &q->next;
    s->asking = q;
    return q;
}

/* NULL: it is over, or nobody was told of it. Most are answered at once, and need not be
 * looked for. */
static struct http_asking *find(const struct http_side *s, uint64_t number)
{
    if (s->at_hand && s->at_hand->number == number)
        return s->at_hand;
    return map_get(&s->waiting, map_number(&number));
}

static void take_off(struct http_side *s, struct http_asking *q)
{
    *q->back = q->next;
    if (q->next)
        q->next->back = q->back;
    if (s->at_hand == q)
        s->at_hand = NULL;
    if (q->waits)
        map_remove(&s->waiting, map_number(&q->number));
}

/* The engine may still be looking at what it has just answered. */
static void forget(struct http_side *s, struct http_asking *q)
{
    take_off(s, q);
    q->next = s->answered;
    s->answered = q;
    sweep(s);
}

/* Lines of an answer, so that a page that was let in can see it. */
static const struct fields *shared(struct http_side *s, const struct exchange *x,
                                   const struct fields *own)
{
    if (x->origin == PLACE_NONE)
        return own;
    fields_clear(&s->shared);
    for (size_t i = 0; i < own->count; i++)
        fields_add(&s->shared, own->at[i].name, own->at[i].value);
    cors_share(&s->shared, &x->head->fields);
    return &s->shared;
}

/* `lines` may be NULL. */
static void refuse(struct http_side *s, struct exchange *x, void *seen,
                   const struct fields *lines, struct http_gate_verdict v)
{
    struct fields own = { .at = NULL };

    if (s->watch)
        s->watch->refused(s->to, seen, v.status, v.text);
    if (!lines)
        http_gate_add_lines(&own, v.status);
    exchange_refuse(x, v.status, lines ? lines : &own, str_z(v.text));
    fields_release(&own);
}

/* A browser asks what a page may send; that is nothing for the engine. */
static void permit(struct http_side *s, struct exchange *x, void *seen)
{
    struct answer a = { .status = NOTHING };
    struct err e = ERR_NONE;

    if (s->watch)
        s->watch->refused(s->to, seen, NOTHING, "a browser asked what a page may send");
    cors_permit(&a.fields, x->head);
    BUG_IF(!exchange_answer(x, &a, STR_NONE, &e)); /* it consists of what was read */
    fields_release(&a.fields);
}

static void refuse_large(struct http_side *s, struct exchange *x, void *seen)
{
    static const struct http_gate_verdict large = { .status = TOO_LARGE,
                                                    .text = "the message is too large" };
    static const struct fields none = { .at = NULL };

    refuse(s, x, seen, shared(s, x, &none), large);
}

static void on_request(void *to, struct exchange *x)
{
    struct http_side *s = to;
    struct http_gate_verdict v = http_gate_judge(&s->gate, x->head, x->host, x->origin, false);
    void *seen = s->watch ? s->watch->asked(s->to, x) : NULL;
    struct http_asking *q;

    if (v.status) {
        listening_kept_out(s->drive->app->log, &s->kept_out, s->watch ? NULL : &x->head->fields,
                           &v);
        refuse(s, x, seen, NULL, v);
        return;
    }
    if (cors_asks(x->head)) {
        permit(s, x, seen);
        return;
    }
    if (x->head->body.kind == BODY_LENGTH && x->head->body.length > s->body_max) {
        refuse_large(s, x, seen);
        return;
    }
    q = new_asking(s, x);
    q->seen = seen;
    x->user = q;
    exchange_go_on(x);
}

static void on_data(void *to, struct exchange *x, struct str bytes)
{
    struct http_side *s = to;
    struct http_asking *q = x->user;
    void *seen = q->seen;

    buf_add(&q->body, bytes);
    if (s->watch)
        s->watch->sent(s->to, seen, bytes);
    if (!q->body.full)
        return;
    x->user = NULL;
    forget(s, q);
    refuse_large(s, x, seen);
}

static void on_whole(void *to, struct exchange *x)
{
    struct http_side *s = to;
    struct http_asking *q = x->user;

    if (s->watch)
        s->watch->sent_all(s->to, q->seen);
    q->told = true;
    q->request = (struct step_request){
        .method = x->head->method,
        .path = x->head->path,
        .query = x->head->query,
        .fields = &x->head->fields,
        .host = place_admitted(x->host),
        .origin = place_admitted(x->origin),
        .body = buf_str(&q->body),
    };
    s->at_hand = q;
    drive_tell(
        s->drive,
        (struct event){ .kind = EVENT_REQUEST, .exchange = q->number, .request = &q->request });
    if (s->at_hand) {
        s->at_hand = NULL;
        q->waits = true;
        map_put(&s->waiting, map_number(&q->number), q);
    }
    sweep(s);
}

static void on_drained(void *to, struct exchange *x)
{
    (void)to;
    (void)x;
}

static void on_gone(void *to, struct exchange *x, const struct exchange_fault *why)
{
    struct http_side *s = to;
    struct http_asking *q = x->user;
    uint64_t number;

    if (!q)
        return;
    if (s->watch)
        s->watch->gone(s->to, q->seen, why);
    number = q->number;
    q->x = NULL;
    if (q->told) {
        drive_tell(s->drive, (struct event){ .kind = EVENT_GONE, .exchange = number });
        q = find(s, number);
    }
    if (q)
        forget(s, q);
}

static void on_refused(void *to, uint64_t connection, const struct exchange_fault *why)
{
    struct http_side *s = to;

    listening_refused(s->drive->app->log, &s->crowd, connection, why);
}

static const struct exchange_events events = {
    .request = on_request,
    .data = on_data,
    .whole = on_whole,
    .drained = on_drained,
    .gone = on_gone,
    .refused = on_refused,
};

bool http_side_open(struct http_side *s, struct loop *l, struct drive *drive,
                    const struct listen *at, struct err *e)
{
    struct http_server_config config = { .host = at->host, .port = at->port };

    *s = (struct http_side){ .drive = drive,
                             .gate = { .remote = at->scope != LISTEN_LOOPBACK },
                             .body_max = LIMIT_MESSAGE,
                             .queue_max = QUEUE_MAX };
    map_init(&s->waiting);
    return http_server_open(&s->server, l, &config, &events, s, e);
}

void http_side_close(struct http_side *s)
{
    static const struct exchange_fault ended = { .kind = EXCHANGE_STOPPED,
                                                 .text = RECORD_WHY_ENDED };

    http_server_close(s->server);
    sweep(s);
    while (s->asking) {
        struct http_asking *q = s->asking;

        if (s->watch)
            s->watch->gone(s->to, q->seen, &ended);
        take_off(s, q);
        free_asking(q);
    }
    free_asking(s->spare);
    fields_release(&s->shared);
    map_release(&s->waiting);
}

/* The engine is done with it. */
static struct exchange *take_out(struct http_side *s, struct http_asking *q)
{
    struct exchange *x = q->x;

    x->user = NULL;
    q->x = NULL;
    forget(s, q);
    return x;
}

/* What went wrong with a client is looked for here; what a recorder passes on, in its file.
 * Whatever the path is, it is served, and may be a secret: it is not told. */
static void tell_refused(struct http_side *s, const struct exchange *x, const struct action *a)
{
    if (a->status >= REFUSED && !s->watch)
        log_say(s->drive->app->log, LOG_DEBUG, "a %.*s was answered %u: %.*s",
                STR_ARG(x->head->method), a->status, STR_ARG(a->text));
}

static void answer(struct http_side *s, struct http_asking *q, const struct action *a)
{
    struct answer head = { .status = a->status, .fields = *shared(s, q->x, a->fields) };
    struct exchange *x = take_out(s, q);
    struct err e = ERR_NONE;

    tell_refused(s, x, a);
    if (!exchange_answer(x, &head, a->text, &e))
        exchange_refuse(x, UNSENDABLE, NULL,
                        STR("the recorded answer cannot be sent over HTTP"));
}

static void open_stream(struct http_side *s, struct http_asking *q, const struct action *a)
{
    struct answer head = { .status = a->status,
                           .fields = *shared(s, q->x, a->fields),
                           .body = EXCHANGE_STREAM };
    struct err e = ERR_NONE;

    BUG_IF(!exchange_head(q->x, &head, &e));
}

static bool is_owed_much(const struct http_side *s, struct http_asking *q, size_t more)
{
    q->unseen += more;
    if (q->unseen < QUEUE_LOOK)
        return false;
    q->unseen = 0;
    return exchange_queued(q->x) > s->queue_max;
}

/* What is sent is not waited with, so that a client that takes nothing would be owed more and
 * more. */
static void write_stream(struct http_side *s, struct http_asking *q, struct str text)
{
    static const struct exchange_fault slow = { .kind = EXCHANGE_SLOW,
                                                .text = "it does not take what it is sent" };
    uint64_t number = q->number;

    if (!is_owed_much(s, q, text.len)) {
        exchange_write(q->x, text);
        return;
    }
    if (s->watch)
        s->watch->gone(s->to, q->seen, &slow);
    exchange_abort(take_out(s, q));
    drive_tell(s->drive, (struct event){ .kind = EVENT_GONE, .exchange = number });
}

void http_side_act(struct http_side *s, const struct action *a)
{
    struct http_asking *q = find(s, a->way.exchange);

    if (!q || !q->x)
        return; /* it has gone, which the engine is about to hear */
    if (s->watch)
        s->watch->answered(s->to, q->seen, a);
    if (a->kind == ACTION_ANSWER)
        answer(s, q, a);
    else if (a->kind == ACTION_OPEN)
        open_stream(s, q, a);
    else if (a->kind == ACTION_WRITE)
        write_stream(s, q, a->text);
    else if (a->kind == ACTION_END)
        exchange_end(take_out(s, q));
}

void http_side_finish(struct http_side *s, void (*done)(void *to), void *to)
{
    http_server_stop(s->server, GRACE_MS, done, to);
}
