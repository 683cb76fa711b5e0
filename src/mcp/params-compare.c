#include "mcp/params-compare.h"

#include "base/ascii.h"
#include "mcp/meta.h"

struct comparison {
    const struct params_rules *rules;
    struct params_mask mask;
    bool (*found)(void *arg, const struct json_difference *d);
    void *arg;
};

static bool is_empty(struct json_val v)
{
    return !json_exists(v) || (json_type(v) == JSON_OBJECT && !json_count(v));
}

/* True for params without anything to compare. */
static bool is_empty_params(const struct comparison *c, struct json_val v)
{
    return is_empty(v) ||
           (json_type(v) == JSON_OBJECT && json_count(v) == json_occurrences(v, MCP_META_KEY) &&
            (!c->rules->include_meta || params_meta_is_empty(json_get(v, MCP_META_KEY))));
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
           is_empty(d->left) && is_empty(d->right);
}

static bool is_empty_meta(struct json_val v)
{
    return !json_exists(v) || params_meta_is_empty(v);
}

/* The progress token is never compared. */
static bool is_progress_token(const struct json_difference *d)
{
    if (!is_at(&d->location, 1, MCP_META_KEY))
        return false;
    if (d->location.count == 1)
        return is_empty_meta(d->left) && is_empty_meta(d->right);
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

static bool on_difference(void *arg, const struct json_difference *d)
{
    const struct comparison *c = arg;

    if (is_omitted(c, d) || is_input_response(d) || is_progress_token(d))
        return true;
    if (params_is_redacted(d->left) || params_is_redacted(d->right)
            ? params_may_be_equal(d->left, d->right)
            : is_masked(c, d->location))
        return true;
    return c->found(c->arg, d);
}

void params_compare(struct json_val recorded, struct json_val live,
                    const struct params_rules *rules, struct params_mask mask,
                    bool (*found)(void *arg, const struct json_difference *d), void *arg)
{
    const struct str skip[] = { MCP_META_KEY };
    struct json_rules how = { .numbers_by_value = !rules->numbers_as_text,
                              .skip = skip,
                              .skip_count = rules->include_meta ? 0 : 1 };
    struct comparison c = { rules, mask, found, arg };

    json_diff(recorded, live, &how, on_difference, &c);
}

static bool note_difference(void *arg, const struct json_difference *d)
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
