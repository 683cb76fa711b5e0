/* mcp/payload-compare.h - compares a recorded response with a live one and classifies each
 * difference.
 *
 * Values are compared by meaning: members in any order, numbers by value, elements by index.
 * The rules (mcp/compare-rules.h) and the protocol decide the class of a difference. In this
 * order:
 *
 * - The members `jsonrpc` and `id` of the message are not compared.
 * - A member or path that the user ignores: PAYLOAD_IGNORED, once for the whole value.
 * - `_meta` at any depth: PAYLOAD_VOLATILE, unless the rules include it.
 * - Two strings that are JSON objects or arrays are compared as these, and the location
 *   continues inside: $.result.content[0].text.metadata.requestId. Not inside
 *   PAYLOAD_STRINGS_MAX such strings, and not if one is longer than PAYLOAD_JSON_MAX.
 * - A placeholder of redaction in a recorded string matches any text (mcp/params-hash.h); alone
 *   it matches any value. A member that is missing in the live message is a difference.
 * - PAYLOAD_VOLATILE by the default set: members of the protocol that depend on time or version
 *   (the table in payload-compare.c); members with a generated name (requestId, timestamp …),
 *   strings (decoded if they are text in base64) and numbers that differ only in volatile parts
 *   (mcp/volatile-text.h, mcp/volatile-values.h), if both sides have a value of the same type.
 *   For nextCursor, taskId and requestState, too: they may differ, but not be missing on one
 *   side. Names of members do not count inside the schemas of tools: there they are names of
 *   parameters.
 * - Lists of tools, prompts, resources and resource templates are compared by name or URI;
 *   resources whose URI the other side does not have, by name.
 *   Another order is one difference, PAYLOAD_ORDER, at the list. An item has the location of a
 *   member with its name: $.result.tools.get_weather, $.result.resources['file:///a']. Patterns
 *   may also use its index on either side.
 * - All else is PAYLOAD_CONTENT.
 *
 * With `like_mcp_recorder` the comparison is that of mcp-recorder's verify: `jsonrpc` counts;
 * `id` and `_meta` are ignored at every depth, not inside strings; 5 and 5.0 are of different
 * types; the lengths of arrays are compared, then the elements that both have; no default
 * volatile set, no lists by name. Unlike mcp-recorder, placeholders match, and ignored fields
 * and paths reach inside strings and elements.
 *
 * Differences come in a stable order: members sorted by name, elements by index, items of lists
 * as recorded and then the added ones. json_diff() is not used because a string or list has to
 * be opened on the way, and because a rule that applies to a value has to end the descent
 * there.
 *
 * Time is linear except for sorting, for any input; a difference costs no more than its
 * callback. Does no I/O. */
#ifndef MCP_PAYLOAD_COMPARE_H
#define MCP_PAYLOAD_COMPARE_H

#include "mcp/compare-rules.h"

enum {
    PAYLOAD_STRINGS_MAX = 3,    /* JSON in a string in a string in a string */
    PAYLOAD_JSON_MAX = 1 << 20, /* bytes of a string that is parsed as JSON */
};

enum payload_class {
    PAYLOAD_CONTENT,
    PAYLOAD_VOLATILE, /* differs from run to run */
    PAYLOAD_IGNORED,  /* by a rule of the user, or stripped as mcp-recorder does */
    PAYLOAD_ORDER,    /* a list has another order */
};

enum { PAYLOAD_CLASSES = PAYLOAD_ORDER + 1 };

enum payload_kind {
    PAYLOAD_CHANGED,
    PAYLOAD_TYPE_CHANGED,
    PAYLOAD_ADDED,          /* `recorded` is absent */
    PAYLOAD_REMOVED,        /* `live` is absent */
    PAYLOAD_REORDERED,      /* PAYLOAD_ORDER; the values are the lists */
    PAYLOAD_LENGTH_CHANGED, /* of an array, like_mcp_recorder only; json_count() has the lengths
                             */
};

struct payload_difference {
    enum payload_class class;
    enum payload_kind kind;
    struct json_location location; /* json_location_write() makes it text */
    struct json_val recorded, live;
}; /* all valid during the call */

/* Numbers of differences. */
struct payload_counts {
    uint64_t of[PAYLOAD_CLASSES];
};

/* Compares two messages that answer a request of `method`, and calls `found` (may be NULL) for
 * each difference of any class. False from it ends the comparison. Returns the counts, of an
 * ended comparison so far. */
struct payload_counts
payload_compare(struct json_val recorded, struct json_val live, struct str method,
                const struct compare_rules *rules,
                bool (*found)(void *arg, const struct payload_difference *d), void *arg);

/* True if there is no difference of PAYLOAD_CONTENT. */
bool payload_equal(struct json_val recorded, struct json_val live, struct str method,
                   const struct compare_rules *rules);

/* "content", "volatile", … */
const char *payload_class_name(enum payload_class class);

/* Python's name of the type of a value, as mcp-recorder prints it: "NoneType", "bool", "int",
 * "float", "str", "list", "dict". The value must exist. */
const char *payload_python_type(struct json_val v);

#endif
