#include "diff/contract-traffic.h"

#include "mcp/method.h"
#include "mcp/params-hash.h"
#include "json/schema.h"

/* A change and the values that it is about. */
struct traffic_change {
    struct contract_change *change;
    enum contract_rule_number rule;
    bool has_path;
    struct json_path path; /* with `has_path` */
    bool hit;              /* by the call being judged */
    bool rejected;         /* the hit is a violation of the new schema */
    struct traffic_change *next;
};

/* A tool, prompt or resource that calls name. */
struct traffic_subject {
    struct traffic_change *changes;
    struct json_schema *schemas[2][2]; /* input and output, before and after; NULL: none */
};

enum { INPUT, OUTPUT };
enum { BEFORE, AFTER };

static enum contract_rule_number rule_number(const struct contract_rule *rule)
{
    return (enum contract_rule_number)(rule - contract_rule(RULE_INPUT));
}

static struct str subject_key(struct arena *a, enum surface_kind kind, struct str name)
{
    return arena_printf(a, "%d %.*s", (int)kind, STR_ARG(name));
}

static struct json_schema *make_schema(const struct surface *s, struct str tool,
                                       struct str member)
{
    const struct surface_item *item = surface_find(s, SURFACE_TOOL, tool);
    struct json_val schema = item ? json_get(item->def, member) : JSON_VAL_NONE;

    return json_exists(schema) ? json_schema_new(schema) : NULL;
}

static struct traffic_subject *make_subject(struct contract_traffic *t, enum surface_kind kind,
                                            struct str name)
{
    struct traffic_subject *s = arena_new(&t->arena, struct traffic_subject);

    if (kind != SURFACE_TOOL)
        return s;
    s->schemas[INPUT][BEFORE] = make_schema(t->before, name, STR("inputSchema"));
    s->schemas[INPUT][AFTER] = make_schema(t->after, name, STR("inputSchema"));
    s->schemas[OUTPUT][BEFORE] = make_schema(t->before, name, STR("outputSchema"));
    s->schemas[OUTPUT][AFTER] = make_schema(t->after, name, STR("outputSchema"));
    return s;
}

/* Changes that are not about one tool, prompt or resource. */

static bool is_of_template(const struct contract_change *change)
{
    enum contract_rule_number rule = rule_number(change->rule);

    return rule == RULE_TEMPLATE_REMOVED || rule == RULE_TEMPLATE_URI;
}

static void push_change(struct contract_traffic *t, struct traffic_change **to,
                        struct contract_change *change)
{
    struct traffic_change *c = arena_new(&t->arena, struct traffic_change);

    c->change = change;
    c->rule = rule_number(change->rule);
    c->next = *to;
    *to = c;
}

static void add_change(struct contract_traffic *t, struct contract_change *change)
{
    struct str key = subject_key(&t->arena, change->kind, change->name);
    struct traffic_subject *s = map_get(&t->by_subject, key);
    struct traffic_change *c = arena_new(&t->arena, struct traffic_change);
    struct err ignored = ERR_NONE;

    if (!s) {
        s = make_subject(t, change->kind, change->name);
        map_put(&t->by_subject, key, s);
    }
    c->change = change;
    c->rule = rule_number(change->rule);
    c->has_path = change->instance.len &&
                  json_path_compile(&c->path, change->instance, &t->arena, &ignored);
    c->next = s->changes;
    s->changes = c;
}

void contract_traffic_init(struct contract_traffic *t, struct contract_changes *changes,
                           const struct surface *before, const struct surface *after)
{
    struct json_fault fault;

    *t = (struct contract_traffic){ .changes = changes, .before = before, .after = after };
    map_init(&t->by_subject);
    json_init(&t->empty);
    if (!json_scan(&t->empty, STR("{}"), &fault))
        BUG("an empty object is no JSON");
    for (size_t i = 0; i < changes->count; i++) {
        struct contract_change *change = &changes->at[i];

        if (is_of_template(change))
            push_change(t, &t->templates, change);
        else if (rule_number(change->rule) == RULE_CAPABILITY_REMOVED)
            push_change(t, &t->capabilities, change);
        else if (change->kind != SURFACE_SERVER && change->name.len)
            add_change(t, change);
    }
}

void contract_traffic_release(struct contract_traffic *t)
{
    for (struct map_entry *e = NULL; (e = map_next(&t->by_subject, e));) {
        struct traffic_subject *s = e->value;

        for (int side = INPUT; side <= OUTPUT; side++) {
            json_schema_free(s->schemas[side][BEFORE]);
            json_schema_free(s->schemas[side][AFTER]);
        }
    }
    map_release(&t->by_subject);
    json_release(&t->empty);
    arena_release(&t->arena);
}

