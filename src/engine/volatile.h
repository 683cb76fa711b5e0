/* engine/volatile.h - values that differ from run to run: times, random ids, hashes.
 *
 * Judged by the value alone, or by a name that says so (requestId, traceparent, nonce).
 * A plain date, a short number, a word are not volatile: they are what was asked for. */
#ifndef ENGINE_VOLATILE_H
#define ENGINE_VOLATILE_H

#include "base/str.h"

/* A string, decoded: a date with a time, a UUID, a ULID, 16 hex digits or more, a number
 * of seconds, milli- or microseconds since 1970; each also behind a short prefix
 * ("sha256:…", "req_…"). */
bool volatile_text(struct str text);

/* The text of a JSON number: a time since 1970. */
bool volatile_number(struct str number);

/* The name of a member whose value nobody chooses. */
bool volatile_name(struct str name);

#endif
