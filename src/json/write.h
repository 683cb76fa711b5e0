/* json/write.h - composes JSON text in a buffer and adds the commas.
 *
 *     struct json_out o = json_out_to(&b);
 *     json_out_object(&o);
 *     json_out_key(&o, STR("id"));
 *     json_out_raw(&o, id);
 *     json_out_end_object(&o);
 *
 * Does not check nesting. Only the buffer's maximum can make it fail; see buf_ok(). */
#ifndef JSON_WRITE_H
#define JSON_WRITE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

/* JSON spelled as it is, as an initialiser of a struct str: JSON_LITERAL({ "a" : [1] }). */
#define JSON_LITERAL(...) STR_INIT(#__VA_ARGS__)

/* The member `v` of all --json output: docs/json-output.md. */
enum { JSON_OUTPUT_VERSION = 2 };

struct json_out {
    struct buf *to; /* borrowed */
    bool comma;     /* the next value needs one before it */
};

struct json_out json_out_to(struct buf *to);

void json_out_object(struct json_out *o);
void json_out_end_object(struct json_out *o);
void json_out_array(struct json_out *o);
void json_out_end_array(struct json_out *o);

void json_out_key(struct json_out *o, struct str key);
void json_out_str(struct json_out *o, struct str text); /* see json_write_str() */
void json_out_int(struct json_out *o, int64_t n);
void json_out_bool(struct json_out *o, bool b);
void json_out_null(struct json_out *o);
void json_out_raw(struct json_out *o, struct str json); /* text that is JSON already */

/* key and value in one: the members one writes most. */
void json_out_key_str(struct json_out *o, struct str key, struct str text);
void json_out_key_str_or_null(struct json_out *o, struct str key,
                              struct str text); /* null if empty */
void json_out_key_int(struct json_out *o, struct str key, int64_t n);
void json_out_key_bool(struct json_out *o, struct str key, bool b);
void json_out_key_raw(struct json_out *o, struct str key, struct str json);

/* `text` as a JSON string with its quotes. Three-byte surrogates come out as
 * \udxxx again, other bytes that are not UTF-8 as U+FFFD. Also escapes DEL,
 * U+2028 and U+2029, which are legal but trip others up. */
void json_write_str(struct buf *to, struct str text);

/* The same in an arena. */
struct str json_write_str_in(struct arena *a, struct str text);

#endif
