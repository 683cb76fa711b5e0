/* verify/tool-list.h - the tools of the live server, by its tools/list: which are read-only,
 * and the schemas of their results. */
#ifndef VERIFY_TOOL_LIST_H
#define VERIFY_TOOL_LIST_H

#include "base/arena.h"
#include "base/map.h"
#include "json/json.h"

struct tool_list_entry {
    bool read_only;           /* annotations.readOnlyHint is true */
    struct str output_schema; /* JSON; empty: none */
};

struct tool_list {
    struct map by_name; /* to struct tool_list_entry */
    struct arena arena;
    bool known; /* a result of tools/list was added */
};

void tool_list_init(struct tool_list *t);
void tool_list_release(struct tool_list *t);

/* Adds the tools of a result of tools/list; a later one replaces an earlier one of that name.
 */
void tool_list_add(struct tool_list *t, struct json_val result);

/* NULL: the server does not list it. */
const struct tool_list_entry *tool_list_find(const struct tool_list *t, struct str name);

#endif
