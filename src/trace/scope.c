#include "trace/scope.h"

#include "base/map.h"
#include "trace/limits.h"

void scope_init(struct scope *s)
{
    recall_init(&s->streams, LIMIT_STREAMS);
    recall_init(&s->exchanges, LIMIT_STREAMS);
    json_init(&s->json);
}

void scope_release(struct scope *s)
{
    recall_release(&s->streams);
    recall_release(&s->exchanges);
    json_release(&s->json);
}

static bool look_up(const struct recall *r, uint64_t number, uint64_t *first)
{
    const struct recall_entry *found = recall_find(r, map_number(&number));

    if (found)
        *first = found->what;
    return found != NULL;
}

/* The stream that a response goes on with, if it names one. */
static bool resumed_stream(struct scope *s, const struct record *r, uint64_t *stream)
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

static uint64_t first_exchange(const struct scope *s, uint64_t exchange)
{
    uint64_t first = exchange;

    look_up(&s->exchanges, exchange, &first);
    return first;
}

/* A stream that is on a second exchange was resumed there, whether or not it kept its
 * number. */
void scope_see(struct scope *s, const struct record *r)
{
    uint64_t first, known, stream;

    if (!(r->has & HAS_EXCHANGE) || !(r->has & HAS_STREAM))
        return;
    first = first_exchange(s, r->exchange);
    stream = r->stream;
    if (look_up(&s->streams, stream, &known) ||
        (resumed_stream(s, r, &stream) && look_up(&s->streams, stream, &known))) {
        if (known != first)
            recall_put(&s->exchanges, map_number(&r->exchange), known, 0);
        first = known;
    }
    if (!look_up(&s->streams, r->stream, &known))
        recall_put(&s->streams, map_number(&r->stream), first, 0);
}

struct scope_place scope_of(const struct scope *s, const struct record *r)
{
    struct scope_place p = { .count = 0 };
    uint64_t first;

    if (r->has & HAS_EXCHANGE)
        p.at[p.count++] =
            (struct scope_reach){ SCOPE_EXCHANGE, first_exchange(s, r->exchange) };
    else if (r->has & HAS_STREAM && look_up(&s->streams, r->stream, &first))
        p.at[p.count++] = (struct scope_reach){ SCOPE_EXCHANGE, first };
    if (r->has & HAS_SESSION)
        p.at[p.count++] = (struct scope_reach){ SCOPE_SESSION, r->session };
    else if (p.count)
        p.at[p.count++] = (struct scope_reach){ SCOPE_SERVER, 0 };
    else
        p.at[p.count++] = (struct scope_reach){ SCOPE_CONN, r->conn };
    return p;
}

void scope_key(struct buf *to, struct scope_reach reach, enum record_dir dir)
{
    const char head[2] = { (char)reach.kind, (char)dir };

    buf_add(to, str_n(head, sizeof head));
    buf_add(to, map_number(&reach.number));
}
