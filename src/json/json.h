/* json/json.h - parses a JSON text into a list of spans.
 *
 * json_scan() validates everything (RFC 8259, UTF-8 included) and notes the position of every
 * value; it converts and copies nothing. Numbers stay text; the order of keys, duplicate keys
 * and escapes stay. A lone surrogate escape ("\ud83d") is accepted: JSON.stringify and
 * json.dumps emit it.
 *
 * Linear time and no recursion on any input; nesting and the number of values are limited.
 *
 * Ownership: `struct json` borrows the text and owns its nodes. A `struct json_val` refers to
 * one `struct json` and is valid until that is scanned into again or released. The absent value
 * (JSON_VAL_NONE) may be passed anywhere and results in absent, empty or false, so lookups
 * chain without checks. */
#ifndef JSON_JSON_H
#define JSON_JSON_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { JSON_MAX_DEPTH = 512 };
enum { JSON_MAX_VALUES = 8 << 20 };        /* in one text, keys included */
#define JSON_MAX_TEXT ((size_t)UINT32_MAX) /* bytes */

enum json_type {
    JSON_ABSENT,
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

/* One value or key. Keys and values of an object alternate as its children. */
struct json_node {
    uint32_t at, end; /* text[at..end), quotes and brackets included */
    uint32_t size;    /* number of its nodes: itself and all inside it */
    uint32_t info;    /* type, flags, number of children; for json/ alone */
};

enum { JSON_INFO_TYPE = 7 }; /* the bits of the type */

struct json {
    struct str text;      /* borrowed */
    uint32_t extra_depth; /* levels allowed beyond JSON_MAX_DEPTH: for an envelope around a
                             received value */
    struct json_node *nodes;
    size_t count, cap;
};

struct json_val {
    const struct json *doc;
    uint32_t node;
};

#define JSON_VAL_NONE ((struct json_val){ NULL, 0 })

/* Why a text is not JSON. */
enum json_fault_kind {
    JSON_FAULT_NONE,
    JSON_FAULT_TRUNCATED, /* the text ends inside a value: more bytes might complete it */
    JSON_FAULT_SYNTAX,    /* no continuation can make it valid */
    JSON_FAULT_UTF8,
    JSON_FAULT_DEPTH,
    JSON_FAULT_SIZE,
};

struct json_fault {
    enum json_fault_kind kind;
    size_t at;        /* offset of the first wrong byte, or the length */
    const char *what; /* static text: "expected ',' or '}'" */
};

void json_init(struct json *j);
void json_release(struct json *j);

/* Parses a text that is one value and blanks around it. On success `*fault` is untouched; on
 * failure it says why, and `*j` holds no value. */
bool json_scan(struct json *j, struct str text, struct json_fault *fault) MUST_CHECK;

/* Parses the first value of `text` and sets `*used` to its end. Bytes behind it are not read.
 * (A number at the very end of `text` counts as complete.) */
bool json_scan_first(struct json *j, struct str text, size_t *used,
                     struct json_fault *fault) MUST_CHECK;

struct json_val json_root(const struct json *j);

static inline bool json_exists(struct json_val v)
{
    return v.doc != NULL;
}

static inline enum json_type json_type(struct json_val v)
{
    return v.doc ? (enum json_type)(v.doc->nodes[v.node].info & JSON_INFO_TYPE) : JSON_ABSENT;
}

/* Returns whether `inner` is `outer` or a key or value inside it. */
static inline bool json_contains(struct json_val outer, struct json_val inner)
{
    return outer.doc && outer.doc == inner.doc && inner.node >= outer.node &&
           inner.node - outer.node < outer.doc->nodes[outer.node].size;
}

struct str json_raw(struct json_val v); /* its bytes, untouched; empty if absent */
size_t json_offset(struct json_val v);  /* offset of those bytes in the text */
size_t json_count(struct json_val v);   /* elements or members; 0 for the rest */

/* Returns the member with a decoded name; the last of duplicates, as JSON.parse does. */
struct json_val json_get(struct json_val object, struct str key);

/* Returns how often a name occurs: 2 or more is a duplicate. */
size_t json_occurrences(struct json_val object, struct str key);

/* Linear in `index`: to iterate over a long array use json_each(). */
struct json_val json_item(struct json_val array, size_t index);

/* Iterates over an array or object: while (json_next(&it)) use it.key (absent in arrays) and
 * it.value. Other values have no items. */
struct json_iter {
    struct json_val key, value;
    struct json_val in;
    uint32_t node, end;
};
struct json_iter json_each(struct json_val container);

static inline bool json_next(struct json_iter *it)
{
    const struct json *doc = it->in.doc;

    if (it->node == it->end)
        return false;
    if (json_type(it->in) == JSON_OBJECT)
        it->key = (struct json_val){ doc, it->node++ };
    it->value = (struct json_val){ doc, it->node };
    it->node += doc->nodes[it->node].size;
    return true;
}

/* Returns a string without its quotes, still escaped; empty if it is no string. */
struct str json_unquoted(struct json_val string);
bool json_has_escapes(struct json_val string);

/* Returns the decoded string: it points into the text if nothing was escaped, else into the
 * arena. Lone surrogates become three bytes (WTF-8). Empty if it is no string. */
struct str json_text(struct json_val string, struct arena *a);

/* Returns whether it is a string equal to `text` after decoding. */
bool json_is(struct json_val v, struct str text);

/* Parses an integer that fits, in any spelling (5, 5.0, 50e-1); false otherwise. */
bool json_int(struct json_val v, int64_t *out);

#endif
