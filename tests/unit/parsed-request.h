/* tests/unit/parsed-request.h - an HTTP request as an engine gets it, from a line
 * (http-line.h). */
#ifndef PARSED_REQUEST_H
#define PARSED_REQUEST_H

#include "http-line.h"
#include "mcphttp/http-request.h"
#include "test.h"

struct parsed_request {
    struct http_line line;
    struct json json;
    struct mcp_message message;
    struct arena arena;
    struct http_request call;
};

/* `line` without the number of an exchange. */
static inline const struct http_request *
parsed_request(struct parsed_request *s, enum session_state state, const char *line)
{
    *s = (struct parsed_request){ .arena = { NULL, 0 } };
    json_init(&s->json);
    http_line_read(&s->line, arena_printf(&s->arena, "1 %s", line));
    assert_int_equal(s->line.kind, HTTP_LINE_REQUEST);
    s->call = (struct http_request){ .method = s->line.method,
                                     .accept = media_type_accept(&s->line.fields),
                                     .headers = &s->line.fields,
                                     .host = s->line.host,
                                     .origin = s->line.origin,
                                     .session_state = state };
    http_request_parse_body(&s->call, &s->json, s->line.body, &s->message, &s->arena);
    return &s->call;
}

static inline void parsed_request_release(struct parsed_request *s)
{
    http_line_release(&s->line);
    json_release(&s->json);
    arena_release(&s->arena);
}

#endif
