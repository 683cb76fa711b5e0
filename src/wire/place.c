#include "wire/place.h"

static enum place place_of(const struct url_authority *a, int port,
                           const struct url_authority *self)
{
    bool loopback = url_is_loopback(a);
    bool at_home = url_is_loopback(self) || ip_is_any(&self->ip);
    bool usual = a->ip.kind == IP_NONE || a->ip.usual;

    if (ip_is_any(&a->ip))
        return PLACE_OTHER; /* reaches loopback in some browsers, and is nobody's name */
    if (port == self->port && ((loopback && at_home) || (usual && url_same_host(a, self))))
        return PLACE_SELF;
    return loopback ? PLACE_LOOPBACK : PLACE_OTHER;
}

enum place place_of_host(const struct url_authority *host, const struct url_authority *self)
{
    return place_of(host, host->port < 0 ? 80 : host->port, self);
}

enum place place_of_origin(const struct fields *f, const struct url_authority *self)
{
    const struct field *first = fields_next(f, STR("origin"), NULL);
    struct err e = ERR_NONE;
    struct url u;
    enum place p;

    if (!first)
        return PLACE_NONE;
    if (fields_next(f, STR("origin"), first))
        return PLACE_OTHER;
    if (str_eq(first->value, STR("null")))
        return PLACE_NULL;
    if (!url_parse(&u, first->value, &e) || u.authority.userinfo.at || u.path.len ||
        u.query.at || u.fragment.at)
        return PLACE_OTHER;
    p = place_of(&u.authority, url_port(&u), self);
    /* We speak no TLS: a page that came by it is not ours, whatever its port. */
    return p == PLACE_SELF && u.https ? place_of(&u.authority, -1, self) : p;
}

enum place place_admitted(enum place p)
{
    return p == PLACE_OTHER ? PLACE_SELF : p;
}

const char *place_name(enum place p)
{
    static const char *const names[] = {
        [PLACE_NONE] = "none",   [PLACE_SELF] = "self", [PLACE_LOOPBACK] = "loopback",
        [PLACE_OTHER] = "other", [PLACE_NULL] = "null",
    };

    return names[p];
}
