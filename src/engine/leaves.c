#include "engine/leaves.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "engine/volatile.h"
#include "mcp/meta.h"
#include "json/number.h"

#define NUMBER_MAX (JSON_MAX_TEXT + 64)

/* What tells a step into an array from one into an object. */
enum { ELEMENT = 0x5b };

void leaves_init(struct leaves *l)
{
    *l = (struct leaves){ 0 };
    json_members_init(&l->members);
    buf_init(&l->number, NUMBER_MAX);
}

void leaves_release(struct leaves *l)
{
    free(l->at);
    json_members_release(&l->members);
    buf_release(&l->number);
}

static uint64_t into_member(uint64_t path, uint64_t name)
{
    return hash_mix(path, name);
}

static uint64_t into_element(uint64_t path, size_t index)
{
    return hash_mix(hash_mix(path, ELEMENT), index);
}

uint64_t leaves_path(struct json_place place)
{
    uint64_t path = 0;

    for (size_t i = 0; i < place.count; i++)
        path = place.steps[i].is_index
                   ? into_element(path, place.steps[i].index)
                   : into_member(path, json_members_hash(place.steps[i].name));
    return path;
}

/* One word of a JSON pointer, its ~0 and ~1 undone. */
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

bool leaves_pointer(struct json_val message, struct str pointer, uint64_t *path)
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
        if (json_type(at) == JSON_ARRAY && str_u64(word, &index)) {
            *path = into_element(*path, index);
            at = json_item(at, index);
        } else {
            *path = into_member(*path, json_members_hash(word));
            at = json_get(at, word);
        }
        found = json_exists(at);
    }
    arena_release(&a);
    return found;
}

/* By its first character first: long texts without one are left at once. */
bool leaves_is_redacted(struct json_val v)
{
    static const struct str mark = STR_INIT("[REDACTED");
    struct str text = json_inner(v);

    while (text.len > mark.len) {
        text = str_skip(text, str_find(text, mark.at[0]));
        if (str_starts(text, mark))
            return true;
        text = str_skip(text, 1);
    }
    return false;
}

/* Cuts a text before its first placeholder; false if it has none. Linear: the search for ']' is
 * made once, because a text without one has no placeholder at all. */
static bool cut_placeholder(struct str *text, struct str *before)
{
    struct str rest = *text;

    while ((rest = str_skip(rest, str_find(rest, '['))).len) {
        if (str_starts(rest, STR("[REDACTED]")) || str_starts(rest, STR("[REDACTED:"))) {
            size_t end = str_find(rest, ']');

            if (end == rest.len)
                return false;
            *before = str_n(text->at, (size_t)(rest.at - text->at));
            *text = str_skip(rest, end + 1);
            return true;
        }
        rest = str_skip(rest, 1);
    }
    return false;
}

/* Texts between placeholders are found one behind the other; the first place of each is as good
 * as any. */
static bool fits(struct str pattern, struct str text)
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

bool leaves_may_be_same(struct json_val a, struct json_val b)
{
    struct arena scratch = { 0 };
    struct str left = json_text(a, &scratch), right = json_text(b, &scratch);
    bool same = is_placeholder(left) || is_placeholder(right);

    if (!same && json_type(a) == JSON_STRING && json_type(b) == JSON_STRING)
        same = fits(left, right) || fits(right, left) || str_eq(left, right);
    arena_release(&scratch);
    return same;
}

static bool is_masked(const struct leaves *l, uint64_t path)
{
    for (size_t i = 0; i < l->mask.count; i++)
        if (l->mask.paths[i] == path)
            return true;
    return false;
}

static void add(struct leaves *l, uint64_t path, uint64_t value, enum leaf_kind kind)
{
    l->at = mem_reserve(l->at, &l->cap, l->count + 1, sizeof *l->at);
    l->at[l->count++] = (struct leaf){ path, value, kind };
}

static struct str number_text(struct leaves *l, struct json_val v)
{
    if (l->rules->number_text)
        return json_raw(v);
    buf_clear(&l->number);
    json_number_normal(json_raw(v), &l->number);
    return buf_str(&l->number);
}

static void add_string(struct leaves *l, struct json_val v, uint64_t path, bool fickle)
{
    struct str text = json_text(v, &l->members.names);
    enum leaf_kind kind = LEAF_PLAIN;

    if (leaves_is_redacted(v))
        kind = LEAF_REDACTED;
    else if (l->rules->volatiles && (fickle || volatile_text(text)))
        kind = LEAF_VOLATILE;
    add(l, path, hash_bytes(text, JSON_STRING), kind);
}

static bool is_fickle(const struct leaves *l, struct str name)
{
    return l->rules->volatiles && volatile_name(name);
}

