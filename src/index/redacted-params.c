#include "index/redacted-params.h"

struct params_mask redacted_params_from_record(const struct record *r,
                                               const struct mcp_message *m,
                                               struct arena *scratch)
{
    struct params_mask mask = { NULL, 0 };
    struct json_fault fault;
    struct json_iter it;
    uint64_t *paths;
    struct json j;

    json_init(&j);
    if (r->message.redacted.len && json_scan(&j, r->message.redacted, &fault)) {
        it = json_each(json_root(&j));
        paths = arena_alloc(scratch, (json_count(json_root(&j)) + 1) * sizeof *paths);
        while (json_next(&it))
            if (params_pointer_hash(m->root, json_text(it.value, scratch), &paths[mask.count]))
                mask.count++;
        mask.paths = paths;
    }
    json_release(&j);
    return mask;
}

static struct redacted_params *copy_mask(struct index *s, struct params_mask mask)
{
    struct redacted_params *m = arena_new(&s->arena, struct redacted_params);
    uint64_t *paths = arena_alloc(&s->arena, mask.count * sizeof *paths);

    memcpy(paths, mask.paths, mask.count * sizeof *paths);
    m->mask = (struct params_mask){ paths, mask.count };
    return m;
}

static bool same_mask(struct params_mask a, struct params_mask b)
{
    return a.count == b.count && !memcmp(a.paths, b.paths, a.count * sizeof *a.paths);
}

/* Adds a mask: live requests of this method and subject are also looked up with these params
 * left out. */
static void add_mask(struct index *s, const struct recorded_call *o, struct params_mask mask)
{
    const uint32_t key[2] = { o->method, o->subject_key };
    struct str at = str_n((const char *)key, sizeof key);
    struct redacted_params *first = map_get(&s->redacted_params, at), *m;

    for (m = first; m; m = m->next)
        if (same_mask(m->mask, mask))
            return;
    m = copy_mask(s, mask);
    if (!first) {
        map_put(&s->redacted_params, at, m);
        return;
    }
    m->next = first->next;
    first->next = m;
}

void redacted_params_add(struct index *s, uint32_t call, const struct params_leaves *l,
                         struct params_mask pointed, struct arena *scratch)
{
    uint64_t *paths = arena_alloc(scratch, (l->count + 1) * sizeof *paths);
    struct params_mask mask = { paths, 0 };

    for (size_t i = 0; i < l->count; i++)
        if (l->at[i].kind == PARAMS_LEAF_REDACTED)
            paths[mask.count++] = l->at[i].path;
    if (!mask.count)
        return;
    s->calls[call].flags |= CALL_REDACTED;
    add_mask(s, &s->calls[call], mask);
    if (pointed.count)
        map_put(&s->unmarked_redacted, str_n((const char *)&call, sizeof call),
                copy_mask(s, pointed));
}

const struct redacted_params *redacted_params_find(const struct index *s, uint32_t method,
                                                   uint32_t subject_key)
{
    const uint32_t key[2] = { method, subject_key };

    return map_get(&s->redacted_params, str_n((const char *)key, sizeof key));
}

struct params_mask redacted_params_unmarked(const struct index *s, uint32_t call)
{
    const struct redacted_params *m =
        s->unmarked_redacted.count
            ? map_get(&s->unmarked_redacted, str_n((const char *)&call, sizeof call))
            : NULL;

    return m ? m->mask : (struct params_mask){ NULL, 0 };
}
