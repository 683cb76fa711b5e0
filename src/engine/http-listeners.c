#include "engine/http-listeners.h"

#include <stdlib.h>

/* Whether a call that is not over will be answered on a stream. */
static bool is_owed(const struct http_mock *m, const struct http_stream *x)
{
    for (struct map_entry *e = NULL; (e = map_next(&m->calls, e));) {
        const struct http_mock_call *c = e->value;

        if (c->stream == x && !c->listens)
            return true;
    }
    return false;
}

/* Of clients that share a session, the next one who listens; not who has come back for the
 * stream of a call. */
static struct http_stream *next_ear(const struct http_mock *m, const struct http_mock_client *c,
                                    const struct http_stream *but)
{
    for (struct map_entry *e = NULL; (e = map_next(&m->calls, e));) {
        const struct http_mock_call *call = e->value;

        if (call->client == c && call->listens && call->stream->for_all &&
            call->stream != but && !call->gone)
            return call->stream;
    }
    return NULL;
}

void http_listeners_leave(struct http_mock *m, struct http_mock_client *c,
                          struct http_stream *x)
{
    if (is_owed(m, x) || (c->ear == x && x->has_ids))
        return;
    if (c->ear == x)
        c->ear = next_ear(m, c, x);
    http_streams_finish(&m->streams, x);
}

void http_listeners_add(struct http_mock *m, struct http_mock_call *call)
{
    struct http_mock_client *c = call->client;
    struct unheard_item *item;

    call->stream =
        http_streams_new(&m->streams, c->number, call->number, m->http->stream_has_ids);
    call->stream->for_all = true;
    if (m->http->stream_primed && http_script_primes(call->version, m->http->stream_version))
        http_streams_prime(&m->streams, call->stream, m->http->stream_retry_ms);
    if (c->ear && c->ear->exchange)
        return; /* of those who share a session the first hears what is for all */
    if (c->ear)
        http_streams_drop(&m->streams, c->ear);
    c->ear = call->stream;
    while ((item = unheard_take(&c->unheard))) {
        http_streams_send(&m->streams, c->ear, str_n(item->text, item->len));
        free(item);
    }
}

void http_listeners_tell(struct http_mock *m, struct http_mock_client *c, struct str text,
                         const struct script_event *as)
{
    if (c->ear)
        http_streams_tell(&m->streams, c->ear, text, as->name, as->retry_ms);
    else if (c->number)
        unheard_put(&c->unheard, text);
}
