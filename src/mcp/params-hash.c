#include "mcp/params-hash.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "mcp/meta.h"
#include "mcp/volatile-values.h"
#include "json/number.h"

#define NUMBER_MAX (JSON_MAX_TEXT + 64)

/* Makes the path of an element differ from that of a member. */
enum { ELEMENT = 0x5b };

void params_leaves_init(struct params_leaves *l)
{
    *l = (struct params_leaves){ 0 };
    json_member_index_init(&l->members);
    buf_init(&l->number, NUMBER_MAX);
}

void params_leaves_release(struct params_leaves *l)
{
    free(l->at);
    json_member_index_release(&l->members);
    buf_release(&l->number);
    params_ignore_release(&l->ignore);
}

static uint64_t member_path(uint64_t path, uint64_t name)
{
    return hash_mix(path, name);
}

static uint64_t element_path(uint64_t path, size_t index)
{
    return hash_mix(hash_mix(path, ELEMENT), index);
}

uint64_t params_path_hash(struct json_location place)
{
    uint64_t path = 0;

    for (size_t i = 0; i < place.count; i++)
        path = place.steps[i].is_index
                   ? element_path(path, place.steps[i].index)
                   : member_path(path, json_member_hash(place.steps[i].name));
    return path;
}

/* Decodes ~0 and ~1 in one word of a JSON pointer. */
static struct str pointer_word(struct str word, char *to)
{
    size_t len = 0;

    for (size_t i = 0; i < word.len; i++)
        if (word.at[i] == '~' && i + 1 < word.len)
            to[len++] = word.at[++i] == '1' ? '/' : '~';
        else
            to[len++] = word.at[i];
    return str_n(to, len);
}

bool params_pointer_hash(struct json_val message, struct str pointer, uint64_t *path)
{
    struct json_val at = json_get(message, STR("params"));
    struct arena a = { 0 };
    bool found;

    found = str_starts(pointer, STR("/params/"));
    pointer = str_skip(pointer, strlen("/params/"));
    *path = 0;
    while (found && pointer.len) {
        struct str word = str_cut(&pointer, '/');
        uint64_t index = 0;

        word = pointer_word(word, arena_alloc(&a, word.len + 1));
        if (json_type(at) == JSON_ARRAY && str_parse_u64(word, &index)) {
            *path = element_path(*path, index);
            at = json_item(at, index);
        } else {
            *path = member_path(*path, json_member_hash(word));
            at = json_get(at, word);
        }
        found = json_exists(at);
    }
    arena_release(&a);
    return found;
}

/* Searches for the first character, because most long texts have none. */
bool params_is_redacted(struct json_val v)
{
    static const struct str mark = STR_INIT("[REDACTED");
    struct str text = json_unquoted(v);

    while (text.len > mark.len) {
        text = str_skip(text, str_find(text, mark.at[0]));
        if (str_starts(text, mark))
            return true;
        text = str_skip(text, 1);
    }
    return false;
}

/* Linear: the search for ']' is made once, because a text without one has no placeholder at
 * all. */
struct str params_cut_placeholder(struct str *text, struct str *before)
{
    struct str rest = *text;

    while ((rest = str_skip(rest, str_find(rest, '['))).len) {
        if (str_starts(rest, STR("[REDACTED]")) || str_starts(rest, STR("[REDACTED:"))) {
            size_t end = str_find(rest, ']');

            if (end == rest.len)
                return STR_NONE;
            *before = str_n(text->at, (size_t)(rest.at - text->at));
            *text = str_skip(rest, end + 1);
            return str_n(rest.at, end + 1);
        }
        rest = str_skip(rest, 1);
    }
    return STR_NONE;
}

static bool cut_placeholder(struct str *text, struct str *before)
{
    return params_cut_placeholder(text, before).len;
}

/* Searches for the texts between placeholders one after the other. Taking the first occurrence
 * of each is sufficient. */
static bool matches_placeholders(struct str pattern, struct str text)
{
    struct str part;
    const char *at;

    if (!cut_placeholder(&pattern, &part) || !str_starts(text, part))
        return false;
    text = str_skip(text, part.len);
    while (cut_placeholder(&pattern, &part)) {
        at = memmem(text.at, text.len, part.at, part.len);
        if (!at)
            return false;
        text = str_skip(text, (size_t)(at - text.at) + part.len);
    }
    return str_ends(text, pattern);
}

static bool is_placeholder(struct str text)
{
    struct str before = STR_NONE;

    return cut_placeholder(&text, &before) && !before.len && !text.len;
}

