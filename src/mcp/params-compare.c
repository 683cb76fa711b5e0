#include "mcp/params-compare.h"

#include "base/ascii.h"
#include "mcp/meta.h"

struct comparison {
    const struct params_rules *rules;
    struct params_mask mask;
    bool all; /* report differences with an excuse, too */
    params_found_fn *found;
    void *arg;
};

static size_t ignoring_rule(const struct comparison *c, struct json_location location)
{
    return c->rules->ignore ? params_ignore_find(c->rules->ignore, location)
                            : COMPARE_RULES_NONE;
}

/* True if a member of the params (`member`) is absent, or an object without members that
 * count. */
static bool is_empty_member(const struct comparison *c, struct str member, struct json_val v)
{
    struct json_step steps[2] = { { .name = member } };
    struct json_iter it = json_each(v);
    struct arena names = { 0 };
    bool empty = !json_exists(v) || json_type(v) == JSON_OBJECT;

    while (empty && json_next(&it)) {
        steps[1].name = json_text(it.key, &names);
        empty = ignoring_rule(c, (struct json_location){ steps, 2 }) != COMPARE_RULES_NONE;
    }
    arena_release(&names);
    return empty;
}

/* True if _meta is absent, or nothing in it counts but a progress token. */
static bool is_empty_meta(const struct comparison *c, struct json_val v)
{
    return params_meta_is_empty(v) || is_empty_member(c, MCP_META_KEY, v);
}

static bool is_empty_param(const struct comparison *c, struct str name, struct json_val v)
{
    const struct json_step step = { .name = name };

    if (ignoring_rule(c, (struct json_location){ &step, 1 }) != COMPARE_RULES_NONE)
        return true;
    if (str_eq(name, MCP_META_KEY))
        return !c->rules->include_meta || is_empty_meta(c, v);
    return str_eq(name, STR("arguments")) && is_empty_member(c, name, v);
}

/* True for params without anything to compare. */
static bool is_empty_params(const struct comparison *c, struct json_val v)
{
    struct json_iter it = json_each(v);
    struct arena names = { 0 };
    bool empty = true;

    if (json_type(v) != JSON_OBJECT)
        return !json_exists(v) ||
               ignoring_rule(c, (struct json_location){ NULL, 0 }) != COMPARE_RULES_NONE;
    while (empty && json_next(&it))
        empty = is_empty_param(c, json_text(it.key, &names), it.value);
    arena_release(&names);
    return empty;
}

static bool is_at(const struct json_location *p, size_t depth, struct str name)
{
    return p->count >= depth && !p->steps[0].is_index && str_eq(p->steps[0].name, name);
}

/* Absent and empty are the same for members that a client may omit. */
static bool is_omitted(const struct comparison *c, const struct json_difference *d)
{
    if (!d->location.count)
        return is_empty_params(c, d->left) && is_empty_params(c, d->right);
    return d->location.count == 1 && is_at(&d->location, 1, STR("arguments")) &&
           is_empty_member(c, STR("arguments"), d->left) &&
           is_empty_member(c, STR("arguments"), d->right);
}

/* The progress token is never compared. */
static bool is_progress_token(const struct comparison *c, const struct json_difference *d)
{
    if (!is_at(&d->location, 1, MCP_META_KEY))
        return false;
    if (d->location.count == 1)
        return is_empty_meta(c, d->left) && is_empty_meta(c, d->right);
    return !d->location.steps[1].is_index &&
           str_eq(d->location.steps[1].name, PARAMS_PROGRESS_TOKEN);
}

/* The names of input responses are compared, their content is not. */
static bool is_input_response(const struct json_difference *d)
{
    return is_at(&d->location, 3, STR("inputResponses")) ||
           (is_at(&d->location, 2, STR("inputResponses")) && json_exists(d->left) &&
            json_exists(d->right));
}

static bool is_masked(const struct comparison *c, struct json_location place)
{
    for (; c->mask.count && place.count; place.count--) {
        uint64_t path = params_path_hash(place);
        for (size_t i = 0; i < c->mask.count; i++)
            if (c->mask.paths[i] == path)
                return true;
    }
    return false;
}

static bool is_redacted(const struct comparison *c, const struct json_difference *d)
{
    return params_is_redacted(d->left) || params_is_redacted(d->right)
               ? params_may_be_equal(d->left, d->right)
               : is_masked(c, d->location);
}

/* True for a difference that the protocol gives no meaning. */
static bool is_meaningless(const struct comparison *c, const struct json_difference *d)
{
    return is_omitted(c, d) || is_progress_token(c, d) || is_input_response(d);
}

