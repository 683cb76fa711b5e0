#include "verify/notifications.h"

static const struct str progress = STR_INIT("notifications/progress");

void notifications_init(struct notifications *n, const struct index *index,
                        const struct index_order *order, uint32_t session, bool http)
{
    *n = (struct notifications){ .index = index,
                                 .order = order,
                                 .session = session,
                                 .new_on_http =
                                     http && !index_order_is_over_http(order, session) };
    map_init(&n->received);
    map_init(&n->last_received);
    map_init(&n->not_taken);
}

void notifications_release(struct notifications *n)
{
    map_release(&n->received);
    map_release(&n->last_received);
    map_release(&n->not_taken);
}

static void count_one(struct map *counts, struct str method)
{
    map_put(counts, method, (void *)((uintptr_t)map_get(counts, method) + 1));
}

void notifications_add(struct notifications *n, struct str method)
{
    count_one(&n->received, method);
    count_one(&n->not_taken, method);
    map_put(&n->last_received, method, (void *)(uintptr_t)++n->count);
}

/* Whether a kind belongs to the session, not to a call. */
static bool is_of_session(struct str method)
{
    static const struct str names[] = { STR_INIT("notifications/tools/list_changed"),
                                        STR_INIT("notifications/prompts/list_changed"),
                                        STR_INIT("notifications/resources/list_changed"),
                                        STR_INIT("notifications/resources/updated"),
                                        STR_INIT("notifications/tasks/status") };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq(method, names[i]))
            return true;
    return false;
}

static bool has_come(const struct notifications *n, const struct notifications_call *call,
                     struct str method)
{
    if (str_eq(method, progress))
        return call->got_progress;
    if (is_of_session(method))
        return n->new_on_http || map_get(&n->received, method);
    return map_get(&n->not_taken, method) &&
           (uintptr_t)map_get(&n->last_received, method) > call->sent_at;
}

/* Returns the method of a step if it is a notification that came with its call; else it is
 * empty. */
static struct str method_of(const struct notifications *n, uint32_t step,
                            struct index_message *text)
{
    const struct recorded_step *at = &n->index->steps[step];
    struct json_val root;
    struct err e = ERR_NONE;

    if (at->kind == STEP_PROGRESS)
        return progress;
    if (at->kind != STEP_NOTIFICATION || at->other_stream ||
        !index_read_step(n->index, step, text, &root, &e))
        return STR_NONE;
    return json_text(json_get(root, STR("method")), &text->arena);
}

bool notifications_find_missing(const struct notifications *n,
                                const struct notifications_call *call,
                                void (*missing)(void *arg, struct str method), void *arg)
{
    struct index_message text;
    struct map found;
    bool any;

    index_message_init(&text);
    map_init(&found);
    for (uint32_t step = index_first_step(n->index, call->call);
         step && n->index->steps[step].kind != STEP_RESPONSE;
         step = index_next_step(n->index, call->call, step)) {
        struct str method = method_of(n, step, &text);

        if (!method.len || has_come(n, call, method) || map_get(&found, method))
            continue;
        map_put(&found, method, &found);
        if (missing)
            missing(arg, method);
    }
    any = found.count > 0;
    index_message_release(&text);
    map_release(&found);
    return any;
}

static void take_one(struct map *counts, struct str method)
{
    uintptr_t left = (uintptr_t)map_get(counts, method);

    if (left > 1)
        map_put(counts, method, (void *)(left - 1));
    else
        map_remove(counts, method);
}

void notifications_take(struct notifications *n, uint32_t call, bool others_open)
{
    struct index_message text;
    struct map found;

    index_message_init(&text);
    map_init(&found);
    for (uint32_t step = index_first_step(n->index, call);
         step && n->index->steps[step].kind != STEP_RESPONSE;
         step = index_next_step(n->index, call, step)) {
        struct str method = method_of(n, step, &text);

        if (!method.len || (others_open && map_get(&found, method)))
            continue;
        map_put(&found, method, &found);
        take_one(&n->not_taken, method);
    }
    index_message_release(&text);
    map_release(&found);
}

void notifications_forget(struct notifications *n)
{
    map_release(&n->not_taken);
    map_init(&n->not_taken);
}

static void count_recorded(const struct notifications *n, uint32_t call, struct map *counts)
{
    struct index_message text;
    struct json_val root;
    struct err e = ERR_NONE;

    index_message_init(&text);
    for (uint32_t step = index_first_step(n->index, call); step;
         step = index_next_step(n->index, call, step)) {
        enum step_kind kind = n->index->steps[step].kind;

        if ((kind == STEP_NOTIFICATION || kind == STEP_PROGRESS) &&
            index_read_step(n->index, step, &text, &root, &e))
            count_one(counts, json_text(json_get(root, STR("method")), &text.arena));
    }
    index_message_release(&text);
}

void notifications_compare_counts(const struct notifications *n,
                                  void (*differs)(void *arg, struct str method,
                                                  uint64_t recorded, uint64_t live),
                                  void *arg)
{
    uint32_t preamble = n->index->sessions[n->session].preamble;
    struct map counts;

    map_init(&counts);
    if (preamble)
        count_recorded(n, preamble, &counts);
    for (uint32_t i = index_order_first(n->order, n->session); i; i = n->order->items[i].next)
        if (n->order->items[i].kind == ORDER_REQUEST)
            count_recorded(n, n->order->items[i].number, &counts);
    for (struct map_entry *e = NULL; (e = map_next(&counts, e));)
        if (map_get(&n->received, e->key) != e->value)
            differs(arg, e->key, (uintptr_t)e->value, (uintptr_t)map_get(&n->received, e->key));
    for (struct map_entry *e = NULL; (e = map_next(&n->received, e));)
        if (!map_get(&counts, e->key))
            differs(arg, e->key, 0, (uintptr_t)e->value);
    map_release(&counts);
}
