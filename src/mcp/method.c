#include "mcp/method.h"

#define FIRST MCP_2024_10_07
#define LAST_STATEFUL MCP_2025_11_25
#define LAST MCP_VERSION_LATEST

#define REQUEST(text, way, what, from, to, ...)                                                \
    {                                                                                          \
        .name = STR(text), .dir = way, .class = MCP_CLASS_##what, .since = from, .until = to,  \
        __VA_ARGS__                                                                            \
    }
#define NOTIFICATION(text, way, from, to, ...)                                                 \
    {                                                                                          \
        .name = STR("notifications/" text), .notification = true, .dir = way, .since = from,   \
        .until = to, __VA_ARGS__                                                               \
    }
#define NAMED_BY(member) .subject = STR(member)
#define NEEDS(what) .capability = STR(what)

/* From 2026-07-28 on a server sends no requests: roots/list, sampling/createMessage and
 * elicitation/create occur inside results only. Tasks moved from the core to an extension. */
const struct mcp_method mcp_methods[] = {
    REQUEST("initialize", MCP_C2S, SESSION, FIRST, LAST_STATEFUL),
    REQUEST("server/discover", MCP_C2S, SESSION, MCP_2026_07_28, LAST),
    REQUEST("ping", MCP_BOTH, SESSION, FIRST, LAST_STATEFUL),

    REQUEST("tools/list", MCP_C2S, LIST, FIRST, LAST),
    REQUEST("tools/call", MCP_C2S, CALL, FIRST, LAST, NAMED_BY("name")),
    REQUEST("prompts/list", MCP_C2S, LIST, FIRST, LAST),
    REQUEST("prompts/get", MCP_C2S, READ, FIRST, LAST, NAMED_BY("name")),
    REQUEST("resources/list", MCP_C2S, LIST, FIRST, LAST),
    REQUEST("resources/templates/list", MCP_C2S, LIST, FIRST, LAST),
    REQUEST("resources/read", MCP_C2S, READ, FIRST, LAST, NAMED_BY("uri")),
    REQUEST("resources/subscribe", MCP_C2S, OTHER, FIRST, LAST_STATEFUL, NAMED_BY("uri")),
    REQUEST("resources/unsubscribe", MCP_C2S, OTHER, FIRST, LAST_STATEFUL, NAMED_BY("uri")),
    REQUEST("subscriptions/listen", MCP_C2S, LISTEN, MCP_2026_07_28, LAST),
    REQUEST("completion/complete", MCP_C2S, READ, FIRST, LAST, NAMED_BY("ref")),
    REQUEST("logging/setLevel", MCP_C2S, OTHER, FIRST, LAST_STATEFUL),

    REQUEST("roots/list", MCP_S2C, OTHER, FIRST, LAST_STATEFUL, NEEDS("roots")),
    REQUEST("sampling/createMessage", MCP_S2C, OTHER, FIRST, LAST_STATEFUL, NEEDS("sampling")),
    REQUEST("elicitation/create", MCP_S2C, OTHER, MCP_2025_06_18, LAST_STATEFUL,
            NEEDS("elicitation")),

    REQUEST("tasks/get", MCP_BOTH, POLL, MCP_2025_11_25, LAST, NAMED_BY("taskId"),
            NEEDS("tasks")),
    REQUEST("tasks/result", MCP_BOTH, POLL, MCP_2025_11_25, LAST_STATEFUL, NAMED_BY("taskId"),
            NEEDS("tasks")),
    REQUEST("tasks/list", MCP_BOTH, POLL, MCP_2025_11_25, LAST_STATEFUL, NEEDS("tasks")),
    REQUEST("tasks/update", MCP_C2S, OTHER, MCP_2026_07_28, LAST, NAMED_BY("taskId")),
    REQUEST("tasks/cancel", MCP_BOTH, OTHER, MCP_2025_11_25, LAST, NAMED_BY("taskId"),
            NEEDS("tasks")),

    NOTIFICATION("initialized", MCP_C2S, FIRST, LAST_STATEFUL),
    NOTIFICATION("cancelled", MCP_BOTH, MCP_2024_11_05, LAST),
    NOTIFICATION("progress", MCP_BOTH, FIRST, LAST),
    NOTIFICATION("message", MCP_S2C, FIRST, LAST),
    NOTIFICATION("tools/list_changed", MCP_S2C, FIRST, LAST),
    NOTIFICATION("prompts/list_changed", MCP_S2C, FIRST, LAST),
    NOTIFICATION("resources/list_changed", MCP_S2C, FIRST, LAST),
    NOTIFICATION("resources/updated", MCP_S2C, FIRST, LAST, NAMED_BY("uri")),
    NOTIFICATION("roots/list_changed", MCP_C2S, FIRST, LAST_STATEFUL),
    NOTIFICATION("elicitation/complete", MCP_S2C, MCP_2025_11_25, LAST_STATEFUL,
                 NAMED_BY("elicitationId")),
    NOTIFICATION("tasks/status", MCP_BOTH, MCP_2025_11_25, LAST_STATEFUL, NAMED_BY("taskId")),
    NOTIFICATION("tasks", MCP_S2C, MCP_2026_07_28, LAST, NAMED_BY("taskId")),
    NOTIFICATION("subscriptions/acknowledged", MCP_S2C, MCP_2026_07_28, LAST),
    { .name = { NULL, 0 } },
};

const struct mcp_method *mcp_method_find(struct str name)
{
    for (const struct mcp_method *m = mcp_methods; m->name.at; m++) {
        if (str_eq(m->name, name))
            return m;
    }
    return NULL;
}

struct json_val mcp_subject(struct str method, struct json_val params)
{
    return mcp_method_subject(mcp_method_find(method), params);
}

struct json_val mcp_method_subject(const struct mcp_method *m, struct json_val params)
{
    struct json_val subject, name;

    if (!m || !m->subject.len)
        return JSON_VAL_NONE;
    subject = json_get(params, m->subject);
    if (json_type(subject) != JSON_OBJECT)
        return subject;
    /* A completion names a prompt or a resource template through a reference. */
    name = json_get(subject, STR("name"));
    return json_exists(name) ? name : json_get(subject, STR("uri"));
}
