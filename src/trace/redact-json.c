#include "trace/redact-json.h"

#include <stdlib.h>

#include "base/base64.h"
#include "base/mem.h"
#include "mcp/id.h"
#include "trace/limits.h"

void redact_json_init(struct redact_json *j, struct secrets_search *f, struct marks *m)
{
    *j = (struct redact_json){ .search = f, .marks = m };
    buf_init(&j->text, LIMIT_LINE);
    json_init(&j->result);
    untouchable_init(&j->untouchable);
    alias_init(&j->alias);
}

void redact_json_release(struct redact_json *j)
{
    buf_release(&j->text);
    json_release(&j->result);
    untouchable_release(&j->untouchable);
    alias_release(&j->alias);
    arena_release(&j->arena);
    free(j->leaves);
    if (j->inner)
        secrets_search_release(j->inner);
    free(j->inner);
}

static bool is_leaf(struct json_val v)
{
    return json_type(v) == JSON_STRING || json_type(v) == JSON_NUMBER;
}

static uint32_t end_node(struct json_val v)
{
    return v.node + v.doc->nodes[v.node].size;
}

/* Patterns are meant for texts, not for JSON: each string is looked at by itself. */
static void match_leaves(struct redact_json *j, struct json_val root)
{
    size_t base = json_at(root);

    for (struct json_val v = root; v.node < end_node(root); v.node++) {
        size_t at = json_at(v) - base;
        if (!is_leaf(v) || untouchable_has(&j->untouchable, v.node))
            continue;
        if (json_type(v) == JSON_STRING)
            secrets_match(j->search, json_inner(v), json_has_escapes(v), at + 1);
        else
            secrets_match(j->search, json_raw(v), false, at);
    }
    secrets_settle(j->search);
}

/* Base64 in the arena as RFC 4648 has it: without white space, of the usual alphabet, padded.
 */
static struct str plain_base64(struct str text, struct arena *a)
{
    char *to = arena_alloc(a, text.len + 4);
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++)
        if (!strchr(" \t\r\n", text.at[i]) || !text.at[i])
            to[n++] = text.at[i] == '-' ? '+' : text.at[i] == '_' ? '/' : text.at[i];
    while (n % 4)
        to[n++] = '=';
    return str_n(to, n);
}

static bool is_text(struct str bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char c = (unsigned char)bytes.at[i];
        if (c == 0x7f || (c < ' ' && (!c || !strchr("\t\n\r\f\b\033", c))))
            return false;
    }
    return true;
}

static bool is_compressed(struct str bytes)
{
    static const struct str starts[] = { STR_INIT("\x1f\x8b"),         STR_INIT("PK\x03\x04"),
                                         STR_INIT("\x28\xb5\x2f\xfd"), STR_INIT("BZh"),
                                         STR_INIT("\xfd\x37zXZ"),      STR_INIT("7z\xbc\xaf") };

    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (str_starts(bytes, starts[i]))
            return true;
    return false;
}

/* Finds a secret in decoded text; `*rule` is that of the first. */
static bool search_decoded(struct redact_json *j, struct str text, uint32_t *rule)
{
    struct secrets_search *f = j->inner;

    if (!f) {
        f = j->inner = mem_new(struct secrets_search);
        secrets_search_init(f, j->search->secrets);
    }
    f->learnt = j->search->learnt;
    if (!secrets_find(f, text))
        return false;
    if (f->suspect) {
        secrets_match(f, text, false, 0);
        secrets_settle(f);
    }
    *rule = f->count ? f->hits[0].rule : 0;
    return f->count || f->overflow;
}

/* The first bytes; empty if it is no base64. */
static struct str decode_start(struct redact_json *j, struct str text)
{
    enum { START = 4096 };
    struct str start =
        plain_base64(str_n(text.at, text.len < START ? text.len : START), &j->arena);
    struct str bytes;

