#include "transport/http-gate.h"

#include "wire/url.h"

enum { NOT_ALLOWED = 405 };

static const struct http_gate_verdict come_in = { .status = 0, .text = "" };

static struct http_gate_verdict refuse(unsigned status, enum http_gate_reason reason,
                                       const char *text)
{
    return (struct http_gate_verdict){ .status = status, .reason = reason, .text = text };
}

bool http_gate_is_host(struct str text)
{
    struct url_authority a;

    return url_authority(&a, text) && !a.userinfo.at;
}

static bool read_origin(struct url *u, struct str text)
{
    struct err e = ERR_NONE;

    return url_parse(u, text, &e) && !u->authority.userinfo.at && !u->path.len &&
           !u->query.at && !u->fragment.at;
}

bool http_gate_is_origin(struct str text)
{
    struct url u;

    return read_origin(&u, text);
}

/* Without a port, all of them are meant. */
static bool is_host(const struct url_authority *host, struct str allowed)
{
    struct url_authority a;

    if (!url_authority(&a, allowed) || !url_same_host(host, &a))
        return false;
    return a.port < 0 || a.port == (host->port < 0 ? 80 : host->port);
}

/* Addresses cannot be made to point elsewhere; names without a dot only by who rules the
 * network that we listen on. */
static bool is_nobodys_page(const struct url_authority *host)
{
    if (host->ip.kind != IP_NONE)
        return host->ip.usual && !ip_is_any(&host->ip);
    return str_find(host->host, '.') == host->host.len;
}

static bool lets_host(const struct http_gate *g, const struct request *r, enum place host)
{
    if (host == PLACE_SELF || host == PLACE_LOOPBACK)
        return true;
    if (host != PLACE_OTHER)
        return false;
    for (size_t i = 0; i < g->host_count; i++) {
        if (is_host(&r->host, str_z(g->hosts[i])))
            return true;
    }
    return g->remote && !g->host_count && is_nobodys_page(&r->host);
}

static bool is_origin(const struct url *u, struct str allowed)
{
    struct url a;

    return read_origin(&a, allowed) && a.https == u->https &&
           url_same_host(&a.authority, &u->authority) && url_port(&a) == url_port(u);
}

/* A page that is not of this machine may be one that its user trusts. */
static bool lets_origin(const struct http_gate *g, const struct request *r, enum place origin)
{
    const struct field *f = fields_next(&r->fields, STR("origin"), NULL);
    struct url u;

    if (origin == PLACE_NONE || origin == PLACE_SELF || origin == PLACE_LOOPBACK)
        return true;
    if (origin != PLACE_OTHER || fields_next(&r->fields, STR("origin"), f) ||
        !read_origin(&u, f->value))
        return false;
    for (size_t i = 0; i < g->origin_count; i++) {
        if (is_origin(&u, str_z(g->origins[i])))
            return true;
    }
    return false;
}

/* Whatever it says that a browser might not, it is not ours. */
static bool is_of_another_site(const struct fields *f)
{
    const struct field *site = fields_next(f, STR("sec-fetch-site"), NULL);

    return site && !str_eq(site->value, STR("same-origin")) &&
           !str_eq(site->value, STR("same-site")) && !str_eq(site->value, STR("none"));
}

static bool lets_page(const struct http_gate *g, const struct request *r, enum place origin,
                      bool mcp)
{
    const struct field *mode = fields_next(&r->fields, STR("sec-fetch-mode"), NULL);

    if (origin != PLACE_NONE || !is_of_another_site(&r->fields))
        return true;
    return !mcp && !g->lends && mode && str_eq(mode->value, STR("navigate"));
}

/* In any spelling: who reads methods in small letters, too, would do it. */
static bool is_echo(struct str method)
{
    return fields_same(method, STR("TRACE")) || fields_same(method, STR("TRACK"));
}

struct http_gate_verdict http_gate_judge(const struct http_gate *g, const struct request *r,
                                         enum place host, enum place origin, bool mcp)
{
    if (!lets_host(g, r, host))
        return refuse(403, HTTP_GATE_HOST, "this Host is not served here; see --allow-host");
    if (!lets_origin(g, r, origin))
        return refuse(403, HTTP_GATE_ORIGIN,
                      "pages of this Origin are not served here; see --allow-origin");
    if (!lets_page(g, r, origin, mcp))
        return refuse(403, HTTP_GATE_PAGE, "pages of other sites may not show what is here");
    if (is_echo(r->method))
        return refuse(NOT_ALLOWED, HTTP_GATE_METHOD,
                      "a method that only repeats what it is sent is not passed on");
    if (mcp && str_eq(r->method, STR("POST")) && media_of_fields(&r->fields) != MEDIA_JSON)
        return refuse(415, HTTP_GATE_TYPE, "Content-Type must be application/json");
    return come_in;
}

void http_gate_add_lines(struct fields *to, unsigned status)
{
    if (status == NOT_ALLOWED)
        fields_add(to, STR("Allow"), STR("GET, POST, DELETE"));
}
