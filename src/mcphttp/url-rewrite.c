#include "mcphttp/url-rewrite.h"

#include "wire/url-resolve.h"
#include "wire/url.h"

struct str url_rewrite_target(const struct url *u, struct arena *a)
{
    if (!u->query.at)
        return u->path;
    return arena_printf(a, "%.*s?%.*s", STR_ARG(u->path), STR_ARG(u->query));
}

struct str url_rewrite_origin(const struct url *u, struct arena *a)
{
    bool v6 = u->authority.ip.kind == IP_V6;

    return arena_printf(a, "%s://%s%.*s%s:%d", u->https ? "https" : "http", v6 ? "[" : "",
                        STR_ARG(u->authority.host), v6 ? "]" : "", url_port(u));
}

/* The URL that the client requested from us. */
static bool client_url(struct url *u, const struct url_rewrite_client *client, struct arena *a)
{
    struct err e = ERR_NONE;
    struct str text =
        arena_printf(a, "http://%.*s%.*s", STR_ARG(client->host), STR_ARG(client->path));

    return url_parse(u, text, &e);
}

/* Ignores the scheme: a proxy in front of us may terminate https. */
static bool is_own_origin(const struct url *url, struct url self)
{
    self.https = url->https;
    return url_same_origin(url, &self);
}

/* A path is enough for the client, which knows our origin. */
static struct str path_reference(struct str target, struct arena *a)
{
    if (!str_starts(target, STR("//")))
        return target;
    return arena_printf(a, "/.%.*s", STR_ARG(target)); /* "//" would name a host */
}

bool url_rewrite_resolve(struct url_rewrite *out, struct str text, const struct url *server,
                         const struct url_rewrite_client *client, struct arena *a,
                         struct err *e)
{
    struct err ignored = ERR_NONE;
    struct url seen, self;
    bool named, known = client_url(&self, client, a);

    *out = (struct url_rewrite){ .is_server = false };
    if (!url_resolve(&out->url, &out->names_host, text, server, a, e))
        return false;
    /* A server on this machine gets the Host that the client sent, and may use it. */
    out->is_server = !out->names_host || url_same_origin(&out->url, server) ||
                     (known && is_own_origin(&out->url, self));
    if (!out->is_server)
        return true;
    out->target = url_rewrite_target(&out->url, a);
    if (!out->names_host && str_starts(out->target, STR("//")))
        return err_set(e, ERR_INPUT, "the path begins with '//'");
    out->for_client = text;
    if (out->names_host || !known || !url_resolve(&seen, &named, text, &self, a, &ignored) ||
        !str_eq(url_rewrite_target(&seen, a), out->target))
        out->for_client = path_reference(out->target, a);
    return true;
}

enum { FIRST = 300, LAST = 399 };

#define ELSEWHERE "the server redirects (status %u)"
#define UNREAD " to an invalid URL: %s"
#define BESIDE " to another of its paths"

/* The URL that was requested, as the server sees it. */
static struct url requested_url(const struct url *server,
                                const struct url_rewrite_client *client)
{
    struct url u = *server;

    if (!str_eq(client->path, STR("/")))
        u.path = client->path;
    return u;
}

static struct str describe_unrecorded(const struct url_rewrite *to, const struct url *server,
                                      struct arena *a)
{
    struct str own = server->path.len ? server->path : STR("/");

    if (!to->is_server)
        return arena_printf(a, " to '%.*s': clients that follow the redirect bypass mcpreel",
                            STR_ARG(url_rewrite_origin(&to->url, a)));
    if (!url_same_path(to->url.path, own))
        return STR(BESIDE ": traffic there is not recorded");
    return STR_NONE;
}

bool url_rewrite_redirect(struct redirect *out, unsigned status, const struct headers *f,
                          const struct url *server, const struct url_rewrite_client *client,
                          struct arena *a)
{
    struct str text = headers_value(f, STR("location")), why;
    struct url requested = requested_url(server, client);
    struct url_rewrite to;
    struct err e = ERR_NONE;

