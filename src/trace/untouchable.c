#include "trace/untouchable.h"

#include <stdlib.h>

#include "base/mem.h"

void untouchable_init(struct untouchable *u)
{
    *u = (struct untouchable){ 0 };
}

void untouchable_release(struct untouchable *u)
{
    free(u->ranges);
}

/* What a member must be to be left alone: who hides something else under its name hides it
 * in vain. */
enum shape {
    ID,       /* a string or a number; so are tokens */
    WORD,     /* a string */
    WORDS,    /* strings */
    SCHEMA,   /* an object, with all that is in it */
    TOOLS,    /* objects with schemas */
    REQUESTS, /* by name, what a modern server asks for inside a result */
    PARAMS,   /* these and the next two: objects with members of these shapes */
    RESULT,
    META,
};

/* A member that is left alone, of which objects. */
struct member {
    struct str name;
    enum shape shape;
    struct str method; /* params: of this method only; empty: of any */
    struct str beside; /* a member that stands beside it if it is meant; empty: none need to */
};

static const struct member in_message[] = {
    { .name = STR_INIT("jsonrpc"), .shape = WORD },
    { .name = STR_INIT("id"), .shape = ID },
    { .name = STR_INIT("method"), .shape = WORD },
    { .name = STR_INIT("params"), .shape = PARAMS },
    { .name = STR_INIT("result"), .shape = RESULT },
    { .name = STR_INIT("") },
};

static const struct member in_params[] = {
    { STR_INIT("protocolVersion"), WORD, STR_INIT("initialize"), STR_INIT("") },
    { STR_INIT("progressToken"), ID, STR_INIT("notifications/progress"), STR_INIT("") },
    { STR_INIT("requestId"), ID, STR_INIT("notifications/cancelled"), STR_INIT("") },
    { STR_INIT("cursor"), WORD, STR_INIT("tools/list"), STR_INIT("") },
    { STR_INIT("cursor"), WORD, STR_INIT("resources/list"), STR_INIT("") },
    { STR_INIT("cursor"), WORD, STR_INIT("resources/templates/list"), STR_INIT("") },
    { STR_INIT("cursor"), WORD, STR_INIT("prompts/list"), STR_INIT("") },
    { STR_INIT("cursor"), WORD, STR_INIT("tasks/list"), STR_INIT("") },
    { .name = STR_INIT("requestState"), .shape = WORD },
    { STR_INIT("requestedSchema"), SCHEMA, STR_INIT("elicitation/create"), STR_INIT("") },
    { STR_INIT("tools"), TOOLS, STR_INIT("sampling/createMessage"), STR_INIT("") },
    { .name = STR_INIT("_meta"), .shape = META },
    { .name = STR_INIT("") },
};

/* Which method it is the answer to is not known here. */
static const struct member in_result[] = {
    { .name = STR_INIT("protocolVersion"), .shape = WORD, .beside = STR_INIT("capabilities") },
    { .name = STR_INIT("supportedVersions"),
      .shape = WORDS,
      .beside = STR_INIT("capabilities") },
    { .name = STR_INIT("nextCursor"), .shape = WORD },
    { .name = STR_INIT("requestState"), .shape = WORD },
    { .name = STR_INIT("tools"), .shape = TOOLS },
    { .name = STR_INIT("inputRequests"), .shape = REQUESTS },
    { .name = STR_INIT("_meta"), .shape = META },
    { .name = STR_INIT("") },
};

static const struct member in_meta[] = {
    { .name = STR_INIT("progressToken"), .shape = ID },
    { .name = STR_INIT("io.modelcontextprotocol/protocolVersion"), .shape = WORD },
    { .name = STR_INIT("io.modelcontextprotocol/subscriptionId"), .shape = ID },
    { .name = STR_INIT("") },
};

static const struct member in_tool[] = {
    { .name = STR_INIT("inputSchema"), .shape = SCHEMA, .beside = STR_INIT("name") },
    { .name = STR_INIT("outputSchema"), .shape = SCHEMA, .beside = STR_INIT("name") },
    { .name = STR_INIT("") },
};

