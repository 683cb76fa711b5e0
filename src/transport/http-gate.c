#include "transport/http-gate.h"

#include "wire/url.h"

static const struct http_gate_verdict come_in = { .status = 0, .text = "" };

static struct http_gate_verdict refuse(unsigned status, const char *text)
{
    return (struct http_gate_verdict){ .status = status, .text = text };
}

/* Without a port, all of them are meant. */
static bool is_host(const struct url_authority *host, struct str allowed)
{
    struct url_authority a;

    if (!url_authority(&a, allowed) || !url_same_host(host, &a))
        return false;
    return a.port < 0 || a.port == (host->port < 0 ? 80 : host->port);
}

static bool lets_host(const struct http_gate *g, const struct request *r, enum place host)
{
    if (host == PLACE_SELF || host == PLACE_LOOPBACK)
        return true;
    if (!g->remote || host != PLACE_OTHER)
        return false;
    for (size_t i = 0; i < g->host_count; i++) {
        if (is_host(&r->host, g->hosts[i]))
            return true;
    }
    return g->host_count == 0;
}

static bool is_origin(const struct url *u, struct str allowed)
{
    struct err e = ERR_NONE;
    struct url a;

    return url_parse(&a, allowed, &e) && a.https == u->https &&
           url_same_host(&a.authority, &u->authority) && url_port(&a) == url_port(u);
}

/* A page that is not of this machine may be one that its user trusts. */
static bool lets_origin(const struct http_gate *g, const struct request *r, enum place origin)
{
    const struct field *f = fields_next(&r->fields, STR("origin"), NULL);
    struct err e = ERR_NONE;
    struct url u;

    if (origin == PLACE_NONE || origin == PLACE_SELF || origin == PLACE_LOOPBACK)
        return true;
    if (origin != PLACE_OTHER || fields_next(&r->fields, STR("origin"), f) ||
        !url_parse(&u, f->value, &e) || u.authority.userinfo.at || u.path.len || u.query.at ||
        u.fragment.at)
        return false;
    for (size_t i = 0; i < g->origin_count; i++) {
        if (is_origin(&u, g->origins[i]))
            return true;
    }
    return false;
}

struct http_gate_verdict http_gate_judge(const struct http_gate *g, const struct request *r,
                                         enum place host, enum place origin, bool mcp)
{
    if (!lets_host(g, r, host))
        return refuse(403, "this Host is not served here");
    if (!lets_origin(g, r, origin))
        return refuse(403, "pages of this Origin are not served here");
    if (mcp && str_eq(r->method, STR("POST")) && media_of_fields(&r->fields) != MEDIA_JSON)
        return refuse(415, "Content-Type must be application/json");
    return come_in;
}
