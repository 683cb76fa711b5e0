/* json/portable.h - what is JSON, but not to every program that reads JSON.
 *
 * Measured on jq 1.6, which is on most machines: it refuses a string with the first half
 * of a surrogate pair alone and puts U+FFFD in the place of a second half; and it refuses
 * what is nested too deep, where an object counts twice. */
#ifndef JSON_PORTABLE_H
#define JSON_PORTABLE_H

#include "json/json.h"

enum json_unportable {
    JSON_LONE_SURROGATE = 1u << 0,
    JSON_TOO_DEEP = 1u << 1,
};

enum { JSON_PORTABLE_NESTING = 256, JSON_NESTING_ARRAY = 1, JSON_NESTING_OBJECT = 2 };

/* The enum json_unportable that hold for the value; `around` is the nesting it stands
 * in. */
unsigned json_unportable(struct json_val v, unsigned around);

#endif
