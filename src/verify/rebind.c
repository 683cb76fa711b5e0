#include "verify/rebind.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/mem.h"
#include "mcp/id.h"
#include "mcp/volatile-values.h"
#include "json/diff.h"
#include "json/write.h"

enum { NESTED_MAX = 3, NESTED_TEXT_MAX = 1 << 20, PATH_MAX_BYTES = 4096, DIGITS_MAX = 15 };

/* Walks two responses, or one. */
struct pair_walk {
    struct rebind *rebind;
    void (*use)(const struct pair_walk *w, struct str key); /* use_words() */
    struct rebind_loss loss;                                /* rebind_lose() */
    int depth;                                              /* of JSON inside strings */
    struct json_location inside; /* location of the walked value in the message */
    bool unnamed;                /* locations are no paths of the message */
};

void rebind_init(struct rebind *r, const struct compare_rules *rules)
{
    *r = (struct rebind){ .rules = rules };
    map_init(&r->values);
    map_init(&r->client_values);
    map_init(&r->confirmed);
    map_init(&r->later);
    map_init(&r->proposals);
}

void rebind_release(struct rebind *r)
{
    for (struct map_entry *e = NULL; (e = map_next(&r->values, e));)
        free(e->value);
    map_release(&r->values);
    map_release(&r->client_values);
    map_release(&r->confirmed);
    map_release(&r->later);
    map_release(&r->proposals);
    arena_release(&r->paths);
    arena_release(&r->arena);
}

/* Makes room for another value. Returns what the map had for the oldest one, or NULL. */
static void *make_room(struct rebind *r, struct map *m)
{
    if (m->count < REBIND_MAX)
        return NULL;
    r->dropped++;
    return map_remove(m, map_next(m, NULL)->key);
}

static struct rebind_value *put_value(struct rebind *r, struct str key, struct str live,
                                      struct rebind_loss loss)
{
    struct rebind_value *v = mem_alloc(sizeof *v + live.len);
    struct rebind_value *old = map_remove(&r->values, key);

    memcpy(v->text, live.at ? live.at : "", live.len);
    v->live = str_n(v->text, live.len);
    v->loss = loss;
    v->generated = false;
    v->used = old && old->used;
    free(old);
    free(make_room(r, &r->values));
    map_put(&r->values, key, v);
    return v;
}

/* Whether a text has a digit, or a capital behind a small letter. */
static bool looks_random(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (ascii_is_digit(text.at[i]) ||
            (i && ascii_is_upper(text.at[i]) && ascii_is_lower(text.at[i - 1])))
            return true;
    return false;
}

static bool has_blank(struct str text)
{
    return str_find(text, ' ') < text.len;
}

/* Binds a key, which is a letter and the recorded text. `named`: its place says that it is
 * generated. */
