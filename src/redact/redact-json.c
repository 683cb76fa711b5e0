#include "redact/redact-json.h"

#include <stdlib.h>

#include "base/base64.h"
#include "base/mem.h"
#include "mcp/id.h"
#include "trace/limits.h"
#include "json/path.h"

void redact_json_init(struct redact_json *j, struct secret_search *f, struct placeholders *m)
{
    *j = (struct redact_json){ .search = f, .placeholders = m };
    buf_init(&j->text, LIMIT_LINE);
    json_init(&j->result);
    protected_fields_init(&j->protected_fields);
    id_alias_init(&j->id_alias);
}

void redact_json_release(struct redact_json *j)
{
    buf_release(&j->text);
    json_release(&j->result);
    protected_fields_release(&j->protected_fields);
    id_alias_release(&j->id_alias);
    arena_release(&j->arena);
    free(j->leaves);
    if (j->decoded_search)
        secret_search_release(j->decoded_search);
    free(j->decoded_search);
}

static bool is_leaf(struct json_val v)
{
    return json_type(v) == JSON_STRING || json_type(v) == JSON_NUMBER;
}

static uint32_t end_node(struct json_val v)
{
    return v.node + v.doc->nodes[v.node].size;
}

/* Matches patterns on each string and number by itself: they are meant for text, not JSON. */
static void match_patterns(struct redact_json *j, struct json_val root)
{
    size_t base = json_offset(root);

    for (struct json_val v = root; v.node < end_node(root); v.node++) {
        size_t at = json_offset(v) - base;
        if (!is_leaf(v) || protected_fields_has(&j->protected_fields, v.node))
            continue;
        if (json_type(v) == JSON_STRING)
            secret_search_match_patterns(j->search, json_unquoted(v), json_has_escapes(v),
                                         at + 1);
        else
            secret_search_match_patterns(j->search, json_raw(v), false, at);
    }
    secret_search_merge(j->search);
}

/* Returns base64 in the arena without white space, in the standard alphabet and padded. */
static struct str normal_base64(struct str text, struct arena *a)
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

/* Searches decoded text; sets `*rule` to that of the first hit. */
static bool search_decoded(struct redact_json *j, struct str text, uint32_t *rule)
{
    struct secret_search *f = j->decoded_search;

    if (!f) {
        f = j->decoded_search = mem_new(struct secret_search);
        secret_search_init(f, j->search->secrets);
    }
    f->seen = j->search->seen;
    if (!secret_search_find(f, text))
        return false;
    if (f->may_match_pattern) {
        secret_search_match_patterns(f, text, false, 0);
        secret_search_merge(f);
    }
    *rule = f->count ? f->hits[0].rule : 0;
    return f->count || f->overflow;
}

/* Decodes the first bytes; empty: it is not base64. */
static struct str decode_start(struct redact_json *j, struct str text)
{
    enum { START = 4096 };
    struct str start =
        normal_base64(str_n(text.at, text.len < START ? text.len : START), &j->arena);
    struct str bytes;

    if (text.len > START && start.len)
        start.len -= 4; /* padded where it was cut */
    return base64_decode(start, &j->arena, &bytes) ? bytes : STR_NONE;
}

/* Searches one string of base64. A string that is not base64 was searched before as it is. */
static void search_base64(struct redact_json *j, struct json_val v, size_t base)
{
    struct str text = json_text(v, &j->arena), start = decode_start(j, text), bytes;
    size_t at = json_offset(v) - base;
    uint32_t rule;

    if (!start.len)
        return;
    if (is_compressed(start))
        j->unsearched[REDACT_JSON_COMPRESSED]++;
    else if (!is_text(start))
        j->unsearched[REDACT_JSON_BINARY]++;
    else if (text.len / 4 * 3 > REDACT_JSON_SEARCH_MAX)
        j->unsearched[REDACT_JSON_LARGE]++;
    else if (base64_decode(normal_base64(text, &j->arena), &j->arena, &bytes) &&
             search_decoded(j, bytes, &rule))
        secret_search_add(j->search, (struct unescape_span){ at + 1, at + json_raw(v).len - 1 },
                          rule);
}

/* Searches the base64 members of one object. Looks up `mimeType` only once, in case there are
 * many members named `data`. */
static void search_object_base64(struct redact_json *j, struct json_val object, size_t base)
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
            search_base64(j, it.value, base);
    }
}

static void search_all_base64(struct redact_json *j, struct json_val root)
{
    for (struct json_val v = root; v.node < end_node(root); v.node++)
        if (json_type(v) == JSON_OBJECT)
            search_object_base64(j, v, json_offset(root));
    arena_release(&j->arena);
    secret_search_merge(j->search);
}

