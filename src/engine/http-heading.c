#include "engine/http-heading.h"

#include "mcp/meta.h"

/* Packed answers would have to be unpacked, and some servers refuse who has no name. */
static void add_manners(struct fields *to)
{
    fields_add(to, STR("Accept-Encoding"), STR("identity"));
    fields_add(to, STR("User-Agent"), STR("mcpreel/" MCPREEL_VERSION));
}

/* The first revision that wants to hear its own name knows itself by this one. */
static bool is_told(struct str version)
{
    return version.len && str_cmp(version, STR("2025-06-18")) >= 0;
}

static void add_terms(struct fields *to, const struct http_terms *terms)
{
    if (terms->session.len)
        fields_add(to, STR("Mcp-Session-Id"), terms->session);
    if (is_told(terms->version))
        fields_add(to, STR("MCP-Protocol-Version"), terms->version);
}

struct str http_heading_revision(const struct mcp_message *m, struct arena *a)
{
    struct str named = json_text(json_get(m->meta, MCP_META_VERSION), a);

    return named;
}

/* Whom or what a request is about, where that is to be repeated. */
static struct json_val name_of(const struct mcp_message *m)
{
    static const struct {
        struct str method, member;
    } named[] = {
        { STR_INIT("tools/call"), STR_INIT("name") },
        { STR_INIT("prompts/get"), STR_INIT("name") },
        { STR_INIT("resources/read"), STR_INIT("uri") },
        { STR_INIT("tasks/get"), STR_INIT("taskId") },
        { STR_INIT("tasks/update"), STR_INIT("taskId") },
        { STR_INIT("tasks/cancel"), STR_INIT("taskId") },
    };

    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (str_eq(m->method, named[i].method))
            return json_get(m->params, named[i].member);
    return JSON_VAL_NONE;
}

/* No server takes longer ones; it will say so. */
static void add_value(struct fields *to, struct str name, struct str text, struct arena *a)
{
    struct str value = http_params_value(text, a);

    if (value.len <= HTTP_PARAMS_VALUE_MAX)
        fields_add(to, name, value);
}

static void add_modern(struct fields *to, const struct http_params *params,
                       const struct mcp_message *m, struct str revision, struct arena *a)
{
    struct json_val name = name_of(m);

    add_value(to, STR("MCP-Protocol-Version"), revision, a);
    add_value(to, STR("Mcp-Method"), m->method, a);
    if (json_type(name) == JSON_STRING)
        add_value(to, STR("Mcp-Name"), json_text(name, a), a);
    http_params_add(params, m, to, a);
}

void http_heading_post(struct fields *to, const struct http_terms *terms,
                       const struct http_params *params, const struct mcp_message *m,
                       struct str revision, struct arena *a)
{
    fields_add(to, STR("Accept"), STR("application/json, text/event-stream"));
    fields_add(to, STR("Content-Type"), STR("application/json"));
    add_manners(to);
    if (m && revision.len)
        add_modern(to, params, m, revision, a);
    else
        add_terms(to, terms);
}

void http_heading_get(struct fields *to, const struct http_terms *terms, struct str last_event)
{
    fields_add(to, STR("Accept"), STR("text/event-stream"));
    add_manners(to);
    add_terms(to, terms);
    if (last_event.len)
        fields_add(to, STR("Last-Event-ID"), last_event);
}

void http_heading_delete(struct fields *to, const struct http_terms *terms)
{
    add_manners(to);
    add_terms(to, terms);
}
