#include "trace/filter-content.h"

#include "mcp/meta.h"

static uint64_t in_resource(struct json_val resource)
{
    uint64_t found = 0;

    if (json_exists(json_get(resource, STR("blob"))))
        found |= CONTENT_BINARY;
    if (json_exists(json_get(resource, STR("annotations"))))
        found |= CONTENT_ANNOTATIONS;
    return found;
}

static uint64_t in_block(struct json_val block)
{
    struct json_val type = json_get(block, STR("type"));
    uint64_t found = 0;

    if (json_is(type, STR("image")))
        found = CONTENT_IMAGE | CONTENT_BINARY;
    else if (json_is(type, STR("audio")))
        found = CONTENT_AUDIO | CONTENT_BINARY;
    else if (json_is(type, STR("resource_link")))
        found = CONTENT_LINK;
    else if (json_is(type, STR("resource")))
        found = CONTENT_RESOURCE | in_resource(json_get(block, STR("resource")));
    if (json_exists(json_get(block, STR("annotations"))))
        found |= CONTENT_ANNOTATIONS;
    return found;
}

/* One block, or an array of them: both occur. */
static uint64_t in_blocks(struct json_val blocks)
{
    struct json_iter it = json_each(blocks);
    uint64_t found = 0;

    if (json_type(blocks) == JSON_OBJECT)
        return in_block(blocks);
    while (json_next(&it))
        found |= in_block(it.value);
    return found;
}

static uint64_t in_messages(struct json_val messages)
{
    struct json_iter it = json_each(messages);
    uint64_t found = 0;

    while (json_next(&it))
        found |= in_blocks(json_get(it.value, STR("content")));
    return found;
}

/* What resources/read gives, and definitions, which may have annotations. */
static uint64_t in_list(struct json_val list, uint64_t each)
{
    struct json_iter it = json_each(list);
    uint64_t found = 0;

    while (json_next(&it))
        found |= each | in_resource(it.value);
    return found;
}

static uint64_t in_result(struct json_val result)
{
    uint64_t found = in_blocks(json_get(result, STR("content")));

    if (json_exists(json_get(result, STR("structuredContent"))))
        found |= CONTENT_STRUCTURED;
    found |= in_messages(json_get(result, STR("messages")));
    found |= in_list(json_get(result, STR("contents")), CONTENT_RESOURCE);
    found |= in_list(json_get(result, STR("tools")), 0);
    found |= in_list(json_get(result, STR("resources")), 0);
    return found | in_list(json_get(result, STR("resourceTemplates")), 0);
}

uint64_t filter_content(struct json_val message)
{
    struct json_val params = json_get(message, STR("params"));
    struct json_val result = json_get(message, STR("result"));
    uint64_t found = in_result(result) | in_messages(json_get(params, STR("messages")));

    if (json_exists(mcp_meta(params, STR("traceparent"))) ||
        json_exists(mcp_meta(result, STR("traceparent"))))
        found |= CONTENT_TRACEPARENT;
    return found;
}
