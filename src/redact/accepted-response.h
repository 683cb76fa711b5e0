/* redact/accepted-response.h - composes the text of a recorded response that a live one
 * replaces.
 *
 * The result or error is the live one. The id and all other members stay as they were recorded.
 *
 * A redacted value stays redacted: where the recorded response has a placeholder, or its record
 * lists the value as redacted, and the live response has a string or a number,
 * - the recorded value stays, if it may be equal to the live one (params_may_be_equal()) or has
 *   no placeholder;
 * - else the live string is written, if the redactor replaced as many parts of it;
 * - else a placeholder alone is written.
 * Names of members are treated in the same way. Elements of arrays correspond by index.
 *
 * Does no I/O. The live response must have passed the redactor. */
#ifndef REDACT_ACCEPTED_RESPONSE_H
#define REDACT_ACCEPTED_RESPONSE_H

#include "base/buf.h"
#include "json/json.h"

/* A response with the JSON pointers of its redacted values. */
struct redacted_response {
    struct json_val message; /* mcp_is_response() */
    struct str redacted;     /* JSON array of strings; empty: none */
};

struct accepted_response {
    struct buf text;     /* the new message, on one line if both given ones are */
    struct buf redacted; /* JSON array of pointers; empty: none */
    uint64_t hidden;     /* texts of all responses that became a placeholder alone */

    /* Internal, for one response. */
    struct arena arena;
    struct buf pointer; /* to the current value */
    struct accepted_edit {
        size_t at, end; /* in the text of the live message */
        struct str raw; /* replaces it */
    } * edits;
    size_t edit_count, edit_cap;
    struct accepted_pointers {
        struct str *at;
        size_t count, cap;
    } unmarked, /* of recorded values that are redacted without a placeholder */
        kept,   /* of values in the new message that are redacted */
        live,   /* of values that the redactor replaced in the live message */
        stale;  /* of live members whose name was replaced */
};

void accepted_response_init(struct accepted_response *a);
void accepted_response_release(struct accepted_response *a);

/* Composes `text` and `redacted`. Returns false if the new message equals the recorded one. */
bool accepted_response_compose(struct accepted_response *a,
                               const struct redacted_response *recorded,
                               const struct redacted_response *live);

#endif
