/* redact/redact-json.h - removes secrets from a JSON value.
 *
 * Replaces only the bytes of the secret: strings stay strings, names of members included, and a
 * number becomes a string. Protected members (redact/protected-fields.h) lose only declared and
 * seen values, not text that merely looks like a credential or matches a pattern. Redacted ids
 * stay different from each other and the same in every message (redact/id-alias.h).
 *
 * In messages, base64 in `blob`, and in `data` beside a `mimeType`, is decoded and searched if
 * it is text; if a secret is found, the whole string is replaced. Base64 that was not searched
 * is counted in `unsearched`. */
#ifndef REDACT_REDACT_JSON_H
#define REDACT_REDACT_JSON_H

#include "redact/id-alias.h"
#include "redact/placeholder.h"
#include "redact/protected-fields.h"
#include "json/write.h"

/* Why base64 was not searched. */
enum redact_json_unsearched {
    REDACT_JSON_BINARY,
    REDACT_JSON_COMPRESSED,
    REDACT_JSON_LARGE, /* more than REDACT_JSON_SEARCH_MAX bytes */
    REDACT_JSON_REASONS,
};

enum { REDACT_JSON_SEARCH_MAX = 16 << 20 };

struct redact_json {
    struct secret_search *search; /* borrowed, as is the next */
    struct placeholders *placeholders;
    struct buf text;    /* the new value */
    struct json result; /* the new value, parsed */
    struct protected_fields protected_fields;
    struct id_alias id_alias;
    struct arena arena; /* for one value */
    struct redact_json_leaf {
        uint32_t node, rule;
    } * leaves; /* the changed ones; nodes are counted from the root of the value */
    size_t count, cap;
    struct secret_search *decoded_search;     /* for decoded base64; NULL until needed */
    uint64_t unsearched[REDACT_JSON_REASONS]; /* number of base64 strings, of all messages */
};

enum redact_json_outcome {
    REDACT_JSON_CLEAN,  /* the value has no secret */
    REDACT_JSON_DONE,   /* the new value is in `text` and `result` */
    REDACT_JSON_FAILED, /* a secret could not be removed: the value must not be written */
};

void redact_json_init(struct redact_json *j, struct secret_search *f, struct placeholders *m);
void redact_json_release(struct redact_json *j);

/* Redacts one value. `message`: it is a JSON-RPC message, which has protected members. */
enum redact_json_outcome redact_json(struct redact_json *j, struct json_val v, bool message);

/* Appends the RFC 6901 pointer of a changed leaf in the new value; for the name of a member,
 * the pointer of that member. */
void redact_json_pointer(const struct redact_json *j, const struct redact_json_leaf *leaf,
                         struct buf *to);

#endif
