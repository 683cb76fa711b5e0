#include "verify/rebind.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/mem.h"
#include "mcp/id.h"
#include "mcp/volatile-values.h"
#include "json/diff.h"
#include "json/write.h"

enum { NESTED_MAX = 3, NESTED_TEXT_MAX = 1 << 20 };

/* Walks two responses, or one. */
struct pair_walk {
    struct rebind *rebind;
    uint32_t call; /* rebind_lose() */
    int depth;     /* of JSON inside strings */
};

void rebind_init(struct rebind *r, const struct compare_rules *rules)
{
    *r = (struct rebind){ .rules = rules };
    map_init(&r->values);
    map_init(&r->client_values);
    map_init(&r->later);
}

void rebind_release(struct rebind *r)
{
    for (struct map_entry *e = NULL; (e = map_next(&r->values, e));)
        free(e->value);
    map_release(&r->values);
    map_release(&r->client_values);
    map_release(&r->later);
    arena_release(&r->arena);
}

static void drop_oldest(struct map *m)
{
    struct map_entry *e = map_next(m, NULL);

    map_remove(m, e->key);
}

static void put_value(struct rebind *r, struct str key, struct str live, uint32_t blocker)
{
    struct rebind_value *v = mem_alloc(sizeof *v + live.len);

    memcpy(v->text, live.at ? live.at : "", live.len);
    v->live = str_n(v->text, live.len);
    v->blocker = blocker;
    free(map_remove(&r->values, key));
    if (r->values.count >= REBIND_MAX) {
        free(map_next(&r->values, NULL)->value);
        drop_oldest(&r->values);
        r->dropped++;
    }
    map_put(&r->values, key, v);
}

static bool is_scalar(struct json_val v)
{
    return json_type(v) == JSON_STRING || json_type(v) == JSON_NUMBER;
}

/* Members whose value the server makes, whatever its length. */
static bool is_generated_name(struct str name)
{
    static const struct str names[] = { STR_INIT("nextCursor"), STR_INIT("cursor"),
                                        STR_INIT("taskId"), STR_INIT("requestState"),
                                        STR_INIT("elicitationId") };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq(name, names[i]))
            return true;
    return false;
}

static struct str last_name(struct json_location at)
{
    return at.count && !at.steps[at.count - 1].is_index ? at.steps[at.count - 1].name
                                                        : STR_NONE;
}

static bool is_at_user_path(const struct rebind *r, struct json_location at)
{
    for (size_t i = 0; i < r->rules->path_count; i++)
        if (r->rules->paths[i]->kind == COMPARE_PATH_REBIND &&
            json_path_covers(&r->rules->paths[i]->path, at))
            return true;
    return false;
}

static bool is_bindable(const struct rebind *r, struct json_location at, struct json_val v)
{
    if (!is_scalar(v))
        return false;
    if (json_type(v) == JSON_STRING &&
        (json_unquoted(v).len >= REBIND_LENGTH_MIN || is_generated_name(last_name(at))))
        return true;
    return is_at_user_path(r, at);
}

static bool is_used_later(const struct rebind *r, struct str key)
{
    uint64_t hash = hash_bytes(key, 0);

    return map_get(&r->later, map_number_key(&hash)) && !map_get(&r->client_values, key);
}

/* Words of a text: a word is a run of letters, digits and some marks. */
static struct str cut_word(struct str *rest, struct str *before)
{
    size_t start = 0, end;
    struct str word;

    *before = STR_NONE;
    if (!rest->len)
        return STR_NONE;
    while (start < rest->len && !ascii_is_alnum(rest->at[start]))
        start++;
    end = start;
    while (end < rest->len && (ascii_is_alnum(rest->at[end]) || rest->at[end] == '-' ||
                               rest->at[end] == '_' || rest->at[end] == ':'))
        end++;
    while (end > start && !ascii_is_alnum(rest->at[end - 1]))
        end--; /* "doc-81:" has a mark that is not its own */
    word = str_n(rest->at + start, end - start);
    *before = str_n(rest->at, start);
    *rest = str_skip(*rest, end);
    return word;
}

/* Calls `found` for each pair of words that differ, if the texts have the same words otherwise.
 * False from it, or another difference, ends it; then returns false. */
