/* wire/media-type.h - parses Content-Type, Accept and Accept-Encoding, as far as MCP over HTTP
 * needs them.
 *
 * Types are compared without regard to case. Parameters other than q are ignored, but must be
 * well-formed. */
#ifndef WIRE_MEDIA_TYPE_H
#define WIRE_MEDIA_TYPE_H

#include "base/buf.h"
#include "wire/headers.h"

enum media_type {
    MEDIA_JSON, /* application/json */
    MEDIA_SSE,  /* text/event-stream */
    MEDIA_COUNT,
    MEDIA_NONE = MEDIA_COUNT, /* no Content-Type */
    MEDIA_OTHER,              /* another type, several of them, or malformed */
};

enum media_type media_type_parse(struct str content_type); /* one value */
/* Returns the type that the Content-Type of a message names. */
enum media_type media_type_of_headers(const struct headers *f);

/* The quality values of Accept, 0 to 1000. The most specific range that matches a
 * type counts: 'type/subtype', then 'type' with any subtype, then any type. */
struct media_type_accept {
    bool present; /* there is an Accept; without one every q is 1000 */
    struct media_type_quality {
        unsigned q;
        bool named; /* listed as type/subtype, with a q above 0 */
    } types[MEDIA_COUNT];
};

struct media_type_accept media_type_accept(const struct headers *f);

/* Adds the elements of an Accept-Encoding that mcpreel can decompress (gzip, zstd, identity),
 * in their order and spelling; "identity" if there are none. */
void media_type_supported_encodings(struct buf *to, struct str value);

#endif
