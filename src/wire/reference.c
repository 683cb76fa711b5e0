#include "wire/reference.h"

enum { TEXT_MAX = 64 << 10 };

static bool has_scheme(struct str text)
{
    size_t colon = str_find(text, ':');

    return colon < text.len && colon < str_find(text, '/') && colon < str_find(text, '?') &&
           colon < str_find(text, '#');
}

/* The path of `base` up to its last '/'. */
static struct str folder_of(const struct url *base)
{
    size_t len = base->path.len;

    while (len && base->path.at[len - 1] != '/')
        len--;
    return len ? str_n(base->path.at, len) : STR("/");
}

/* The whole of what `text` is short for; scheme and host are `base`'s. */
static void complete(struct buf *to, const struct url *base, struct str text)
{
    buf_add(to, base->https ? STR("https:") : STR("http:"));
    if (str_starts(text, STR("//"))) {
        buf_add(to, text);
        return;
    }
    buf_add(to, STR("//here"));
    if (str_starts(text, STR("?")))
        buf_add(to, base->path.len ? base->path : STR("/"));
    else if (!str_starts(text, STR("/")))
        buf_add(to, folder_of(base));
    buf_add(to, text);
}

/* Takes back the last segment that was added after `start`. */
static void go_up(struct buf *to, size_t start)
{
    while (to->len > start && to->at[to->len - 1] != '/')
        to->len--;
    to->len -= to->len > start;
}

/* The path without '.' and '..'. */
static void add_path(struct buf *to, struct str path)
{
    size_t start = to->len;

    path = str_skip(path, 1);
    for (;;) {
        bool last = str_find(path, '/') == path.len;
        struct str segment = str_cut(&path, '/');
        bool up = str_eq(segment, STR("..")), stay = str_eq(segment, STR("."));

        if (up)
            go_up(to, start);
        if (last || (!up && !stay))
            buf_add_ch(to, '/');
        if (!up && !stay)
            buf_add(to, segment);
        if (last)
            return;
    }
}

static bool is_elsewhere(const struct url *base, const struct url *u)
{
    return u->https != base->https || url_port(u) != url_port(base) ||
           !url_same_host(&u->authority, &base->authority);
}

static bool target_of(struct buf *to, const struct url *base, struct str whole, bool named,
                      struct err *e)
{
    struct err why = ERR_NONE;
    struct url u;

    if (!url_parse(&u, whole, &why))
        return err_set(e, ERR_PEER, "the server names an address that cannot be read");
    if (named && is_elsewhere(base, &u))
        return err_set(e, ERR_PEER, "the server names an address elsewhere, at '%.*s'",
                       STR_ARG(u.authority.host));
    add_path(to, u.path.len ? u.path : STR("/"));
    if (u.query.at) {
        buf_add_ch(to, '?');
        buf_add(to, u.query);
    }
    return true;
}

bool reference_target(struct buf *to, const struct url *base, struct str text, struct err *e)
{
    struct buf whole;
    bool ok;

    if (!text.len || text.len > TEXT_MAX)
        return err_set(e, ERR_PEER, "the server names an address that cannot be read");
    if (has_scheme(text))
        return target_of(to, base, text, true, e);
    buf_init(&whole, 3 * (size_t)TEXT_MAX);
    complete(&whole, base, text);
    ok = target_of(to, base, buf_str(&whole), str_starts(text, STR("//")), e);
    buf_release(&whole);
    return ok;
}
