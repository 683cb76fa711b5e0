#include "match/candidates.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

enum mcp_class candidates_method_class(const struct candidates *q, uint32_t method)
{
    const struct mcp_method *known = q->index->methods[method].known;

    return known ? known->class : MCP_CLASS_OTHER;
}

bool candidates_is_sequence(const struct candidates *q, uint32_t method)
{
    enum mcp_class class = candidates_method_class(q, method);

    return class == MCP_CLASS_POLL || class == MCP_CLASS_LISTEN;
}

bool candidates_uses_params(const struct candidates *q, uint32_t method)
{
    return q->by != CANDIDATES_BY_SUBJECT && !candidates_is_sequence(q, method);
}

uint32_t candidates_redacted_key(uint32_t params_key)
{
    return params_key ^ UINT32_C(0x9e3779b9);
}

static uint32_t key_of(const struct candidates *q, uint32_t call)
{
    const struct recorded_call *o = &q->index->calls[call];
    uint32_t key;

    if (!candidates_uses_params(q, o->method))
        return o->subject_key;
    key = q->by == CANDIDATES_BY_PARAMS ? o->params_key : q->index->reduced_keys[call];
    return o->flags & CALL_REDACTED ? candidates_redacted_key(key) : key;
}

static size_t slot_of(const struct candidates *q, uint32_t session, uint32_t method,
                      uint32_t key)
{
    uint64_t h = hash_mix(hash_mix(session, method), key) & UINT32_MAX;

    return (size_t)(h * q->slot_count >> 32);
}

/* Returns the slot of a list, or the free slot where it would go. */
static uint32_t *find_slot(const struct candidates *q, uint32_t session, uint32_t method,
                           uint32_t key)
{
    size_t at = slot_of(q, session, method, key);

    for (;; at = at + 1 < q->slot_count ? at + 1 : 0) {
        const struct recorded_call *o = &q->index->calls[q->heads[at]];
        if (!q->heads[at] ||
            (o->session == session && o->method == method && key_of(q, q->heads[at]) == key))
            return &q->heads[at];
    }
}

/* Goes from the last call to the first, so that each becomes the head of its list. */
void candidates_init(struct candidates *q, const struct index *idx, enum candidates_by by,
                     uint32_t name_bit)
{
    *q = (struct candidates){ .index = idx, .by = by, .name_bit = name_bit };
    q->slot_count = idx->call_count + idx->call_count / 2 + 1;
    q->heads = mem_alloc(q->slot_count * sizeof *q->heads);
    q->next = mem_alloc(idx->call_count * sizeof *q->next);
    for (uint32_t call = (uint32_t)idx->call_count; call-- > 1;) {
        const struct recorded_call *o = &idx->calls[call];
        uint32_t *head;

        if (!(o->flags & CALL_MATCHABLE))
            continue;
        head = find_slot(q, o->session, o->method, key_of(q, call));
        q->next[call] = *head;
        *head = call;
    }
}

void candidates_release(struct candidates *q)
{
    free(q->heads);
    free(q->next);
}

uint32_t candidates_find(const struct candidates *q, uint32_t session, uint32_t method,
                         uint32_t key)
{
    return *find_slot(q, session, method, key);
}

uint32_t candidates_list_of(const struct candidates *q, uint32_t call)
{
    const struct recorded_call *o = &q->index->calls[call];

    return candidates_find(q, o->session, o->method, key_of(q, call));
}

uint32_t candidates_first_call(const struct candidates *q, uint32_t session)
{
    const struct index *s = q->index;

    for (uint32_t call = 1; call < s->call_count; call++)
        if (s->calls[call].session == session && s->calls[call].flags & CALL_MATCHABLE)
            return call;
    return 0;
}

uint32_t candidates_last_call(const struct candidates *q, uint32_t session, uint8_t flags)
{
    const struct index *s = q->index;
    uint32_t call = (uint32_t)s->call_count;

    while (--call)
        if (s->calls[call].session == session && (s->calls[call].flags & flags) == flags)
            break;
    return call;
}

struct candidate_state *candidates_state(const struct candidates *q, struct used_set *used,
                                         uint32_t head)
{
    return used_set_state(used, head | q->name_bit);
}

void candidates_reset_call(const struct candidates *q, struct used_set *used, uint32_t call)
{
    struct candidate_state *state;

    used_set_mark(used, call, false);
    if (!q->heads)
        return;
    state = candidates_state(q, used, candidates_list_of(q, call));
    if (!state->next_unused || state->next_unused > call)
        state->next_unused = call;
}
