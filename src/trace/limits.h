/* trace/limits.h - the ceilings of what is kept, in one place.
 *
 * What passes through is not limited: only the recorded copy is. */
#ifndef TRACE_LIMITS_H
#define TRACE_LIMITS_H

/* One message, in memory or in a file. */
#define LIMIT_MESSAGE ((size_t)64 << 20)

/* One line of a recording: a message as base64, and room for the rest. */
#define LIMIT_LINE ((size_t)96 << 20)

/* Requests that wait for an answer, and the text kept of them (ids, methods, what they
 * are about); older ones count as never answered. */
#define LIMIT_OPEN_REQUESTS ((size_t)65536)
#define LIMIT_OPEN_TEXT ((size_t)4 << 20)

/* Operations that have not ended, and the memory all of them may take: those of which
 * nothing was heard for the longest time are given up first. */
#define LIMIT_OPEN_OPERATIONS ((size_t)16384)
#define LIMIT_OPEN_OPERATION_BYTES ((size_t)16 << 20)

/* What is remembered of operations that have ended: ids, tokens, tasks. */
#define LIMIT_RECALL ((size_t)16384)

/* Ids with a secret in them that are kept apart, and their text. */
#define LIMIT_ALIASES ((size_t)65536)
#define LIMIT_ALIAS_TEXT ((size_t)16 << 20)

/* Secrets that become known while a recording is made, beside those in use. */
#define LIMIT_LEARNT ((size_t)16384)

/* HTTP streams that another exchange may still resume. */
#define LIMIT_STREAMS ((size_t)32768)

/* HTTP sessions that a client may still come back to, and events of streams that it may
 * want to go on after. */
#define LIMIT_SESSIONS ((size_t)65536)
#define LIMIT_EVENTS ((size_t)131072)

#endif
