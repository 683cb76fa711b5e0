/* json/portability.h - finds valid JSON that common parsers reject.
 *
 * Measured with jq 1.6, which is on most machines: it rejects a string with a lone first half
 * of a surrogate pair, replaces a lone second half by U+FFFD, and rejects deep nesting, where
 * an object counts twice. */
#ifndef JSON_PORTABILITY_H
#define JSON_PORTABILITY_H

#include "json/json.h"

enum json_portability_issue {
    JSON_LONE_SURROGATE = 1u << 0,
    JSON_TOO_DEEP = 1u << 1,
};

enum { JSON_PORTABLE_DEPTH = 256, JSON_ARRAY_DEPTH = 1, JSON_OBJECT_DEPTH = 2 };

/* Returns the issues of a value as flags; `around` is the nesting it is in. */
unsigned json_portability_issues(struct json_val v, unsigned around);

#endif
