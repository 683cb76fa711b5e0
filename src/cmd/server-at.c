#include "cmd/server-at.h"

#include <stdlib.h>

#include "base/mem.h"

enum { LANE = 1, UNREACHABLE = 502, TOO_LATE = 504 };

/* What is asked, and not over. */
struct server_at_passing {
    struct server_at *at;
    uint64_t number;
    struct http_transfer *transfer;
    struct http_seen *seen; /* NULL: nothing is recorded */
    bool posts;             /* a message */
    bool begun;             /* to be answered */
};

static void settle(const struct server_at *s)
{
    if (s->events->settle)
        s->events->settle(s->to);
}

static void tell(struct server_at_passing *p, struct event ev)
{
    ev.exchange = p->number;
    drive_tell(&p->at->drive, ev);
}

static void take_out(struct server_at_passing *p)
{
    map_remove(&p->at->passing, map_number(&p->number));
    http_transfer_close(p->transfer);
}

static void forget(struct server_at_passing *p)
{
    take_out(p);
    free(p);
}

static void note_end(struct server_at_passing *p, enum http_tap_by by, bool clean,
                     struct str why)
{
    if (!p->seen)
        return;
    http_tap_end(p->seen, by, clean, why, p->at->now(p->at->to));
    p->seen = NULL;
    settle(p->at);
}

static void on_data(void *to, struct str bytes)
{
    struct server_at_passing *p = to;

    if (p->seen)
        http_tap_answered(p->seen, bytes, p->at->now(p->at->to));
    settle(p->at);
    tell(p, (struct event){ .kind = EVENT_DATA, .text = bytes });
}

static void on_head(void *to, const struct reply *r, struct str body)
{
    struct server_at_passing *p = to;
    struct server_at *s = p->at;
    uint64_t number = p->number;

    p->begun = true;
    if (p->seen)
        http_tap_answer(p->seen, r->status, &r->fields, BY_SERVER, s->now(s->to));
    settle(s);
    tell(p, (struct event){ .kind = EVENT_HEAD, .status = r->status, .fields = &r->fields });
    if (body.len && map_get(&s->passing, map_number(&number)))
        on_data(p, body);
}

/* The last thing that comes of it: whoever hears may ask for something else, on the same
 * connection. What was said is recorded before; how it ended when it is known what that is
 * worth, and before the client is told. */
static void on_whole(void *to)
{
    struct server_at_passing *p = to;
    struct server_at *s = p->at;

    if (p->seen)
        http_tap_answered_all(p->seen, s->now(s->to));
    settle(s);
    take_out(p);
    s->ended = p;
    tell(p, (struct event){ .kind = EVENT_WHOLE });
    s->ended = NULL;
    note_end(p, BY_SERVER, true, STR_NONE);
    free(p);
}

static void on_failed(void *to, enum http_fault fault, const struct err *why)
{
    static const struct fields none = { .at = NULL };
    struct server_at_passing *p = to;
    struct server_at *s = p->at;
    struct event ev = { .kind = EVENT_FAILED, .exchange = p->number, .why = str_z(why->msg) };
    bool lost = p->posts && !p->begun;

    if (p->seen && !p->begun)
        http_tap_answer(p->seen, fault == HTTP_TIMEOUT ? TOO_LATE : UNREACHABLE, &none,
                        BY_MCPREEL, s->now(s->to));
    note_end(p, fault == HTTP_CUT ? BY_SERVER : BY_ERROR, !p->begun, str_z(why->msg));
    forget(p);
    s->unreached = lost ? ev.why : STR_NONE;
    drive_tell(&s->drive, ev);
    s->unreached = STR_NONE;
    if (lost && s->events->lost)
        s->events->lost(s->to, str_z(why->msg));
}

static void on_drained(void *to)
{
    tell(to, (struct event){ .kind = EVENT_TAKEN });
}

static const struct http_events transfer_events = { .head = on_head,
                                                    .data = on_data,
                                                    .drained = on_drained,
                                                    .whole = on_whole,
                                                    .failed = on_failed };

/* What the client would have said, had it asked us: the query of the URL is not of it, that of
 * another address, which the server has told, is. */
static void note_ask(struct server_at_passing *p, const struct step_ask *ask)
{
    struct server_at *s = p->at;
    size_t mark = str_find(ask->target, '?');
    bool own = str_eq(ask->target, buf_str(&s->speaker.peer.target));
    struct http_tap_request q = {
        .conn = LANE,
        .method = ask->method,
        .path = str_n(ask->target.at, mark),
        .query = own ? STR_NONE : str_skip(ask->target, mark + 1),
        .fields = &ask->fields,
        .host = PLACE_SELF,
        .origin = PLACE_NONE,
        .endpoint = true,
    };

    p->seen = http_tap_begin(s->tap, &q);
    if (ask->body.len)
        http_tap_sent(p->seen, ask->body);
    http_tap_sent_all(p->seen, s->now(s->to));
    settle(s);
}

