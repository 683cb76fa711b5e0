#include "engine/address.h"

#include "wire/reference.h"

struct str address_target(const struct url *u, struct arena *a)
{
    if (!u->query.at)
        return u->path;
    return arena_printf(a, "%.*s?%.*s", STR_ARG(u->path), STR_ARG(u->query));
}

struct str address_origin(const struct url *u, struct arena *a)
{
    bool v6 = u->authority.ip.kind == IP_V6;

    return arena_printf(a, "%s://%s%.*s%s:%d", u->https ? "https" : "http", v6 ? "[" : "",
                        STR_ARG(u->authority.host), v6 ? "]" : "", url_port(u));
}

/* What the client has asked for, as we see it. */
static bool client_url(struct url *u, const struct address_client *client, struct arena *a)
{
    struct err e = ERR_NONE;
    struct str text =
        arena_printf(a, "http://%.*s%.*s", STR_ARG(client->host), STR_ARG(client->path));

    return url_parse(u, text, &e);
}

/* Whatever is in front of us may speak https to the client. */
static bool is_self(const struct url *meant, struct url self)
{
    self.https = meant->https;
    return reference_same_origin(meant, &self);
}

/* The client knows which origin it has come to. */
static struct str as_path(struct str target, struct arena *a)
{
    if (!str_starts(target, STR("//")))
        return target;
    return arena_printf(a, "/.%.*s", STR_ARG(target)); /* or it would name a host */
}

bool address_read(struct address *out, struct str said, const struct url *server,
                  const struct address_client *client, struct arena *a, struct err *e)
{
    struct err unread = ERR_NONE;
    struct url seen, self;
    bool named, known = client_url(&self, client, a);

    *out = (struct address){ .here = false };
    if (!reference_resolve(&out->meant, &out->named, said, server, a, e))
        return false;
    /* A server on this machine is told the Host that the client sent, and may repeat it. */
    out->here = !out->named || reference_same_origin(&out->meant, server) ||
                (known && is_self(&out->meant, self));
    if (!out->here)
        return true;
    out->target = address_target(&out->meant, a);
    if (!out->named && str_starts(out->target, STR("//")))
        return err_set(e, ERR_INPUT, "it would seem to name a host");
    out->told = said;
    if (out->named || !known || !reference_resolve(&seen, &named, said, &self, a, &unread) ||
        !str_eq(address_target(&seen, a), out->target))
        out->told = as_path(out->target, a);
    return true;
}
