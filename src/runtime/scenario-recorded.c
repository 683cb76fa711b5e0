#include "runtime/scenario-recorded.h"

#include "mcp/params-compare.h"

/* A place in the recording. A server that rejects initialize gets two sessions. */
struct place_in_recording {
    uint32_t session, item; /* item 0: the session has no more */
};

/* A scenario that is compared with its recording. */
struct recorded_scenario {
    const struct verify_recording *recording;
    const struct scenario_plan *plan;
    scenario_changed_fn *changed;
    void *to;
    struct place_in_recording at;  /* behind the request of the latest action */
    struct scenario_values values; /* that the recorded responses save */
    bool lacks_values;             /* not all values could be saved */
    bool stopped;                  /* a request was not recorded */
    struct index_message message;
    struct arena arena;
};

/* A search for the request of an action. */
struct action_search {
    const struct scenario_action *action;   /* NULL: none, for the end of the recording */
    const struct scenario_action *previous; /* NULL: it is the first */
    struct json_val params;                 /* of the action */
    bool has_references;                    /* its params depend on saved values */
    uint32_t call;                          /* that was found; 0: none */
    uint32_t skipped; /* the first call before it that no action sends; 0: none */
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

/* Returns whether mcpreel sends a request by itself: the handshake, a further page of the list
 * before it, or required input. */
static bool needs_no_action(const struct action_search *s, struct json_val request)
{
    struct json_val method = json_get(request, STR("method"));
    struct json_val params = json_get(request, STR("params"));

    return json_is(method, STR("initialize")) || json_is(method, STR("server/discover")) ||
           json_exists(json_get(params, STR("inputResponses"))) ||
           (s->previous && s->previous->all_pages && json_is(method, s->previous->method) &&
            json_exists(json_get(params, STR("cursor"))));
}

/* A saved value may make any method of that of the action. */
static bool is_same_method(const struct action_search *s, struct json_val request)
{
    return has_reference(s->action->method)
               ? !needs_no_action(s, request)
               : json_is(json_get(request, STR("method")), s->action->method);
}

static bool fits(const struct action_search *s, struct json_val request, bool any_params)
{
    static const struct params_rules rules = { .include_meta = false };
    static const struct params_mask nothing = { .count = 0 };
    struct json_val params = json_get(request, STR("params"));

    if (!s->action || !is_same_method(s, request))
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

/* Moves on behind the request, if there is one. Without an action, to the end. */
static bool find_request(struct recorded_scenario *c, struct action_search *s, bool any_params,
                         struct err *e)
{
    struct place_in_recording next = c->at;
    const struct index_order_item *item;
    struct json_val request;

    s->call = s->skipped = 0;
    while (!s->call && (item = next_request(c->recording, &next))) {
        if (!index_read_call(&c->recording->index, item->number, &c->message, &request, e))
            return false;
        if (fits(s, request, any_params))
            s->call = item->number;
        else if (!s->skipped && !needs_no_action(s, request))
            s->skipped = item->number;
    }
    if (s->call || !s->action)
        c->at = next;
    return true;
}

static void report_action(const struct recorded_scenario *c, enum scenario_change_kind kind,
                          const struct scenario_action *a, const struct finding *expected)
{
    const struct scenario_change change = { .kind = kind,
                                            .action = a,
                                            .method = a->method,
                                            .subject = a->subject,
                                            .expected = expected };

    c->changed(c->to, &change);
}

/* Reports a recorded request that no action sends. */
static bool report_skipped(struct recorded_scenario *c, const struct action_search *s,
                           struct err *e)
{
    struct scenario_change change = { .kind = SCENARIO_NO_ACTION };
    struct json_val request;

    if (!s->skipped)
        return true;
    if (!index_read_call(&c->recording->index, s->skipped, &c->message, &request, e))
        return false;
    change.method = json_text(json_get(request, STR("method")), &c->arena);
    change.subject =
        json_text(mcp_subject(change.method, json_get(request, STR("params"))), &c->arena);
    c->changed(c->to, &change);
    return true;
}

/* Returns the step that is the response to a call; 0: it has none. */
static uint32_t response_of(const struct index *index, uint32_t call)
{
    uint32_t step = index_first_step(index, call);

    while (step && index->steps[step].kind != STEP_RESPONSE)
        step = index_next_step(index, call, step);
    return step;
}

static bool is_redacted(const struct finding *f)
{
    return f->path.len && (str_contains(f->live, STR("[REDACTED")) ||
                           str_contains(f->recorded, STR("[REDACTED")));
}

/* Leaves out a response that cannot be judged. */
static bool pass_over(struct recorded_scenario *c, const struct scenario_action *a)
{
    c->lacks_values = c->lacks_values || a->expect.save_count;
    return true;
}

static bool refers_to_values(const struct scenario_expect *x)
{
    for (size_t i = 0; i < x->value_count; i++)
        if (has_reference(x->values[i].json))
            return true;
    return false;
}

static bool requires_input(struct json_val response)
{
    return json_is(json_get(json_get(response, STR("result")), STR("resultType")),
                   STR("input_required"));
}

/* Judges the recorded response by the expectations of the action. */
static bool check_response(struct recorded_scenario *c, const struct scenario_action *a,
                           uint32_t call, struct err *e)
{
    const struct index *index = &c->recording->index;
    uint32_t step = response_of(index, call);
    const struct finding *findings;
    struct json_val response;
    size_t count;

    if (!step || a->all_pages || (c->lacks_values && refers_to_values(&a->expect)))
        return pass_over(c, a);
    if (!index_read_step(index, step, &c->message, &response, e))
        return false;
    if (requires_input(response))
        return pass_over(c, a);
    findings = scenario_expect_judge(&a->expect, response, &c->values, &c->arena, &count);
    for (size_t i = 0; i < count; i++)
        if (!is_redacted(&findings[i]))
            report_action(c, SCENARIO_OTHER_EXPECTATION, a, &findings[i]);
    return true;
}

/* Compares an action with the request that was found for it. */
static bool compare_action(struct recorded_scenario *c, struct action_search *s, struct err *e)
{
    bool same;

    if (!find_request(c, s, false, e))
        return false;
    same = s->call != 0;
    if (!same && !find_request(c, s, true, e))
        return false;
    if (!s->call) {
        c->stopped = true;
        report_action(c, SCENARIO_NOT_RECORDED, s->action, NULL);
        return true;
    }
    if (!report_skipped(c, s, e))
        return false;
    if (same)
        return check_response(c, s->action, s->call, e);
    report_action(c, SCENARIO_OTHER_PARAMS, s->action, NULL);
    return pass_over(c, s->action);
}

static bool check_action(struct recorded_scenario *c, size_t number, struct err *e)
{
    const struct scenario_action *a = &c->plan->actions[number];
    struct action_search s = { .action = a,
                               .previous = number ? a - 1 : NULL,
                               .has_references = has_reference(a->params) };
    struct json_fault fault;
    struct json params;
    bool ok;

    json_init(&params);
    if (a->params.len) {
        if (!json_scan(&params, a->params, &fault))
            BUG("params are JSON");
        s.params = json_root(&params);
    }
    ok = compare_action(c, &s, e);
    json_release(&params);
    return ok;
}

/* Looks for requests behind that of the last action. */
static bool check_end(struct recorded_scenario *c, struct err *e)
{
    size_t count = c->plan->action_count;
    struct action_search s = { .previous = count ? &c->plan->actions[count - 1] : NULL };

    return find_request(c, &s, false, e) && report_skipped(c, &s, e);
}

bool scenario_recorded_find_changes(const struct verify_recording *r,
                                    const struct scenario_plan *plan,
                                    scenario_changed_fn *changed, void *to, struct err *e)
{
    struct recorded_scenario c = {
        .recording = r, .plan = plan, .changed = changed, .to = to, .at = first_place(r, 0)
    };
    bool ok = true;

    index_message_init(&c.message);
    scenario_values_init(&c.values);
    for (size_t i = 0; ok && !c.stopped && i < plan->action_count; i++)
        ok = check_action(&c, i, e);
    ok = ok && (c.stopped || check_end(&c, e));
    scenario_values_release(&c.values);
    index_message_release(&c.message);
    arena_release(&c.arena);
    return ok;
}