static void bind_value(struct rebind *r, struct str key, struct str live, bool named)
{
    struct rebind_value *v = put_value(r, key, live, (struct rebind_loss){ 0 });

    v->generated = named || (!has_blank(key) && !has_blank(live) &&
                             (looks_random(str_skip(key, 1)) || looks_random(live)));
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

/* The key of a decoded string, as mcp_id_key() has it. */
static struct str text_key(struct rebind *r, struct str text)
{
    char *key = arena_alloc(&r->arena, text.len + 1); /* for each word: no printf */

    key[0] = 's';
    if (text.len)
        memcpy(key + 1, text.at, text.len);
    return str_n(key, text.len + 1);
}

static struct str key_of(struct rebind *r, struct json_val scalar)
{
    return json_type(scalar) == JSON_STRING ? text_key(r, json_text(scalar, &r->arena))
                                            : mcp_id_key(scalar, &r->arena);
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
static bool each_word_pair(struct str recorded, struct str live,
                           bool (*found)(void *arg, struct str was, struct str is), void *arg)
{
    while (recorded.len || live.len) {
        struct str before[2], word[2];

        word[0] = cut_word(&recorded, &before[0]);
        word[1] = cut_word(&live, &before[1]);
        if (!str_eq(before[0], before[1]) || !word[0].len != !word[1].len)
            return false;
        if (!str_eq(word[0], word[1]) && !found(arg, word[0], word[1]))
            return false;
    }
    return true;
}

/* The key of a word as a number; empty: it is none. */
static struct str number_key(struct rebind *r, struct str word)
{
    if (!word.len || word.len > DIGITS_MAX || (word.at[0] == '0' && word.len > 1))
        return STR_NONE;
    for (size_t i = 0; i < word.len; i++)
        if (!ascii_is_digit(word.at[i]))
            return STR_NONE;
    return arena_printf(&r->arena, "n%.*s", STR_ARG(word));
}

/* Keeps the path of a value that is not bound, for rebind_propose(). The first one stays. */
static void keep_proposal(struct pair_walk *w, struct json_location at, struct str key)
{
    struct rebind *r = w->rebind;
    struct str *path;
    struct buf text;

    if (w->unnamed || r->proposals.count >= REBIND_PROPOSALS_MAX || map_get(&r->proposals, key))
        return;
    buf_init(&text, PATH_MAX_BYTES);
    json_location_write(at, &text);
    if (!text.full) {
        path = arena_new(&r->paths, struct str);
        *path = arena_str(&r->paths, buf_str(&text));
        map_put(&r->proposals, key, path);
    }
    buf_release(&text);
}

/* A text whose words are compared. */
struct word_walk {
    struct pair_walk *walk;
    struct json_location at;
    bool at_user_path;
};

static void bind_text(struct rebind *r, struct str key, struct str live, bool named)
{
    struct buf json;

    buf_init(&json, live.len * 6 + 3);
    json_write_str(&json, live);
    bind_value(r, key, buf_str(&json), named);
    buf_release(&json);
}

static bool bind_word(void *arg, struct str was, struct str is)
{
    const struct word_walk *w = arg;
    struct rebind *r = w->walk->rebind;
    struct str key = text_key(r, was), number = number_key(r, was);

    if (is_used_later(r, key)) {
        if (was.len >= REBIND_LENGTH_MIN || w->at_user_path)
            bind_text(r, key, is, w->at_user_path);
        else
            keep_proposal(w->walk, w->at, key);
    }
    if (number.len && number_key(r, is).len && is_used_later(r, number)) {
        if (w->at_user_path)
            bind_value(r, number, is, true);
        else
            keep_proposal(w->walk, w->at, number);
    }
    return true;
}

static void bind(struct pair_walk *w, struct json_location at, struct json_val recorded,
                 struct json_val live)
{
    struct rebind *r = w->rebind;
    struct word_walk words = { w, at, is_at_user_path(r, at) };
    struct str key;

    if (json_type(recorded) == JSON_STRING && json_type(live) == JSON_STRING)
        (void)each_word_pair(json_text(recorded, &r->arena), json_text(live, &r->arena),
                             bind_word, &words); /* as far as the texts are alike */
    if (!is_scalar(recorded) || !is_scalar(live))
        return;
    key = key_of(r, recorded);
    if (map_get(&r->client_values, key))
        return;
    if (is_bindable(r, at, recorded))
        bind_value(r, key, json_raw(live),
                   words.at_user_path || is_generated_name(last_name(at)));
    else if (is_used_later(r, key))
        keep_proposal(w, at, key);
}

/* Returns the location in the message of a location in the walked value. */
static struct json_location location_of(const struct pair_walk *w, struct json_location at)
{
    struct json_step *steps;

    if (!w->inside.count)
        return at;
    steps = arena_alloc(&w->rebind->arena, (w->inside.count + at.count) * sizeof *steps);
    memcpy(steps, w->inside.steps, w->inside.count * sizeof *steps);
    if (at.count)
        memcpy(steps + w->inside.count, at.steps, at.count * sizeof *steps);
    return (struct json_location){ steps, w->inside.count + at.count };
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

static bool learn_nested(struct pair_walk *w, struct json_location at, struct json_val recorded,
                         struct json_val live)
{
    struct json_location outside = w->inside;
    struct json a, b;
    bool both;

    if (w->depth == NESTED_MAX)
        return false;
    json_init(&a);
    json_init(&b);
    both = parse_nested(&a, recorded, &w->rebind->arena) &&
           parse_nested(&b, live, &w->rebind->arena);
    w->depth++;
    w->inside = at;
    if (both)
        learn_values(w, json_root(&a), json_root(&b));
    w->inside = outside;
    w->depth--;
    json_release(&a);
    json_release(&b);
    return both;
}

static bool learn_difference(void *arg, const struct json_difference *d)
{
    struct pair_walk *w = arg;
    struct json_location at = location_of(w, d->location);

    if (d->kind != JSON_DIFF_CHANGED && d->kind != JSON_DIFF_TYPE_CHANGED)
        return true;
    if (json_type(d->left) == JSON_STRING && json_type(d->right) == JSON_STRING &&
        learn_nested(w, at, d->left, d->right))
        return true;
    bind(w, at, d->left, d->right);
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

static bool is_error(struct json_val response)
{
    return json_exists(json_get(response, STR("error"))) ||
           json_type(json_get(json_get(response, STR("result")), STR("isError"))) == JSON_TRUE;
}

void rebind_learn(struct rebind *r, struct str method, struct json_val recorded,
                  struct json_val live)
{
    struct pair_walk w = { .rebind = r };
    struct json_val was = json_get(recorded, STR("result"));
    struct json_val is = json_get(live, STR("result"));
    static const struct json_step cursor[] = { { .name = STR_INIT("result") },
                                               { .name = STR_INIT("nextCursor") } };

    if (is_error(recorded) != is_error(live))
        return;
    arena_clear(&r->arena);
    w.unnamed = str_eq(method, STR("resources/list"));
    if (str_eq(method, STR("resources/list")))
        learn_resources(&w, was, is);
    else if (!has_names_only(method) &&
             !(json_exists(was) && str_eq(json_raw(was), json_raw(is))))
        learn_values(&w, recorded, live);
    if (has_names_only(method) || str_eq(method, STR("resources/list")))
        bind(&w, (struct json_location){ cursor, 2 }, json_get(was, STR("nextCursor")),
             json_get(is, STR("nextCursor")));
}

/* Calls `found` for every scalar of a value. Recurses as deep as the value is nested, which the
 * scanner has bounded. */
static void each_scalar(struct json_val v, void (*found)(void *arg, struct json_val v),
                        void *arg)
{
    struct json_iter it = json_each(v);

    if (is_scalar(v))
        found(arg, v);
    while (json_next(&it))
        each_scalar(it.value, found, arg);
}

/* The same with the location of each, for any values. */
static void each_location(struct json_val root,
                          bool (*found)(void *arg, struct json_location at, struct json_val v),
                          void *arg)
{
    static const struct json_path everything = {
        .parts = { { .kind = JSON_PATH_ANY, .any_depth = true } }, .count = 1
    };

    (void)json_path_select(&everything, root, found, arg); /* the callers never stop it */
}

/* Uses the words of a text that later requests have. */
static void use_words(const struct pair_walk *w, struct str text, bool at_user_path)
{
    struct rebind *r = w->rebind;
    struct str before;

    while (text.len) {
        struct str word = cut_word(&text, &before);
        struct str key = word.len >= REBIND_LENGTH_MIN || (at_user_path && word.len)
                             ? text_key(r, word)
                             : STR_NONE;
        struct str number = at_user_path ? number_key(r, word) : STR_NONE;

        if (key.len && is_used_later(r, key))
            w->use(w, key);
        if (number.len && is_used_later(r, number))
            w->use(w, number);
    }
}

static void add_client_value(const struct pair_walk *w, struct str key)
{
    struct rebind *r = w->rebind;
    struct rebind_value *bound = map_get(&r->values, key);

    if (bound) {
        bound->used = true;
        return;
    }
    if (map_get(&r->client_values, key))
        return;
    make_room(r, &r->client_values);
    map_put(&r->client_values, key, r);
}

static void note_client_value(void *arg, struct json_val v)
{
    struct pair_walk *w = arg;

    add_client_value(w, key_of(w->rebind, v));
    if (json_type(v) == JSON_STRING)
        use_words(w, json_text(v, &w->rebind->arena), false);
}

static void note_later_value(void *arg, struct json_val v)
{
    struct rebind *r = arg;
    void *request = (void *)r->noted;
    uint64_t hash = hash_bytes(key_of(r, v), 0);

    if (map_get(&r->later, map_number_key(&hash)) == request)
        return;
    map_remove(&r->later, map_number_key(&hash)); /* it becomes the newest one */
    make_room(r, &r->later);
    map_put(&r->later, map_number_key(&hash), request);
}

void rebind_note_later(struct rebind *r, struct json_val params)
{
    arena_clear(&r->arena);
    r->noted++;
    each_scalar(params, note_later_value, r);
}

bool rebind_has_room(const struct rebind *r)
{
    return r->later.count < REBIND_MAX ||
           (uintptr_t)map_next(&r->later, NULL)->value <= r->sent;
}

void rebind_note_request(struct rebind *r, struct json_val params)
{
    struct pair_walk w = { .rebind = r, .use = add_client_value };

    arena_clear(&r->arena);
    r->sent++;
    each_scalar(params, note_client_value, &w);
}

/* Uses the values that would be bound if they differed, as bind() does it. */
static bool use_value(void *arg, struct json_location relative, struct json_val v)
{
    struct pair_walk *w = arg;
    struct rebind *r = w->rebind;
    struct json_location at = location_of(w, relative), outside = w->inside;
    struct json nested;
    struct str key;

    json_init(&nested);
    if (json_type(v) == JSON_STRING && w->depth < NESTED_MAX &&
        parse_nested(&nested, v, &r->arena)) {
        w->depth++;
        w->inside = at;
        each_location(json_root(&nested), use_value, w);
        w->inside = outside;
        w->depth--;
    } else if (json_type(v) == JSON_STRING) {
        use_words(w, json_text(v, &r->arena), is_at_user_path(r, at));
    }
    json_release(&nested);
    if (!is_bindable(r, at, v))
        return true;
    key = key_of(r, v);
    if (is_used_later(r, key))
        w->use(w, key);
    return true;
}

/* Uses each value of a response that later requests have. */
static void walk_response(struct pair_walk *w, struct str method, struct json_val response)
{
    static const struct json_step result = { .name = STR_INIT("result") };
    static const struct json_step cursor = { .name = STR_INIT("nextCursor") };
    struct json_val root = json_get(response, STR("result"));

    arena_clear(&w->rebind->arena);
    w->inside = (struct json_location){ &result, 1 };
    if (has_names_only(method))
        use_value(w, (struct json_location){ &cursor, 1 }, json_get(root, STR("nextCursor")));
    else
        each_location(root, use_value, w);
}

static void confirm_value(const struct pair_walk *w, struct str key)
{
    struct rebind *r = w->rebind;
    uint64_t hash = hash_bytes(key, 0);

    if (map_get(&r->confirmed, map_number_key(&hash)))
        return;
    make_room(r, &r->confirmed);
    map_put(&r->confirmed, map_number_key(&hash), r);
}

void rebind_confirm(struct rebind *r, struct str method, struct json_val response)
{
    struct pair_walk w = { .rebind = r, .use = confirm_value };

    if (r->later.count && !is_error(response))
        walk_response(&w, method, response);
}

static void lose_value(const struct pair_walk *w, struct str key)
{
    struct rebind *r = w->rebind;
    uint64_t hash = hash_bytes(key, 0);

    if (!map_get(&r->values, key) && !map_get(&r->confirmed, map_number_key(&hash)))
        put_value(r, key, STR_NONE, w->loss);
}

void rebind_lose(struct rebind *r, struct rebind_loss loss, struct str method,
                 struct json_val recorded)
{
    struct pair_walk w = { .rebind = r, .use = lose_value, .loss = loss };

    if (!is_error(recorded))
        walk_response(&w, method, recorded);
}

static struct str live_of(const struct rebind *r, struct str key)
{
    const struct rebind_value *v = key.len ? map_get(&r->values, key) : NULL;

    return v && v->generated && (v->used || is_used_later(r, key)) ? v->live : STR_NONE;
}

static bool is_bound_word(void *arg, struct str was, struct str is)
{
    struct rebind *r = arg;
    struct str text = live_of(r, text_key(r, was)), number = live_of(r, number_key(r, was));

    return (text.len == is.len + 2 && str_eq(str_n(text.at + 1, is.len), is)) ||
           (number.len && str_eq(number, is));
}

bool rebind_explains(struct rebind *r, struct json_val recorded, struct json_val live)
{
    struct str bound;

    if (!r->rules->default_volatile || !r->values.count || !is_scalar(recorded) ||
        !is_scalar(live))
        return false;
    arena_clear(&r->arena);
    bound = live_of(r, key_of(r, recorded));
    if (bound.len && str_eq(bound, json_raw(live)))
        return true;
    return json_type(recorded) == JSON_STRING && json_type(live) == JSON_STRING &&
           each_word_pair(json_text(recorded, &r->arena), json_text(live, &r->arena),
                          is_bound_word, r);
}

/* Finds the first value of a request that has a proposal. */
struct proposal_search {
    struct rebind *rebind;
    const struct str *path; /* NULL: none so far */
};

static void search_proposal(void *arg, struct json_val v)
{
    struct proposal_search *s = arg;
    struct str key;

    if (s->path)
        return;
    key = key_of(s->rebind, v);
    if (!map_get(&s->rebind->values, key)) /* else its place says that it is generated */
        s->path = map_get(&s->rebind->proposals, key);
}

struct str rebind_propose(struct rebind *r, struct json_val params)
{
    struct proposal_search s = { .rebind = r };

    arena_clear(&r->arena);
    if (r->proposals.count)
        each_scalar(params, search_proposal, &s);
    return s.path ? *s.path : STR_NONE;
}

const struct rebind_value *rebind_find(struct rebind *r, struct json_val recorded)
{
    if (!r->values.count || !is_scalar(recorded))
        return NULL;
    arena_clear(&r->arena);
    return map_get(&r->values, key_of(r, recorded));
}