static bool is_of_side(enum contract_rule_number rule, int side)
{
    return side == INPUT ? rule < RULE_OUTPUT
                         : (rule >= RULE_OUTPUT && rule < RULE_TOOL_ADDED) ||
                               rule == RULE_TOOL_OUTPUT_ADDED;
}

static enum schema_change_kind schema_kind(enum contract_rule_number rule)
{
    return (enum schema_change_kind)((int)rule % SCHEMA_CHANGE_KINDS);
}

/* A change that affects every call that has the value. */
static bool counts_use(enum contract_rule_number rule)
{
    enum schema_change_kind kind = schema_kind(rule);

    return kind == SCHEMA_PROPERTY_REMOVED || kind == SCHEMA_PROPERTY_REMOVED_CLOSED ||
           kind == SCHEMA_PROPERTY_REQUIRED_REMOVED || kind == SCHEMA_PROPERTY_RENAMED;
}

/* The requests that a capability allows. */
static const struct {
    struct str method, capability;
} capability_methods[] = {
    { STR_INIT("tools/call"), STR_INIT("$.capabilities.tools") },
    { STR_INIT("prompts/get"), STR_INIT("$.capabilities.prompts") },
    { STR_INIT("resources/read"), STR_INIT("$.capabilities.resources") },
    { STR_INIT("resources/subscribe"), STR_INIT("$.capabilities.resources") },
    { STR_INIT("resources/subscribe"), STR_INIT("$.capabilities.resources.subscribe") },
    { STR_INIT("completion/complete"), STR_INIT("$.capabilities.completions") },
    { STR_INIT("logging/setLevel"), STR_INIT("$.capabilities.logging") },
};

static bool is_known_capability(struct str path)
{
    for (size_t i = 0; i < sizeof capability_methods / sizeof *capability_methods; i++)
        if (str_eq(capability_methods[i].capability, path))
            return true;
    return false;
}

/* Returns whether recorded calls can tell anything about a change. A looser output cannot be
 * seen in old results, but a stricter one can, and one that is neither. */
static bool can_affect(const struct traffic_change *c)
{
    switch (c->rule) {
    case RULE_TOOL_REMOVED:
    case RULE_TOOL_RENAMED:
    case RULE_TOOL_INPUT_INVALID:
    case RULE_TOOL_OUTPUT_ADDED:
    case RULE_TOOL_OUTPUT_REMOVED:
    case RULE_TOOL_TASK_NARROWED:
    case RULE_TOOL_TASK_CHANGED:
    case RULE_PROMPT_REMOVED:
    case RULE_PROMPT_RENAMED:
    case RULE_PROMPT_ARGUMENT_REQUIRED_ADDED:
    case RULE_PROMPT_REQUIRED_ADDED:
    case RULE_PROMPT_ARGUMENT_REMOVED:
    case RULE_RESOURCE_REMOVED:
    case RULE_TEMPLATE_REMOVED:
    case RULE_TEMPLATE_URI:
        return true;
    case RULE_CAPABILITY_REMOVED:
        return is_known_capability(c->change->finding.path);
    default:
        if (c->rule < RULE_OUTPUT)
            return c->change->severity <= CONTRACT_RISKY;
        return c->rule < RULE_TOOL_ADDED &&
               (counts_use(c->rule) || c->change->severity == CONTRACT_SAFE ||
                (c->change->rule->action == CONTRACT_CHANGED &&
                 c->change->severity <= CONTRACT_RISKY));
    }
}

static bool stop_at_first(void *arg, struct json_location location, struct json_val value)
{
    (void)arg;
    (void)location;
    (void)value;
    return false;
}

static bool has_value(const struct traffic_change *c, struct json_val v)
{
    return c->has_path && !json_path_select(&c->path, v, stop_at_first, NULL);
}

/* One validation. */
struct validation {
    struct traffic_subject *subject;
    int side;
    bool violated, redacted;
};

/* A union is reported at its own place, not at that of the value inside it. */
static bool is_union(struct str keyword)
{
    return str_eq(keyword, STR("anyOf")) || str_eq(keyword, STR("oneOf")) ||
           str_eq(keyword, STR("not")) || str_eq(keyword, STR("if"));
}

static bool is_cause(const struct traffic_change *c, const struct json_schema_violation *v)
{
    struct json_path outer = c->path;

    if (schema_kind(c->rule) == SCHEMA_ADDITIONAL_CLOSED)
        return v->location.count == c->path.count + 1 &&
               str_eq(v->keyword, STR("additionalProperties")) &&
               json_path_covers(&c->path, v->location);
    if (json_path_matches(&c->path, v->location))
        return true;
    if (!is_union(v->keyword) || v->location.count > c->path.count)
        return false;
    outer.count = v->location.count;
    return json_path_matches(&outer, v->location);
}

