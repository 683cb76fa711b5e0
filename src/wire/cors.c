#include "wire/cors.h"

/* What MCP has clients send and read. Of Mcp-Param-* nobody knows all names. */
#define SENT                                                                                   \
    "Content-Type, Accept, Authorization, Mcp-Session-Id, MCP-Protocol-Version, "              \
    "Last-Event-ID, Mcp-Method, Mcp-Name"
#define READ "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After"

#define KEPT_S "7200" /* as long as browsers keep it at most */

bool cors_asks(const struct request *r)
{
    return str_eq(r->method, STR("OPTIONS")) &&
           fields_value(&r->fields, STR("access-control-request-method")).len &&
           fields_value(&r->fields, STR("origin")).len;
}

static void add_origin(struct fields *to, const struct fields *asked)
{
    fields_add(to, STR("Access-Control-Allow-Origin"), fields_value(asked, STR("origin")));
}

/* The names that it asks for, if they are names. */
static struct str headers_of(const struct fields *f)
{
    struct str asked = fields_value(f, STR("access-control-request-headers"));
    struct str rest = asked, name;
    size_t count = 0;

    for (; fields_item(&rest, &name); count++)
        if (!fields_is_token(name))
            return STR(SENT);
    return count ? asked : STR(SENT);
}

void cors_permit(struct fields *to, const struct request *r)
{
    const struct fields *f = &r->fields;

    add_origin(to, f);
    fields_add(to, STR("Access-Control-Allow-Methods"), STR("GET, POST, DELETE"));
    fields_add(to, STR("Access-Control-Allow-Headers"), headers_of(f));
    if (str_eq(fields_value(f, STR("access-control-request-private-network")), STR("true")))
        fields_add(to, STR("Access-Control-Allow-Private-Network"), STR("true"));
    fields_add(to, STR("Access-Control-Max-Age"), STR(KEPT_S));
    fields_add(to, STR("Vary"),
               STR("Origin, Access-Control-Request-Method, Access-Control-Request-Headers"));
}

void cors_share(struct fields *to, const struct fields *asked)
{
    if (!fields_value(asked, STR("origin")).len)
        return;
    add_origin(to, asked);
    fields_add(to, STR("Access-Control-Expose-Headers"), STR(READ));
    fields_add(to, STR("Vary"), STR("Origin"));
}
