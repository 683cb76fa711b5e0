/* format/span-ids.h - makes the ids of a trace and its spans from the recording itself.
 *
 * The same recording gives the same ids. Ids have the shape of a UUID of version 4, which MPLP
 * demands. The first 16 hexadecimal digits of a span's UUID are its id in W3C Trace Context and
 * OTLP: they are a permutation of the span's number, so two spans of a trace never have the
 * same. */
#ifndef FORMAT_SPAN_IDS_H
#define FORMAT_SPAN_IDS_H

#include "base/buf.h"

struct uuid {
    uint64_t high, low;
};

/* Starts as zeroes. */
struct span_ids {
    uint64_t seed_high, seed_low;
};

/* Adds bytes of the recording to the seed. Must not be called once an id was made. */
void span_ids_add(struct span_ids *s, struct str bytes);

struct uuid span_ids_trace(const struct span_ids *s);
struct uuid span_ids_context(const struct span_ids *s);
struct uuid span_ids_span(const struct span_ids *s, uint64_t number);
struct uuid span_ids_event(const struct span_ids *s, uint64_t number);

/* Returns whether a text is such a UUID, in lower case. */
bool span_ids_is_uuid(struct str text);

/* Appends "550e8400-e29b-41d4-a716-446655440000". */
void span_ids_write_uuid(struct buf *to, struct uuid id);

/* Appends 16 hexadecimal digits. */
void span_ids_write_hex(struct buf *to, uint64_t n);

#endif
