#include "mcphttp/pending-responses.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/limits.h"

enum { OK = 200 };

void pending_init(struct pending_responses *t, struct action_sink *out)
{
    map_init(&t->by_request);
    map_init(&t->by_resumed);
    event_streams_init(&t->streams, out);
    http_response_init(&t->response, out);
}

static void free_pending(struct pending_response *x)
{
    buf_release(&x->batch_body);
    free(x);
}

void pending_release(struct pending_responses *t)
{
    for (struct map_entry *e = NULL; (e = map_next(&t->by_request, e));)
        free_pending(e->value);
    map_release(&t->by_request);
    map_release(&t->by_resumed);
    event_streams_release(&t->streams);
    http_response_release(&t->response);
}

struct pending_response *pending_add(struct pending_responses *t, uint64_t exchange,
                                     const struct media_type_accept *accept, void *owner)
{
    struct pending_response *x = mem_new(struct pending_response);

    x->request_exchange = exchange;
    x->owner = owner;
    x->accepts_json = accept->types[MEDIA_JSON].q > 0;
    x->accepts_sse = accept->types[MEDIA_SSE].q > 0;
    buf_init(&x->batch_body, LIMIT_LINE * 3);
    map_put(&t->by_request, map_number_key(&x->request_exchange), x);
    return x;
}

struct pending_response *pending_find(const struct pending_responses *t,
                                      uint64_t request_exchange)
{
    return map_get(&t->by_request, map_number_key(&request_exchange));
}

struct pending_response *pending_find_owned(const struct pending_responses *t,
                                            const void *owner)
{
    for (struct map_entry *e = NULL; (e = map_next(&t->by_request, e));) {
        struct pending_response *x = e->value;

        if (x->owner == owner)
            return x;
    }
    return NULL;
}

bool pending_has_client(const struct pending_responses *t, const void *owner)
{
    for (struct map_entry *e = NULL; (e = map_next(&t->by_request, e));) {
        const struct pending_response *x = e->value;

        if (x->owner == owner && !x->disconnected)
            return true;
    }
    return false;
}

/* The exchange it is sent on now; 0: none. */
static uint64_t current_exchange(const struct pending_response *x)
{
    if (x->disconnected)
        return 0;
    return x->stream ? x->stream->exchange : x->request_exchange;
}

static void remove_entry(struct pending_responses *t, struct pending_response *x)
{
    uint64_t exchange = current_exchange(x);

    map_remove(&t->by_resumed, map_number_key(&exchange));
    map_remove(&t->by_request, map_number_key(&x->request_exchange));
    free_pending(x);
}

static void open_stream(struct pending_responses *t, struct pending_response *x)
{
    uint64_t exchange = current_exchange(x);

    if (exchange)
        http_response_open_stream(&t->response, exchange, x->session_id);
    x->stream = event_streams_add(&t->streams, x->session, exchange, x->has_ids);
    if (x->has_ids && x->supports_priming)
        event_streams_send_priming(&t->streams, x->stream, -1);
}

bool pending_can_stream(const struct pending_response *x)
{
    return x->stream || (x->accepts_sse && !x->disconnected);
}

void pending_send(struct pending_responses *t, struct pending_response *x, struct str message)
{
    if (!x->stream)
        open_stream(t, x);
    event_streams_send(&t->streams, x->stream, message);
}

void pending_open_stream(struct pending_responses *t, struct pending_response *x)
{
    open_stream(t, x);
}

static void respond_json(struct pending_responses *t, struct pending_response *x,
                         struct str message)
{
    unsigned status = x->is_batch ? OK : http_response_status(x->stateless, message);
    uint64_t exchange = current_exchange(x);

    if ((x->is_batch &&
         !http_response_add_to_batch(&x->batch_body, x->responses_left, &message)) ||
        !exchange)
        return;
    http_response_start(&t->response, STR("application/json"), x->session_id);
    http_response_send(&t->response, exchange, status, message);
}

void pending_respond(struct pending_responses *t, struct pending_response *x,
                     struct str message)
{
    struct event_stream *stream;

    BUG_IF(!x->responses_left);
    if (x->stream || !x->accepts_json)
        pending_send(t, x, message);
    else
        respond_json(t, x, message);
    if (--x->responses_left)
        return;
    stream = x->stream;
    remove_entry(t, x);
    if (stream)
        event_streams_end(&t->streams, stream);
}

static struct pending_response *find_by_stream(const struct pending_responses *t,
                                               const struct event_stream *s)
{
    for (struct map_entry *e = NULL; (e = map_next(&t->by_request, e));) {
        struct pending_response *x = e->value;

        if (x->stream == s)
            return x;
    }
    return NULL;
}

static void move_to_exchange(struct pending_responses *t, struct pending_response *x,
                             uint64_t exchange, uint64_t after)
{
    uint64_t before = current_exchange(x);

    map_remove(&t->by_resumed, map_number_key(&before));
    map_put(&t->by_resumed, map_number_key(&exchange), x);
    x->disconnected = false;
    event_streams_resume(&t->streams, x->stream, exchange, after);
}

struct pending_response *pending_resume(struct pending_responses *t, uint64_t session,
                                        struct str event, uint64_t exchange,
                                        struct str session_id, bool *over)
{
    uint64_t after;
    struct event_stream *s = event_streams_find(&t->streams, session, event, &after);
    struct pending_response *x;

    *over = s && s->ended;
    if (!s)
        return NULL;
    http_response_open_stream(&t->response, exchange, session_id);
    if (*over) {
        event_streams_resume(&t->streams, s, exchange, after);
        return NULL;
    }
    x = find_by_stream(t, s);
    BUG_IF(!x); /* a stream without response has ended */
    move_to_exchange(t, x, exchange, after);
    return x;
}

void pending_rejoin(struct pending_responses *t, struct pending_response *x, uint64_t exchange)
{
    BUG_IF(!x->disconnected || !x->stream);
    http_response_open_stream(&t->response, exchange, x->session_id);
    move_to_exchange(t, x, exchange, x->events_at_disconnect);
}

struct pending_response *pending_disconnect(struct pending_responses *t, uint64_t exchange)
{
    struct pending_response *x = map_remove(&t->by_resumed, map_number_key(&exchange));

    if (!x)
        x = pending_find(t, exchange);
    if (!x || current_exchange(x) != exchange)
        return NULL;
    x->disconnected = true;
    if (x->stream) {
        x->stream->exchange = 0;
        x->events_at_disconnect = x->stream->event_count;
    }
    return x;
}

void pending_reject(struct pending_responses *t, struct pending_response *x,
                    const struct http_rejection *v, struct str id)
{
    if (!x->stream && !x->disconnected)
        http_response_reject(&t->response, x->request_exchange, v, id);
    pending_remove(t, x);
}

void pending_remove(struct pending_responses *t, struct pending_response *x)
{
    struct event_stream *stream = x->stream;

    remove_entry(t, x);
    if (!stream)
        return;
    event_streams_close_exchange(&t->streams, stream);
    event_streams_remove(&t->streams, stream);
}
