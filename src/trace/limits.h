/* trace/limits.h - the limits of what is kept in memory and recorded.
 *
 * Forwarded traffic is not limited: only the recorded copy is. */
#ifndef TRACE_LIMITS_H
#define TRACE_LIMITS_H

/* One message, in memory or in a file. */
#define LIMIT_MESSAGE ((size_t)64 << 20)

/* One line of a recording: a message as base64, and room for the rest. */
#define LIMIT_LINE ((size_t)96 << 20)

/* Open requests, and the text kept of them (ids, methods, subjects); the oldest beyond that
 * count as never answered. */
#define LIMIT_OPEN_REQUESTS ((size_t)65536)
#define LIMIT_OPEN_TEXT ((size_t)4 << 20)

/* Open operations, and the memory of all of them; the least recently used are evicted first. */
#define LIMIT_OPEN_OPERATIONS ((size_t)16384)
#define LIMIT_OPEN_OPERATION_BYTES ((size_t)16 << 20)

/* Keys of ended operations that are remembered: ids, tokens, tasks. */
#define LIMIT_RECENT_KEYS ((size_t)16384)

/* Ids with a secret in them that get distinct aliases, and their text. */
#define LIMIT_ALIASES ((size_t)65536)
#define LIMIT_ALIAS_TEXT ((size_t)16 << 20)

/* Secrets learnt while recording, in addition to those in use. */
#define LIMIT_SEEN_SECRETS ((size_t)16384)

/* HTTP streams that another exchange may still resume. */
#define LIMIT_STREAMS ((size_t)32768)

/* HTTP sessions that a client may return to, and stream events that it may resume after. */
#define LIMIT_SESSIONS ((size_t)65536)
#define LIMIT_EVENTS ((size_t)131072)

#endif
