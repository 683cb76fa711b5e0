#include "redact/protected-fields.h"

#include <stdlib.h>

#include "base/mem.h"

void protected_fields_init(struct protected_fields *u)
{
    *u = (struct protected_fields){ 0 };
}

void protected_fields_release(struct protected_fields *u)
{
    free(u->ranges);
}

/* The type that a protected member must have; with any other it is not protected. */
enum protected_shape {
    ID,       /* a string or a number; so are tokens */
    WORD,     /* a string */
    WORDS,    /* strings */
    SCHEMA,   /* an object, with all that is in it */
    TOOLS,    /* objects with schemas */
    REQUESTS, /* server requests by name, inside a result of the stateless protocol */
    PARAMS,   /* this and the next two: objects with protected members */
    RESULT,
    META,
};

/* A protected member. */
struct protected_member {
    struct str name;
    enum protected_shape shape;
    struct str method; /* params of this method only; empty: of any */
    struct str beside; /* another member that the object must have; empty: none */
};

static const struct protected_member in_message[] = {
    { .name = STR_INIT("jsonrpc"), .shape = WORD },
    { .name = STR_INIT("id"), .shape = ID },
    { .name = STR_INIT("method"), .shape = WORD },
    { .name = STR_INIT("params"), .shape = PARAMS },
    { .name = STR_INIT("result"), .shape = RESULT },
    { .name = STR_INIT("") },
};

static const struct protected_member in_params[] = {
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

/* The method of the request is not known here. */
static const struct protected_member in_result[] = {
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

static const struct protected_member in_meta[] = {
    { .name = STR_INIT("progressToken"), .shape = ID },
    { .name = STR_INIT("io.modelcontextprotocol/protocolVersion"), .shape = WORD },
    { .name = STR_INIT("io.modelcontextprotocol/subscriptionId"), .shape = ID },
    { .name = STR_INIT("") },
};

static const struct protected_member in_tool[] = {
    { .name = STR_INIT("inputSchema"), .shape = SCHEMA, .beside = STR_INIT("name") },
    { .name = STR_INIT("outputSchema"), .shape = SCHEMA, .beside = STR_INIT("name") },
    { .name = STR_INIT("") },
};

static const struct protected_member in_request[] = {
    { .name = STR_INIT("method"), .shape = WORD },
    { .name = STR_INIT("params"), .shape = PARAMS },
    { .name = STR_INIT("") },
};

static void add_range(struct protected_fields *u, struct json_val v, bool id)
{
    const struct json_node *node = &v.doc->nodes[v.node];

    u->ranges = mem_reserve(u->ranges, &u->cap, u->count + 1, sizeof *u->ranges);
    u->ranges[u->count++] = (struct protected_fields_range){ v.node, v.node + node->size, id };
}

/* The context of a member. */
struct member_context {
    struct json_val object; /* that has the member */
    struct json_val method; /* of the message */
};

static const struct protected_member *find_member(const struct protected_member *rows,
                                                  struct json_val key,
                                                  const struct member_context *a)
{
    for (; rows->name.len; rows++)
        if (json_is(key, rows->name) &&
            (!rows->method.len || json_is(a->method, rows->method)) &&
            (!rows->beside.len || json_exists(json_get(a->object, rows->beside))))
            return rows;
    return NULL;
}

static void add_members(struct protected_fields *u, struct json_val object,
                        struct json_val method, const struct protected_member *rows);

/* Adds the protected members of each element. */
static void add_each_object(struct protected_fields *u, struct json_val of,
                            const struct protected_member *rows)
{
    struct json_iter it = json_each(of);

    while (json_next(&it))
        add_members(u, it.value, json_get(it.value, STR("method")), rows);
}

static void add_strings(struct protected_fields *u, struct json_val words)
{
    struct json_iter it = json_each(words);

    while (json_next(&it))
        if (json_type(it.value) == JSON_STRING)
            add_range(u, it.value, false);
}

static void add_shaped(struct protected_fields *u, struct json_val v,
                       enum protected_shape shape, struct json_val method)
{
    enum json_type type = json_type(v);

    switch (shape) {
    case ID:
        if (type == JSON_STRING || type == JSON_NUMBER)
            add_range(u, v, true);
        return;
    case WORD:
        if (type == JSON_STRING)
            add_range(u, v, false);
        return;
    case WORDS:
        if (type == JSON_ARRAY)
            add_strings(u, v);
        return;
    case SCHEMA:
        if (type == JSON_OBJECT)
            add_range(u, v, false);
        return;
    case TOOLS:
        if (type == JSON_ARRAY)
            add_each_object(u, v, in_tool);
        return;
    case REQUESTS:
        if (type == JSON_OBJECT)
            add_each_object(u, v, in_request);
        return;
    case PARAMS:
        add_members(u, v, method, in_params);
        return;
    case META:
        add_members(u, v, method, in_meta);
        return;
    case RESULT:
        /* A tool result is not a list of tools, whatever it contains. */
        if (!json_exists(json_get(v, STR("content"))) &&
            !json_exists(json_get(v, STR("structuredContent"))))
            add_members(u, v, method, in_result);
        return;
    }
}

/* The recursion is bounded: the tables refer to each other without a cycle. */
static void add_members(struct protected_fields *u, struct json_val object,
                        struct json_val method, const struct protected_member *rows)
{
    const struct member_context a = { object, method };
    struct json_iter it = json_each(object);

    while (json_next(&it)) {
        const struct protected_member *m = find_member(rows, it.key, &a);
        if (m)
            add_shaped(u, it.value, m->shape, method);
    }
}

void protected_fields_find(struct protected_fields *u, struct json_val message)
{
    u->count = 0;
    add_members(u, message, json_get(message, STR("method")), in_message);
}

static const struct protected_fields_range *find_range(const struct protected_fields *u,
                                                       uint32_t node)
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

bool protected_fields_has(const struct protected_fields *u, uint32_t node)
{
    return find_range(u, node) != NULL;
}

bool protected_fields_is_id(const struct protected_fields *u, uint32_t node)
{
    const struct protected_fields_range *r = find_range(u, node);

    return r && r->is_id;
}