static void start(struct server_at *s, uint64_t number, const struct step_ask *ask)
{
    struct server_at_passing *p = mem_new(struct server_at_passing);
    struct ask a = { .method = ask->method, .target = ask->target, .fields = ask->fields };

    *p = (struct server_at_passing){ .at = s, .number = number, .posts = ask->body.at };
    map_put(&s->passing, map_number(&p->number), p);
    if (s->tap)
        note_ask(p, ask);
    if (ask->body.at)
        a.body = (struct body_plan){ .kind = BODY_LENGTH, .length = ask->body.len };
    p->transfer = http_transfer_start(s->client, LANE, &a, &transfer_events, p);
    http_transfer_send(p->transfer, ask->body);
    http_transfer_finish(p->transfer);
    if (s->held)
        http_transfer_read(p->transfer, false);
    if (!http_transfer_queued(p->transfer))
        on_drained(p);
}

static void abandon(struct server_at *s, uint64_t number, struct str why)
{
    struct server_at_passing *p = map_get(&s->passing, map_number(&number));

    note_end(p, why.len ? BY_MCPREEL : BY_CLIENT, false, why);
    forget(p);
}

static void find_fault(struct server_at *s, uint64_t number, struct str why)
{
    BUG_IF(!s->ended || s->ended->number != number);
    note_end(s->ended, BY_SERVER, true, why);
}

static void act(void *to, const struct action *a)
{
    struct server_at *s = to;

    if (a->kind == ACTION_SEND)
        s->events->message(s->to, a->text);
    else if (a->kind == ACTION_ASK)
        start(s, a->way.exchange, a->ask);
    else if (a->kind == ACTION_ABANDON)
        abandon(s, a->way.exchange, a->text);
    else if (a->kind == ACTION_FAULT)
        find_fault(s, a->way.exchange, a->text);
    else if (a->kind == ACTION_FINISH)
        s->events->done(s->to);
    else
        BUG("a speaker wishes for nothing else");
}

static void step(void *engine, const struct event *ev)
{
    http_speaker_step(engine, ev);
}

bool server_at_open(struct server_at *s, const struct app *app, struct loop *l,
                    const struct remote *where, const struct server_at_events *events, void *to,
                    struct err *e)
{
    struct http_client_config config = { .url = str_z(where->url),
                                         .extra = where->headers,
                                         .cacert = str_z(where->cacert) };
    struct http_client *client;

    if (!http_client_new(&client, l, &config, e))
        return false;
    *s = (struct server_at){ .client = client, .events = events, .to = to };
    map_init(&s->passing);
    drive_init(&s->drive, app, l, step, &s->speaker, act, s);
    http_speaker_init(&s->speaker, http_client_url(client), &s->drive.actions);
    return true;
}

void server_at_record(struct server_at *s, struct http_tap *tap,
                      struct tap_time (*now)(void *to))
{
    s->tap = tap;
    s->tap->server = http_client_url(s->client);
    s->now = now;
}

void server_at_release(struct server_at *s)
{
    struct map_entry *e;

    while ((e = map_next(&s->passing, NULL)))
        abandon(s, ((struct server_at_passing *)e->value)->number, STR(RECORD_WHY_ENDED));
    map_release(&s->passing);
    http_speaker_release(&s->speaker);
    drive_release(&s->drive);
    http_client_free(s->client);
}

void server_at_say(struct server_at *s, struct str line)
{
    drive_tell(&s->drive, (struct event){ .kind = EVENT_SAY, .text = line });
}

void server_at_close(struct server_at *s)
{
    drive_tell(&s->drive, (struct event){ .kind = EVENT_CLOSED });
}

void server_at_leave(struct server_at *s, struct str why)
{
    drive_tell(&s->drive, (struct event){ .kind = EVENT_GONE, .why = why });
}

size_t server_at_queued(const struct server_at *s)
{
    size_t bytes = s->speaker.said.bytes;

    for (struct map_entry *e = NULL; (e = map_next(&s->passing, e));)
        bytes += http_transfer_queued(((struct server_at_passing *)e->value)->transfer);
    return bytes;
}

void server_at_read(struct server_at *s, bool on)
{
    if (s->held == !on)
        return;
    s->held = !on;
    for (struct map_entry *e = NULL; (e = map_next(&s->passing, e));)
        http_transfer_read(((struct server_at_passing *)e->value)->transfer, on);
}
