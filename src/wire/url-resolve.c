#include "wire/url-resolve.h"

#include "base/ascii.h"

/* Returns whether the text begins with a scheme. */
static bool has_scheme(struct str text)
{
    size_t colon = str_find(text, ':');

    if (colon == text.len || colon == 0 || !ascii_is_letter(text.at[0]))
        return false;
    for (size_t i = 1; i < colon; i++) {
        char c = text.at[i];

        if (!ascii_is_alnum(c) && c != '+' && c != '-' && c != '.')
            return false;
    }
    return true;
}

/* Returns the length of a path without its last segment and the slash before it. */
static size_t parent_length(const char *path, size_t len)
{
    while (len && path[len - 1] != '/')
        len--;
    return len ? len - 1 : 0;
}

/* Resolves the segments '.' and '..'. */
static struct str remove_dot_segments(struct str path, struct arena *a)
{
    char *out = arena_alloc(a, path.len + 1);
    struct str rest = str_skip(path, 1);
    size_t len = 0;
    bool more = true;

    while (more) {
        size_t slash = str_find(rest, '/');
        struct str part = str_n(rest.at, slash);
        bool up = str_eq(part, STR("..")), stay = str_eq(part, STR("."));

        more = slash < rest.len;
        rest = str_skip(rest, slash + 1);
        if (up)
            len = parent_length(out, len);
        if (!up && !stay) {
            out[len++] = '/';
            if (part.len)
                memcpy(out + len, part.at, part.len);
            len += part.len;
        } else if (!more) {
            out[len++] = '/'; /* it names a directory */
        }
    }
    return str_n(out, len);
}

/* Cuts off query and fragment; query->at is NULL without one. */
static void cut_query(struct str *text, struct str *query)
{
    size_t mark;

    text->len = str_find(*text, '#');
    mark = str_find(*text, '?');
    *query = mark < text->len ? str_n(text->at + mark + 1, text->len - mark - 1) : STR_NONE;
    text->len = mark;
}

static bool resolve_url(struct url *out, struct str text, struct arena *a, struct err *e)
{
    if (!url_parse(out, text, e)) {
        e->kind = ERR_INPUT; /* the text comes from a server, not from the user */
        return false;
    }
    if (out->authority.userinfo.at)
        return err_set(e, ERR_INPUT, "the URL names a user");
    out->fragment = STR_NONE;
    out->path = out->path.len ? remove_dot_segments(out->path, a) : STR("/");
    return true;
}

static struct str merge_paths(struct str base, struct str text, struct arena *a)
{
    size_t len = base.len;

    while (len && base.at[len - 1] != '/')
        len--;
    if (!len)
        return arena_printf(a, "/%.*s", STR_ARG(text));
    return arena_printf(a, "%.*s%.*s", (int)len, base.at, STR_ARG(text));
}

static void resolve_path(struct url *out, struct str text, const struct url *base,
                         struct arena *a)
{
    struct str root = base->path.len ? base->path : STR("/"), query;

    cut_query(&text, &query);
    *out = *base;
    out->fragment = STR_NONE;
    out->authority.userinfo = STR_NONE;
    if (text.len || query.at)
        out->query = query;
    if (text.len)
        root = text.at[0] == '/' ? text : merge_paths(root, text, a);
    out->path = remove_dot_segments(root, a);
}

bool url_resolve(struct url *out, bool *named, struct str text, const struct url *base,
                 struct arena *a, struct err *e)
{
    const char *scheme = base->https ? "https" : "http";

    if (!url_has_valid_chars(text))
        return err_set(e, ERR_INPUT, "the URL contains an invalid character");
    *named = true;
    if (str_starts(text, STR("//")))
        return resolve_url(out, arena_printf(a, "%s:%.*s", scheme, STR_ARG(text)), a, e);
    if (has_scheme(text))
        return resolve_url(out, text, a, e);
    *named = false;
    resolve_path(out, text, base, a);
    return true;
}

bool url_same_origin(const struct url *a, const struct url *b)
{
    return a->https == b->https && url_port(a) == url_port(b) &&
           url_same_host(&a->authority, &b->authority);
}
