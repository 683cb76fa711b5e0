#include "engine/redirect.h"

#include "wire/same-path.h"

enum { FIRST = 300, LAST = 399 };

#define ELSEWHERE "the server says it is elsewhere (status %u)"
#define UNREAD ", at an address that mcpreel cannot read: %s"
#define BESIDE ", at another of its paths"

/* What was asked for, as the server sees it. */
static struct url asked_for(const struct url *server, const struct address_client *client)
{
    struct url u = *server;

    if (!str_eq(client->path, STR("/")))
        u.path = client->path;
    return u;
}

static struct str why_not(const struct address *to, const struct url *server, struct arena *a)
{
    struct str own = server->path.len ? server->path : STR("/");

    if (!to->here)
        return arena_printf(a, ", at '%.*s': who follows that speaks to it without mcpreel",
                            STR_ARG(address_origin(&to->meant, a)));
    if (!same_path(to->meant.path, own))
        return STR(BESIDE ": what is said there is not recorded");
    return STR_NONE;
}

bool redirect_read(struct redirect *out, unsigned status, const struct fields *f,
                   const struct url *server, const struct address_client *client,
                   struct arena *a)
{
    struct str said = fields_value(f, STR("location")), why;
    struct url asked = asked_for(server, client);
    struct address to;
    struct err e = ERR_NONE;

    if (status < FIRST || status > LAST || !said.len)
        return false;
    *out = (struct redirect){ .told = said };
    if (!address_read(&to, said, &asked, client, a, &e)) {
        why = arena_printf(a, UNREAD, e.msg);
    } else {
        why = why_not(&to, server, a);
        if (to.here && !str_eq(to.told, said))
            out->told = arena_printf(a, "%.*s%.*s", STR_ARG(to.told),
                                     STR_ARG(str_skip(said, str_find(said, '#'))));
    }
    if (why.len)
        out->why = arena_printf(a, ELSEWHERE "%.*s", status, STR_ARG(why));
    return true;
}

static struct str where(const struct address *to, const struct url *server, struct arena *a)
{
    if (!to->here)
        return arena_printf(a, ", at '%.*s'", STR_ARG(address_origin(&to->meant, a)));
    if (!same_path(to->meant.path, server->path))
        return STR(BESIDE);
    return STR(", at its own path in another spelling, as with or without a '/' at the end");
}

struct str redirect_say(unsigned status, const struct fields *f, const struct url *server,
                        struct arena *a)
{
    const struct address_client nobody = { .path = server->path };
    struct str said = fields_value(f, STR("location"));
    struct address to;
    struct err e = ERR_NONE;

    if (!said.len)
        return arena_printf(a, ELSEWHERE ", but not where", status);
    if (!address_read(&to, said, server, &nobody, a, &e))
        return arena_printf(a, ELSEWHERE UNREAD, status, e.msg);
    return arena_printf(a,
                        ELSEWHERE "%.*s; this is not followed, but can be given as the "
                                  "server's address",
                        status, STR_ARG(where(&to, server, a)));
}
