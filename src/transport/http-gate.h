/* transport/http-gate.h - who is let in: by Host, by the page it comes from, by the method, and
 * by the type of a POST.
 *
 * The pages of a browser can reach this machine; what they cannot do is write a false
 * Host or Origin. Anybody else can, and needs no page for it: a port is no password.
 *
 * - Host must name us, or this machine at least (a forwarded port has another number). A
 *   name that is not ours may be one that a page lets point here. 403.
 * - Origin, if there is one, must be a page of this machine. 403.
 * - Browsers send none with what a page merely shows (a picture, a frame), but say that it
 *   is of another site: Sec-Fetch-Site. 403. Somebody may be sent here from elsewhere to log
 *   in, though: whole pages are shown, but not those of an MCP endpoint, and none at all where
 *   requests are given credentials of ours.
 * - TRACE has the server repeat a request as it got it, with what was added on the way: also
 *   what the client is not to know. MCP and logins have no use for it. 405.
 * - What is posted to an MCP endpoint must be JSON: the other types are those that a page
 *   may send without asking first. 415.
 *
 * Whoever listens for others, too, may say under which names; else all are let pass that no
 * page of the internet can have: addresses, and names without a dot. Origins are let in by
 * name only. Pure: knows no connection. */
#ifndef TRANSPORT_HTTP_GATE_H
#define TRANSPORT_HTTP_GATE_H

#include "wire/media.h"
#include "wire/place.h"
#include "wire/request.h"

struct http_gate {
    bool remote;              /* others than this machine are served */
    bool lends;               /* requests are given credentials of ours */
    const char *const *hosts; /* "example.org", with or without port; borrowed */
    size_t host_count;
    const char *const *origins; /* "https://example.org"; exactly these; borrowed */
    size_t origin_count;
};

enum http_gate_reason {
    HTTP_GATE_NONE,
    HTTP_GATE_HOST,
    HTTP_GATE_ORIGIN,
    HTTP_GATE_PAGE,   /* of another site, which merely shows something */
    HTTP_GATE_METHOD, /* one that repeats what it is sent */
    HTTP_GATE_TYPE,
};

struct http_gate_verdict {
    unsigned status;              /* 0: come in; 403, 405 or 415 */
    enum http_gate_reason reason; /* why not */
    const char *text;             /* the same for the client and the log; static */
};

/* What cannot stand in the lists is told so: it would let nobody in. */
bool http_gate_is_host(struct str text);
bool http_gate_is_origin(struct str text);

/* `mcp`: the request is for an MCP endpoint, so that what is posted must be JSON. */
struct http_gate_verdict http_gate_judge(const struct http_gate *g, const struct request *r,
                                         enum place host, enum place origin, bool mcp);

/* Adds the header lines that belong to a status of these, if there are any. */
void http_gate_add_lines(struct fields *to, unsigned status);

#endif
