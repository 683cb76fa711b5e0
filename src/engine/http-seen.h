/* engine/http-seen.h - which events of a stream have come before, by their ids.
 *
 * A stream may break off and be gone on with in another answer, where a server that does not
 * look at where it is asked to go on says the same again. Within one answer ids say nothing
 * about that: there are servers that give the same one to all their events.
 *
 * Bounded: after HTTP_SEEN_MAX ids it starts anew. */
#ifndef ENGINE_HTTP_SEEN_H
#define ENGINE_HTTP_SEEN_H

#include "base/roster.h"

enum { HTTP_SEEN_MAX = 16 << 10 };

struct http_seen {
    struct roster ids;
    uint64_t answer; /* the one that is being read, counted from 1 */
};

struct http_seen_event {
    bool placed;   /* no earlier answer had an event with this id */
    bool repeated; /* one had, and that had data */
};

void http_seen_init(struct http_seen *s);
void http_seen_release(struct http_seen *s);

void http_seen_again(struct http_seen *s); /* there will be another answer */

/* An event with an id has come, with data or without. */
struct http_seen_event http_seen_note(struct http_seen *s, struct str id, bool data);

#endif
