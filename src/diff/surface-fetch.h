/* diff/surface-fetch.h - fetches the surface of a live server.
 *
 * An engine (engine/engine.h) on client/mcp-session. Sends initialize, or server/discover if
 * the server rejects that, and then the list requests that the capabilities offer, page by
 * page. Calls no tool, declares no capabilities and rejects all requests of the server.
 *
 *     begin ──> initialize ──> lists ──> done
 *                   │            ^
 *                   └─> discover ┘
 *
 * A list that the server does not implement (-32601) stays unknown. Any other error, a cursor
 * that comes twice in a row, and more than SURFACE_FETCH_PAGES pages or SURFACE_FETCH_BYTES
 * bytes end it: `failure` says why. */
#ifndef DIFF_SURFACE_FETCH_H
#define DIFF_SURFACE_FETCH_H

#include "client/mcp-session.h"
#include "mcp/surface.h"
#include "mcp/version.h"

enum { SURFACE_FETCH_PAGES = 10000, SURFACE_FETCH_BYTES = 128 << 20 };

enum surface_fetch_state {
    FETCH_BEGIN,
    FETCH_INITIALIZE,
    FETCH_DISCOVER,
    FETCH_LISTS,
    FETCH_DONE,
};

struct surface_fetch {
    struct surface *surface; /* borrowed */
    enum surface_fetch_state state;
    enum mcp_version version; /* that is requested */
    bool may_discover;        /* server/discover is tried if initialize fails */
    bool stateless;
    bool spoke;             /* the server responded to a request */
    bool timed_out;         /* set when a response did not come in time */
    struct str unanswered;  /* method of the request that was open when the server ended; empty:
                               there is none, or `failure` has another reason */
    enum surface_kind list; /* FETCH_LISTS: the one that is fetched */
    struct mcp_session mcp;
    struct buf cursor;     /* JSON; empty: first page */
    struct buf rejection;  /* why initialize failed */
    struct buf failure;    /* empty: none */
    uint64_t pages, bytes; /* received */
};

/* `version` MCP_VERSION_UNKNOWN: initialize with the latest stateful one, else
 * server/discover. */
void surface_fetch_init(struct surface_fetch *f, struct surface *to, enum mcp_version version,
                        int64_t timeout_us, struct action_sink *out);
void surface_fetch_release(struct surface_fetch *f);

void surface_fetch_step(struct surface_fetch *f, const struct event *ev);

#endif
