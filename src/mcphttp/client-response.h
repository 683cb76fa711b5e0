/* mcphttp/client-response.h - receives the HTTP response to a request of ours: one body, or an
 * SSE stream that may break and be resumed.
 *
 * Across the responses to one exchange it keeps the last event id, the retry time and the
 * events seen. Knows nothing of the request. */
#ifndef MCPHTTP_CLIENT_RESPONSE_H
#define MCPHTTP_CLIENT_RESPONSE_H

#include "base/buf.h"
#include "base/capped-table.h"
#include "wire/headers.h"
#include "wire/media-type.h"
#include "wire/sse-reader.h"
#include "wire/url.h"

/* Finds events of a resumed stream that an earlier response had, by id and data.
 *
 * A server that ignores Last-Event-ID sends the same events again. Some servers give the same
 * id to all events, or start counting again in each response: so an event is a duplicate only
 * if id and data are equal, and never within one response.
 *
 * Limit: after SEEN_EVENTS_MAX rows, of which an event takes up to two, it starts empty again.
 */
enum { SEEN_EVENTS_MAX = 16 << 10 };

struct seen_events {
    struct capped_table rows; /* ids, and ids with data; all 0 before the first event */
    uint64_t response_number; /* of the response being read, from 1 */
};

struct seen_event {
    bool new_id;      /* no earlier response had an event with this id */
    bool id_had_data; /* this event has data, and so had one with its id in an earlier response
                       */
    bool repeated;    /* an earlier response had an event with this id and this data */
};

void seen_events_init(struct seen_events *s);
void seen_events_release(struct seen_events *s);

/* Begins the next response. */
void seen_events_next_response(struct seen_events *s);

/* Adds an event that has an id; `data` is empty if it has none. */
struct seen_event seen_events_add(struct seen_events *s, struct str id, struct str data);

struct client_response {
    unsigned status; /* 0: no response yet */
    enum media_type media;
    bool compressed;            /* unreadable: we asked for identity */
    struct buf body;            /* unless it is a stream */
    struct buf redirect_text;   /* for the user: where Location leads; or empty */
    struct buf login_text;      /* for the user: parts of WWW-Authenticate; or empty */
    bool has_resource_metadata; /* WWW-Authenticate has a resource_metadata */
    struct sse_reader *sse;     /* NULL: it is no stream */
    bool resumes;               /* the request had a Last-Event-ID */
    uint64_t new_events;        /* events with data that no earlier response had */
    bool has_new_event_id;      /* set by an event id that no earlier response had */

    /* Kept across responses: */
    struct buf last_event_id; /* the last id that can be sent in a header; or empty */
    int64_t retry_ms;         /* -1: not given */
    struct seen_events seen_events;
};

/* Gets an event with data. `name` is "message" if the event has none. `repeated`: an earlier
 * response had it. */
typedef void client_response_fn(void *to, struct str name, struct str data, bool repeated);

void client_response_init(struct client_response *h);
void client_response_release(struct client_response *h);

/* Prepares for the next response of the same exchange. */
void client_response_reset(struct client_response *h);

/* Takes the head of the response. `server` is the URL requested; it has a path. */
void client_response_head(struct client_response *h, unsigned status,
                          const struct headers *headers, const struct url *server);

/* Takes a piece of the body, and calls `fn` for its events. `fn` must not release `h`. */
void client_response_data(struct client_response *h, struct str bytes, client_response_fn *fn,
                          void *to);

static inline bool client_response_is_stream(const struct client_response *h)
{
    return h->sse != NULL;
}

static inline bool client_response_is_ok(const struct client_response *h)
{
    return h->status >= 200 && h->status < 300;
}

/* Returns whether an HTTP status redirects the request to the URL in Location. */
bool client_response_is_redirect(unsigned status);

/* Returns whether a body or event of at least 64 KiB is being received. */
bool client_response_is_large(const struct client_response *h);

/* Writes for the user why this is not a usable response. */
void client_response_describe_failure(const struct client_response *h, struct buf *to);

#endif
