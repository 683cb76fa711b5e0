/* json/indent.h - writes a JSON value indented, for a reader.
 *
 * Order, duplicates, numbers and escapes stay as they are; only the blanks between values
 * change. Control characters are made visible (base/term.h), so the output is not for
 * parsing. */
#ifndef JSON_INDENT_H
#define JSON_INDENT_H

#include "base/buf.h"
#include "json/json.h"

/* The output may be far larger than the value: it is drained whenever it has this size. */
enum { JSON_INDENT_CHUNK = 64 << 10 };

struct json_indent {
    struct buf *to; /* with room for a few chunks */
    bool color;
    bool (*drain)(void *arg, struct err *e); /* empties `to`; NULL: all output stays there */
    void *arg;
    const char *base64_hint; /* long base64 is shortened and followed by its size and this hint;
                                NULL: not shortened */
};

/* Appends no newline at the end. Returns false if `drain` did. */
bool json_indent_add(const struct json_indent *how, struct json_val v,
                     struct err *e) MUST_CHECK;

#endif
