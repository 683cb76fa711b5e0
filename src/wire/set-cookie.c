#include "wire/set-cookie.h"

#include "wire/headers.h"

/* Returns whether an attribute is a Domain, and its value. */
static bool is_domain(struct str part, struct str *domain)
{
    struct str name = str_cut(&part, '=');

    if (!headers_equal_nocase(str_trim(name), STR("domain")))
        return false;
    *domain = str_trim(part);
    if (str_starts(*domain, STR(".")))
        *domain = str_skip(*domain, 1);
    return true;
}

/* Returns whether the server is in the domain. A domain without a dot must be the host itself:
 * clients drop a cookie for all of "com". */
static bool covers(struct str domain, const struct url_authority *server)
{
    struct str host = server->host;
    size_t below; /* bytes of the host before the domain */

    if (!domain.len)
        return false;
    if (headers_equal_nocase(domain, host))
        return true;
    if (server->ip.kind != IP_NONE || domain.len >= host.len ||
        str_find(domain, '.') == domain.len)
        return false;
    below = host.len - domain.len;
    return host.at[below - 1] == '.' && headers_equal_nocase(str_skip(host, below), domain);
}

void set_cookie_drop_domain(struct buf *to, struct str value,
                            const struct url_authority *server)
{
    struct str rest = value, domain = STR_NONE, ignored;

    str_cut(&rest, ';');
    while (rest.len)
        is_domain(str_cut(&rest, ';'), &domain);
    if (!covers(domain, server))
        return;
    rest = value;
    buf_add(to, str_cut(&rest, ';'));
    while (rest.len) {
        struct str part = str_cut(&rest, ';');

        if (is_domain(part, &ignored))
            continue;
        buf_add_ch(to, ';');
        buf_add(to, part);
    }
}