static void note_leaf(struct redact_json *j, uint32_t node, uint32_t rule)
{
    if (j->count && j->leaves[j->count - 1].node == node)
        return;
    j->leaves = mem_reserve(j->leaves, &j->cap, j->count + 1, sizeof *j->leaves);
    j->leaves[j->count++] = (struct redact_json_leaf){ .node = node, .rule = rule };
}

/* State of building the new text from the old one, front to back. */
struct json_rewrite {
    struct redact_json *j;
    struct json_val root;
    struct str text;
    size_t copied; /* bytes of the old text that are done */
    size_t next_hit;
    bool too_deep; /* set at the first string with too many layers */
    bool in_id;    /* set while rewrite_id() rewrites a leaf */
    bool failed;
};

static void replace_span(struct json_rewrite *w, size_t at, size_t end, struct str quote,
                         uint32_t rule)
{
    struct buf *to = &w->j->text;

    buf_add(to, str_n(w->text.at + w->copied, at - w->copied));
    buf_add(to, quote);
    placeholder_write(w->j->placeholders, to, rule);
    buf_add(to, quote);
    w->copied = end;
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* Returns the first position from `want` on that does not cut a character or an escape; sets
 * `*before` to the last such position up to `want`. `from` is one. */
static size_t snap_to_char(struct str text, size_t from, size_t want, size_t *before)
{
    const char *sign;
    size_t i = from;

    while (i < want && (sign = memchr(text.at + i, '\\', want - i))) {
        size_t escape = (size_t)(sign - text.at);
        size_t n = unescape_length(str_skip(text, escape), UNESCAPE_BACKSLASH);

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

/* Clips a hit to the inside of a string and to whole escapes. Returns false if nothing is left.
 */
static bool clip_to_string(const struct json_rewrite *w, const struct unescape_span *hit,
                           size_t inner, size_t inner_end, struct unescape_span *out)
{
    size_t from = w->copied > inner ? w->copied : inner, ignored;
    size_t at = hit->at > from ? hit->at : from;
    size_t end = hit->end < inner_end ? hit->end : inner_end;

    if (at >= end)
        return false;
    snap_to_char(w->text, from, at, &out->at);
    out->end = snap_to_char(w->text, out->at, end, &ignored);
    return true;
}

static void rewrite_string(struct json_rewrite *w, uint32_t node, size_t at, size_t end,
                           const struct secret_hit *hit)
{
    struct unescape_span part;

    if (!clip_to_string(w, &hit->span, at + 1, end - 1, &part))
        return;
    replace_span(w, part.at, part.end, STR_NONE, hit->rule);
    note_leaf(w->j, node - w->root.node, hit->rule);
}

/* Returns whether the whole string must be replaced. A search reports only the first string
 * with too many layers; those after it are checked one by one. */
static bool must_drop_whole(struct json_rewrite *w, struct json_val v, size_t at, size_t end,
                            uint32_t *rule)
{
    const struct secret_search *f = w->j->search;

    *rule = f->secrets->depth_rule;
    if (w->too_deep)
        return secret_search_is_too_deep(w->j->search, json_unquoted(v));
    for (size_t i = w->next_hit; i < f->count && f->hits[i].span.at < end; i++)
        if (f->hits[i].drop_whole && f->hits[i].span.end > at) {
            *rule = f->hits[i].rule;
            w->too_deep = true;
        }
    return w->too_deep;
}

static void rewrite_number(struct json_rewrite *w, uint32_t node, size_t at, size_t end,
                           const struct secret_hit *hit)
{
    if (w->in_id) {
        at = hit->span.at > at ? hit->span.at : at;
        replace_span(w, at, hit->span.end < end ? hit->span.end : end, STR_NONE, hit->rule);
    } else if (w->copied <= at) {
        replace_span(w, at, end, STR("\""), hit->rule);
    } else {
        return;
    }
    note_leaf(w->j, node - w->root.node, hit->rule);
}

static void rewrite_hit(struct json_rewrite *w, struct json_val v, size_t at, size_t end,
                        const struct secret_hit *hit)
{
    if (json_type(v) == JSON_STRING)
        rewrite_string(w, v.node, at, end, hit);
    else
        rewrite_number(w, v.node, at, end, hit);
}

static void rewrite_leaf(struct json_rewrite *w, struct json_val v)
{
    const struct secret_search *f = w->j->search;
    size_t at = json_offset(v) - json_offset(w->root), end = at + json_raw(v).len;
    bool kept = protected_fields_has(&w->j->protected_fields, v.node);
    uint32_t rule;

    if (json_type(v) == JSON_STRING && must_drop_whole(w, v, at, end, &rule)) {
        replace_span(w, at + 1, end - 1, STR_NONE, rule);
        note_leaf(w->j, v.node - w->root.node, rule);
    }
    for (; w->next_hit < f->count && f->hits[w->next_hit].span.at < end; w->next_hit++) {
        const struct secret_hit *hit = &f->hits[w->next_hit];

        if (hit->span.end > at && (secret_search_is_value(f, hit->rule) || !kept))
            rewrite_hit(w, v, at, end, hit);
        if (hit->span.end > end)
            return; /* the hit continues in the next leaf */
    }
}

static void copy_up_to(struct json_rewrite *w, size_t at)
{
    if (at > w->copied) {
        buf_add(&w->j->text, str_n(w->text.at + w->copied, at - w->copied));
        w->copied = at;
    }
}

/* Replaces the redacted id, which is the new text from `start` on, by its alias. */
static void rename_id(struct json_rewrite *w, struct json_val id, size_t start,
                      struct str quote)
{
    struct redact_json *j = w->j;
    struct str rest = str_n(j->text.at + start, j->text.len - start), name;

    if (j->text.full || !id_alias_get(&j->id_alias, mcp_id_key(id, &j->arena), rest, &name)) {
        w->failed = true;
        return;
    }
    j->text.len = start;
    buf_add(&j->text, quote);
    buf_add(&j->text, name);
    buf_add(&j->text, quote);
}

/* Redacts an id and replaces it by a unique alias. Only the secret part is removed, of a number
 * only some digits. */
static void rewrite_id(struct json_rewrite *w, struct json_val v)
{
    size_t at = json_offset(v) - json_offset(w->root), end = at + json_raw(v).len, start;
    size_t quote = json_type(v) == JSON_STRING, changed = w->j->count;

    copy_up_to(w, at + quote);
    start = w->j->text.len;
    w->in_id = true;
    rewrite_leaf(w, v);
    w->in_id = false;
    if (w->j->count == changed)
        return;
    copy_up_to(w, end - quote);
    rename_id(w, v, start, quote ? STR_NONE : STR("\""));
}

/* Searches the new text: a placeholder may complete a secret with the text around it. */
static bool has_no_values(struct redact_json *j)
{
    struct secret_search *f = j->search;

    return !secret_search_find(f, buf_str(&j->text)) || !secret_search_has_value(f);
}

static enum redact_json_outcome rewrite(struct redact_json *j, struct json_val root)
{
    struct json_rewrite w = { .j = j, .root = root, .text = json_raw(root) };
    struct json_fault fault;

    j->count = 0;
    buf_clear(&j->text);
    placeholder_reserve(j->placeholders, j->search->max_placeholder);
    arena_clear(&j->arena);
    for (struct json_val v = root; v.node < end_node(root); v.node++)
        if (is_leaf(v) && protected_fields_is_id(&j->protected_fields, v.node))
            rewrite_id(&w, v);
        else if (is_leaf(v))
            rewrite_leaf(&w, v);
    if (w.failed)
        return REDACT_JSON_FAILED;
    if (!j->count)
        return secret_search_has_value(j->search) ? REDACT_JSON_FAILED : REDACT_JSON_CLEAN;
    buf_add(&j->text, str_skip(w.text, w.copied));
    if (j->text.full || !json_scan(&j->result, buf_str(&j->text), &fault) || !has_no_values(j))
        return REDACT_JSON_FAILED;
    return REDACT_JSON_DONE;
}

enum redact_json_outcome redact_json(struct redact_json *j, struct json_val v, bool message)
{
    struct secret_search *f = j->search;

    if (!secret_search_find(f, json_raw(v)))
        return REDACT_JSON_CLEAN;
    j->protected_fields.count = 0;
    if (message)
        protected_fields_find(&j->protected_fields, v);
    if (f->may_match_pattern)
        match_patterns(j, v);
    if (f->has_base64_member && message)
        search_all_base64(j, v);
    if (f->overflow)
        return REDACT_JSON_FAILED;
    return f->count ? rewrite(j, v) : REDACT_JSON_CLEAN;
}

/* Descends one level towards the node and appends its token. Returns false at the node. */
static bool descend(struct json_val *v, uint32_t node, struct arena *a, struct buf *to)
{
    struct json_iter it = json_each(*v);
    bool named = json_type(*v) == JSON_OBJECT;

    for (size_t i = 0; json_next(&it); i++) {
        if (node >= end_node(it.value))
            continue;
        if (named)
            json_pointer_add_name(to, json_text(it.key, a));
        else
            json_pointer_add_index(to, i);
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
