#include "wire/origin.h"

static enum origin_kind classify_authority(const struct url_authority *a, int port,
                                           const struct url_authority *self)
{
    bool loopback = url_is_loopback(a);
    bool self_is_local = url_is_loopback(self) || ip_is_any(&self->ip);
    bool usual = a->ip.kind == IP_NONE || a->ip.canonical;

    if (ip_is_any(&a->ip))
        return ORIGIN_OTHER; /* reaches loopback in some browsers, and is no valid name */
    if (port == self->port &&
        ((loopback && self_is_local) || (usual && url_same_host(a, self))))
        return ORIGIN_SELF;
    return loopback ? ORIGIN_LOOPBACK : ORIGIN_OTHER;
}

enum origin_kind origin_classify_host(const struct url_authority *host,
                                      const struct url_authority *self)
{
    return classify_authority(host, host->port < 0 ? 80 : host->port, self);
}

enum origin_kind origin_classify(const struct headers *f, const struct url_authority *self)
{
    const struct header *first = headers_next(f, STR("origin"), NULL);
    struct err e = ERR_NONE;
    struct url u;
    enum origin_kind p;

    if (!first)
        return ORIGIN_NONE;
    if (headers_next(f, STR("origin"), first))
        return ORIGIN_OTHER;
    if (str_eq(first->value, STR("null")))
        return ORIGIN_NULL;
    if (!url_parse(&u, first->value, &e) || u.authority.userinfo.at || u.path.len ||
        u.query.at || u.fragment.at)
        return ORIGIN_OTHER;
    p = classify_authority(&u.authority, url_port(&u), self);
    /* We have no TLS: an https page is not ours, whatever its port. */
    return p == ORIGIN_SELF && u.https ? classify_authority(&u.authority, -1, self) : p;
}

enum origin_kind origin_if_allowed(enum origin_kind p)
{
    return p == ORIGIN_OTHER ? ORIGIN_SELF : p;
}

const char *origin_kind_name(enum origin_kind p)
{
    static const char *const names[] = {
        [ORIGIN_NONE] = "none",   [ORIGIN_SELF] = "self", [ORIGIN_LOOPBACK] = "loopback",
        [ORIGIN_OTHER] = "other", [ORIGIN_NULL] = "null",
    };

    return names[p];
}
