/* trace/untouchable.h - the values of a message that its meaning hangs on.
 *
 * Ids, methods, progress tokens, cursors, requestState, versions and schemas: what only looks
 * like a secret is left alone there, for a recording in which they were changed could not be
 * replayed or compared.
 *
 * They are told by where they stand (of which method, beside what) and by what they are: an
 * object where an id belongs is none. */
#ifndef TRACE_UNTOUCHABLE_H
#define TRACE_UNTOUCHABLE_H

#include "json/json.h"

/* Nodes, in order: each the first and the one behind the last. */
struct untouchable {
    struct untouchable_range {
        uint32_t from, to;
        bool id; /* or a token, or a reference to one: others must not become equal to it */
    } * ranges;
    size_t count, cap;
};

void untouchable_init(struct untouchable *u);
void untouchable_release(struct untouchable *u);

/* Those of one message. */
void untouchable_find(struct untouchable *u, struct json_val message);

bool untouchable_has(const struct untouchable *u, uint32_t node);
bool untouchable_is_id(const struct untouchable *u, uint32_t node);

#endif
