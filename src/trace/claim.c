#include "trace/claim.h"

void claim_init(struct claims *c)
{
    map_init(&c->first);
}

void claim_release(struct claims *c)
{
    map_release(&c->first);
}

bool claim_add(struct claims *c, struct claim *claim)
{
    struct claim *first = map_get(&c->first, claim->key);

    claim->before = claim->after = NULL;
    claim->last = claim;
    if (!first) {
        map_put(&c->first, claim->key, claim);
        return true;
    }
    claim->before = first->last;
    first->last->after = claim;
    first->last = claim;
    return false;
}

void claim_drop(struct claims *c, struct claim *claim)
{
    struct claim *before = claim->before, *after = claim->after;

    if (before && after) {
        before->after = after;
        after->before = before;
    } else if (before) {
        before->after = NULL;
        claim_find(c, claim->key)->last = before;
    } else if (after) {
        after->before = NULL;
        after->last = claim->last;
        map_put(&c->first, claim->key, after);
    } else {
        map_remove(&c->first, claim->key);
    }
}

struct claim *claim_find(const struct claims *c, struct str key)
{
    return map_get(&c->first, key);
}
