#include "replay/client-filter.h"

#include "mcp/meta.h"
#include "trace/limits.h"
#include "json/write.h"

static bool list_has(struct json_val list, struct json_val wanted, struct arena *a)
{
    struct json_iter it = json_each(list);
    struct str text = json_text(wanted, a);

    while (json_next(&it))
        if (json_is(it.value, text))
            return true;
    return false;
}

bool client_filter_wants(struct json_val filter, const struct mcp_message *notification)
{
    static const struct {
        struct str method, flag, list, member;
    } rows[] = {
        { .method = STR_INIT("notifications/tools/list_changed"),
          .flag = STR_INIT("toolsListChanged") },
        { .method = STR_INIT("notifications/prompts/list_changed"),
          .flag = STR_INIT("promptsListChanged") },
        { .method = STR_INIT("notifications/resources/list_changed"),
          .flag = STR_INIT("resourcesListChanged") },
        { .method = STR_INIT("notifications/resources/updated"),
          .list = STR_INIT("resourceSubscriptions"),
          .member = STR_INIT("uri") },
        { .method = STR_INIT("notifications/tasks"),
          .list = STR_INIT("taskIds"),
          .member = STR_INIT("taskId") },
    };
    struct arena a = { 0 };
    bool wants = true;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!str_eq(rows[i].method, notification->method))
            continue;
        if (rows[i].flag.len)
            wants = json_type(json_get(filter, rows[i].flag)) == JSON_TRUE;
        else
            wants = list_has(json_get(filter, rows[i].list),
                             json_get(notification->params, rows[i].member), &a);
    }
    arena_release(&a);
    return wants;
}

/* Writes the elements that both lists have. Clears `*whole` if one of `granted` is missing. */
static void grant_list(struct json_out *o, struct json_val asked, struct json_val granted,
                       bool *whole, struct arena *a)
{
    struct json_iter it = json_each(granted);

    json_out_array(o);
    while (json_next(&it))
        if (list_has(asked, it.value, a))
            json_out_raw(o, json_raw(it.value));
        else
            *whole = false;
    json_out_end_array(o);
}

struct str client_filter_grant(struct json_val filter, struct json_val granted, struct arena *a)
{
    struct json_iter it = json_each(granted);
    struct str text = json_raw(granted);
    struct json_out o;
    struct buf made;
    bool whole = true;

    buf_init(&made, LIMIT_MESSAGE);
    o = json_out_to(&made);
    json_out_object(&o);
    while (json_next(&it)) {
        struct str name = json_text(it.key, a);
        struct json_val asked = json_get(filter, name);

        if (!json_exists(asked) || json_type(asked) == JSON_FALSE) {
            whole = false;
            continue;
        }
        json_out_key(&o, name);
        if (json_type(it.value) == JSON_ARRAY)
            grant_list(&o, asked, it.value, &whole, a);
        else
            json_out_raw(&o, json_raw(it.value));
    }
    json_out_end_object(&o);
    if (!whole)
        text = arena_str(a, buf_str(&made));
    buf_release(&made);
    return text;
}

/* A client that declares no mode supports both, as servers assume. */
static bool supports_elicitation(struct json_val declared, struct json_val params)
{
    bool url = json_exists(json_get(declared, STR("url")));
    bool form = json_exists(json_get(declared, STR("form")));

    return json_is(json_get(params, STR("mode")), STR("url")) ? url || !form : form || !url;
}

bool client_filter_supports_request(struct str capabilities, enum mcp_version version,
                                    struct str method, struct json_val params)
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
        can = supports_elicitation(declared, params);
    json_release(&j);
    return can;
}

static enum client_log_level parse_log_level(struct json_val name,
                                             enum client_log_level otherwise)
{
    static const struct str names[] = {
        STR_INIT("debug"), STR_INIT("info"),     STR_INIT("notice"), STR_INIT("warning"),
        STR_INIT("error"), STR_INIT("critical"), STR_INIT("alert"),  STR_INIT("emergency"),
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_is(name, names[i]))
            return CLIENT_LOG_DEBUG + (enum client_log_level)i;
    return otherwise;
}

enum client_log_level client_filter_log_level(struct json_val meta)
{
    struct arena a = { 0 };
    struct str version = json_text(json_get(meta, MCP_META_VERSION), &a);
    bool stateless = mcp_version_protocol(mcp_version_parse(version)) == MCP_PROTOCOL_STATELESS;

    arena_release(&a);
    if (!stateless)
        return CLIENT_LOG_ALL;
    return parse_log_level(json_get(meta, MCP_META_LOG_LEVEL), CLIENT_LOG_NONE);
}

bool client_filter_accepts_log(enum client_log_level from, struct json_val message)
{
    struct json_val level = json_get(json_get(message, STR("params")), STR("level"));

    if (from == CLIENT_LOG_ALL ||
        !json_is(json_get(message, STR("method")), STR("notifications/message")))
        return true;
    return from != CLIENT_LOG_NONE && parse_log_level(level, CLIENT_LOG_EMERGENCY) >= from;
}
