/* wire/media.h - Content-Type and Accept, as far as MCP needs them.
 *
 * Types are compared without regard to case, and parameters are of no account as long
 * as they are well-formed. */
#ifndef WIRE_MEDIA_H
#define WIRE_MEDIA_H

#include "wire/fields.h"

enum media {
    MEDIA_JSON, /* application/json */
    MEDIA_SSE,  /* text/event-stream */
    MEDIA_COUNT,
    MEDIA_NONE = MEDIA_COUNT, /* nothing was said */
    MEDIA_OTHER,              /* another type, several, or what cannot be read */
};

enum media media_of(struct str content_type);       /* of one value */
enum media media_of_fields(const struct fields *f); /* of a message: its Content-Type */

/* How much somebody likes a type, 0 to 1000. Of the ranges that cover it the most telling
 * one counts: its own name, then all of its kind, then all there is. */
struct media_accept {
    bool said; /* there was an Accept; without one everything is as good */
    struct media_liking {
        unsigned q;
        bool named; /* listed by its own name, with a q above 0 */
    } of[MEDIA_COUNT];
};

struct media_accept media_accept(const struct fields *f);

#endif