static bool on_violation(void *arg, const struct json_schema_violation *v)
{
    struct validation *run = arg;

    if (params_is_redacted(v->value)) {
        run->redacted = true;
        return true;
    }
    run->violated = true;
    for (struct traffic_change *c = run->subject->changes; c; c = c->next)
        if (c->has_path && is_of_side(c->rule, run->side) && can_affect(c) && is_cause(c, v))
            c->hit = c->rejected = true;
    return true;
}

static void count(struct traffic_change *c, uint32_t seq, bool results, bool undecided)
{
    struct contract_usage *u = &c->change->usage;

    if (!can_affect(c))
        return;
    u->judged = true;
    u->results = results;
    u->calls++;
    u->undecided += undecided && !c->hit;
    if (!c->hit)
        return;
    if (u->affected < CONTRACT_USAGE_SEQS)
        u->seqs[u->affected] = seq;
    u->affected++;
    u->rejected += c->rejected;
}

/* Validates a value against both schemas and counts it for the changes of that side. Returns
 * whether the new one rejects it. */
static bool judge_value(struct traffic_subject *s, int side, uint32_t seq, struct json_val v)
{
    struct validation run = { .subject = s, .side = side };
    struct json_schema *before = s->schemas[side][BEFORE], *after = s->schemas[side][AFTER];
    struct json_schema_result old = { .verdict = JSON_SCHEMA_VALID };
    struct json_schema_result new = { .verdict = JSON_SCHEMA_VALID };
    bool undecided;

    if (before)
        old = json_schema_check(before, v, NULL, NULL);
    if (after && old.verdict != JSON_SCHEMA_INVALID)
        new = json_schema_check(after, v, on_violation, &run);
    undecided = old.verdict == JSON_SCHEMA_INVALID || run.redacted ||
                new.verdict == JSON_SCHEMA_PARTIAL || new.verdict == JSON_SCHEMA_TOO_COMPLEX;
    for (struct traffic_change *c = s->changes; c; c = c->next) {
        if (!is_of_side(c->rule, side))
            continue;
        if (c->rule == RULE_TOOL_OUTPUT_ADDED)
            c->hit = c->rejected = run.violated;
        c->hit = c->hit || (counts_use(c->rule) && has_value(c, v));
        count(c, seq, side == OUTPUT, undecided);
    }
    return run.violated;
}

/* Returns whether a change of the tool as a whole affects a call. */
static bool affects_tool_call(const struct traffic_change *c, bool has_task,
                              bool has_structured)
{
    switch (c->rule) {
    case RULE_TOOL_REMOVED:
    case RULE_TOOL_RENAMED:
    case RULE_TOOL_INPUT_INVALID:
        return true;
    case RULE_TOOL_OUTPUT_REMOVED:
        return has_structured;
    case RULE_TOOL_TASK_NARROWED:
    case RULE_TOOL_TASK_CHANGED:
        return has_task != str_eq(c->change->finding.live, STR("\"required\""));
    default:
        return false;
    }
}

/* Returns whether a change of one side, or with `whole` one of the tool, is the cause. */
static bool is_attributed(const struct traffic_subject *s, int side, bool whole)
{
    for (const struct traffic_change *c = s->changes; c; c = c->next)
        if (c->hit && (is_of_side(c->rule, side) || (whole && c->rule >= RULE_TOOL_ADDED)))
            return true;
    return false;
}

static bool judge_tool(struct contract_traffic *t, struct traffic_subject *s, uint32_t seq,
                       struct json_val params, struct json_val result)
{
    struct json_val arguments = json_get(params, STR("arguments"));
    struct json_val structured = json_get(result, STR("structuredContent"));
    bool has_task = json_exists(json_get(params, STR("task")));
    bool rejected;

    for (struct traffic_change *c = s->changes; c; c = c->next) {
        c->hit = affects_tool_call(c, has_task, json_exists(structured));
        c->rejected = false;
        if (c->rule >= RULE_TOOL_ADDED && !is_of_side(c->rule, OUTPUT))
            count(c, seq, false, false);
    }
    if (!json_exists(arguments))
        arguments = json_root(&t->empty);
    rejected = judge_value(s, INPUT, seq, arguments);
    t->unattributed += rejected && !is_attributed(s, INPUT, true);
    if (json_exists(structured) && json_type(json_get(result, STR("isError"))) != JSON_TRUE &&
        judge_value(s, OUTPUT, seq, structured))
        t->unattributed_results += !is_attributed(s, OUTPUT, false);
    return rejected;
}

