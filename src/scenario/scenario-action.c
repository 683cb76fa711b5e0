#include "scenario/scenario-action.h"

#include <stddef.h>

/* The first six are those of mcp-recorder, with the params that it sends. */
const struct scenario_action_kind scenario_action_kinds[] = {
    { .name = "list_tools", .method = STR_INIT("tools/list"), .list = "tools" },
    { .name = "call_tool",
      .method = STR_INIT("tools/call"),
      .params = ACTION_PARAMS_MEMBERS,
      .subject = "name",
      .keys = { { .name = "name", .required = true },
                { .name = "arguments", .type = ACTION_KEY_MAP, .preset = ACTION_KEY_EMPTY } } },
    { .name = "list_prompts", .method = STR_INIT("prompts/list"), .list = "prompts" },
    { .name = "get_prompt",
      .method = STR_INIT("prompts/get"),
      .params = ACTION_PARAMS_MEMBERS,
      .subject = "name",
      .keys = { { .name = "name", .required = true },
                { .name = "arguments",
                  .type = ACTION_KEY_MAP,
                  .preset = ACTION_KEY_DROPS_EMPTY } } },
    { .name = "list_resources", .method = STR_INIT("resources/list"), .list = "resources" },
    { .name = "read_resource",
      .method = STR_INIT("resources/read"),
      .params = ACTION_PARAMS_MEMBERS,
      .subject = "uri",
      .keys = { { .name = "uri", .required = true } } },
    { .name = "list_resource_templates",
      .method = STR_INIT("resources/templates/list"),
      .list = "resourceTemplates" },
    { .name = "complete",
      .method = STR_INIT("completion/complete"),
      .params = ACTION_PARAMS_MEMBERS,
      .keys = { { .name = "ref", .type = ACTION_KEY_MAP, .required = true },
                { .name = "argument", .type = ACTION_KEY_MAP, .required = true },
                { .name = "context", .type = ACTION_KEY_MAP } } },
    { .name = "ping", .method = STR_INIT("ping"), .params = ACTION_PARAMS_NONE },
    { .name = "raw",
      .params = ACTION_PARAMS_RAW,
      .keys = { { .name = "method", .required = true },
                { .name = "params", .type = ACTION_KEY_ANY } } },
    { .name = NULL },
};

const struct scenario_action_kind *scenario_action_find(struct str name)
{
    for (const struct scenario_action_kind *k = scenario_action_kinds; k->name; k++)
        if (str_eq(str_z(k->name), name))
            return k;
    return NULL;
}

bool scenario_action_is_simple(const struct scenario_action_kind *kind)
{
    for (size_t i = 0; i < SCENARIO_ACTION_KEYS && kind->keys[i].name; i++)
        if (kind->keys[i].required)
            return false;
    return true;
}
