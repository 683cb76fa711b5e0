#include "engine/sse-rewrite.h"

#include <stdlib.h>

#include "base/mem.h"
#include "wire/media.h"
#include "wire/sse-endpoint.h"

enum { OK = 200, TEXT_MAX = SSE_ENDPOINT_MAX * 2 + SSE_ENDPOINT_FED_MAX };

struct sse_rewrite {
    const struct url *server;
    struct address_client client; /* in the arena */
    struct arena arena;
    struct sse_endpoint filter;
    struct buf out;
};

static bool has(const struct fields *f, struct str name)
{
    return fields_count(f, name) > 0;
}

bool sse_rewrite_may_be(struct str method, const struct fields *f)
{
    return str_eq(method, STR("GET")) && !has(f, STR("mcp-session-id"));
}

bool sse_rewrite_can(unsigned status, const struct fields *f)
{
    return status == OK && media_of_fields(f) == MEDIA_SSE &&
           !has(f, STR("content-encoding")) && !has(f, STR("content-length"));
}

struct sse_rewrite *sse_rewrite_new(const struct url *server,
                                    const struct address_client *client)
{
    struct sse_rewrite *w = mem_new(struct sse_rewrite);

    w->server = server;
    w->client.host = arena_str(&w->arena, client->host);
    w->client.path = arena_str(&w->arena, client->path);
    sse_endpoint_init(&w->filter);
    buf_init(&w->out, TEXT_MAX);
    return w;
}

void sse_rewrite_free(struct sse_rewrite *w)
{
    if (!w)
        return;
    sse_endpoint_release(&w->filter);
    arena_release(&w->arena);
    buf_release(&w->out);
    free(w);
}

static bool replace(struct sse_rewrite *w, struct err *e)
{
    struct arena a = { 0 };
    struct endpoint found;
    bool fine =
        endpoints_read(&found, sse_endpoint_said(&w->filter), w->server, &w->client, &a, e);

    if (fine)
        sse_endpoint_replace(&w->filter, found.told, &w->out);
    arena_release(&a);
    return fine;
}

/* All that was fed, up to what may not go on. */
static bool go_on(struct sse_rewrite *w, struct err *e)
{
    enum sse_endpoint_next next;

    while ((next = sse_endpoint_next(&w->filter, &w->out)) == SSE_ENDPOINT_FOUND)
        if (!replace(w, e))
            return false;
    if (next == SSE_ENDPOINT_LATE)
        return err_set(e, ERR_PEER,
                       "the server says where messages go to in an event that is too long, of "
                       "two types or a message itself");
    return true;
}

bool sse_rewrite_feed(struct sse_rewrite *w, struct str *bytes, bool last, struct err *e)
{
    bool fine;

    buf_clear(&w->out);
    sse_endpoint_feed(&w->filter, *bytes);
    fine = go_on(w, e);
    if (fine && last)
        sse_endpoint_end(&w->filter, &w->out);
    if (str_eq(*bytes, buf_str(&w->out)))
        buf_release(&w->out); /* a stream may be silent for hours */
    else
        *bytes = buf_str(&w->out);
    return fine;
}
