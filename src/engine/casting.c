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
    c->of[v] = (struct casting_list){ .at = at, .count = count };
    return true;
}

void casting_init(struct casting *c, const struct script *script)
{
    size_t count = script->playable_count;

    if (count > 1 && script_is_stateless(script, script->playable[count - 1]))
        count--;
    *c = (struct casting){ .all = { .at = script->playable, .count = count } };
    spent_init(&c->played, script->session_count);
    if (count == 1)
        return;
    for (unsigned v = MCP_VERSION_UNKNOWN; v <= MCP_VERSION_LATEST; v++)
        if (!list(c, script, (enum mcp_version)v, true))
            list(c, script, (enum mcp_version)v, false);
}

void casting_release(struct casting *c)
{
    spent_release(&c->played);
    arena_release(&c->arena);
}

/* Starts the round again if all sessions of a list were played. */
static struct casting_list *refresh(struct casting *c, struct casting_list *l)
{
    while (l->from < l->count && spent_has(&c->played, l->at[l->from]))
        l->from++;
    if (l->from < l->count)
        return l;
    for (size_t i = 0; i < l->count; i++)
        spent_mark(&c->played, l->at[i], false);
    c->all.from = 0;
    for (unsigned v = MCP_VERSION_UNKNOWN; v <= MCP_VERSION_LATEST; v++)
        c->of[v].from = 0;
    return l;
}

struct casting_list *casting_of(struct casting *c, enum mcp_version asked)
{
    return refresh(c, casting_tells_apart(c, asked) ? &c->of[asked] : &c->all);
}

struct casting_list *casting_of_any(struct casting *c)
{
    return refresh(c, &c->all);
}

uint32_t casting_next(const struct casting_list *l)
{
    return l->at[l->from];
}

void casting_play(struct casting *c, uint32_t session)
{
    spent_mark(&c->played, session, true);
}

bool casting_tells_apart(const struct casting *c, enum mcp_version asked)
{
    return c->of[asked].count > 0;
}
