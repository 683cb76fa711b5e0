#include "engine/queues.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

enum mcp_class queues_class(const struct queues *q, uint32_t method)
{
    const struct mcp_method *known = q->script->methods[method].known;

    return known ? known->class : MCP_CLASS_OTHER;
}

bool queues_is_sequence(const struct queues *q, uint32_t method)
{
    enum mcp_class class = queues_class(q, method);

    return class == MCP_CLASS_POLL || class == MCP_CLASS_LISTEN;
}

bool queues_goes_by_params(const struct queues *q, uint32_t method)
{
    return q->by_params && !queues_is_sequence(q, method);
}

uint32_t queues_masked(uint32_t params_key)
{
    return params_key ^ UINT32_C(0x9e3779b9);
}

static uint32_t key_of(const struct queues *q, uint32_t op)
{
    const struct script_op *o = &q->script->ops[op];

    if (!queues_goes_by_params(q, o->method))
        return o->subject_key;
    return o->flags & STRAND_MASKED ? queues_masked(o->params_key) : o->params_key;
}

static size_t slot_of(const struct queues *q, uint32_t session, uint32_t method, uint32_t key)
{
    uint64_t h = hash_mix(hash_mix(session, method), key) & UINT32_MAX;

    return (size_t)(h * q->slots >> 32);
}

/* The slot of a queue, or the free one where it would go. */
static uint32_t *find_slot(const struct queues *q, uint32_t session, uint32_t method,
                           uint32_t key)
{
    size_t at = slot_of(q, session, method, key);

    for (;; at = at + 1 < q->slots ? at + 1 : 0) {
        const struct script_op *o = &q->script->ops[q->heads[at]];
        if (!q->heads[at] ||
            (o->session == session && o->method == method && key_of(q, q->heads[at]) == key))
            return &q->heads[at];
    }
}

/* From the last to the first, so that each is put in front of its queue. */
void queues_init(struct queues *q, const struct script *script, bool by_params)
{
    *q = (struct queues){ .script = script, .by_params = by_params };
    q->slots = script->op_count + script->op_count / 2 + 1;
    q->heads = mem_alloc(q->slots * sizeof *q->heads);
    q->next = mem_alloc(script->op_count * sizeof *q->next);
    for (uint32_t op = (uint32_t)script->op_count; op-- > 1;) {
        const struct script_op *o = &script->ops[op];
        uint32_t *head;

        if (!(o->flags & STRAND_COUNTS))
            continue;
        head = find_slot(q, o->session, o->method, key_of(q, op));
        q->next[op] = *head;
        *head = op;
    }
}

void queues_release(struct queues *q)
{
    free(q->heads);
    free(q->next);
}

uint32_t queues_find(const struct queues *q, uint32_t session, uint32_t method, uint32_t key)
{
    return *find_slot(q, session, method, key);
}

uint32_t queues_of(const struct queues *q, uint32_t op)
{
    const struct script_op *o = &q->script->ops[op];

    return queues_find(q, o->session, o->method, key_of(q, op));
}

uint32_t queues_first(const struct queues *q, uint32_t session)
{
    const struct script *s = q->script;

    for (uint32_t op = 1; op < s->op_count; op++)
        if (s->ops[op].session == session && s->ops[op].flags & STRAND_COUNTS)
            return op;
    return 0;
}

uint32_t queues_last(const struct queues *q, uint32_t session, uint8_t flags)
{
    const struct script *s = q->script;
    uint32_t op = (uint32_t)s->op_count;

    while (--op)
        if (s->ops[op].session == session && (s->ops[op].flags & flags) == flags)
            break;
    return op;
}

struct spent_queue *queues_state(const struct queues *q, struct spent *spent, uint32_t head)
{
    return spent_queue(spent, q->second ? head | SPENT_SECOND : head);
}

void queues_renew(const struct queues *q, struct spent *spent, uint32_t op)
{
    struct spent_queue *state;

    spent_mark(spent, op, false);
    if (!q->heads)
        return;
    state = queues_state(q, spent, queues_of(q, op));
    if (!state->next || state->next > op)
        state->next = op;
}
