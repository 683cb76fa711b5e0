#include "engine/script-mask.h"

struct leaf_mask script_mask_pointed(const struct record *r, const struct mcp_message *m,
                                     struct arena *scratch)
{
    struct leaf_mask mask = { NULL, 0 };
    struct json_fault fault;
    struct json_iter it;
    uint64_t *paths;
    struct json j;

    json_init(&j);
    if (r->message.redacted.len && json_scan(&j, r->message.redacted, &fault)) {
        it = json_each(json_root(&j));
        paths = arena_alloc(scratch, (json_count(json_root(&j)) + 1) * sizeof *paths);
        while (json_next(&it))
            if (leaves_pointer(m->root, json_text(it.value, scratch), &paths[mask.count]))
                mask.count++;
        mask.paths = paths;
    }
    json_release(&j);
    return mask;
}

static struct script_mask *keep_mask(struct script *s, struct leaf_mask mask)
{
    struct script_mask *m = arena_new(&s->arena, struct script_mask);
    uint64_t *paths = arena_alloc(&s->arena, mask.count * sizeof *paths);

    memcpy(paths, mask.paths, mask.count * sizeof *paths);
    m->mask = (struct leaf_mask){ paths, mask.count };
    return m;
}

static bool same_mask(struct leaf_mask a, struct leaf_mask b)
{
    return a.count == b.count && !memcmp(a.paths, b.paths, a.count * sizeof *a.paths);
}

/* Live requests of this subject will also be looked for with these leaves left out. */
static void add_mask(struct script *s, const struct script_op *o, struct leaf_mask mask)
{
    const uint32_t key[2] = { o->method, o->subject_key };
    struct str at = str_n((const char *)key, sizeof key);
    struct script_mask *first = map_get(&s->masks, at), *m;

    for (m = first; m; m = m->next)
        if (same_mask(m->mask, mask))
            return;
    m = keep_mask(s, mask);
    if (!first) {
        map_put(&s->masks, at, m);
        return;
    }
    m->next = first->next;
    first->next = m;
}

void script_mask_note(struct script *s, uint32_t op, const struct leaves *l,
                      struct leaf_mask pointed, struct arena *scratch)
{
    uint64_t *paths = arena_alloc(scratch, (l->count + 1) * sizeof *paths);
    struct leaf_mask mask = { paths, 0 };

    for (size_t i = 0; i < l->count; i++)
        if (l->at[i].kind == LEAF_REDACTED)
            paths[mask.count++] = l->at[i].path;
    if (!mask.count)
        return;
    s->ops[op].flags |= STRAND_MASKED;
    add_mask(s, &s->ops[op], mask);
    if (pointed.count)
        map_put(&s->hidden, str_n((const char *)&op, sizeof op), keep_mask(s, pointed));
}

const struct script_mask *script_mask_find(const struct script *s, uint32_t method,
                                           uint32_t subject_key)
{
    const uint32_t key[2] = { method, subject_key };

    return map_get(&s->masks, str_n((const char *)key, sizeof key));
}

struct leaf_mask script_mask_hidden(const struct script *s, uint32_t op)
{
    const struct script_mask *m =
        s->hidden.count ? map_get(&s->hidden, str_n((const char *)&op, sizeof op)) : NULL;

    return m ? m->mask : (struct leaf_mask){ NULL, 0 };
}
