/* mcphttp/client-schemas.h - fetches tools/list for a tools/call that lacks Mcp-Param headers.
 *
 * A stateless server rejects a call with MCP_HEADER_MISMATCH if headers that the schema of its
 * tool demands are missing or differ. The client sends messages only and knows no headers, so
 * the schemas are fetched for it, page by page.
 *
 * Composes the requests and reads the pages. The caller sends them, knows the call and decides
 * when to stop. */
#ifndef MCPHTTP_CLIENT_SCHEMAS_H
#define MCPHTTP_CLIENT_SCHEMAS_H

#include "base/buf.h"
#include "mcp/message.h"

struct client_schemas {
    uint64_t requests_sent; /* since init; part of the request ids */
    unsigned pages;         /* requested since client_schemas_start() */
    bool page_received;     /* set by a response; cleared by the next request */
    struct buf cursor;      /* JSON, of the next page; empty: none */
};

void client_schemas_init(struct client_schemas *r);
void client_schemas_release(struct client_schemas *r);

/* True if the response to a call says that its headers do not match. */
bool client_schemas_is_needed(unsigned status, const struct mcp_message *response);

/* Begins with the first page. */
void client_schemas_start(struct client_schemas *r);

/* Composes the request for the next page. `params` are those of the call: version, client info
 * and capabilities in _meta are copied. Allocated in `a`. */
struct str client_schemas_request(struct client_schemas *r, struct json_val params,
                                  struct arena *a);

/* Reads the response, a result or an error. */
void client_schemas_read_page(struct client_schemas *r, const struct mcp_message *response);

/* True if there is a next page, and the limit of pages is not reached. */
bool client_schemas_has_more(const struct client_schemas *r);

#endif
