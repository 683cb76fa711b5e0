/* mcphttp/param-headers.h - Mcp-Param headers: which arguments of a tool are repeated in HTTP
 * headers, and with which values.
 *
 * The schema of a tool says so (x-mcp-header). The stateless protocol demands that header and
 * argument agree. The last tools/list that named a tool counts. */
#ifndef MCPHTTP_PARAM_HEADERS_H
#define MCPHTTP_PARAM_HEADERS_H

#include "base/map.h"
#include "mcphttp/http-request.h"

struct param_headers {
    struct map tools; /* name to the list of its struct param_header */
    struct arena arena;
};

void param_headers_init(struct param_headers *p);
void param_headers_release(struct param_headers *p);

/* Learns the headers from the result of a tools/list. Ignores any other result. */
void param_headers_update(struct param_headers *p, struct json_val result);

/* True if the headers of a tools/call agree with its arguments. */
bool param_headers_match(const struct param_headers *p, const struct http_request *c,
                         struct arena *a);

/* Adds the headers that a tools/call needs; they are allocated in `a`. Left out are headers
 * beyond PARAM_HEADERS_MAX, and values longer than PARAM_HEADERS_VALUE_MAX bytes. */
enum { PARAM_HEADERS_MAX = 64, PARAM_HEADERS_VALUE_MAX = 8 << 10 };
void param_headers_add(const struct param_headers *p, const struct mcp_message *m,
                       struct headers *to, struct arena *a);

/* Writes the same headers as one text, for comparison. */
void param_headers_to_text(const struct param_headers *p, const struct mcp_message *m,
                           struct buf *to, struct arena *a);

/* Encodes a text as a header value: unchanged, or as =?base64?…?= if it is not printable. */
struct str param_headers_encode(struct str text, struct arena *a);

/* Decodes a header value; empty if its base64 is invalid. */
struct str param_headers_decode(struct str value, struct arena *a);

#endif