bool params_texts_may_be_equal(struct str a, struct str b)
{
    return is_placeholder(a) || is_placeholder(b) || matches_placeholders(a, b) ||
           matches_placeholders(b, a) || str_eq(a, b);
}

bool params_may_be_equal(struct json_val a, struct json_val b)
{
    struct arena scratch = { 0 };
    struct str left = json_text(a, &scratch), right = json_text(b, &scratch);
    bool same;

    if (json_type(a) == JSON_STRING && json_type(b) == JSON_STRING)
        same = params_texts_may_be_equal(left, right);
    else
        same = is_placeholder(left) || is_placeholder(right);
    arena_release(&scratch);
    return same;
}

static bool is_masked(const struct params_leaves *l, uint64_t path)
{
    for (size_t i = 0; i < l->mask.count; i++)
        if (l->mask.paths[i] == path)
            return true;
    return false;
}

static void add_leaf(struct params_leaves *l, uint64_t path, uint64_t value,
                     enum params_leaf_kind kind)
{
    l->at = mem_reserve(l->at, &l->cap, l->count + 1, sizeof *l->at);
    l->at[l->count++] = (struct params_leaf){ path, value, kind };
}

static struct str number_text(struct params_leaves *l, struct json_val v)
{
    if (l->rules->numbers_as_text)
        return json_raw(v);
    buf_clear(&l->number);
    json_number_normalize(json_raw(v), &l->number);
    return buf_str(&l->number);
}

static void add_string(struct params_leaves *l, struct json_val v, uint64_t path,
                       bool is_volatile)
{
    struct str text = json_text(v, &l->members.names);
    enum params_leaf_kind kind = PARAMS_LEAF_PLAIN;

    if (params_is_redacted(v))
        kind = PARAMS_LEAF_REDACTED;
    else if (l->rules->detect_volatile && (is_volatile || mcp_is_volatile_text(text)))
        kind = PARAMS_LEAF_VOLATILE;
    add_leaf(l, path, hash_bytes(text, JSON_STRING), kind);
}

static bool is_volatile_member(const struct params_leaves *l, struct str name)
{
    return l->rules->detect_volatile && mcp_is_volatile_name(name);
}

/* Where a walk is. */
struct place {
    uint64_t path;
    size_t depth;     /* 0: the params */
    bool is_volatile; /* inside a member with a volatile name */
};

static void walk(struct params_leaves *l, struct json_val v, struct place at);

/* Goes to a member. Returns false if it is left out. */
static bool enter_member(struct params_leaves *l, const struct json_member *m, struct place *at)
{
    const struct json_step step = { .name = m->name };

    at->depth++;
    if (l->rules->ignore && params_ignore_enter(&l->ignore, at->depth, &step))
        return false;
    at->path = member_path(at->path, m->hash);
    at->is_volatile = at->is_volatile || is_volatile_member(l, m->name);
    return true;
}

static bool enter_element(struct params_leaves *l, size_t index, struct place *at)
{
    const struct json_step step = { .is_index = true, .index = index };

    at->depth++;
    if (l->rules->ignore && params_ignore_enter(&l->ignore, at->depth, &step))
        return false;
    at->path = element_path(at->path, index);
    return true;
}

/* Returns false if it has no members that count. */
static bool walk_object(struct params_leaves *l, struct json_val v, struct place in)
{
    struct json_member_list list = json_member_index_add(&l->members, v, NULL, 0);
    bool any = false;

    for (size_t i = list.first; i < list.first + list.count; i++) {
        struct json_member m = l->members.at[i];
        struct place at = in;

        if (!enter_member(l, &m, &at))
            continue;
        any = true;
        walk(l, m.value, at);
    }
    json_member_index_drop(&l->members, list);
    return any;
}

/* Returns false if it has no elements that count. */
static bool walk_array(struct params_leaves *l, struct json_val v, struct place in)
{
    struct json_iter it = json_each(v);
    bool any = false;

    for (size_t i = 0; json_next(&it); i++) {
        struct place at = in;

        if (!enter_element(l, i, &at))
            continue;
        any = true;
        walk(l, it.value, at);
    }
    return any;
}

static void add_number(struct params_leaves *l, struct json_val v, struct place at)
{
    bool is_volatile =
        l->rules->detect_volatile && (at.is_volatile || mcp_is_volatile_number(json_raw(v)));

    add_leaf(l, at.path, hash_bytes(number_text(l, v), JSON_NUMBER),
             is_volatile ? PARAMS_LEAF_VOLATILE : PARAMS_LEAF_PLAIN);
}

