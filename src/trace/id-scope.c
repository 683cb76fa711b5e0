#include "trace/id-scope.h"

#include "base/map.h"
#include "trace/limits.h"

void scope_tracker_init(struct scope_tracker *s)
{
    recent_keys_init(&s->stream_origin, LIMIT_STREAMS);
    recent_keys_init(&s->exchange_origin, LIMIT_STREAMS);
    json_init(&s->json);
}

void scope_tracker_release(struct scope_tracker *s)
{
    recent_keys_release(&s->stream_origin);
    recent_keys_release(&s->exchange_origin);
    json_release(&s->json);
}

static bool find_origin(const struct recent_keys *r, uint64_t number, uint64_t *first)
{
    const struct recent_keys_entry *found = recent_keys_find(r, map_number_key(&number));

    if (found)
        *first = found->value;
    return found != NULL;
}

/* The stream that an HTTP response resumes, if it names one. */
static bool resumed_stream(struct scope_tracker *s, const struct record *r, uint64_t *stream)
{
    struct json_fault fault;
    int64_t number;

    if (r->kind != RECORD_HTTP_RESPONSE || !r->http.resumes.len ||
        !json_scan(&s->json, r->http.resumes, &fault) ||
        !json_int(json_get(json_root(&s->json), STR("stream")), &number))
        return false;
    *stream = (uint64_t)number;
    return true;
}

static uint64_t first_exchange(const struct scope_tracker *s, uint64_t exchange)
{
    uint64_t first = exchange;

    find_origin(&s->exchange_origin, exchange, &first);
    return first;
}

/* A stream seen on a second exchange was resumed there, whether or not it kept its number. */
void scope_track(struct scope_tracker *s, const struct record *r)
{
    uint64_t first, known, stream;

    if (!(r->has & HAS_EXCHANGE) || !(r->has & HAS_STREAM))
        return;
    first = first_exchange(s, r->exchange);
    stream = r->stream;
    if (find_origin(&s->stream_origin, stream, &known) ||
        (resumed_stream(s, r, &stream) && find_origin(&s->stream_origin, stream, &known))) {
        if (known != first)
            recent_keys_add(&s->exchange_origin, map_number_key(&r->exchange), known, 0);
        first = known;
    }
    if (!find_origin(&s->stream_origin, r->stream, &known))
        recent_keys_add(&s->stream_origin, map_number_key(&r->stream), first, 0);
}

struct scope_chain scope_of(const struct scope_tracker *s, const struct record *r)
{
    struct scope_chain p = { .count = 0 };
    uint64_t first;

    if (r->has & HAS_EXCHANGE)
        p.levels[p.count++] =
            (struct scope_ref){ SCOPE_EXCHANGE, first_exchange(s, r->exchange) };
    else if (r->has & HAS_STREAM && find_origin(&s->stream_origin, r->stream, &first))
        p.levels[p.count++] = (struct scope_ref){ SCOPE_EXCHANGE, first };
    if (r->has & HAS_SESSION)
        p.levels[p.count++] = (struct scope_ref){ SCOPE_SESSION, r->session };
    else if (p.count)
        p.levels[p.count++] = (struct scope_ref){ SCOPE_SERVER, 0 };
    else
        p.levels[p.count++] = (struct scope_ref){ SCOPE_CONN, r->conn };
    return p;
}

void scope_add_key(struct buf *to, struct scope_ref scope, enum record_dir dir)
{
    const char head[2] = { (char)scope.kind, (char)dir };

    buf_add(to, str_n(head, sizeof head));
    buf_add(to, map_number_key(&scope.number));
}
