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
    bool done; /* all passes */
};

static bool has(const struct fields *f, struct str name)
{
    return fields_count(f, name) > 0;
}

bool sse_rewrite_may_be(struct str method, const struct fields *f)
{
    return str_eq(method, STR("GET")) && !has(f, STR("mcp-session-id")) &&
           !has(f, STR("last-event-id"));
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

static void settle(struct sse_rewrite *w)
{
    w->done = true;
    sse_endpoint_release(&w->filter);
    sse_endpoint_init(&w->filter);
    arena_release(&w->arena);
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
    struct endpoint found;

    if (!endpoints_read(&found, sse_endpoint_said(&w->filter), w->server, &w->client, &w->arena,
                        e))
        return false;
    sse_endpoint_replace(&w->filter, found.told, &w->out);
    return true;
}

bool sse_rewrite_feed(struct sse_rewrite *w, struct str *bytes, bool last, struct err *e)
{
    enum sse_endpoint_next next;

    if (w->done) {
        buf_release(&w->out);
        return true;
    }
    buf_clear(&w->out);
    next = sse_endpoint_feed(&w->filter, *bytes, &w->out);
    if (next == SSE_ENDPOINT_FOUND && !replace(w, e))
        return false;
    if (last && next == SSE_ENDPOINT_MORE)
        sse_endpoint_end(&w->filter, &w->out);
    *bytes = buf_str(&w->out);
    if (last || next != SSE_ENDPOINT_MORE)
        settle(w);
    return true;
}
