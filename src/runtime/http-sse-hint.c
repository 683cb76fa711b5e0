#include "runtime/http-sse-hint.h"

enum {
    HINT_DELAY_MS = 1000,
    BAD_REQUEST = 400,
    NOT_FOUND = 404,
    NOT_ALLOWED = 405,
};

static void log_hint(void *to)
{
    struct http_sse_hint *o = to;

    if (!o->post_rejected || o->logged)
        return;
    o->logged = true;
    log_printf(o->log, LOG_WARN,
               "the server rejects POST at this path: the path is wrong, or the server speaks "
               "legacy HTTP+SSE (2024-11-05); for clients that only speak Streamable HTTP, use "
               "'mcpreel record --listen PORT -- mcpreel record --url URL'");
}

void http_sse_hint_init(struct http_sse_hint *o, struct loop *l, const struct log *log,
                        struct str path)
{
    *o = (struct http_sse_hint){ .log = log, .path = path, .delay = timer_new(l, log_hint, o) };
}

/* 405 means that no POST is accepted. 400 and 404 have many reasons, unless the path is the
 * usual one of HTTP+SSE. */
static bool suggests_http_sse(const struct http_sse_hint *o, unsigned status)
{
    return status == NOT_ALLOWED ||
           ((status == BAD_REQUEST || status == NOT_FOUND) && str_ends(o->path, STR("/sse")));
}

void http_sse_hint_note_response(struct http_sse_hint *o, const struct request_head *asked,
                                 unsigned status)
{
    if (o->post_rejected || o->logged || !suggests_http_sse(o, status) ||
        !str_eq(asked->method, STR("POST")) ||
        headers_count(&asked->headers, STR("mcp-session-id")))
        return;
    o->post_rejected = true;
    timer_set(o->delay, HINT_DELAY_MS);
}

void http_sse_hint_note_stream(struct http_sse_hint *o)
{
    o->post_rejected = false;
    timer_stop(o->delay);
}

void http_sse_hint_finish(struct http_sse_hint *o)
{
    log_hint(o);
    timer_close(o->delay);
}