static bool each_word_pair(struct rebind *r, struct str recorded, struct str live,
                           bool (*found)(struct rebind *r, struct str was, struct str is))
{
    while (recorded.len || live.len) {
        struct str before[2], word[2];

        word[0] = cut_word(&recorded, &before[0]);
        word[1] = cut_word(&live, &before[1]);
        if (!str_eq(before[0], before[1]) || !word[0].len != !word[1].len)
            return false;
        if (!str_eq(word[0], word[1]) && !found(r, word[0], word[1]))
            return false;
    }
    return true;
}

/* The key of a decoded string, as mcp_id_key() has it. */
static struct str text_key(struct rebind *r, struct str text)
{
    return arena_printf(&r->arena, "s%.*s", STR_ARG(text));
}

static bool bind_word(struct rebind *r, struct str was, struct str is)
{
    struct str key = text_key(r, was);
    struct buf live;

    if (was.len < REBIND_LENGTH_MIN || !is_used_later(r, key))
        return true;
    buf_init(&live, is.len * 6 + 3);
    json_write_str(&live, is);
    put_value(r, key, buf_str(&live), 0);
    buf_release(&live);
    return true;
}

static void bind(struct rebind *r, struct json_location at, struct json_val recorded,
                 struct json_val live)
{
    struct str key;

    if (json_type(recorded) == JSON_STRING && json_type(live) == JSON_STRING)
        (void)each_word_pair(r, json_text(recorded, &r->arena), json_text(live, &r->arena),
                             bind_word); /* as far as the texts are alike */

    if (!is_bindable(r, at, recorded) || !is_scalar(live))
        return;
    key = mcp_id_key(recorded, &r->arena);
    if (!map_get(&r->client_values, key))
        put_value(r, key, json_raw(live), 0);
}

static void learn_values(struct pair_walk *w, struct json_val recorded, struct json_val live);

/* Parses a string that is JSON; false if it is none, or no object or array. */
static bool parse_nested(struct json *j, struct json_val string, struct arena *a)
{
    struct str text = json_text(string, a);
    struct json_fault fault;

    text = str_trim(text);
    return text.len > 1 && text.len <= NESTED_TEXT_MAX &&
           (text.at[0] == '{' || text.at[0] == '[') && json_scan(j, text, &fault);
}

static bool learn_nested(struct pair_walk *w, struct json_val recorded, struct json_val live)
{
    struct json a, b;
    bool both;

    if (w->depth == NESTED_MAX)
        return false;
    json_init(&a);
    json_init(&b);
    both = parse_nested(&a, recorded, &w->rebind->arena) &&
           parse_nested(&b, live, &w->rebind->arena);
    w->depth++;
    if (both)
        learn_values(w, json_root(&a), json_root(&b));
    w->depth--;
    json_release(&a);
    json_release(&b);
    return both;
}

static bool learn_difference(void *arg, const struct json_difference *d)
{
    struct pair_walk *w = arg;

    if (d->kind != JSON_DIFF_CHANGED && d->kind != JSON_DIFF_TYPE_CHANGED)
        return true;
    if (json_type(d->left) == JSON_STRING && json_type(d->right) == JSON_STRING &&
        learn_nested(w, d->left, d->right))
        return true;
    bind(w->rebind, d->location, d->left, d->right);
    return true;
}

static void learn_values(struct pair_walk *w, struct json_val recorded, struct json_val live)
{
    static const struct json_rules rules = { .numbers_by_value = true };

    (void)json_diff(recorded, live, &rules, learn_difference, w); /* never stops early */
}

/* Pairs the resources of two lists by name, because their order may differ. */
static void learn_resources(struct pair_walk *w, struct json_val recorded, struct json_val live)
{
    struct json_iter a = json_each(json_get(recorded, STR("resources")));

    while (json_next(&a)) {
        struct json_iter b = json_each(json_get(live, STR("resources")));
        struct json_val name = json_get(a.value, STR("name"));

        while (json_next(&b)) {
            if (!json_equal(name, json_get(b.value, STR("name")), NULL))
                continue;
            learn_values(w, a.value, b.value);
            break;
        }
    }
}

static bool has_names_only(struct str method)
{
    return str_eq(method, STR("tools/list")) || str_eq(method, STR("prompts/list")) ||
           str_eq(method, STR("resources/templates/list")) ||
           str_eq(method, STR("initialize")) || str_eq(method, STR("server/discover"));
}

void rebind_learn(struct rebind *r, struct str method, struct json_val recorded,
                  struct json_val live)
{
    struct pair_walk w = { .rebind = r };
    struct json_val was = json_get(recorded, STR("result"));
    struct json_val is = json_get(live, STR("result"));
    struct json_step cursor = { .name = STR("nextCursor") };