static bool affects_other_call(const struct traffic_change *c, struct json_val arguments)
{
    switch (c->rule) {
    case RULE_PROMPT_REMOVED:
    case RULE_PROMPT_RENAMED:
    case RULE_RESOURCE_REMOVED:
        return true;
    case RULE_PROMPT_ARGUMENT_REQUIRED_ADDED:
    case RULE_PROMPT_REQUIRED_ADDED:
        return !has_value(c, arguments);
    case RULE_PROMPT_ARGUMENT_REMOVED:
        return has_value(c, arguments);
    default:
        return false;
    }
}

static void judge_other(struct contract_traffic *t, struct traffic_subject *s, uint32_t seq,
                        struct json_val params)
{
    struct json_val arguments = json_get(params, STR("arguments"));

    if (!json_exists(arguments))
        arguments = json_root(&t->empty);
    for (struct traffic_change *c = s->changes; c; c = c->next) {
        c->hit = affects_other_call(c, arguments);
        count(c, seq, false, false);
    }
}

/* Returns whether a URI may be one of a template: each {…} stands for any text. */
static bool matches_template(struct str template, struct str uri)
{
    size_t i = 0, k = 0, behind = SIZE_MAX, from = 0; /* `behind` the last variable */

    while (k < uri.len || (i < template.len && template.at[i] == '{')) {
        if (i < template.len && template.at[i] == '{') {
            i += str_find(str_skip(template, i), '}') + 1;
            behind = i = i < template.len ? i : template.len;
            from = k;
        } else if (i < template.len && template.at[i] == uri.at[k]) {
            i++;
            k++;
        } else if (behind != SIZE_MAX) {
            i = behind;
            k = ++from;
        } else {
            return false;
        }
    }
    return i == template.len;
}

static bool is_offered(const struct surface *s, struct str uri)
{
    const struct surface_list *l = &s->lists[SURFACE_TEMPLATE];

    for (size_t i = 0; i < l->count; i++)
        if (matches_template(l->items[i].key, uri))
            return true;
    return surface_find(s, SURFACE_RESOURCE, uri);
}

/* Returns whether a breaking change affects a read. */
static bool judge_templates(struct contract_traffic *t, uint32_t seq, struct str uri)
{
    bool affected = false;

    for (struct traffic_change *c = t->templates; c; c = c->next) {
        if (!matches_template(c->change->name, uri))
            continue;
        c->hit = !is_offered(t->after, uri);
        affected = affected || c->hit;
        count(c, seq, false, false);
    }
    return affected;
}

static bool is_allowed_by(struct str method, struct str capability)
{
    for (size_t i = 0; i < sizeof capability_methods / sizeof *capability_methods; i++)
        if (str_eq(capability_methods[i].method, method) &&
            str_eq(capability_methods[i].capability, capability))
            return true;
    return false;
}

static bool judge_capabilities(struct contract_traffic *t, uint32_t seq, struct str method)
{
    bool affected = false;

    for (struct traffic_change *c = t->capabilities; c; c = c->next) {
        c->hit = is_allowed_by(method, c->change->finding.path);
        if (!c->hit)
            continue;
        affected = true;
        count(c, seq, false, false);
    }
    return affected;
}

static bool kind_of_method(struct str method, enum surface_kind *kind)
{
    if (str_eq(method, STR("tools/call")))
        *kind = SURFACE_TOOL;
    else if (str_eq(method, STR("prompts/get")))
        *kind = SURFACE_PROMPT;
    else if (str_eq(method, STR("resources/read")))
        *kind = SURFACE_RESOURCE;
    else
        return false;
    return true;
}

/* Whether a change makes a call fail that worked. */
static bool is_broken(const struct traffic_change *c)
{
    return c->hit && (c->change->severity == CONTRACT_BREAKING ||
                      (c->rejected && c->change->severity <= CONTRACT_RISKY));
}

struct contract_call {
    uint32_t seq;
    struct json_val params, result;
};

static bool judge_subject(struct contract_traffic *t, enum surface_kind kind, struct str name,
                          const struct contract_call *call)
{
    struct arena a = { 0 };
    struct traffic_subject *s = map_get(&t->by_subject, subject_key(&a, kind, name));
    bool affected = false;

    arena_release(&a);
    if (!s)
        return false;
    if (kind == SURFACE_TOOL)
        affected = judge_tool(t, s, call->seq, call->params, call->result);
    else
        judge_other(t, s, call->seq, call->params);
    for (struct traffic_change *c = s->changes; c; c = c->next)
        affected = affected || is_broken(c);
    return affected;
}