static const struct member in_request[] = {
    { .name = STR_INIT("method"), .shape = WORD },
    { .name = STR_INIT("params"), .shape = PARAMS },
    { .name = STR_INIT("") },
};

static void add(struct untouchable *u, struct json_val v, bool id)
{
    const struct json_node *node = &v.doc->nodes[v.node];

    u->ranges = mem_reserve(u->ranges, &u->cap, u->count + 1, sizeof *u->ranges);
    u->ranges[u->count++] = (struct untouchable_range){ v.node, v.node + node->size, id };
}

/* What stands in the message around a value. */
struct around {
    struct json_val object; /* the one its member is of */
    struct json_val method; /* of the message */
};

static const struct member *member_of(const struct member *rows, struct json_val key,
                                      const struct around *a)
{
    for (; rows->name.len; rows++)
        if (json_is(key, rows->name) &&
            (!rows->method.len || json_is(a->method, rows->method)) &&
            (!rows->beside.len || json_exists(json_get(a->object, rows->beside))))
            return rows;
    return NULL;
}

static void add_members(struct untouchable *u, struct json_val object, struct json_val method,
                        const struct member *rows);

/* The members of each element. */
static void add_each(struct untouchable *u, struct json_val of, const struct member *rows)
{
    struct json_iter it = json_each(of);

    while (json_next(&it))
        add_members(u, it.value, json_get(it.value, STR("method")), rows);
}

static void add_words(struct untouchable *u, struct json_val words)
{
    struct json_iter it = json_each(words);

    while (json_next(&it))
        if (json_type(it.value) == JSON_STRING)
            add(u, it.value, false);
}

static void add_shaped(struct untouchable *u, struct json_val v, enum shape shape,
                       struct json_val method)
{
    enum json_type type = json_type(v);

    switch (shape) {
    case ID:
        if (type == JSON_STRING || type == JSON_NUMBER)
            add(u, v, true);
        return;
    case WORD:
        if (type == JSON_STRING)
            add(u, v, false);
        return;
    case WORDS:
        if (type == JSON_ARRAY)
            add_words(u, v);
        return;
    case SCHEMA:
        if (type == JSON_OBJECT)
            add(u, v, false);
        return;
    case TOOLS:
        if (type == JSON_ARRAY)
            add_each(u, v, in_tool);
        return;
    case REQUESTS:
        if (type == JSON_OBJECT)
            add_each(u, v, in_request);
        return;
    case PARAMS:
        add_members(u, v, method, in_params);
        return;
    case META:
        add_members(u, v, method, in_meta);
        return;
    case RESULT:
        /* What a tool says is nobody's list of tools. */
        if (!json_exists(json_get(v, STR("content"))) &&
            !json_exists(json_get(v, STR("structuredContent"))))
            add_members(u, v, method, in_result);
        return;
    }
}

/* The tables lead from one to the next and never back, so this ends. */
static void add_members(struct untouchable *u, struct json_val object, struct json_val method,
                        const struct member *rows)
{
    const struct around a = { object, method };
    struct json_iter it = json_each(object);

    while (json_next(&it)) {
        const struct member *m = member_of(rows, it.key, &a);
        if (m)
            add_shaped(u, it.value, m->shape, method);
    }
}

void untouchable_find(struct untouchable *u, struct json_val message)
{
    u->count = 0;
    add_members(u, message, json_get(message, STR("method")), in_message);
}

static const struct untouchable_range *range_of(const struct untouchable *u, uint32_t node)
{
    size_t low = 0, high = u->count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (u->ranges[mid].to <= node)
            low = mid + 1;
        else
            high = mid;
    }
    return low < u->count && u->ranges[low].from <= node ? &u->ranges[low] : NULL;
}

bool untouchable_has(const struct untouchable *u, uint32_t node)
{
    return range_of(u, node) != NULL;
}

bool untouchable_is_id(const struct untouchable *u, uint32_t node)
{
    const struct untouchable_range *r = range_of(u, node);

    return r && r->id;
}
