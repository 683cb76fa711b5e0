#include "wire/cors.h"

/* Headers that MCP clients send and read, except Mcp-Param-*, whose names are not fixed. */
#define ALLOWED_HEADERS                                                                        \
    "Content-Type, Accept, Authorization, Mcp-Session-Id, MCP-Protocol-Version, "              \
    "Last-Event-ID, Mcp-Method, Mcp-Name"
#define EXPOSED_HEADERS "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After"

#define MAX_AGE_S "7200" /* the most that browsers accept */

bool cors_is_preflight(const struct request_head *r)
{
    return str_eq(r->method, STR("OPTIONS")) &&
           headers_value(&r->headers, STR("access-control-request-method")).len &&
           headers_value(&r->headers, STR("origin")).len;
}

static void add_origin(struct headers *to, const struct headers *asked)
{
    headers_add(to, STR("Access-Control-Allow-Origin"), headers_value(asked, STR("origin")));
}

/* Returns the header names that the preflight requests, or the defaults if one is invalid. */
static struct str requested_headers(const struct headers *f)
{
    struct str asked = headers_value(f, STR("access-control-request-headers"));
    struct str rest = asked, name;
    size_t count = 0;

    for (; headers_next_item(&rest, &name); count++)
        if (!headers_is_token(name))
            return STR(ALLOWED_HEADERS);
    return count ? asked : STR(ALLOWED_HEADERS);
}

void cors_add_preflight_headers(struct headers *to, const struct request_head *r)
{
    const struct headers *f = &r->headers;

    add_origin(to, f);
    headers_add(to, STR("Access-Control-Allow-Methods"), STR("GET, POST, DELETE"));
    headers_add(to, STR("Access-Control-Allow-Headers"), requested_headers(f));
    if (str_eq(headers_value(f, STR("access-control-request-private-network")), STR("true")))
        headers_add(to, STR("Access-Control-Allow-Private-Network"), STR("true"));
    headers_add(to, STR("Access-Control-Max-Age"), STR(MAX_AGE_S));
    headers_add(to, STR("Vary"),
                STR("Origin, Access-Control-Request-Method, Access-Control-Request-Headers"));
}

void cors_add_headers(struct headers *to, const struct headers *request)
{
    if (!headers_value(request, STR("origin")).len)
        return;
    add_origin(to, request);
    headers_add(to, STR("Access-Control-Expose-Headers"), STR(EXPOSED_HEADERS));
    headers_add(to, STR("Vary"), STR("Origin"));
}
