#include "verify/tool-list.h"

void tool_list_init(struct tool_list *t)
{
    *t = (struct tool_list){ .known = false };
    map_init(&t->by_name);
}

void tool_list_release(struct tool_list *t)
{
    map_release(&t->by_name);
    arena_release(&t->arena);
}

static void add_tool(struct tool_list *t, struct json_val tool)
{
    struct tool_list_entry *entry = arena_new(&t->arena, struct tool_list_entry);
    struct json_val schema = json_get(tool, STR("outputSchema"));
    struct json_val hint = json_get(json_get(tool, STR("annotations")), STR("readOnlyHint"));

    entry->read_only = json_type(hint) == JSON_TRUE;
    if (json_type(schema) == JSON_OBJECT)
        entry->output_schema = arena_str(&t->arena, json_raw(schema));
    map_put(&t->by_name, json_text(json_get(tool, STR("name")), &t->arena), entry);
}

void tool_list_add(struct tool_list *t, struct json_val result)
{
    struct json_iter tools = json_each(json_get(result, STR("tools")));

    t->known = true;
    while (json_next(&tools))
        if (json_type(json_get(tools.value, STR("name"))) == JSON_STRING)
            add_tool(t, tools.value);
}

const struct tool_list_entry *tool_list_find(const struct tool_list *t, struct str name)
{
    return map_get(&t->by_name, name);
}