    arena_clear(&r->arena);
    if (str_eq(method, STR("resources/list")))
        learn_resources(&w, was, is);
    else if (!has_names_only(method))
        learn_values(&w, recorded, live);
    if (has_names_only(method) || str_eq(method, STR("resources/list")))
        bind(r, (struct json_location){ &cursor, 1 }, json_get(was, STR("nextCursor")),
             json_get(is, STR("nextCursor")));
}

/* Calls `found` for every scalar of a value. */
static void each_scalar(struct json_val root,
                        bool (*found)(void *arg, struct json_location at, struct json_val v),
                        void *arg)
{
    static const struct json_path everything = {
        .parts = { { .kind = JSON_PATH_ANY, .any_depth = true } }, .count = 1
    };

    (void)json_path_select(&everything, root, found, arg); /* the callers never stop it */
}

static bool note_client_value(void *arg, struct json_location at, struct json_val v)
{
    struct rebind *r = arg;
    struct str key;

    (void)at;
    if (!is_scalar(v))
        return true;
    key = mcp_id_key(v, &r->arena);
    if (map_get(&r->values, key))
        return true;
    if (r->client_values.count >= REBIND_MAX)
        drop_oldest(&r->client_values);
    map_put(&r->client_values, key, r);
    return true;
}

static bool note_later_value(void *arg, struct json_location at, struct json_val v)
{
    struct rebind *r = arg;
    uint64_t hash;

    (void)at;
    if (!is_scalar(v) || r->later.count >= REBIND_MAX)
        return true;
    hash = hash_bytes(mcp_id_key(v, &r->arena), 0);
    map_put(&r->later, map_number_key(&hash), r);
    return true;
}

void rebind_note_later(struct rebind *r, struct json_val params)
{
    arena_clear(&r->arena);
    each_scalar(params, note_later_value, r);
}

void rebind_note_request(struct rebind *r, struct json_val params)
{
    arena_clear(&r->arena);
    each_scalar(params, note_client_value, r);
}

static bool lose_value(void *arg, struct json_location at, struct json_val v)
{
    struct pair_walk *w = arg;
    struct rebind *r = w->rebind;
    struct json nested;
    struct str key;

    if (json_type(v) != JSON_STRING)
        return true;
    json_init(&nested);
    if (w->depth < NESTED_MAX && parse_nested(&nested, v, &r->arena)) {
        w->depth++;
        each_scalar(json_root(&nested), lose_value, w);
        w->depth--;
    }
    json_release(&nested);
    if (!is_generated_name(last_name(at)) && !is_at_user_path(r, at) &&
        !mcp_is_volatile_text(json_text(v, &r->arena)))
        return true;
    key = mcp_id_key(v, &r->arena);
    if (!map_get(&r->values, key) && !map_get(&r->client_values, key))
        put_value(r, key, STR_NONE, w->call);
    return true;
}

void rebind_lose(struct rebind *r, uint32_t call, struct json_val recorded)
{
    struct pair_walk w = { .rebind = r, .call = call };

    arena_clear(&r->arena);
    each_scalar(json_get(recorded, STR("result")), lose_value, &w);
}

static bool is_bound_word(struct rebind *r, struct str was, struct str is)
{
    struct str key = text_key(r, was);
    const struct rebind_value *v = map_get(&r->values, key);
    struct str live = v ? v->live : STR_NONE;

    return v && is_used_later(r, key) && live.len == is.len + 2 &&
           str_eq(str_n(live.at + 1, is.len), is);
}

bool rebind_explains(struct rebind *r, struct json_val recorded, struct json_val live)
{
    const struct rebind_value *v;
    struct str key;

    if (!r->values.count || !is_scalar(recorded) || !is_scalar(live))
        return false;
    arena_clear(&r->arena);
    key = mcp_id_key(recorded, &r->arena);
    v = map_get(&r->values, key);
    if (v && is_used_later(r, key) && str_eq(v->live, json_raw(live)))
        return true;
    return json_type(recorded) == JSON_STRING && json_type(live) == JSON_STRING &&
           each_word_pair(r, json_text(recorded, &r->arena), json_text(live, &r->arena),
                          is_bound_word);
}

const struct rebind_value *rebind_find(struct rebind *r, struct json_val recorded)
{
    if (!r->values.count || !is_scalar(recorded))
        return NULL;
    arena_clear(&r->arena);
    return map_get(&r->values, mcp_id_key(recorded, &r->arena));
}
