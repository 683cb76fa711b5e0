#include "engine/subscription.h"

#include "trace/limits.h"
#include "json/write.h"

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

/* Elements of a list that another one has, too; all of them: `*whole` stays. */
static void grant_list(struct json_out *o, struct json_val asked, struct json_val granted,
                       bool *whole, struct arena *a)
{
    struct json_iter it = json_each(granted);

    json_out_array(o);
    while (json_next(&it))
        if (lists(asked, it.value, a))
            json_out_raw(o, json_raw(it.value));
        else
            *whole = false;
    json_out_end_array(o);
}

struct str subscription_grant(struct json_val filter, struct json_val granted, struct arena *a)
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
