#include "match/match-reason.h"

#include "index/redacted-params.h"
#include "mcp/params-compare.h"
#include "trace/limits.h"

enum { PATH_SHOWN = 200 };

static size_t ignore_count(const struct match_options *o)
{
    return o->rules.ignore ? compare_rules_count(o->rules.ignore) : 0;
}

/* The numbers of the last two rules. */
static size_t mode_rule(const struct match_options *o)
{
    return ignore_count(o) + o->tool_count;
}

static size_t redaction_rule(const struct match_options *o)
{
    return mode_rule(o) + 1;
}

size_t match_reason_rule_count(const struct match_options *o)
{
    return redaction_rule(o) + 1;
}

size_t match_reason_mode_rule(const struct match_options *o, const struct mcp_message *live)
{
    return ignore_count(o) + matcher_tool_row(o, live);
}

enum match_rule_kind match_reason_kind(const struct match_options *o, size_t rule)
{
    if (rule < ignore_count(o))
        return MATCH_RULE_IGNORE;
    if (rule < mode_rule(o))
        return MATCH_RULE_TOOL_MODE;
    return rule == mode_rule(o) ? MATCH_RULE_MODE : MATCH_RULE_REDACTED;
}

bool match_reason_is_listed(const struct match_options *o, size_t rule)
{
    switch (match_reason_kind(o, rule)) {
    case MATCH_RULE_IGNORE:
        return params_ignore_is_effective(o->rules.ignore, rule);
    case MATCH_RULE_TOOL_MODE:
        return true;
    case MATCH_RULE_MODE:
        return o->mode == MATCH_SEQUENTIAL || o->mode == MATCH_FUZZY;
    case MATCH_RULE_REDACTED:
        return false;
    }
    BUG("no such kind of rule");
}

const char *match_reason_describe(const struct match_options *o, size_t rule, struct buf *value)
{
    static const char *const modes[] = { [MATCH_SEQUENTIAL] = "sequential",
                                         [MATCH_BY_REQUEST] = "by-request",
                                         [MATCH_FUZZY] = "fuzzy",
                                         [MATCH_STRICT] = "strict" };
    const struct match_tool_mode *tool;
    const char *name;
    struct str text;

    switch (match_reason_kind(o, rule)) {
    case MATCH_RULE_IGNORE:
        name = compare_rules_describe(o->rules.ignore, rule, &text);
        buf_add(value, text);
        return name;
    case MATCH_RULE_TOOL_MODE:
        tool = &o->tools[rule - ignore_count(o)];
        buf_printf(value, "%.*s=%s", STR_ARG(tool->tool), modes[tool->mode]);
        return "match";
    case MATCH_RULE_MODE:
        buf_add(value, str_z(modes[o->mode]));
        return "match";
    case MATCH_RULE_REDACTED:
        return "redacted";
    }
    BUG("no such kind of rule");
}

void match_reason_write(const struct match_options *o, size_t rule, struct buf *to)
{
    bool quoted = match_reason_kind(o, rule) == MATCH_RULE_IGNORE;
    const char *name;
    struct buf value;

    buf_init(&value, LIMIT_MESSAGE);
    name = match_reason_describe(o, rule, &value);
    buf_add(to, str_z(name));
    if (value.len)
        buf_printf(to, quoted ? " '%s'" : " %s", buf_z(&value));
    buf_release(&value);
}

struct reason_search {
    const struct match_options *options;
    size_t mode; /* the rule of the mode for the request; COMPARE_RULES_NONE: none */
    struct match_reason *found;
    bool with_paths;
};

static void add_rule(struct match_reason *r, size_t rule)
{
    for (size_t i = 0; i < r->rule_count; i++)
        if (r->rules[i] == rule)
            return;
    if (r->rule_count < MATCH_REASON_RULES)
        r->rules[r->rule_count++] = rule;
}

static void add_path(struct match_reason *r, size_t rule, struct json_location location)
{
    struct buf text;

    if (r->path_count == MATCH_REASON_PATHS)
        return;
    buf_init(&text, LIMIT_MESSAGE);
    json_location_write(location, &text);
    r->paths[r->path_count++] = (struct match_reason_path){
        .path = arena_truncated(
            &r->arena,
            arena_printf(&r->arena, "$.params%.*s", (int)text.len - 1, buf_z(&text) + 1),
            PATH_SHOWN),
        .rule = rule
    };
    buf_release(&text);
}

static bool on_difference(void *arg, const struct params_difference *d)
{
    const struct reason_search *s = arg;
    size_t rule = d->excuse == PARAMS_IGNORED    ? d->rule
                  : d->excuse == PARAMS_REDACTED ? redaction_rule(s->options)
                                                 : s->mode;

    if (rule == COMPARE_RULES_NONE)
        return true;
    add_rule(s->found, rule);
    if (s->with_paths)
        add_path(s->found, rule, d->location);
    return true;
}

/* Polls and subscriptions match in every mode, whatever their params are. */
static size_t mode_for(const struct matcher *m, uint32_t call, const struct mcp_message *live)
{
    if (candidates_is_sequence(&m->candidates, m->index->calls[call].method))
        return COMPARE_RULES_NONE;
    return match_reason_mode_rule(&m->options, live);
}

/* Returns the params of the call: those that the matcher has parsed, if it was the last one. */
static struct json_val recorded_params(const struct matcher *m, uint32_t call,
                                       struct index_message *text)
{
    struct json_val root = JSON_VAL_NONE;
    struct err e = ERR_NONE;

    if (m->query_cache.parsed_call == call)
        root = json_root(&m->recorded.json);
    else if (!index_read_call(m->index, call, text, &root, &e))
        return JSON_VAL_NONE;
    return json_get(root, STR("params"));
}

/* Takes the rules from the matcher's comparison. Returns false if it does not know all. */
static bool copy_known_rules(struct match_reason *r, const struct matcher *m, uint32_t call)
{
    const struct match_query_cache *known = &m->query_cache;

    if (known->compared_call != call || !known->equal_reduced ||
        known->rule_count > MATCH_RULES_NOTED || m->index->calls[call].flags & CALL_REDACTED)
        return false;
    for (size_t i = 0; i < known->rule_count; i++)
        r->rules[r->rule_count++] = known->rules[i];
    return true;
}

void match_reason_find(struct match_reason *r, const struct matcher *m, uint32_t call,
                       const struct mcp_message *live, bool with_paths)
{
    struct reason_search s = { .options = &m->options, .found = r, .with_paths = with_paths };
    struct params_rules rules;
    struct index_message text;

    r->rule_count = r->path_count = 0;
    r->arena = (struct arena){ 0 };
    if (!with_paths && copy_known_rules(r, m, call))
        return;
    s.mode = mode_for(m, call, live);
    rules = matcher_compare_rules(&m->options, live);
    index_message_init(&text);
    params_compare_all(recorded_params(m, call, &text), live->params, &rules,
                       redacted_params_unmarked(m->index, call), on_difference, &s);
    index_message_release(&text);
}

void match_reason_release(struct match_reason *r)
{
    arena_release(&r->arena);
}
