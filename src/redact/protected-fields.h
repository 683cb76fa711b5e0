/* redact/protected-fields.h - finds the members of a message that must not be redacted.
 *
 * These are ids, methods, progress tokens, cursors, requestState, versions and schemas: a
 * recording in which they are changed cannot be replayed or compared. Credential formats and
 * patterns are not applied to them; declared values are removed even there.
 *
 * A member is recognized by its position (method, neighbouring members) and its type: an object
 * in the place of an id is not protected. */
#ifndef REDACT_PROTECTED_FIELDS_H
#define REDACT_PROTECTED_FIELDS_H

#include "json/json.h"

/* Ranges of JSON nodes, in order; `to` is behind the last node. */
struct protected_fields {
    struct protected_fields_range {
        uint32_t from, to;
        bool is_id; /* an id, a token or a reference to one: must stay unique */
    } * ranges;
    size_t count, cap;
};

void protected_fields_init(struct protected_fields *u);
void protected_fields_release(struct protected_fields *u);

/* Replaces the ranges by those of `message`. */
void protected_fields_find(struct protected_fields *u, struct json_val message);

bool protected_fields_has(const struct protected_fields *u, uint32_t node);
bool protected_fields_is_id(const struct protected_fields *u, uint32_t node);

#endif