    if (status < FIRST || status > LAST || !text.len)
        return false;
    *out = (struct redirect){ .location = text };
    if (!url_rewrite_resolve(&to, text, &requested, client, a, &e)) {
        why = arena_printf(a, UNREAD, e.msg);
    } else {
        out->is_valid_url = true;
        why = describe_unrecorded(&to, server, a);
        if (to.is_server && !str_eq(to.for_client, text))
            out->location = arena_printf(a, "%.*s%.*s", STR_ARG(to.for_client),
                                         STR_ARG(str_skip(text, str_find(text, '#'))));
    }
    if (why.len)
        out->warning = arena_printf(a, ELSEWHERE "%.*s", status, STR_ARG(why));
    return true;
}

static struct str describe_target(const struct url_rewrite *to, const struct url *server,
                                  struct arena *a)
{
    if (!to->is_server)
        return arena_printf(a, " to '%.*s'", STR_ARG(url_rewrite_origin(&to->url, a)));
    if (!url_same_path(to->url.path, server->path))
        return STR(BESIDE);
    return STR(
        " to another spelling of its own path, such as with or without a '/' at the end");
}

struct str url_rewrite_describe_redirect(unsigned status, const struct headers *f,
                                         const struct url *server, struct arena *a)
{
    const struct url_rewrite_client no_client = { .path = server->path };
    struct str text = headers_value(f, STR("location"));
    struct url_rewrite to;
    struct err e = ERR_NONE;

    if (!text.len)
        return arena_printf(a, ELSEWHERE " without a Location", status);
    if (!url_rewrite_resolve(&to, text, server, &no_client, a, &e))
        return arena_printf(a, ELSEWHERE UNREAD, status, e.msg);
    return arena_printf(
        a, ELSEWHERE "%.*s; mcpreel does not follow redirects: use that URL instead", status,
        STR_ARG(describe_target(&to, server, a)));
}

enum { SCHEME_MAX = 32 };

/* The scheme of a URL that is neither http nor https; empty: it has none, or one of these. */
static struct str non_http_scheme(struct str text)
{
    struct str scheme = str_n(text.at, str_find(text, ':'));

    if (scheme.len == text.len || !scheme.len || scheme.len > SCHEME_MAX ||
        !headers_is_token(scheme) || headers_equal_nocase(scheme, STR("http")) ||
        headers_equal_nocase(scheme, STR("https")))
        return STR_NONE;
    return scheme;
}

bool url_rewrite_invalid_endpoint(struct str text, struct err *e)
{
    struct str scheme = non_http_scheme(text);

    if (!text.len)
        return err_set(e, ERR_PEER, "the server sent an empty 'endpoint' event");
    if (scheme.len)
        return err_set(e, ERR_PEER, "the 'endpoint' event has a '%.*s:' URL, which is not HTTP",
                       STR_ARG(scheme));
    e->kind = ERR_PEER;
    return err_wrap(e, "invalid 'endpoint' event");
}

bool url_rewrite_foreign_endpoint(const struct url *url, struct arena *a, struct err *e)
{
    return err_set(e, ERR_PEER,
                   "the 'endpoint' event points to another origin ('%.*s'); rejected",
                   STR_ARG(url_rewrite_origin(url, a)));
}

bool url_rewrite_parse_endpoint(struct buf *target, struct str text, const struct url *server,
                                struct arena *a, struct err *e)
{
    struct url u;
    bool named;

    text = str_trim(text);
    if (!text.len || !url_resolve(&u, &named, text, server, a, e))
        return url_rewrite_invalid_endpoint(text, e);
    if (!url_same_origin(&u, server))
        return url_rewrite_foreign_endpoint(&u, a, e);
    buf_clear(target);
    buf_add(target, u.path);
    if (u.query.at)
        buf_printf(target, "?%.*s", STR_ARG(u.query));
    if (target->full)
        return err_set(e, ERR_PEER, "the URL of the 'endpoint' event is too long");
    return true;
}
