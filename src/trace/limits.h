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

#endif
