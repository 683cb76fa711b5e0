#include "engine/subscription.h"

static bool lists(struct json_val list, struct json_val wanted, struct arena *a)
{
    struct json_iter it = json_each(list);
    struct str text = json_text(wanted, a);

    while (json_next(&it))
        if (json_is(it.value, text))
            return true;
    return false;
}

bool subscription_wants(struct json_val filter, const struct mcp_message *notification)
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
            wants = lists(json_get(filter, rows[i].list),
                          json_get(notification->params, rows[i].member), &a);
    }
    arena_release(&a);
    return wants;
}
