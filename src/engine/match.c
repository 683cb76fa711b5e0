#include "engine/match.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcp/message.h"
#include "mcp/meta.h"
#include "json/canon.h"

/* Operations with one key, in recorded order. */
struct match_queue {
    const struct script_op **at;
    size_t count, cap;
    size_t next; /* none before this one is unused */
};

static const struct str not_compared[] = { STR_INIT("_meta"), STR_INIT("arguments") };

/* _meta is the protocol's; arguments are compared on their own, so that none and
 * an empty object are the same. */
static const struct json_rules params_rules = {
    .numbers_by_value = true,
    .skip = not_compared,
    .skip_count = 2,
};
static const struct json_rules arguments_rules = { .numbers_by_value = true };

static bool is_empty(struct json_val v, const struct json_rules *rules)
{
    size_t skipped = 0;

    for (size_t i = 0; i < rules->skip_count; i++)
        skipped += json_occurrences(v, rules->skip[i]);
    return !json_exists(v) || (json_type(v) == JSON_OBJECT && json_count(v) == skipped);
}

static bool same(struct json_val a, struct json_val b, const struct json_rules *rules)
{
    if (is_empty(a, rules) || is_empty(b, rules))
        return is_empty(a, rules) == is_empty(b, rules);
    return json_equal(a, b, rules);
}

bool matcher_same_params(struct json_val a, struct json_val b)
{
    return same(a, b, &params_rules) &&
           same(json_get(a, STR("arguments")), json_get(b, STR("arguments")), &arguments_rules);
}

static uint64_t params_hash(struct json_val params)
{
    struct json_val arguments = json_get(params, STR("arguments"));
    uint64_t a = is_empty(params, &params_rules) ? 0 : json_hash(params, &params_rules);
    uint64_t b =
        is_empty(arguments, &arguments_rules) ? 0 : json_hash(arguments, &arguments_rules);

    return a ^ (b << 1 | b >> 63);
}

/* The length of the method leads, so that no pair of names runs into another. */
static struct str join(struct arena *a, struct str method, struct str rest)
{
    size_t size = sizeof method.len + method.len + rest.len;
    char *key = arena_alloc(a, size), *at = key + sizeof method.len;

    memcpy(key, &method.len, sizeof method.len);
    if (method.len)
        memcpy(at, method.at, method.len);
    if (rest.len)
        memcpy(at + method.len, rest.at, rest.len);
    return str_n(key, size);
}

static struct str key_of(struct matcher *m, struct str method, struct json_val params)
{
    uint64_t hash;

    arena_clear(&m->arena);
    if (m->mode == MATCH_SEQUENTIAL)
        return join(&m->arena, method, json_text(mcp_subject(method, params), &m->arena));
    hash = params_hash(params);
    return join(&m->arena, method, str_n((const char *)&hash, sizeof hash));
}

bool matcher_counts(const struct script_op *op)
{
    return !op->known || op->known->class != MCP_CLASS_SESSION;
}

bool matcher_used(const struct matcher *m, const struct script_op *op)
{
    return m->used[op->index];
}

static struct json_val recorded_params(struct matcher *m, const struct script_op *op)
{
    struct json_fault fault;

    if (!json_scan(&m->json, op->raw, &fault))
        BUG("a recorded request is JSON");
    return json_get(json_root(&m->json), STR("params"));
}

static void enqueue(struct matcher *m, const struct script_op *op)
{
    struct str key = key_of(m, op->method, recorded_params(m, op));
    struct match_queue *q = map_get(&m->queues, key);

    if (!q) {
        q = mem_new(struct match_queue);
        map_put(&m->queues, key, q);
    }
    q->at = mem_reserve(q->at, &q->cap, q->count + 1, sizeof *q->at);
    q->at[q->count++] = op;
}

void matcher_init(struct matcher *m, const struct script *script, enum match_mode mode)
{
    *m = (struct matcher){ .script = script, .mode = mode };
    m->used = mem_alloc(script->count * sizeof *m->used);
    map_init(&m->queues);
    json_init(&m->json);
    for (size_t i = 0; i < script->count; i++)
        if (matcher_counts(script->ops[i]))
            enqueue(m, script->ops[i]);
}

void matcher_release(struct matcher *m)
{
    for (struct map_entry *e = NULL; (e = map_next(&m->queues, e));) {
        struct match_queue *q = e->value;
        free(q->at);
        free(q);
    }
    map_release(&m->queues);
    arena_release(&m->arena);
    json_release(&m->json);
    free(m->used);
}

void matcher_reset(struct matcher *m)
{
    memset(m->used, 0, m->script->count * sizeof *m->used);
    m->oldest = 0;
    for (struct map_entry *e = NULL; (e = map_next(&m->queues, e));)
        ((struct match_queue *)e->value)->next = 0;
}

/* Equal hashes are not yet equal requests. */
static bool fits(struct matcher *m, const struct script_op *op, struct json_val params)
{
    return m->mode != MATCH_BY_REQUEST || matcher_same_params(recorded_params(m, op), params);
}

static bool may_repeat(const struct script_op *op)
{
    enum mcp_class class = op->known ? op->known->class : MCP_CLASS_OTHER;

    return op->succeeded &&
           (class == MCP_CLASS_LIST || class == MCP_CLASS_READ || class == MCP_CLASS_POLL);
}

static const struct script_op *take_unused(struct matcher *m, struct match_queue *q,
                                           struct json_val params)
{
    while (q->next < q->count && m->used[q->at[q->next]->index])
        q->next++;
    for (size_t i = q->next; i < q->count; i++)
        if (!m->used[q->at[i]->index] && fits(m, q->at[i], params))
            return q->at[i];
    return NULL;
}

/* The last success, if possible one that was asked for with the same params: who
 * lists anew wants the first page. */
static const struct script_op *take_again(struct matcher *m, const struct match_queue *q,
                                          struct json_val params)
{
    const struct script_op *last = NULL;

    for (size_t i = q->count; i-- > 0;) {
        if (!may_repeat(q->at[i]))
            continue;
        if (matcher_same_params(recorded_params(m, q->at[i]), params))
            return q->at[i];
        if (!last && m->mode == MATCH_SEQUENTIAL)
            last = q->at[i];
    }
    return last;
}

static bool is_recorded(struct matcher *m, const struct match_queue *q, struct json_val params)
{
    for (size_t i = 0; i < q->count; i++)
        if (fits(m, q->at[i], params))
            return true;
    return false;
}

enum match_outcome matcher_take(struct matcher *m, struct str method, struct json_val params,
                                const struct script_op **op)
{
    struct match_queue *q = map_get(&m->queues, key_of(m, method, params));

    *op = NULL;
    if (!q)
        return MATCH_NEVER;
    *op = take_unused(m, q, params);
    if (*op) {
        m->used[(*op)->index] = true;
        return MATCH_FOUND;
    }
    *op = take_again(m, q, params);
    if (*op)
        return MATCH_AGAIN;
    return is_recorded(m, q, params) ? MATCH_EXHAUSTED : MATCH_NEVER;
}

const struct script_op *matcher_passed_over(struct matcher *m, const struct script_op *op)
{
    const struct script *s = m->script;

    while (m->oldest < s->count && (m->used[m->oldest] || !matcher_counts(s->ops[m->oldest])))
        m->oldest++;
    return m->oldest < op->index ? s->ops[m->oldest] : NULL;
}
