#include "replay/session-assign.h"

static bool has_version(const struct recorded_session *s, enum mcp_version v, bool by_wish)
{
    return s->initialize_call && (by_wish ? s->requested_version : s->agreed_version) == v;
}

/* Returns false if no session has that version. */
static bool build_list(struct session_assign *c, const struct index *idx, enum mcp_version v,
                       bool by_wish)
{
    size_t known = 0, others = 0, count = 0;
    uint32_t *at;

    for (size_t i = 0; i < c->all.count; i++) {
        const struct recorded_session *s = &idx->sessions[c->all.sessions[i]];

        known += has_version(s, v, by_wish);
        others += s->initialize_call && !has_version(s, v, by_wish);
    }
    if (!known || !others)
        return known;
    at = arena_alloc(&c->arena, (c->all.count - others) * sizeof *at);
    for (size_t i = 0; i < c->all.count; i++) {
        const struct recorded_session *s = &idx->sessions[c->all.sessions[i]];

        if (!s->initialize_call || has_version(s, v, by_wish))
            at[count++] = c->all.sessions[i];
    }
    c->by_version[v] = (struct session_assign_list){ .sessions = at, .count = count };
    return true;
}

void session_assign_init(struct session_assign *c, const struct index *idx)
{
    size_t count = idx->sessions_with_calls_count;

    if (count > 1 && index_is_stateless(idx, idx->sessions_with_calls[count - 1]))
        count--;
    *c = (struct session_assign){ .all = { .sessions = idx->sessions_with_calls,
                                           .count = count } };
    used_set_init(&c->assigned, idx->session_count);
    if (count == 1)
        return;
    for (unsigned v = MCP_VERSION_UNKNOWN; v <= MCP_VERSION_LATEST; v++)
        if (!build_list(c, idx, (enum mcp_version)v, true))
            build_list(c, idx, (enum mcp_version)v, false);
}

void session_assign_release(struct session_assign *c)
{
    used_set_release(&c->assigned);
    arena_release(&c->arena);
}

/* Starts the round again if all sessions of a list were assigned. */
static struct session_assign_list *refresh_list(struct session_assign *c,
                                                struct session_assign_list *l)
{
    while (l->next < l->count && used_set_has(&c->assigned, l->sessions[l->next]))
        l->next++;
    if (l->next < l->count)
        return l;
    for (size_t i = 0; i < l->count; i++)
        used_set_mark(&c->assigned, l->sessions[i], false);
    c->all.next = 0;
    for (unsigned v = MCP_VERSION_UNKNOWN; v <= MCP_VERSION_LATEST; v++)
        c->by_version[v].next = 0;
    return l;
}

struct session_assign_list *session_assign_list_for(struct session_assign *c,
                                                    enum mcp_version asked)
{
    return refresh_list(c, session_assign_has_list(c, asked) ? &c->by_version[asked] : &c->all);
}

struct session_assign_list *session_assign_list_any(struct session_assign *c)
{
    return refresh_list(c, &c->all);
}

uint32_t session_assign_next(const struct session_assign_list *l)
{
    return l->sessions[l->next];
}

void session_assign_mark(struct session_assign *c, uint32_t session)
{
    used_set_mark(&c->assigned, session, true);
}

bool session_assign_has_list(const struct session_assign *c, enum mcp_version asked)
{
    return c->by_version[asked].count > 0;
}