    if (text.len > START && start.len)
        start.len -= 4; /* padded where it was cut */
    return base64_decode(start, &j->arena, &bytes) ? bytes : STR_NONE;
}

/* Looks into one string that holds base64; what is none was searched as it is. */
static void look_into(struct redact_json *j, struct json_val v, size_t base)
{
    struct str text = json_text(v, &j->arena), start = decode_start(j, text), bytes;
    size_t at = json_at(v) - base;
    uint32_t rule;

    if (!start.len)
        return;
    if (is_compressed(start))
        j->unread[REDACT_JSON_COMPRESSED]++;
    else if (!is_text(start))
        j->unread[REDACT_JSON_BINARY]++;
    else if (text.len / 4 * 3 > REDACT_JSON_SEARCHED)
        j->unread[REDACT_JSON_LARGE]++;
    else if (base64_decode(plain_base64(text, &j->arena), &j->arena, &bytes) &&
             search_decoded(j, bytes, &rule))
        secrets_add(j->search, (struct unravel_span){ at + 1, at + json_raw(v).len - 1 }, rule);
}

/* Looks into the base64 of one object. Whether it has a mimeType is looked up once, however
 * many members are called `data`. */
static void look_into_object(struct redact_json *j, struct json_val object, size_t base)
{
    struct json_iter it = json_each(object);
    bool looked_up = false, typed = false;

    while (json_next(&it)) {
        if (json_type(it.value) != JSON_STRING)
            continue;
        if (json_is(it.key, STR("data")) && !looked_up) {
            typed = json_exists(json_get(object, STR("mimeType")));
            looked_up = true;
        }
        if (json_is(it.key, STR("blob")) || (typed && json_is(it.key, STR("data"))))
            look_into(j, it.value, base);
    }
}

static void look_into_all(struct redact_json *j, struct json_val root)
{
    for (struct json_val v = root; v.node < end_node(root); v.node++)
        if (json_type(v) == JSON_OBJECT)
            look_into_object(j, v, json_at(root));
    arena_release(&j->arena);
    secrets_settle(j->search);
}

static void note_leaf(struct redact_json *j, uint32_t node, uint32_t rule)
{
    if (j->count && j->leaves[j->count - 1].node == node)
        return;
    j->leaves = mem_reserve(j->leaves, &j->cap, j->count + 1, sizeof *j->leaves);
    j->leaves[j->count++] = (struct redact_json_leaf){ .node = node, .rule = rule };
}

/* Puts the new text together from the old, front to back. */
struct rewriting {
    struct redact_json *j;
    struct json_val root;
    struct str text;
    size_t copied; /* so much of the old text is in the new */
    size_t hit;
    bool deep; /* one was too deep to be looked through */
    bool id;   /* the leaf is one: see rewrite_id() */
    bool failed;
};