static void walk(struct leaves *l, struct json_val v, uint64_t path, bool fickle);

static void walk_object(struct leaves *l, struct json_val v, uint64_t path, bool fickle)
{
    struct json_list list = json_members_add(&l->members, v, NULL, 0);

    for (size_t i = list.first; i < list.first + list.count; i++) {
        struct json_member m = l->members.at[i];
        walk(l, m.value, into_member(path, m.hash), fickle || is_fickle(l, m.name));
    }
    json_members_drop(&l->members, list);
}

static void walk_array(struct leaves *l, struct json_val v, uint64_t path, bool fickle)
{
    struct json_iter it = json_each(v);

    for (size_t i = 0; json_next(&it); i++)
        walk(l, it.value, into_element(path, i), fickle);
}

/* Goes as deep as the values are nested, which the scanner has bounded. */
static void walk(struct leaves *l, struct json_val v, uint64_t path, bool fickle)
{
    enum json_type type = json_type(v);

    if (is_masked(l, path))
        add(l, path, 0, LEAF_REDACTED);
    else if (type == JSON_OBJECT && json_count(v))
        walk_object(l, v, path, fickle);
    else if (type == JSON_ARRAY && json_count(v))
        walk_array(l, v, path, fickle);
    else if (type == JSON_STRING)
        add_string(l, v, path, fickle);
    else if (type == JSON_NUMBER)
        add(l, path, hash_bytes(number_text(l, v), JSON_NUMBER),
            l->rules->volatiles && (fickle || volatile_number(json_raw(v))) ? LEAF_VOLATILE
                                                                            : LEAF_PLAIN);
    else
        add(l, path, hash_mix(type, 1), LEAF_PLAIN);
}

/* What a live client answers is its own affair: that it answers, and what, is told. */
static void walk_answers(struct leaves *l, struct json_val answers, uint64_t path)
{
    struct json_list list = json_members_add(&l->members, answers, NULL, 0);

    for (size_t i = list.first; i < list.first + list.count; i++)
        add(l, into_member(path, l->members.at[i].hash), 1, LEAF_PLAIN);
    if (!list.count)
        add(l, path, 1, LEAF_PLAIN);
    json_members_drop(&l->members, list);
}

bool leaves_meta_is_empty(struct json_val meta)
{
    return json_type(meta) == JSON_OBJECT &&
           json_count(meta) == json_occurrences(meta, LEAVES_TOKEN);
}

static void walk_meta(struct leaves *l, struct json_val meta, uint64_t path)
{
    const struct str skip[] = { LEAVES_TOKEN };
    struct json_list list = json_members_add(&l->members, meta, skip, 1);

    for (size_t i = list.first; i < list.first + list.count; i++) {
        struct json_member m = l->members.at[i];
        walk(l, m.value, into_member(path, m.hash), is_fickle(l, m.name));
    }
    json_members_drop(&l->members, list);
}

static void walk_member(struct leaves *l, const struct json_member *m)
{
    uint64_t path = into_member(0, m->hash);
    bool empty = json_type(m->value) == JSON_OBJECT && !json_count(m->value);

    if (str_eq(m->name, STR("arguments")) && empty)
        return;
    if (str_eq(m->name, STR("inputResponses")) && json_type(m->value) == JSON_OBJECT)
        walk_answers(l, m->value, path);
    else if (str_eq(m->name, MCP_META_KEY) && json_type(m->value) == JSON_OBJECT &&
             !is_masked(l, path))
        walk_meta(l, m->value, path);
    else
        walk(l, m->value, path, is_fickle(l, m->name));
}

void leaves_take(struct leaves *l, struct json_val params, const struct leaf_rules *rules,
                 struct leaf_mask mask)
{
    const struct str skip[] = { MCP_META_KEY };
    struct json_list list;

    l->rules = rules;
    l->mask = mask;
    l->count = 0;
    arena_clear(&l->members.names);
    if (json_type(params) != JSON_OBJECT) {
        if (json_exists(params))
            walk(l, params, 0, false);
        return;
    }
    list = json_members_add(&l->members, params, skip, rules->meta ? 0 : 1);
    for (size_t i = list.first; i < list.first + list.count; i++) {
        struct json_member m = l->members.at[i]; /* the stack below may move */
        walk_member(l, &m);
    }
    json_members_drop(&l->members, list);
}

/* A sum: the leaves come in the order of hashes, but redacted ones may be missing on one
 * side only. */
uint64_t leaves_key(const struct leaves *l)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < l->count; i++)
        if (l->at[i].kind != LEAF_REDACTED)
            sum += hash_mix(l->at[i].path, l->at[i].value);
    return sum;
}
