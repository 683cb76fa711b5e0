#include "record/sse-rewrite.h"

#include <stdlib.h>

#include "base/mem.h"
#include "wire/media-type.h"
#include "wire/sse-endpoint-filter.h"

enum { OK = 200, TEXT_MAX = SSE_ENDPOINT_HELD_MAX * 2 + SSE_ENDPOINT_FEED_MAX };

struct sse_rewrite {
    const struct url *server;
    struct url_rewrite_client client; /* in the arena */
    struct arena arena;
    struct sse_endpoint_filter filter;
    struct buf out;
};

static bool has_header(const struct headers *f, struct str name)
{
    return headers_count(f, name) > 0;
}

bool sse_rewrite_may_apply(struct str method, const struct headers *f)
{
    return str_eq(method, STR("GET")) && !has_header(f, STR("mcp-session-id"));
}

bool sse_rewrite_is_possible(unsigned status, const struct headers *f)
{
    return status == OK && media_type_of_headers(f) == MEDIA_SSE &&
           !has_header(f, STR("content-encoding")) && !has_header(f, STR("content-length"));
}

struct sse_rewrite *sse_rewrite_new(const struct url *server,
                                    const struct url_rewrite_client *client)
{
    struct sse_rewrite *w = mem_new(struct sse_rewrite);

    w->server = server;
    w->client.host = arena_str(&w->arena, client->host);
    w->client.path = arena_str(&w->arena, client->path);
    sse_endpoint_filter_init(&w->filter);
    buf_init(&w->out, TEXT_MAX);
    return w;
}

void sse_rewrite_free(struct sse_rewrite *w)
{
    if (!w)
        return;
    sse_endpoint_filter_release(&w->filter);
    arena_release(&w->arena);
    buf_release(&w->out);
    free(w);
}

static bool replace_endpoint(struct sse_rewrite *w, struct err *e)
{
    struct arena a = { 0 };
    struct sse_endpoints_event found;
    bool fine = sse_endpoints_parse(&found, sse_endpoint_filter_data(&w->filter), w->server,
                                    &w->client, &a, e);

    if (fine)
        sse_endpoint_filter_replace(&w->filter, found.client_url, &w->out);
    arena_release(&a);
    return fine;
}

/* Rewrites all bytes that were fed, up to an event that must not be forwarded. */
static bool rewrite_events(struct sse_rewrite *w, struct err *e)
{
    enum sse_endpoint_filter_next next;

    while ((next = sse_endpoint_filter_next(&w->filter, &w->out)) == SSE_ENDPOINT_FOUND)
        if (!replace_endpoint(w, e))
            return false;
    if (next == SSE_ENDPOINT_TOO_LATE)
        return err_set(e, ERR_PEER, "malformed or oversized 'endpoint' event");
    return true;
}

bool sse_rewrite_feed(struct sse_rewrite *w, struct str *bytes, bool last, struct err *e)
{
    bool fine;

    buf_clear(&w->out);
    sse_endpoint_filter_feed(&w->filter, *bytes);
    fine = rewrite_events(w, e);
    if (fine && last)
        sse_endpoint_filter_end(&w->filter, &w->out);
    if (str_eq(*bytes, buf_str(&w->out)))
        buf_release(&w->out); /* no memory for a silent stream */
    else
        *bytes = buf_str(&w->out);
    return fine;
}
