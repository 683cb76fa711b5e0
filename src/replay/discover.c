#include "replay/discover.h"

#include "json/write.h"

enum { TEXT_MAX = 1 << 16 };

static struct str move_to_arena(struct buf *text, struct arena *a)
{
    struct str kept = arena_str(a, buf_str(text));

    buf_release(text);
    return kept;
}

struct str discover_versions(const struct index *s, struct arena *a)
{
    struct buf text;
    struct json_out o;

    buf_init(&text, TEXT_MAX);
    o = json_out_to(&text);
    json_out_array(&o);
    for (unsigned v = MCP_VERSION_LATEST; v > MCP_VERSION_UNKNOWN; v--)
        if (s->versions >> v & 1)
            json_out_str(&o, mcp_version_text((enum mcp_version)v));
    json_out_end_array(&o);
    return move_to_arena(&text, a);
}

static bool has_methods(const struct index *s, struct str prefix)
{
    for (size_t i = 0; i < s->method_count; i++)
        if (str_starts(s->methods[i].name, prefix))
            return true;
    return false;
}

struct str discover_capabilities(const struct index *s, struct arena *a)
{
    static const struct {
        struct str prefix, capability;
    } rows[] = {
        { STR_INIT("tools/"), STR_INIT("tools") },
        { STR_INIT("prompts/"), STR_INIT("prompts") },
        { STR_INIT("resources/"), STR_INIT("resources") },
        { STR_INIT("completion/"), STR_INIT("completions") },
        { STR_INIT("logging/"), STR_INIT("logging") },
    };
    struct buf text;
    struct json_out o;

    buf_init(&text, TEXT_MAX);
    o = json_out_to(&text);
    json_out_object(&o);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (has_methods(s, rows[i].prefix))
            json_out_key_raw(&o, rows[i].capability, STR("{}"));
    if (s->has_stateless && has_methods(s, STR("tasks/")))
        json_out_key_raw(&o, STR("extensions"), STR("{\"io.modelcontextprotocol/tasks\":{}}"));
    json_out_end_object(&o);
    return move_to_arena(&text, a);
}

struct str discover_result(const struct index *s, struct arena *a)
{
    struct str versions = discover_versions(s, a), can = discover_capabilities(s, a);

    return arena_printf(a,
                        "{\"resultType\":\"complete\",\"supportedVersions\":%.*s,"
                        "\"capabilities\":%.*s,\"ttlMs\":0,\"cacheScope\":\"private\"}",
                        STR_ARG(versions), STR_ARG(can));
}
