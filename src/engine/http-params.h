/* engine/http-params.h - which arguments of which tools are repeated in header lines.
 *
 * A tool says so in its schema (x-mcp-header), and the revision without sessions wants both
 * to be the same. What was learnt last about a tool counts. */
#ifndef ENGINE_HTTP_PARAMS_H
#define ENGINE_HTTP_PARAMS_H

#include "base/map.h"
#include "engine/http-call.h"

struct http_params {
    struct map tools; /* name to struct http_param */
    struct arena arena;
};

void http_params_init(struct http_params *p);
void http_params_release(struct http_params *p);

/* The result of a tools/list; any other says nothing. */
void http_params_learn(struct http_params *p, struct json_val result);

/* Whether the header lines of a call of a tool are those its arguments ask for. */
bool http_params_fit(const struct http_params *p, const struct http_call *c, struct arena *a);

/* Adds the lines that a call of a tool has to have; they live in `a`. What no server would
 * take for a header line is left out: more than HTTP_PARAMS_MAX lines, and values of more
 * than HTTP_PARAMS_VALUE_MAX bytes. */
enum { HTTP_PARAMS_MAX = 64, HTTP_PARAMS_VALUE_MAX = 8 << 10 };
void http_params_add(const struct http_params *p, const struct mcp_message *m,
                     struct fields *to, struct arena *a);

/* The same lines as one text, to be compared. */
void http_params_text_of(const struct http_params *p, const struct mcp_message *m,
                         struct buf *to, struct arena *a);

/* A text as the value of a header line: as it is, or as =?base64?…?= if it could not be. */
struct str http_params_value(struct str text, struct arena *a);

/* What the value of a header line stands for: =?base64?…?= for what it encodes; empty if that
 * cannot be read. */
struct str http_params_text(struct str value, struct arena *a);

#endif
