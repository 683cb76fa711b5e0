#include "record/sse-endpoints.h"

#include "base/buf.h"
#include "base/map.h"
#include "mcphttp/url-rewrite.h"
#include "redact/secret-rules.h"
#include "trace/limits.h"

#define MARK "[REDACTED]"

enum { TEXT_MAX = 128 << 10 };

bool sse_endpoints_parse(struct sse_endpoints_event *out, struct str said,
                         const struct url *server, const struct url_rewrite_client *client,
                         struct arena *a, struct err *e)
{
    struct url_rewrite at;

    if (!said.len || !url_rewrite_resolve(&at, said, server, client, a, e))
        return url_rewrite_invalid_endpoint(said, e);
    if (!at.is_server)
        return url_rewrite_foreign_endpoint(&at.url, a, e);
    *out = (struct sse_endpoints_event){ .target = at.target, .client_url = at.for_client };
    return true;
}

void sse_endpoints_init(struct sse_endpoints *p, struct session_ids *ids)
{
    *p = (struct sse_endpoints){ .ids = ids };
    recent_keys_init(&p->paths, LIMIT_SESSIONS);
    recent_keys_init(&p->ended_sessions, LIMIT_SESSIONS);
}

void sse_endpoints_release(struct sse_endpoints *p)
{
    recent_keys_release(&p->paths);
    recent_keys_release(&p->ended_sessions);
}

/* No Mcp-Session-Id header can have this value. */
static struct str session_key(struct str target, struct arena *a)
{
    return arena_printf(a, "\n%.*s", STR_ARG(target));
}

static uint64_t begin_session(struct sse_endpoints *p, struct str key)
{
    bool minted;

    session_ids_end(p->ids, key);
    return session_ids_add(p->ids, key, &minted);
}

uint64_t sse_endpoints_add(struct sse_endpoints *p, struct str target, uint64_t session)
{
    struct arena a = { 0 };
    struct str key = session_key(target, &a), path = str_n(target.at, str_find(target, '?'));

    if (session)
        session_ids_add_alias(p->ids, key, session);
    else
        session = begin_session(p, key);
    if (!recent_keys_find(&p->paths, path))
        recent_keys_add(&p->paths, path, 1, 0);
    arena_release(&a);
    return session;
}

void sse_endpoints_end_session(struct sse_endpoints *p, uint64_t session)
{
    recent_keys_add(&p->ended_sessions, map_number_key(&session), 1, 0);
}

enum session_state sse_endpoints_find(const struct sse_endpoints *p, struct str path,
                                      struct str query, uint64_t *session)
{
    struct url at = { .path = path, .query = query };
    struct arena a = { 0 };
    enum session_state state;

    *session = 0;
    if (!recent_keys_find(&p->paths, path))
        return SESSION_NONE;
    state = session_ids_find(p->ids, session_key(url_rewrite_target(&at, &a), &a), session);
    arena_release(&a);
    if (state == SESSION_LIVE && recent_keys_find(&p->ended_sessions, map_number_key(session)))
        state = SESSION_ENDED;
    return state;
}

/* Adds a path with placeholders for its random segments. */
static void add_masked_path(struct buf *to, struct str path)
{
    bool more = true;

    while (more) {
        size_t slash = str_find(path, '/');
        struct str part = str_n(path.at, slash);

        more = slash < path.len;
        path = str_skip(path, slash + 1);
        buf_add(to, secret_rules_looks_random(part) ? STR(MARK) : part);
        if (more)
            buf_add_ch(to, '/');
    }
}

/* Adds a query with placeholders for values, and for parts without a name. */
static void add_masked_query(struct buf *to, struct str query)
{
    bool more = true;

    while (more) {
        size_t amp = str_find(query, '&');
        struct str part = str_n(query.at, amp);
        size_t equals = str_find(part, '=');

        more = amp < query.len;
        query = str_skip(query, amp + 1);
        if (equals < part.len)
            buf_add(to, str_n(part.at, equals + 1));
        if (part.len)
            buf_add(to, STR(MARK));
        if (more)
            buf_add_ch(to, '&');
    }
}

static struct str copy_masked(struct buf *text, struct arena *a)
{
    struct str kept = text->full ? STR(MARK) : arena_str(a, buf_str(text));

    buf_release(text);
    return kept;
}

struct str sse_endpoints_mask(struct str text, struct arena *a)
{
    size_t mark = str_find(text, '?');
    struct buf to;

    buf_init(&to, TEXT_MAX);
    add_masked_path(&to, str_n(text.at, mark));
    if (mark < text.len) {
        buf_add_ch(&to, '?');
        add_masked_query(&to, str_skip(text, mark + 1));
    }
    return copy_masked(&to, a);
}

struct str sse_endpoints_mask_query(struct str query, struct arena *a)
{
    struct buf to;

    if (!query.at)
        return query;
    buf_init(&to, TEXT_MAX);
    add_masked_query(&to, query);
    return copy_masked(&to, a);
}
