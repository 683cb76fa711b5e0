#include "json/json.h"

#include <limits.h>

#include <stdlib.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/number.h"
#include "json/scan.h"

/* Nearly no string has escapes: what undoes them must not weigh on those without. */
#define RARE static __attribute__((noinline))

void json_init(struct json *j)
{
    *j = (struct json){ .count = 0 };
}

void json_release(struct json *j)
{
    free(j->nodes);
    json_init(j);
}

static struct json_val value_at(const struct json *doc, uint32_t node)
{
    return (struct json_val){ doc, node };
}

struct json_val json_root(const struct json *j)
{
    return j->count ? value_at(j, 0) : JSON_VAL_NONE;
}

struct str json_raw(struct json_val v)
{
    const struct json_node *n;

    if (!v.doc)
        return STR_NONE;
    n = json_node_of(v);
    return str_n(v.doc->text.at + n->at, n->end - n->at);
}

size_t json_offset(struct json_val v)
{
    return v.doc ? json_node_of(v)->at : 0;
}

size_t json_count(struct json_val v)
{
    return v.doc ? json_node_of(v)->info >> JSON_INFO_COUNT_SHIFT : 0;
}

struct json_iter json_each(struct json_val container)
{
    enum json_type type = json_type(container);

    if (type != JSON_OBJECT && type != JSON_ARRAY)
        return (struct json_iter){ .node = 0 };
    return (struct json_iter){
        .in = container,
        .node = container.node + 1,
        .end = container.node + json_node_of(container)->size,
    };
}

size_t json_occurrences(struct json_val object, struct str key)
{
    struct json_iter it = json_each(object);
    size_t n = 0;

    while (json_next(&it))
        n += json_is(it.key, key);
    return n;
}

struct json_val json_item(struct json_val array, size_t index)
{
    struct json_iter it = json_each(array);

    if (json_type(array) != JSON_ARRAY || index >= json_count(array))
        return JSON_VAL_NONE;
    do
        json_next(&it);
    while (index--);
    return it.value;
}

struct str json_unquoted(struct json_val string)
{
    struct str raw = json_raw(string);

    return json_type(string) == JSON_STRING ? str_n(raw.at + 1, raw.len - 2) : STR_NONE;
}

bool json_has_escapes(struct json_val string)
{
    return string.doc && json_node_of(string)->info & JSON_INFO_ESCAPES &&
           json_type(string) == JSON_STRING;
}

/* The escape at the front of `s`, which the scanner has found sound: what it
 * stands for goes to `out`. Returns how many bytes of `s` it takes. */
static size_t unescape(struct str s, char out[UTF8_MAX], size_t *len)
{
    static const char meant[UCHAR_MAX + 1] = {
        ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t',
    };
    uint32_t high, low;

    if (s.at[1] != 'u') {
        char letter = meant[(unsigned char)s.at[1]];
        out[0] = letter ? letter : s.at[1];
        *len = 1;
        return 2;
    }
    high = ascii_hex4(s.at + 2);
    if (high >= 0xD800 && high < 0xDC00 && s.len >= 12 && s.at[6] == '\\' && s.at[7] == 'u') {
        low = ascii_hex4(s.at + 8);
        if (low >= 0xDC00 && low < 0xE000) {
            *len = utf8_encode(out, 0x10000 + ((high - 0xD800) << 10 | (low - 0xDC00)));
            return 12;
        }
    }
    *len = utf8_encode(out, high);
    return 6;
}

RARE struct str decode(struct str s, struct arena *a)
{
    char *text, *to;

    text = to = arena_alloc(a, s.len); /* an escape is never shorter than its meaning */
    while (s.len) {
        size_t plain = str_find(s, '\\'), len;
        char code[UTF8_MAX];
        memcpy(to, s.at, plain);
        to += plain;
        s = str_skip(s, plain);
        if (!s.len)
            break;
        s = str_skip(s, unescape(s, code, &len));
        memcpy(to, code, len);
        to += len;
    }
    return str_n(text, (size_t)(to - text));
}

struct str json_text(struct json_val string, struct arena *a)
{
    const struct json_node *n;
    struct str inner;

    if (json_type(string) != JSON_STRING)
        return STR_NONE;
    n = json_node_of(string);
    inner = str_n(string.doc->text.at + n->at + 1, n->end - n->at - 2);
    return n->info & JSON_INFO_ESCAPES ? decode(inner, a) : inner;
}

/* A string with escapes that is equal to `text` after decoding. */
RARE bool equals_decoded(struct str s, struct str text)
{
    while (s.len) {
        size_t plain = str_find(s, '\\'), len;
        char code[UTF8_MAX];
        if (!str_starts(text, str_n(s.at, plain)))
            return false;
        text = str_skip(text, plain);
        s = str_skip(s, plain);
        if (!s.len)
            break;
        s = str_skip(s, unescape(s, code, &len));
        if (!str_starts(text, str_n(code, len)))
            return false;
        text = str_skip(text, len);
    }
    return text.len == 0;
}

/* Every lookup asks this of every key, so most must be over after one glance. */
static inline bool node_equals(const struct json *doc, const struct json_node *n,
                               struct str text)
{
    const char *inner = doc->text.at + n->at + 1;
    size_t len = n->end - n->at - 2;

    if (n->info & JSON_INFO_ESCAPES)
        return equals_decoded(str_n(inner, len), text);
    return str_eq(str_n(inner, len), text);
}

bool json_is(struct json_val v, struct str text)
{
    return json_type(v) == JSON_STRING && node_equals(v.doc, json_node_of(v), text);
}

struct json_val json_get(struct json_val object, struct str key)
{
    const struct json_node *n, *end, *found = NULL;

    if (json_type(object) != JSON_OBJECT)
        return JSON_VAL_NONE;
    n = json_node_of(object);
    end = n + n->size;
    for (n++; n < end; n += 1 + n[1].size)
        if (node_equals(object.doc, n, key))
            found = n + 1;
    return found ? value_at(object.doc, (uint32_t)(found - object.doc->nodes)) : JSON_VAL_NONE;
}

bool json_int(struct json_val v, int64_t *out)
{
    return json_type(v) == JSON_NUMBER && json_number_int(json_raw(v), out);
}
