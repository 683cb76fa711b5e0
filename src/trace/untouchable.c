#include "trace/untouchable.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcp/meta.h"

void untouchable_init(struct untouchable *u)
{
    *u = (struct untouchable){ 0 };
}

void untouchable_release(struct untouchable *u)
{
    free(u->ranges);
}

static void add(struct untouchable *u, struct json_val v)
{
    const struct json_node *node = &v.doc->nodes[v.node];

    u->ranges = mem_reserve(u->ranges, &u->cap, u->count + 1, sizeof *u->ranges);
    u->ranges[u->count++] = (struct untouchable_range){ v.node, v.node + node->size };
}

static bool is_one_of(struct json_val key, const struct str *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (json_is(key, names[i]))
            return true;
    return false;
}

#define IS_ONE_OF(key, names) is_one_of(key, names, sizeof names / sizeof(names)[0])

/* "inputSchema" and its kin of every tool in a list of tools. */
static void add_tools(struct untouchable *u, struct json_val tools)
{
    static const struct str names[] = { STR_INIT("inputSchema"), STR_INIT("outputSchema") };
    struct json_iter each = json_each(tools);

    while (json_next(&each)) {
        struct json_iter members = json_each(each.value);
        while (json_next(&members))
            if (IS_ONE_OF(members.key, names))
                add(u, members.value);
    }
}

static void add_meta(struct untouchable *u, struct json_val meta)
{
    static const struct str names[] = {
        STR_INIT("progressToken"),
        STR_INIT("io.modelcontextprotocol/protocolVersion"),
        STR_INIT("io.modelcontextprotocol/subscriptionId"),
    };
    struct json_iter it = json_each(meta);

    while (json_next(&it))
        if (IS_ONE_OF(it.key, names))
            add(u, it.value);
}

static void add_schema(struct untouchable *u, struct json_val params)
{
    struct json_iter it = json_each(params);

    while (json_next(&it))
        if (json_is(it.key, STR("requestedSchema")))
            add(u, it.value);
        else if (json_is(it.key, STR("tools")))
            add_tools(u, it.value);
}

/* What a modern server asks for inside a result: by name, each with params of its own. */
static void add_inputs(struct untouchable *u, struct json_val requests)
{
    struct json_iter it = json_each(requests);

    while (json_next(&it)) {
        struct json_iter members = json_each(it.value);
        while (json_next(&members)) {
            if (json_is(members.key, STR("method")))
                add(u, members.value);
            else if (json_is(members.key, STR("params")))
                add_schema(u, members.value);
        }
    }
}

/* Of params or a result. */
static void add_body(struct untouchable *u, struct json_val body)
{
    static const struct str names[] = {
        STR_INIT("protocolVersion"), STR_INIT("progressToken"),     STR_INIT("requestId"),
        STR_INIT("requestedSchema"), STR_INIT("supportedVersions"),
    };
    struct json_iter it = json_each(body);

    if (json_type(body) != JSON_OBJECT)
        return;
    while (json_next(&it)) {
        if (IS_ONE_OF(it.key, names))
            add(u, it.value);
        else if (json_is(it.key, MCP_META_KEY))
            add_meta(u, it.value);
        else if (json_is(it.key, STR("tools")))
            add_tools(u, it.value);
        else if (json_is(it.key, STR("inputRequests")))
            add_inputs(u, it.value);
    }
}

void untouchable_find(struct untouchable *u, struct json_val message)
{
    static const struct str names[] = { STR_INIT("jsonrpc"), STR_INIT("id"),
                                        STR_INIT("method") };
    struct json_iter it = json_each(message);

    u->count = 0;
    while (json_next(&it)) {
        if (IS_ONE_OF(it.key, names))
            add(u, it.value);
        else if (json_is(it.key, STR("params")) || json_is(it.key, STR("result")))
            add_body(u, it.value);
    }
}

bool untouchable_has(const struct untouchable *u, uint32_t node)
{
    size_t low = 0, high = u->count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (u->ranges[mid].to <= node)
            low = mid + 1;
        else
            high = mid;
    }
    return low < u->count && u->ranges[low].from <= node;
}
