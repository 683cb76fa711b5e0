#include "json/splice.h"

#include "json/write.h"

void json_splice_init(struct json_splice *s, struct json_val root)
{
    s->root = root;
    s->count = 0;
}

static bool is_insertion(const struct json_splice_edit *e)
{
    return e->at == e->end;
}

/* Edits stand in the order of the text; insertions at one place in the order in
 * which they were asked for. */
static void add_edit(struct json_splice *s, struct json_splice_edit e)
{
    size_t i = s->count;

    BUG_IF(s->count == JSON_SPLICE_MAX);
    BUG_IF(e.at < json_offset(s->root) || e.end > json_offset(s->root) + json_raw(s->root).len);
    while (i && s->edits[i - 1].at > e.at)
        i--;
    BUG_IF(i && s->edits[i - 1].end > e.at);
    BUG_IF(i < s->count && e.end > s->edits[i].at);
    memmove(&s->edits[i + 1], &s->edits[i], (s->count - i) * sizeof e);
    s->edits[i] = e;
    s->count++;
}

void json_splice_replace(struct json_splice *s, struct json_val value, struct str raw)
{
    if (!json_exists(value))
        return;
    BUG_IF(value.doc != s->root.doc);
    add_edit(s, (struct json_splice_edit){
                    .at = json_offset(value),
                    .end = json_offset(value) + json_raw(value).len,
                    .raw = raw,
                });
}

/* After the last member, so that what follows it (a line break, say) keeps its
 * place before the bracket; in an empty object right after the opening one. */
static size_t insertion_point(struct json_val object)
{
    struct json_iter it = json_each(object);
    size_t at = json_offset(object) + 1;

    while (json_next(&it))
        at = json_offset(it.value) + json_raw(it.value).len;
    return at;
}

static bool inserts_at(const struct json_splice *s, size_t at, struct str key)
{
    bool any = false;

    for (size_t i = 0; i < s->count; i++) {
        if (is_insertion(&s->edits[i]) && s->edits[i].at == at) {
            BUG_IF(str_eq(s->edits[i].key, key));
            any = true;
        }
    }
    return any;
}

void json_splice_set(struct json_splice *s, struct json_val object, struct str key,
                     struct str raw)
{
    struct json_val old = json_get(object, key);
    bool follows;
    size_t at;

    if (json_type(object) != JSON_OBJECT)
        return;
    if (json_exists(old)) {
        json_splice_replace(s, old, raw);
        return;
    }
    BUG_IF(object.doc != s->root.doc);
    at = insertion_point(object);
    follows = inserts_at(s, at, key) || json_count(object);
    add_edit(s, (struct json_splice_edit){
                    .at = at,
                    .end = at,
                    .separator = follows ? STR(",") : STR_NONE,
                    .key = key,
                    .raw = raw,
                });
}

void json_splice_apply(struct json_splice *s, struct buf *to)
{
    struct str rest = json_raw(s->root);
    size_t at = json_offset(s->root);

    for (size_t i = 0; i < s->count; i++) {
        const struct json_splice_edit *e = &s->edits[i];
        buf_add(to, str_n(rest.at, e->at - at));
        rest = str_skip(rest, e->end - at);
        at = e->end;
        buf_add(to, e->separator);
        if (is_insertion(e)) {
            json_write_str(to, e->key);
            buf_add_ch(to, ':');
        }
        buf_add(to, e->raw);
    }
    buf_add(to, rest);
}
