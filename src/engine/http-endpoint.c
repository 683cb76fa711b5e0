#include "engine/http-endpoint.h"

#include "engine/address.h"
#include "wire/fields.h"
#include "wire/reference.h"

enum { SCHEME_TOLD = 32 };

/* The text has a scheme that is none of HTTP's; empty: it has none, or one of those. */
static struct str odd_scheme(struct str text)
{
    struct str scheme = str_n(text.at, str_find(text, ':'));

    if (scheme.len == text.len || !scheme.len || scheme.len > SCHEME_TOLD ||
        !fields_is_token(scheme) || fields_same(scheme, STR("http")) ||
        fields_same(scheme, STR("https")))
        return STR_NONE;
    return scheme;
}

bool http_endpoint_unread(struct str said, struct err *e)
{
    struct str scheme = odd_scheme(said);

    if (!said.len)
        return err_set(e, ERR_PEER,
                       "the server does not say where messages go to: the event is empty");
    if (scheme.len)
        return err_set(e, ERR_PEER,
                       "the server wants messages to go to a '%.*s:' address, "
                       "which is none of HTTP",
                       STR_ARG(scheme));
    e->kind = ERR_PEER;
    return err_wrap(e, "the server does not say where messages go to");
}

bool http_endpoint_elsewhere(const struct url *meant, struct arena *a, struct err *e)
{
    return err_set(e, ERR_PEER,
                   "the server wants messages to go elsewhere, to '%.*s', and mcpreel sends "
                   "them to nobody but the server it was given",
                   STR_ARG(address_origin(meant, a)));
}

bool http_endpoint_read(struct buf *target, struct str said, const struct url *server,
                        struct arena *a, struct err *e)
{
    struct url u;
    bool named;

    said = str_trim(said);
    if (!said.len || !reference_resolve(&u, &named, said, server, a, e))
        return http_endpoint_unread(said, e);
    if (!reference_same_origin(&u, server))
        return http_endpoint_elsewhere(&u, a, e);
    buf_clear(target);
    buf_add(target, u.path);
    if (u.query.at)
        buf_printf(target, "?%.*s", STR_ARG(u.query));
    if (target->full)
        return err_set(e, ERR_PEER, "the server wants messages to go to an address too long");
    return true;
}
