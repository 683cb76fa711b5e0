#include "engine/compare.h"

#include "base/ascii.h"
#include "mcp/meta.h"

struct comparison {
    const struct leaf_rules *rules;
    struct leaf_mask mask;
    bool (*found)(void *arg, const struct json_difference *d);
    void *arg;
};

static bool is_empty(struct json_val v)
{
    return !json_exists(v) || (json_type(v) == JSON_OBJECT && !json_count(v));
}

/* Params in which nothing counts. */
static bool says_nothing(const struct comparison *c, struct json_val v)
{
    return is_empty(v) ||
           (json_type(v) == JSON_OBJECT && json_count(v) == json_occurrences(v, MCP_META_KEY) &&
            (!c->rules->meta || leaves_meta_is_empty(json_get(v, MCP_META_KEY))));
}

static bool is_at(const struct json_place *p, size_t depth, struct str name)
{
    return p->count >= depth && !p->steps[0].is_index && str_eq(p->steps[0].name, name);
}

/* None and an empty object are the same where a client may leave things out. */
static bool is_left_out(const struct comparison *c, const struct json_difference *d)
{
    if (!d->place.count)
        return says_nothing(c, d->left) && says_nothing(c, d->right);
    return d->place.count == 1 && is_at(&d->place, 1, STR("arguments")) && is_empty(d->left) &&
           is_empty(d->right);
}

static bool is_empty_meta(struct json_val v)
{
    return !json_exists(v) || leaves_meta_is_empty(v);
}

/* Where progress goes is the live client's affair. */
static bool is_token(const struct json_difference *d)
{
    if (!is_at(&d->place, 1, MCP_META_KEY))
        return false;
    if (d->place.count == 1)
        return is_empty_meta(d->left) && is_empty_meta(d->right);
    return !d->place.steps[1].is_index && str_eq(d->place.steps[1].name, LEAVES_TOKEN);
}

/* Which input a client was asked for counts, what it answered does not. */
static bool is_input(const struct json_difference *d)
{
    return is_at(&d->place, 3, STR("inputResponses")) ||
           (is_at(&d->place, 2, STR("inputResponses")) && json_exists(d->left) &&
            json_exists(d->right));
}

static bool is_hidden(const struct comparison *c, struct json_place place)
{
    for (; c->mask.count && place.count; place.count--) {
        uint64_t path = leaves_path(place);
        for (size_t i = 0; i < c->mask.count; i++)
            if (c->mask.paths[i] == path)
                return true;
    }
    return false;
}

static bool on_difference(void *arg, const struct json_difference *d)
{
    const struct comparison *c = arg;

    if (is_left_out(c, d) || is_input(d) || is_token(d))
        return true;
    if (leaves_is_redacted(d->left) || leaves_is_redacted(d->right)
            ? leaves_may_be_same(d->left, d->right)
            : is_hidden(c, d->place))
        return true;
    return c->found(c->arg, d);
}

void compare_params(struct json_val recorded, struct json_val live,
                    const struct leaf_rules *rules, struct leaf_mask mask,
                    bool (*found)(void *arg, const struct json_difference *d), void *arg)
{
    const struct str skip[] = { MCP_META_KEY };
    struct json_rules how = { .numbers_by_value = !rules->number_text,
                              .skip = skip,
                              .skip_count = rules->meta ? 0 : 1 };
    struct comparison c = { rules, mask, found, arg };

    json_diff(recorded, live, &how, on_difference, &c);
}

static bool note_difference(void *arg, const struct json_difference *d)
{
    (void)d;
    *(bool *)arg = false;
    return false;
}

bool compare_same(struct json_val recorded, struct json_val live,
                  const struct leaf_rules *rules, struct leaf_mask mask)
{
    bool same = true;

    if (json_exists(recorded) && str_eq(json_raw(recorded), json_raw(live)))
        return true;
    compare_params(recorded, live, rules, mask, note_difference, &same);
    return same;
}

/* Nothing but digits, or one string without any escape: no more than an id. */
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

bool compare_same_text(struct str recorded, const struct mcp_message *live)
{
    struct str text = json_raw(live->root), id = json_raw(live->id);
    size_t before = (size_t)(id.at - text.at), after = text.len - before - id.len;

    if (!id.len || recorded.len <= before + after)
        return false;
    return memcmp(recorded.at, text.at, before) == 0 &&
           memcmp(recorded.at + recorded.len - after, id.at + id.len, after) == 0 &&
           is_plain_id(str_n(recorded.at + before, recorded.len - before - after));
}
