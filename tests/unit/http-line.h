/* tests/unit/http-line.h - HTTP requests and responses as lines of text, parsed and written.
 *
 *     1 POST session=2 version=2025-11-25 {"id":1,"method":"ping"}
 *     1 200 json session=2 {"id":1,"result":{}}
 *     2 GET session=2 last=7-1
 *     2 200 sse session=2
 *     2 id=7-2 retry=500 <<
 *     2 id=7-3 << {"method":"notifications/message"}
 *     2 end
 *     3 GET path=/sse
 *     3 200 sse
 *     3 event=endpoint << /message?sessionId=3
 *     4 POST path=/message?sessionId=3 {"id":1,"method":"ping"}
 *
 * The number is that of the exchange. Defaults: a POST sends JSON and accepts JSON and
 * events, a GET accepts events, both have our Host and no Origin. A request can have
 * session=N, version=V, last=EVENT, accept=TYPE and type=TYPE (json, sse, text, any; none:
 * no such header), host=PLACE and origin=PLACE, path=PATH (maybe with a query: sessionId=N
 * is the id of that session, as in an endpoint event), Name:value for any other header, and
 * "modern": the headers that the stateless protocol requires, derived from the body. A body
 * that is no JSON comes after "raw". A response names its media type (json, sse, text, or
 * nothing), session=N, and Name:value for any other header but those that every stream has.
 * $META in a body is the _meta of a stateless request. */
#ifndef HTTP_LINE_H
#define HTTP_LINE_H

#include "base/arena.h"
#include "base/buf.h"
#include "engine/engine.h"
#include "wire/headers.h"
#include "wire/sse.h"

enum http_line_kind {
    HTTP_LINE_NONE, /* it is no such line */
    HTTP_LINE_REQUEST,
    HTTP_LINE_RESPONSE, /* all of it, or the head of a stream */
    HTTP_LINE_EVENT,
    HTTP_LINE_END,
    HTTP_LINE_CLIENT_CLOSED, /* the client does not wait any longer */
};

struct http_line {
    enum http_line_kind kind;
    uint64_t number;
    struct str method, path, query;
    struct headers fields;
    enum origin_kind host, origin;
    struct str body; /* of a request or an answer */
    unsigned status;
    bool stream; /* the answer is one */
    struct sse_item event;
    struct arena arena; /* all of the above */
};

/* `text` must outlive it. */
void http_line_read(struct http_line *l, struct str text);
void http_line_release(struct http_line *l);

/* A line that is a request, as an engine gets it; borrows from the line. */
struct event_request http_line_request(const struct http_line *l);

/* An action for a client on HTTP, as the line above; without a newline. */
void http_line_write(struct buf *to, const struct action *a);

/* `text` with $META written out. */
struct str http_line_expand(struct str text, struct arena *a);

/* The id of session `n`: all of its 16 bytes are `n`. */
struct str http_line_session(uint64_t n, struct arena *a);

#endif
