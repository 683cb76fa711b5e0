#include "transport/http-access.h"

#include "wire/url.h"

enum { NOT_ALLOWED = 405 };

static const struct http_access_decision access_granted = { .status = 0, .text = "" };

static struct http_access_decision
reject_access(unsigned status, enum http_access_reason reason, const char *text)
{
    return (struct http_access_decision){ .status = status, .reason = reason, .text = text };
}

bool http_access_is_valid_host(struct str text)
{
    struct url_authority a;

    return url_parse_authority(&a, text) && !a.userinfo.at;
}

static bool parse_origin(struct url *u, struct str text)
{
    struct err e = ERR_NONE;

    return url_parse(u, text, &e) && !u->authority.userinfo.at && !u->path.len &&
           !u->query.at && !u->fragment.at;
}

bool http_access_is_valid_origin(struct str text)
{
    struct url u;

    return parse_origin(&u, text);
}

/* An allowed host without a port allows every port. */
static bool matches_host(const struct url_authority *host, struct str allowed)
{
    struct url_authority a;

    if (!url_parse_authority(&a, allowed) || !url_same_host(host, &a))
        return false;
    return a.port < 0 || a.port == (host->port < 0 ? 80 : host->port);
}

/* Returns whether no page of the internet can have this host: an address is not resolved, and a
 * name without a dot only by the local network. */
static bool is_rebinding_safe(const struct url_authority *host)
{
    if (host->ip.kind != IP_NONE)
        return host->ip.canonical && !ip_is_any(&host->ip);
    return str_find(host->host, '.') == host->host.len;
}

static bool allows_host(const struct http_access *g, const struct request_head *r,
                        enum origin_kind host)
{
    if (host == ORIGIN_SELF || host == ORIGIN_LOOPBACK)
        return true;
    if (host != ORIGIN_OTHER)
        return false;
    for (size_t i = 0; i < g->host_count; i++) {
        if (matches_host(&r->host, str_z(g->hosts[i])))
            return true;
    }
    return g->allow_remote && !g->host_count && is_rebinding_safe(&r->host);
}

static bool matches_origin(const struct url *u, struct str allowed)
{
    struct url a;

    return parse_origin(&a, allowed) && a.https == u->https &&
           url_same_host(&a.authority, &u->authority) && url_port(&a) == url_port(u);
}

/* A page of another machine is allowed if its origin is listed. */
static bool allows_origin(const struct http_access *g, const struct request_head *r,
                          enum origin_kind origin)
{
    const struct header *f = headers_next(&r->headers, STR("origin"), NULL);
    struct url u;

    if (origin == ORIGIN_NONE || origin == ORIGIN_SELF || origin == ORIGIN_LOOPBACK)
        return true;
    if (origin != ORIGIN_OTHER || headers_next(&r->headers, STR("origin"), f) ||
        !parse_origin(&u, f->value))
        return false;
    for (size_t i = 0; i < g->origin_count; i++) {
        if (matches_origin(&u, str_z(g->origins[i])))
            return true;
    }
    return false;
}

/* An unknown value counts as cross-site. */
static bool is_cross_site(const struct headers *f)
{
    const struct header *site = headers_next(f, STR("sec-fetch-site"), NULL);

    return site && !str_eq(site->value, STR("same-origin")) &&
           !str_eq(site->value, STR("same-site")) && !str_eq(site->value, STR("none"));
}

static bool allows_cross_site(const struct http_access *g, const struct request_head *r,
                              enum origin_kind origin, bool mcp)
{
    const struct header *mode = headers_next(&r->headers, STR("sec-fetch-mode"), NULL);

    if (origin != ORIGIN_NONE || !is_cross_site(&r->headers))
        return true;
    return !mcp && !g->adds_credentials && mode && str_eq(mode->value, STR("navigate"));
}

/* Ignores case: some servers do, too. */
static bool is_trace_method(struct str method)
{
    return headers_equal_nocase(method, STR("TRACE")) ||
           headers_equal_nocase(method, STR("TRACK"));
}

struct http_access_decision http_access_check(const struct http_access *g,
                                              const struct request_head *r,
                                              enum origin_kind host, enum origin_kind origin,
                                              bool mcp)
{
    if (!allows_host(g, r, host))
        return reject_access(403, HTTP_ACCESS_HOST, "Host is not allowed; see --allow-host");
    if (!allows_origin(g, r, origin))
        return reject_access(403, HTTP_ACCESS_ORIGIN,
                             "Origin is not allowed; see --allow-origin");
    if (!allows_cross_site(g, r, origin, mcp))
        return reject_access(403, HTTP_ACCESS_CROSS_SITE,
                             "cross-site requests are not allowed");
    if (is_trace_method(r->method))
        return reject_access(NOT_ALLOWED, HTTP_ACCESS_METHOD,
                             "the methods TRACE and TRACK are not forwarded");
    if (mcp && str_eq(r->method, STR("POST")) &&
        media_type_of_headers(&r->headers) != MEDIA_JSON)
        return reject_access(415, HTTP_ACCESS_CONTENT_TYPE,
                             "Content-Type must be application/json");
    return access_granted;
}

void http_access_add_headers(struct headers *to, unsigned status)
{
    if (status == NOT_ALLOWED)
        headers_add(to, STR("Allow"), STR("GET, POST, DELETE"));
}