static void replace(struct rewriting *w, size_t at, size_t end, struct str quote, uint32_t rule)
{
    struct buf *to = &w->j->text;

    buf_add(to, str_n(w->text.at + w->copied, at - w->copied));
    buf_add(to, quote);
    marks_add(w->j->marks, to, rule);
    buf_add(to, quote);
    w->copied = end;
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* The first place from `from` on at which no character and no escape is cut, not before
 * `want`; `*before` is the last one up to there. */
static size_t snap(struct str text, size_t from, size_t want, size_t *before)
{
    const char *sign;
    size_t i = from;

    while (i < want && (sign = memchr(text.at + i, '\\', want - i))) {
        size_t escape = (size_t)(sign - text.at);
        size_t n = unravel_escape(str_skip(text, escape), UNRAVEL_BACKSLASH);

        i = escape + (n ? n : 1);
        *before = escape;
        if (i > want)
            return i;
    }
    for (i = want; i < text.len && is_continuation(text.at[i]);)
        i++;
    for (*before = want; *before > from && is_continuation(text.at[*before]);)
        --*before;
    return i;
}

/* What of a hit lies between the quotes, without half escapes. False if nothing does. */
static bool clip(const struct rewriting *w, const struct unravel_span *hit, size_t inner,
                 size_t inner_end, struct unravel_span *out)
{
    size_t from = w->copied > inner ? w->copied : inner, ignored;
    size_t at = hit->at > from ? hit->at : from;
    size_t end = hit->end < inner_end ? hit->end : inner_end;

    if (at >= end)
        return false;
    snap(w->text, from, at, &out->at);
    out->end = snap(w->text, out->at, end, &ignored);
    return true;
}

static void rewrite_string(struct rewriting *w, uint32_t node, size_t at, size_t end,
                           const struct secrets_hit *hit)
{
    struct unravel_span part;

    if (!clip(w, &hit->span, at + 1, end - 1, &part))
        return;
    replace(w, part.at, part.end, STR_NONE, hit->rule);
    note_leaf(w->j, node - w->root.node, hit->rule);
}

/* Whether all of a string goes. A search tells the first that is too deep; those behind it
 * are asked for one by one. */
static bool goes_whole(struct rewriting *w, struct json_val v, size_t at, size_t end,
                       uint32_t *rule)
{
    const struct secrets_search *f = w->j->search;

    *rule = f->secrets->depth;
    if (w->deep)
        return secrets_too_deep(w->j->search, json_inner(v));
    for (size_t i = w->hit; i < f->count && f->hits[i].span.at < end; i++)
        if (f->hits[i].whole && f->hits[i].span.end > at) {
            *rule = f->hits[i].rule;
            w->deep = true;
        }
    return w->deep;
}

static void rewrite_number(struct rewriting *w, uint32_t node, size_t at, size_t end,
                           const struct secrets_hit *hit)
{
    if (w->id) {
        at = hit->span.at > at ? hit->span.at : at;
        replace(w, at, hit->span.end < end ? hit->span.end : end, STR_NONE, hit->rule);
    } else if (w->copied <= at) {
        replace(w, at, end, STR("\""), hit->rule);
    } else {
        return;
    }
    note_leaf(w->j, node - w->root.node, hit->rule);
}

static void rewrite_hit(struct rewriting *w, struct json_val v, size_t at, size_t end,
                        const struct secrets_hit *hit)
{
    if (json_type(v) == JSON_STRING)
        rewrite_string(w, v.node, at, end, hit);
    else
        rewrite_number(w, v.node, at, end, hit);
}

static void rewrite_leaf(struct rewriting *w, struct json_val v)
{
    const struct secrets_search *f = w->j->search;
    size_t at = json_at(v) - json_at(w->root), end = at + json_raw(v).len;
    bool kept = untouchable_has(&w->j->untouchable, v.node);
    uint32_t rule;

    if (json_type(v) == JSON_STRING && goes_whole(w, v, at, end, &rule)) {
        replace(w, at + 1, end - 1, STR_NONE, rule);
        note_leaf(w->j, v.node - w->root.node, rule);
    }
    for (; w->hit < f->count && f->hits[w->hit].span.at < end; w->hit++) {
        const struct secrets_hit *hit = &f->hits[w->hit];

        if (hit->span.end > at && (secrets_is_value(f, hit->rule) || !kept))
            rewrite_hit(w, v, at, end, hit);
        if (hit->span.end > end)
            return; /* the next leaf has its share of it */
    }
}

static void copy_up_to(struct rewriting *w, size_t at)
{
    if (at > w->copied) {
        buf_add(&w->j->text, str_n(w->text.at + w->copied, at - w->copied));
        w->copied = at;
    }
}

/* What is left of the id stands at the end of the new text from `start` on: its name takes
 * that place. */
static void rename_id(struct rewriting *w, struct json_val id, size_t start, struct str quote)
{
    struct redact_json *j = w->j;
    struct str rest = str_n(j->text.at + start, j->text.len - start), name;

    if (j->text.full || !alias_name(&j->alias, mcp_id_key(id, &j->arena), rest, &name)) {
        w->failed = true;
        return;
    }
    j->text.len = start;
    buf_add(&j->text, quote);
    buf_add(&j->text, name);
    buf_add(&j->text, quote);
}

/* An id keeps all of itself that is no secret, a number its other digits, and becomes a name
 * that no other id has. */
static void rewrite_id(struct rewriting *w, struct json_val v)
{
    size_t at = json_at(v) - json_at(w->root), end = at + json_raw(v).len, start;
    size_t quote = json_type(v) == JSON_STRING, changed = w->j->count;

    copy_up_to(w, at + quote);
    start = w->j->text.len;
    w->id = true;
    rewrite_leaf(w, v);
    w->id = false;
    if (w->j->count == changed)
        return;
    copy_up_to(w, end - quote);
    rename_id(w, v, start, quote ? STR_NONE : STR("\""));
}

/* What was put in may make a secret of its surroundings. */
static bool is_free_of_values(struct redact_json *j)
{
    struct secrets_search *f = j->search;

    return !secrets_find(f, buf_str(&j->text)) || !secrets_has_value(f);
}

static enum redact_json_outcome rewrite(struct redact_json *j, struct json_val root)
{
    struct rewriting w = { .j = j, .root = root, .text = json_raw(root) };
    struct json_fault fault;

    j->count = 0;
    buf_clear(&j->text);
    marks_skip(j->marks, j->search->marked);
    arena_clear(&j->arena);
    for (struct json_val v = root; v.node < end_node(root); v.node++)
        if (is_leaf(v) && untouchable_is_id(&j->untouchable, v.node))
            rewrite_id(&w, v);
        else if (is_leaf(v))
            rewrite_leaf(&w, v);
    if (w.failed)
        return REDACT_JSON_UNFIT;
    if (!j->count)
        return secrets_has_value(j->search) ? REDACT_JSON_UNFIT : REDACT_JSON_CLEAN;
    buf_add(&j->text, str_skip(w.text, w.copied));
    if (j->text.full || !json_scan(&j->result, buf_str(&j->text), &fault) ||
        !is_free_of_values(j))
        return REDACT_JSON_UNFIT;
    return REDACT_JSON_DONE;
}

enum redact_json_outcome redact_json(struct redact_json *j, struct json_val v, bool message)
{
    struct secrets_search *f = j->search;

    if (!secrets_find(f, json_raw(v)))
        return REDACT_JSON_CLEAN;
    j->untouchable.count = 0;
    if (message)
        untouchable_find(&j->untouchable, v);
    if (f->suspect)
        match_leaves(j, v);
    if (f->encoded && message)
        look_into_all(j, v);
    if (f->overflow)
        return REDACT_JSON_UNFIT;
    return f->count ? rewrite(j, v) : REDACT_JSON_CLEAN;
}

static void add_name(struct buf *to, struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        if (name.at[i] == '~')
            buf_add(to, STR("~0"));
        else if (name.at[i] == '/')
            buf_add(to, STR("~1"));
        else
            buf_add_ch(to, name.at[i]);
    }
}

/* One step down towards the node; false when there is no further. */
static bool descend(struct json_val *v, uint32_t node, struct arena *a, struct buf *to)
{
    struct json_iter it = json_each(*v);
    bool named = json_type(*v) == JSON_OBJECT;

    for (size_t i = 0; json_next(&it); i++) {
        if (node >= end_node(it.value))
            continue;
        buf_add_ch(to, '/');
        if (named)
            add_name(to, json_text(it.key, a));
        else
            buf_add_int(to, (int64_t)i);
        *v = it.value;
        return node > it.value.node;
    }
    return false;
}

void redact_json_pointer(const struct redact_json *j, const struct redact_json_leaf *leaf,
                         struct buf *to)
{
    struct json_val v = json_root(&j->result);
    struct arena names = { 0 };

    while (descend(&v, leaf->node, &names, to))
        ;
    arena_release(&names);
}