static bool is_counted(struct str method)
{
    for (size_t i = 0; i < sizeof capability_methods / sizeof *capability_methods; i++)
        if (str_eq(capability_methods[i].method, method))
            return true;
    return false;
}

void contract_traffic_add_call(struct contract_traffic *t, uint32_t seq, struct str method,
                               struct json_val params, struct json_val result)
{
    const struct contract_call call = { seq, params, result };
    struct arena a = { 0 };
    enum surface_kind kind;
    bool affected, has_kind = kind_of_method(method, &kind);

    affected = judge_capabilities(t, seq, method);
    if (has_kind) {
        struct str name = json_text(mcp_subject(method, params), &a);

        if (judge_subject(t, kind, name, &call))
            affected = true;
        if (kind == SURFACE_RESOURCE && judge_templates(t, seq, name))
            affected = true;
    }
    arena_release(&a);
    t->calls += has_kind || affected;
    t->affected += affected;
}

bool contract_traffic_add_index(struct contract_traffic *t, const struct index *index,
                                struct err *e)
{
    struct index_message request, response;
    struct json_val root, answer;
    bool ok = true;

    index_message_init(&request);
    index_message_init(&response);
    for (uint32_t call = 1; call < index->call_count && ok; call++) {
        struct str method = index_method(index, call)->name;
        uint32_t step = index_first_step(index, call);

        if (!is_counted(method))
            continue;
        while (step && index->steps[step].kind != STEP_RESPONSE)
            step = index_next_step(index, call, step);
        answer = JSON_VAL_NONE;
        ok = index_read_call(index, call, &request, &root, e) &&
             (!step || index_read_step(index, step, &response, &answer, e));
        if (ok)
            contract_traffic_add_call(t, index->calls[call].seq, method,
                                      json_get(root, STR("params")),
                                      json_get(answer, STR("result")));
    }
    index_message_release(&request);
    index_message_release(&response);
    return ok;
}

bool contract_traffic_fails(const struct contract_traffic *t, enum contract_fail_on fail_on)
{
    return (t->unattributed && fail_on != FAIL_ON_NEVER) ||
           (t->unattributed_results && fail_on == FAIL_ON_BREAKING_USED);
}

static void write_seqs(struct buf *to, const struct contract_usage *u)
{
    size_t shown = u->affected < CONTRACT_USAGE_SEQS ? u->affected : CONTRACT_USAGE_SEQS;

    buf_add(to, STR(" ("));
    for (size_t i = 0; i < shown; i++)
        buf_printf(to, "%s#%u", i ? " " : "", u->seqs[i]);
    buf_add(to, u->affected > shown ? STR(" …)") : STR(")"));
}

/* Appends the counts of a change: "rejects 3 of 214 recorded calls (#7 #19 #88)". */
static void write_usage(struct buf *to, const struct contract_change *change)
{
    const struct contract_usage *u = &change->usage;
    const char *things = u->results ? "recorded results" : "recorded calls";
    bool rejects = !u->results && (change->severity == CONTRACT_BREAKING ||
                                   (u->rejected && u->rejected == u->affected));

    if (u->affected) {
        buf_printf(to, "; %s %llu of %llu %s", rejects ? "rejects" : "affects",
                   (unsigned long long)u->affected, (unsigned long long)u->calls, things);
        write_seqs(to, u);
    } else if (change->severity == CONTRACT_BREAKING) {
        buf_add(to, rule_number(change->rule) < RULE_TOOL_ADDED
                        ? STR("; breaking by schema, no recorded call is affected")
                        : STR("; no recorded call is affected"));
    }
    if (u->undecided && change->severity <= CONTRACT_RISKY)
        buf_printf(to, "; %llu not judged", (unsigned long long)u->undecided);
}

/* Returns whether no call was recorded of the thing that a change is about. */
static bool is_unused(struct contract_change *change)
{
    const struct traffic_change c = { .change = change, .rule = rule_number(change->rule) };

    return !change->usage.judged && can_affect(&c);
}

void contract_traffic_end(struct contract_traffic *t)
{
    struct contract_changes *c = t->changes;
    struct buf text;

    buf_init(&text, 1 << 20);
    for (size_t i = 0; i < c->count; i++) {
        struct contract_change *change = &c->at[i];

        buf_clear(&text);
        buf_add(&text, change->finding.message);
        if (change->usage.judged || is_unused(change))
            write_usage(&text, change);
        change->finding.message = arena_str(&c->arena, buf_str(&text));
    }
    buf_release(&text);
}