/* The same without the rules of the user. */
static bool is_always_meaningless(const struct comparison *c, const struct json_difference *d)
{
    struct params_rules rules = *c->rules;
    const struct comparison plain = { .rules = &rules, .mask = c->mask };

    rules.ignore = NULL;
    return is_meaningless(&plain, d);
}

/* Returns the rule for a value that only one side has: one for the value, else one for its
 * first member that is ignored. */
static size_t rule_inside(const struct comparison *c, const struct json_difference *d)
{
    struct json_val v = json_exists(d->left) ? d->left : d->right;
    size_t rule = ignoring_rule(c, d->location), depth = d->location.count;
    struct json_iter it = json_each(v);
    struct arena names = { 0 };
    struct json_step steps[2];

    BUG_IF(depth > 1); /* the params, their arguments, their _meta */
    if (depth)
        steps[0] = d->location.steps[0];
    while (rule == COMPARE_RULES_NONE && json_type(v) == JSON_OBJECT && json_next(&it)) {
        steps[depth] = (struct json_step){ .name = json_text(it.key, &names) };
        rule = ignoring_rule(c, (struct json_location){ steps, depth + 1 });
    }
    arena_release(&names);
    return rule;
}

/* Returns the rule of the user by which a difference does not count. Params as a whole are
 * ignored by `is_empty_params` only: they may have members that no rule leaves out. */
static size_t rule_for(const struct comparison *c, const struct json_difference *d)
{
    if (!c->rules->ignore)
        return COMPARE_RULES_NONE;
    if (is_meaningless(c, d))
        return rule_inside(c, d);
    return d->location.count ? ignoring_rule(c, d->location) : COMPARE_RULES_NONE;
}

static bool on_difference(void *arg, const struct json_difference *d)
{
    const struct comparison *c = arg;
    struct params_difference found = { .location = d->location,
                                       .recorded = d->left,
                                       .live = d->right };

    if (is_always_meaningless(c, d))
        return true;
    found.rule = rule_for(c, d);
    if (found.rule != COMPARE_RULES_NONE)
        found.excuse = PARAMS_IGNORED;
    else if (is_redacted(c, d))
        found.excuse = PARAMS_REDACTED;
    return (found.excuse != PARAMS_NO_EXCUSE && !c->all) || c->found(c->arg, &found);
}

static void compare(struct json_val recorded, struct json_val live, struct comparison *c)
{
    const struct str skip[] = { MCP_META_KEY };
    struct json_rules how = { .numbers_by_value = !c->rules->numbers_as_text,
                              .skip = skip,
                              .skip_count = c->rules->include_meta ? 0 : 1 };

    json_diff(recorded, live, &how, on_difference, c);
}

void params_compare(struct json_val recorded, struct json_val live,
                    const struct params_rules *rules, struct params_mask mask,
                    params_found_fn *found, void *arg)
{
    struct comparison c = { rules, mask, false, found, arg };

    compare(recorded, live, &c);
}

void params_compare_all(struct json_val recorded, struct json_val live,
                        const struct params_rules *rules, struct params_mask mask,
                        params_found_fn *found, void *arg)
{
    struct comparison c = { rules, mask, true, found, arg };

    compare(recorded, live, &c);
}

static bool note_difference(void *arg, const struct params_difference *d)
{
    (void)d;
    *(bool *)arg = false;
    return false;
}

bool params_equal(struct json_val recorded, struct json_val live,
                  const struct params_rules *rules, struct params_mask mask)
{
    bool same = true;

    if (json_exists(recorded) && str_eq(json_raw(recorded), json_raw(live)))
        return true;
    params_compare(recorded, live, rules, mask, note_difference, &same);
    return same;
}

/* True for digits only, or one string without escapes: the text is one id and nothing else. */
static bool is_plain_id(struct str text)
{
    bool quoted = text.len >= 2 && text.at[0] == '"' && text.at[text.len - 1] == '"';

    if (quoted)
        text = str_n(text.at + 1, text.len - 2);
    for (size_t i = 0; i < text.len; i++)
        if (quoted ? text.at[i] == '"' || text.at[i] == '\\' : !ascii_is_digit(text.at[i]))
            return false;
    return quoted || text.len;
}

bool params_text_equal(struct str recorded, const struct mcp_message *live)
{
    struct str text = json_raw(live->root), id = json_raw(live->id);
    size_t before = (size_t)(id.at - text.at), after = text.len - before - id.len;

    if (!id.len || recorded.len <= before + after)
        return false;
    return memcmp(recorded.at, text.at, before) == 0 &&
           memcmp(recorded.at + recorded.len - after, id.at + id.len, after) == 0 &&
           is_plain_id(str_n(recorded.at + before, recorded.len - before - after));
}
