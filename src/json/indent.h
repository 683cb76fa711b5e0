/* json/indent.h - a JSON value laid out for people, as it was spelt.
 *
 * Order, duplicates, numbers and escapes stay as they are; only blanks between values are
 * ours. What a terminal might obey is made visible, so this is for reading, not for
 * parsing. */
#ifndef JSON_INDENT_H
#define JSON_INDENT_H

#include "base/buf.h"
#include "json/json.h"

/* A laid out value may be far larger than the value: whenever so much has gathered, it is
 * drained. */
enum { JSON_INDENT_CHUNK = 64 << 10 };

struct json_indent {
    struct buf *to; /* needs room for a few chunks */
    bool color;
    bool (*drain)(void *arg, struct err *e); /* takes what is in `to`; NULL: it all stays */
    void *arg;
    const char *base64_hint; /* long base64 is shortened, with this hint after its size; NULL:
                              * nothing is shortened */
};

/* Without a newline at the end. False if the drain said so. */
bool json_indent_add(const struct json_indent *how, struct json_val v,
                     struct err *e) MUST_CHECK;

#endif
