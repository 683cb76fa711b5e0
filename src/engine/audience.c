#include "engine/audience.h"

#include "mcp/meta.h"

/* One that says no more than that it can be asked is asked in any way, as servers do. */
static bool can_elicit(struct json_val declared, struct json_val params)
{
    bool url = json_exists(json_get(declared, STR("url")));
    bool form = json_exists(json_get(declared, STR("form")));

    return json_is(json_get(params, STR("mode")), STR("url")) ? url || !form : form || !url;
}

bool audience_can_be_asked(struct str capabilities, enum mcp_version version, struct str method,
                           struct json_val params)
{
    const struct mcp_method *known = mcp_method_find(method);
    struct json_val declared = JSON_VAL_NONE;
    struct json_fault fault;
    struct json j;
    bool can;

    if (!known)
        return true;
    json_init(&j);
    if (json_scan(&j, capabilities, &fault))
        declared = json_get(json_root(&j), known->capability);
    can = (!known->capability.len || json_exists(declared)) &&
          (version == MCP_VERSION_UNKNOWN || version >= known->since);
    if (can && str_eq(method, STR("elicitation/create")))
        can = can_elicit(declared, params);
    json_release(&j);
    return can;
}

static enum audience_level level_of(struct json_val name, enum audience_level otherwise)
{
    static const struct str names[] = {
        STR_INIT("debug"), STR_INIT("info"),     STR_INIT("notice"), STR_INIT("warning"),
        STR_INIT("error"), STR_INIT("critical"), STR_INIT("alert"),  STR_INIT("emergency"),
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_is(name, names[i]))
            return AUDIENCE_DEBUG + (enum audience_level)i;
    return otherwise;
}

enum audience_level audience_level(struct json_val meta)
{
    struct arena a = { 0 };
    struct str version = json_text(json_get(meta, MCP_META_VERSION), &a);
    bool modern = mcp_version_era(mcp_version_parse(version)) == MCP_ERA_MODERN;

    arena_release(&a);
    if (!modern)
        return AUDIENCE_ALL;
    return level_of(json_get(meta, MCP_META_LOG_LEVEL), AUDIENCE_NONE);
}

bool audience_hears(enum audience_level from, struct json_val message)
{
    struct json_val level = json_get(json_get(message, STR("params")), STR("level"));

    if (from == AUDIENCE_ALL ||
        !json_is(json_get(message, STR("method")), STR("notifications/message")))
        return true;
    return from != AUDIENCE_NONE && level_of(level, AUDIENCE_EMERGENCY) >= from;
}
