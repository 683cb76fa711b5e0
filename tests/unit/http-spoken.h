/* tests/unit/http-spoken.h - a request over HTTP as an engine sees it, told in a line
 * (http-line.h). */
#ifndef HTTP_SPOKEN_H
#define HTTP_SPOKEN_H

#include "engine/http-call.h"
#include "http-line.h"
#include "test.h"

struct http_spoken {
    struct http_line line;
    struct json json;
    struct mcp_message message;
    struct arena arena;
    struct http_call call;
};

static inline enum intake_kind http_spoken_kind(struct http_spoken *s)
{
    struct json_fault fault;

    if (!s->line.body.len)
        return INTAKE_EMPTY;
    if (!json_scan(&s->json, s->line.body, &fault))
        return INTAKE_OTHER;
    if (json_type(json_root(&s->json)) == JSON_ARRAY)
        return INTAKE_BATCH;
    s->message = mcp_classify(json_root(&s->json), &s->arena);
    return s->message.kind == MCP_OTHER ? INTAKE_OTHER : INTAKE_MESSAGE;
}

/* `line` without the number of an exchange. */
static inline const struct http_call *http_spoken(struct http_spoken *s,
                                                  enum session_state state, const char *line)
{
    *s = (struct http_spoken){ .arena = { NULL, 0 } };
    json_init(&s->json);
    http_line_read(&s->line, arena_printf(&s->arena, "1 %s", line));
    assert_int_equal(s->line.kind, HTTP_LINE_REQUEST);
    s->call = (struct http_call){ .method = s->line.method,
                                  .accept = media_accept(&s->line.fields),
                                  .fields = &s->line.fields,
                                  .host = s->line.host,
                                  .origin = s->line.origin,
                                  .state = state };
    s->call.kind = http_spoken_kind(s);
    s->call.message = s->call.kind == INTAKE_MESSAGE ? &s->message : NULL;
    s->call.raw = s->call.kind == INTAKE_OTHER ? s->line.body : STR_NONE;
    return &s->call;
}

static inline void http_spoken_release(struct http_spoken *s)
{
    http_line_release(&s->line);
    json_release(&s->json);
    arena_release(&s->arena);
}

#endif
