/* transport/http-gate.h - who is let in: by Host, by Origin, and by the type of a POST.
 *
 * The pages of a browser can reach this machine; what they cannot do is write a false
 * Host or Origin. Anybody else can, and needs no page for it: a port is no password.
 *
 * - Host must name us, or this machine at least (a forwarded port has another number). A
 *   name that is not ours may be one that a page lets point here. 403.
 * - Origin, if there is one, must be a page of this machine. 403.
 * - What is posted to an MCP endpoint must be JSON: the other types are those that a page
 *   may send without asking first. 415.
 *
 * Whoever listens for others too lets names pass as Host; it may say which ones. Origins
 * are let in by name only. Pure: knows no connection. */
#ifndef TRANSPORT_HTTP_GATE_H
#define TRANSPORT_HTTP_GATE_H

#include "wire/media.h"
#include "wire/place.h"
#include "wire/request.h"

struct http_gate {
    bool remote;             /* others than this machine are served */
    const struct str *hosts; /* of them, with or without port; none: all */
    size_t host_count;
    const struct str *origins; /* "https://example.org"; exactly these */
    size_t origin_count;
};

struct http_gate_verdict {
    unsigned status;  /* 0: come in; 403 or 415 */
    const char *text; /* why not, for the client and the log; static */
};

/* `mcp`: the request is for an MCP endpoint, so that what is posted must be JSON. */
struct http_gate_verdict http_gate_judge(const struct http_gate *g, const struct request *r,
                                         enum place host, enum place origin, bool mcp);

#endif
