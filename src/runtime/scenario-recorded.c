#include "runtime/scenario-recorded.h"

#include "mcp/params-compare.h"

/* A place in the recording. A server that rejects initialize gets two sessions. */
struct place_in_recording {
    uint32_t session, item; /* item 0: the session has no more */
};

/* A search for the request of an action. */
struct action_search {
    const struct verify_recording *recording;
    const struct scenario_action *action;
    struct json_val params; /* of the action */
    bool has_references;    /* its params depend on saved values */
    struct index_message message;
};

static bool has_reference(struct str text)
{
    struct str name;

    return scenario_values_next_reference(&text, &name);
}

/* Compares the name or URI that the action has. */
static bool is_same_subject(const struct action_search *s, struct json_val params)
{
    const struct scenario_action *a = s->action;

    return !a->subject.len || has_reference(a->subject) ||
           json_is(json_get(params, str_z(a->kind->subject)), a->subject);
}

static bool fits(const struct action_search *s, struct json_val request, bool any_params)
{
    static const struct params_rules rules = { .include_meta = false };
    static const struct params_mask nothing = { .count = 0 };
    struct json_val params = json_get(request, STR("params"));

    if (!json_is(json_get(request, STR("method")), s->action->method))
        return false;
    if (any_params || s->has_references)
        return is_same_subject(s, params);
    return params_equal(params, s->params, &rules, nothing);
}

static struct place_in_recording first_place(const struct verify_recording *r, uint32_t session)
{
    return (struct place_in_recording){ session, session < r->index.session_count
                                                     ? index_order_first(&r->order, session)
                                                     : 0 };
}

/* Returns the next item that is a request; NULL: there is none. */
static const struct index_order_item *next_request(const struct verify_recording *r,
                                                   struct place_in_recording *at)
{
    const struct index_order_item *item;

    for (; at->session < r->index.session_count; *at = first_place(r, at->session + 1))
        while (at->item) {
            item = &r->order.items[at->item];
            at->item = item->next;
            if (item->kind == ORDER_REQUEST)
                return item;
        }
    return NULL;
}

/* Moves `*at` behind the request. `*found`: there is one. */
static bool find_request(struct action_search *s, bool any_params,
                         struct place_in_recording *at, bool *found, struct err *e)
{
    struct place_in_recording next = *at;
    const struct index_order_item *item;
    struct json_val request;

    *found = false;
    while (!*found && (item = next_request(s->recording, &next))) {
        if (!index_read_call(&s->recording->index, item->number, &s->message, &request, e))
            return false;
        *found = fits(s, request, any_params);
    }
    if (*found)
        *at = next;
    return true;
}

static bool find_action(struct action_search *s, struct place_in_recording *at,
                        struct scenario_change *out, struct err *e)
{
    bool found;

    if (!find_request(s, false, at, &found, e))
        return false;
    if (found)
        return true;
    out->action = s->action;
    return find_request(s, true, at, &out->params_differ, e);
}

static bool check_action(const struct verify_recording *r, const struct scenario_action *a,
                         struct place_in_recording *at, struct scenario_change *out,
                         struct err *e)
{
    struct action_search s = { .recording = r,
                               .action = a,
                               .has_references = has_reference(a->params) };
    struct json_fault fault;
    struct json params;
    bool ok;

    json_init(&params);
    index_message_init(&s.message);
    if (a->params.len) {
        if (!json_scan(&params, a->params, &fault))
            BUG("params are JSON");
        s.params = json_root(&params);
    }
    ok = find_action(&s, at, out, e);
    index_message_release(&s.message);
    json_release(&params);
    return ok;
}

bool scenario_recorded_find_change(const struct verify_recording *r,
                                   const struct scenario_plan *plan,
                                   struct scenario_change *out, struct err *e)
{
    struct place_in_recording at = first_place(r, 0);

    *out = (struct scenario_change){ .action = NULL };
    for (size_t i = 0; !out->action && i < plan->action_count; i++)
        if (!check_action(r, &plan->actions[i], &at, out, e))
            return false;
    return true;
}
