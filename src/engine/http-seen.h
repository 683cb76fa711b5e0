/* engine/http-seen.h - which events of a stream have come before, by their ids and data.
 *
 * A stream may break off and be gone on with in another answer, where a server that does not
 * look at where it is asked to go on says the same again. There are servers that give the same
 * id to all their events, or count anew in each answer: an id alone does not make an event the
 * same, and within one answer nothing does.
 *
 * Bounded: after HTTP_SEEN_MAX rows, of which an event takes up to two, it starts anew. */
#ifndef ENGINE_HTTP_SEEN_H
#define ENGINE_HTTP_SEEN_H

#include "base/roster.h"

enum { HTTP_SEEN_MAX = 16 << 10 };

struct http_seen {
    struct roster rows; /* of ids, and of ids with data; all 0 until there is one */
    uint64_t answer;    /* the one that is being read, counted from 1 */
};

struct http_seen_event {
    bool placed;   /* no earlier answer had an event with this id */
    bool known;    /* one had, and that had data as this one has, whatever it was */
    bool repeated; /* and it was the same */
};

void http_seen_init(struct http_seen *s);
void http_seen_release(struct http_seen *s);

void http_seen_again(struct http_seen *s); /* there will be another answer */

/* An event with an id has come; `data` is empty if it has none. */
struct http_seen_event http_seen_note(struct http_seen *s, struct str id, struct str data);

#endif
