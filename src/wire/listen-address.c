#include "wire/listen-address.h"

static enum listen_scope scope_of(const struct url_authority *a)
{
    if (ip_is_any(&a->ip))
        return LISTEN_WILDCARD;
    return url_is_loopback(a) || ip_is_loopback(&a->ip) ? LISTEN_LOOPBACK : LISTEN_OTHER;
}

static bool reject_address(struct str text, struct err *e)
{
    err_set(e, ERR_USAGE, "'%.*s' is not an address to listen on", STR_ARG(text));
    return err_hint(e, "write [HOST:]PORT, such as 8080, localhost:8080 or [::1]:8080");
}

/* Returns whether the text is '80', ':80' or '*:80', which are no authorities. */
static bool is_port_only(struct str text, struct str *port)
{
    bool star = str_starts(text, STR("*:"));

    if (!star && text.len && text.at[0] != ':' && str_find(text, ':') < text.len)
        return false;
    *port = str_skip(text, star ? 2 : str_starts(text, STR(":")) ? 1 : 0);
    return true;
}

bool listen_address_parse(struct listen_address *l, struct str text, struct err *e)
{
    struct url_authority a;
    struct str port;

    *l = (struct listen_address){ .scope = LISTEN_LOOPBACK };
    if (is_port_only(text, &port)) {
        if (!url_parse_port(port, &l->port) || l->port < 0)
            return reject_address(text, e);
        if (text.at[0] == '*') {
            l->host = str_n(text.at, 1);
            l->scope = LISTEN_WILDCARD;
        }
        return true;
    }
    if (!url_parse_authority(&a, text) || a.userinfo.at || a.port < 0)
        return reject_address(text, e);
    l->host = a.host;
    l->ip = a.ip;
    l->scope = scope_of(&a);
    l->port = a.port;
    return true;
}