/* Recurses as deep as the values are nested, which the scanner limits. */
static void walk(struct params_leaves *l, struct json_val v, struct place at)
{
    enum json_type type = json_type(v);

    if (is_masked(l, at.path))
        add_leaf(l, at.path, 0, PARAMS_LEAF_REDACTED);
    else if (type == JSON_STRING)
        add_string(l, v, at.path, at.is_volatile);
    else if (type == JSON_NUMBER)
        add_number(l, v, at);
    else if (!(type == JSON_OBJECT && walk_object(l, v, at)) &&
             !(type == JSON_ARRAY && walk_array(l, v, at)))
        add_leaf(l, at.path, hash_mix(type, 1), PARAMS_LEAF_PLAIN);
}

/* Adds a leaf per input response, with its name but not its content. */
static void walk_input_responses(struct params_leaves *l, struct json_val answers,
                                 uint64_t path)
{
    struct json_member_list list = json_member_index_add(&l->members, answers, NULL, 0);

    for (size_t i = list.first; i < list.first + list.count; i++)
        add_leaf(l, member_path(path, l->members.at[i].hash), 1, PARAMS_LEAF_PLAIN);
    if (!list.count)
        add_leaf(l, path, 1, PARAMS_LEAF_PLAIN);
    json_member_index_drop(&l->members, list);
}

bool params_meta_is_empty(struct json_val meta)
{
    return json_type(meta) == JSON_OBJECT &&
           json_count(meta) == json_occurrences(meta, PARAMS_PROGRESS_TOKEN);
}

static void walk_meta(struct params_leaves *l, struct json_val meta, struct place in)
{
    const struct str skip[] = { PARAMS_PROGRESS_TOKEN };
    struct json_member_list list = json_member_index_add(&l->members, meta, skip, 1);

    for (size_t i = list.first; i < list.first + list.count; i++) {
        struct json_member m = l->members.at[i];
        struct place at = in;

        if (enter_member(l, &m, &at))
            walk(l, m.value, at);
    }
    json_member_index_drop(&l->members, list);
}

/* Walks the arguments; empty ones have no leaf. */
static void walk_arguments(struct params_leaves *l, struct json_val arguments, struct place at)
{
    if (json_type(arguments) == JSON_OBJECT &&
        (!json_count(arguments) || !is_masked(l, at.path)))
        walk_object(l, arguments, at);
    else
        walk(l, arguments, at);
}

static void walk_member(struct params_leaves *l, const struct json_member *m)
{
    struct place at = { .path = 0 };

    if (!enter_member(l, m, &at))
        return;
    if (str_eq(m->name, STR("arguments")))
        walk_arguments(l, m->value, at);
    else if (str_eq(m->name, STR("inputResponses")) && json_type(m->value) == JSON_OBJECT)
        walk_input_responses(l, m->value, at.path);
    else if (str_eq(m->name, MCP_META_KEY) && json_type(m->value) == JSON_OBJECT &&
             !is_masked(l, at.path))
        walk_meta(l, m->value, at);
    else
        walk(l, m->value, at);
}

void params_leaves_read(struct params_leaves *l, struct json_val params,
                        const struct params_rules *rules, struct params_mask mask)
{
    const struct str skip[] = { MCP_META_KEY };
    struct json_member_list list;

    l->rules = rules;
    l->mask = mask;
    l->count = 0;
    arena_clear(&l->members.names);
    if (rules->ignore)
        params_ignore_begin(&l->ignore, rules->ignore);
    if (json_type(params) != JSON_OBJECT) {
        if (json_exists(params) && !(rules->ignore && l->ignore.all))
            walk(l, params, (struct place){ .path = 0 });
        return;
    }
    list = json_member_index_add(&l->members, params, skip, rules->include_meta ? 0 : 1);
    for (size_t i = list.first; i < list.first + list.count; i++) {
        struct json_member m = l->members.at[i]; /* the stack below may move */
        walk_member(l, &m);
    }
    json_member_index_drop(&l->members, list);
}

/* Adds up the hashes of the leaves, so that a redacted leaf can be missing on one side. */
uint64_t params_leaves_hash(const struct params_leaves *l)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < l->count; i++)
        if (l->at[i].kind != PARAMS_LEAF_REDACTED)
            sum += hash_mix(l->at[i].path, l->at[i].value);
    return sum;
}
