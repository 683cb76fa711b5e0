#include "engine/casting.h"

static bool is_of(const struct script_session *s, enum mcp_version v, bool by_wish)
{
    return s->greeting && (by_wish ? s->asked : s->agreed) == v;
}

/* False if there is none of that revision. */
static bool list(struct casting *c, const struct script *script, enum mcp_version v,
                 bool by_wish)
{
    size_t known = 0, others = 0, count = 0;
    uint32_t *at;

    for (size_t i = 0; i < c->all.count; i++) {
        const struct script_session *s = &script->sessions[c->all.at[i]];

        known += is_of(s, v, by_wish);
        others += s->greeting && !is_of(s, v, by_wish);
    }
    if (!known || !others)
        return known;
    at = arena_alloc(&c->arena, (c->all.count - others) * sizeof *at);
    for (size_t i = 0; i < c->all.count; i++) {
        const struct script_session *s = &script->sessions[c->all.at[i]];

        if (!s->greeting || is_of(s, v, by_wish))
            at[count++] = c->all.at[i];
    }
    c->of[v] = (struct casting_parts){ .at = at, .count = count };
    return true;
}

void casting_init(struct casting *c, const struct script *script)
{
    size_t count = script->playable_count;

    if (count > 1 && script_is_stateless(script, script->playable[count - 1]))
        count--;
    *c = (struct casting){ .all = { .at = script->playable, .count = count } };
    if (count == 1)
        return;
    for (unsigned v = MCP_VERSION_UNKNOWN; v <= MCP_VERSION_LATEST; v++)
        if (!list(c, script, (enum mcp_version)v, true))
            list(c, script, (enum mcp_version)v, false);
}

void casting_release(struct casting *c)
{
    arena_release(&c->arena);
}

uint32_t casting_peek(const struct casting *c)
{
    return c->all.at[c->all.given % c->all.count];
}

uint32_t casting_take(struct casting *c, enum mcp_version asked)
{
    struct casting_parts *p = c->of[asked].count ? &c->of[asked] : &c->all;

    return p->at[p->given++ % p->count];
}
