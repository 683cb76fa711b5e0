/* json/splice.h - changes a few values of a JSON text and keeps every other byte.
 *
 * Collect the changes, in any order, then apply them once. Changes of the same text must not
 * overlap: changing a value and a value inside it is a BUG.
 *
 * Ownership: new text is borrowed until json_splice_apply() returns. */
#ifndef JSON_SPLICE_H
#define JSON_SPLICE_H

#include "base/buf.h"
#include "json/json.h"

enum { JSON_SPLICE_MAX = 16 };

struct json_splice {
    struct json_val root;
    struct json_splice_edit {
        size_t at, end;       /* replaced span; empty for an insertion */
        struct str separator; /* "," of an insertion */
        struct str key;       /* name of an inserted member, decoded; else empty */
        struct str raw;       /* new JSON */
    } edits[JSON_SPLICE_MAX];
    size_t count;
};

void json_splice_init(struct json_splice *s, struct json_val root);

/* Replaces a value inside root by `raw` (JSON); does nothing if it is absent. */
void json_splice_replace(struct json_splice *s, struct json_val value, struct str raw);

/* Sets a member: replaces the value json_get() finds, or adds it at the end. Does nothing if
 * `object` is no object; setting the same member twice is a BUG. */
void json_splice_set(struct json_splice *s, struct json_val object, struct str key,
                     struct str raw);

/* Appends root's text with all changes. */
void json_splice_apply(struct json_splice *s, struct buf *to);

#endif
