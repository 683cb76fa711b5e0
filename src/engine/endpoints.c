#include "engine/endpoints.h"

#include "base/buf.h"
#include "base/map.h"
#include "engine/http-endpoint.h"
#include "trace/limits.h"
#include "trace/secrets.h"

#define MARK "[REDACTED]"

enum { TEXT_MAX = 128 << 10 };

bool endpoints_read(struct endpoint *out, struct str said, const struct url *server,
                    const struct address_client *client, struct arena *a, struct err *e)
{
    struct address at;

    if (!said.len || !address_read(&at, said, server, client, a, e))
        return http_endpoint_unread(said, e);
    if (!at.here)
        return http_endpoint_elsewhere(&at.meant, a, e);
    *out = (struct endpoint){ .target = at.target, .told = at.told };
    return true;
}

void endpoints_init(struct endpoints *p, struct session_ids *ids)
{
    *p = (struct endpoints){ .ids = ids };
    recall_init(&p->paths, LIMIT_SESSIONS);
    recall_init(&p->ended, LIMIT_SESSIONS);
}

void endpoints_release(struct endpoints *p)
{
    recall_release(&p->paths);
    recall_release(&p->ended);
}

/* As no client can write it in a header line: it is no id of that kind. */
static struct str key_of(struct str target, struct arena *a)
{
    return arena_printf(a, "\n%.*s", STR_ARG(target));
}

static uint64_t begin_session(struct endpoints *p, struct str key)
{
    bool minted;

    session_ids_end(p->ids, key);
    return session_ids_named(p->ids, key, &minted);
}

uint64_t endpoints_named(struct endpoints *p, struct str target, uint64_t session)
{
    struct arena a = { 0 };
    struct str key = key_of(target, &a), path = str_n(target.at, str_find(target, '?'));

    if (session)
        session_ids_also(p->ids, key, session);
    else
        session = begin_session(p, key);
    if (!recall_find(&p->paths, path))
        recall_put(&p->paths, path, 1, 0);
    arena_release(&a);
    return session;
}

void endpoints_end(struct endpoints *p, uint64_t session)
{
    recall_put(&p->ended, map_number(&session), 1, 0);
}

enum session_state endpoints_look(const struct endpoints *p, struct str path, struct str query,
                                  uint64_t *session)
{
    struct url at = { .path = path, .query = query };
    struct arena a = { 0 };
    enum session_state state;

    *session = 0;
    if (!recall_find(&p->paths, path))
        return SESSION_NONE;
    state = session_ids_look(p->ids, key_of(address_target(&at, &a), &a), session);
    arena_release(&a);
    if (state == SESSION_LIVE && recall_find(&p->ended, map_number(session)))
        state = SESSION_ENDED;
    return state;
}

/* Adds a text whose parts, between marks, are replaced if they are made up. */
static void add_path(struct buf *to, struct str path)
{
    bool more = true;

    while (more) {
        size_t slash = str_find(path, '/');
        struct str part = str_n(path.at, slash);

        more = slash < path.len;
        path = str_skip(path, slash + 1);
        buf_add(to, secrets_is_made_up(part) ? STR(MARK) : part);
        if (more)
            buf_add_ch(to, '/');
    }
}

/* Names stay; what has none, or stands behind a fragment, does not. */
static void add_query(struct buf *to, struct str query)
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

static struct str keep(struct buf *text, struct arena *a)
{
    struct str kept = text->full ? STR(MARK) : arena_str(a, buf_str(text));

    buf_release(text);
    return kept;
}

struct str endpoints_masked(struct str text, struct arena *a)
{
    size_t mark = str_find(text, '?');
    struct buf to;

    buf_init(&to, TEXT_MAX);
    add_path(&to, str_n(text.at, mark));
    if (mark < text.len) {
        buf_add_ch(&to, '?');
        add_query(&to, str_skip(text, mark + 1));
    }
    return keep(&to, a);
}

struct str endpoints_masked_query(struct str query, struct arena *a)
{
    struct buf to;

    if (!query.at)
        return query;
    buf_init(&to, TEXT_MAX);
    add_query(&to, query);
    return keep(&to, a);
}
