/* engine/http-relist.h - the list of tools, asked for by a speaker itself.
 *
 * A server of the revision without sessions refuses the call of a tool with
 * MCP_HEADER_MISMATCH if header lines are missing, or are others, that the schema of the tool
 * asks for. Who sent the call knows no header lines; so whoever speaks for it asks for the
 * schemas, page by page, and can then send the call as it should be.
 *
 * What is asked and heard is here; whose call it is for, and when to stop, is the speaker's
 * affair. */
#ifndef ENGINE_HTTP_RELIST_H
#define ENGINE_HTTP_RELIST_H

#include "base/buf.h"
#include "mcp/message.h"

struct http_relist {
    uint64_t asked;    /* pages, ever */
    unsigned pages;    /* of this list */
    bool heard;        /* the last one that was asked for has come; */
    struct buf cursor; /* and told, as JSON, where to go on; empty: nowhere */
};

void http_relist_init(struct http_relist *r);
void http_relist_release(struct http_relist *r);

/* Whether the answer to a call says that its header lines are not what they should be. */
bool http_relist_is_reason(unsigned status, const struct mcp_message *answer);

void http_relist_begin(struct http_relist *r); /* with the first page */

/* The request for the next page, for somebody whose call has these params: it says the same
 * of itself. Lives in `a`. */
struct str http_relist_request(struct http_relist *r, struct json_val params, struct arena *a);

/* A result has come, or an error. */
void http_relist_hear(struct http_relist *r, const struct mcp_message *answer);

/* There is another page. */
bool http_relist_goes_on(const struct http_relist *r);

#endif
