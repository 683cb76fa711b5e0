#include "yaml/yaml-tree.h"

#include <stdlib.h>

#include <yaml.h>

#include "base/map.h"
#include "base/mem.h"

/* A list or map that is not complete yet. Keys and values of a map alternate. */
struct yaml_frame {
    struct yaml_value *value;
    struct yaml_value **parts;
    size_t count, cap;
};

struct yaml_builder {
    struct yaml_tree *tree;
    struct yaml_frame frames[YAML_TREE_DEPTH_MAX];
    size_t depth;       /* frames in use */
    struct map anchors; /* name to struct yaml_value */
    struct yaml_value *last;
    bool ended; /* the first document has ended */
};

bool yaml_tree_error(const struct yaml_tree *t, const struct yaml_value *at, enum err_kind kind,
                     struct err *e, const char *fmt, ...)
{
    struct buf b;
    va_list ap;

    buf_init(&b, sizeof e->msg);
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    err_set(e, kind, "%s:%u:%u: %s", t->name, at->line, at->column, buf_z(&b));
    buf_release(&b);
    return false;
}

static struct str to_str(const yaml_char_t *text, size_t len)
{
    return str_n((const char *)text, len);
}

static struct yaml_value at_mark(const yaml_mark_t *mark)
{
    return (struct yaml_value){ .line = (uint32_t)mark->line + 1,
                                .column = (uint32_t)mark->column + 1 };
}

static struct yaml_value *new_value(struct yaml_builder *b, const yaml_event_t *ev)
{
    struct yaml_value *v = arena_new(&b->tree->arena, struct yaml_value);

    *v = at_mark(&ev->start_mark);
    v->size = v->depth = 1;
    if (b->last)
        b->last->next = v;
    else
        b->tree->first = v;
    b->last = v;
    return v;
}

static bool is_key_next(const struct yaml_frame *f)
{
    return f->value->type == YAML_TYPE_MAP && f->count % 2 == 0;
}

static bool check_key(const struct yaml_builder *b, const struct yaml_value *v,
                      const struct yaml_value *at, struct err *e)
{
    if (v->type != YAML_TYPE_LIST && v->type != YAML_TYPE_MAP)
        return true;
    return yaml_tree_error(b->tree, at, ERR_INPUT, e, "a key must be text, not %s",
                           yaml_tree_type_name(v));
}

/* Adds a complete value to the innermost list or map. `at` is where it stands in the text: that
 * of an alias differs from that of its value. */
static bool add_value(struct yaml_builder *b, struct yaml_value *v, const struct yaml_value *at,
                      struct err *e)
{
    struct yaml_frame *f;

    if (!b->depth) {
        b->tree->root = v;
        return true;
    }
    f = &b->frames[b->depth - 1];
    if (is_key_next(f) && !check_key(b, v, at, e))
        return false;
    f->value->size += v->size;
    if (f->value->size > YAML_TREE_VALUES_MAX)
        return yaml_tree_error(b->tree, at, ERR_LIMIT, e,
                               "too many values: %d are allowed, with all aliases expanded",
                               YAML_TREE_VALUES_MAX);
    if (f->value->depth < v->depth + 1)
        f->value->depth = v->depth + 1;
    if (b->depth + v->depth > YAML_TREE_DEPTH_MAX)
        return yaml_tree_error(b->tree, at, ERR_LIMIT, e,
                               "nested too deeply: %d levels are allowed", YAML_TREE_DEPTH_MAX);
    f->parts = mem_reserve(f->parts, &f->cap, f->count + 1, sizeof(struct yaml_value *));
    f->parts[f->count++] = v;
    return true;
}

static void set_anchor(struct yaml_builder *b, const yaml_char_t *name, struct yaml_value *v)
{
    if (name)
        map_put(&b->anchors, str_z((const char *)name), v);
}

static bool add_alias(struct yaml_builder *b, const yaml_event_t *ev, struct err *e)
{
    const char *name = (const char *)ev->data.alias.anchor;
    struct yaml_value *v = map_get(&b->anchors, str_z(name));
    struct yaml_value at = at_mark(&ev->start_mark);

    if (!v)
        return yaml_tree_error(b->tree, &at, ERR_INPUT, e, "there is no anchor '&%s' for '*%s'",
                               name, name);
    if (!v->complete)
        return yaml_tree_error(b->tree, &at, ERR_INPUT, e,
                               "the alias '*%s' is inside the value that it repeats", name);
    return add_value(b, v, &at, e);
}

/* Decides the type of a scalar by its tag, or by its text if it is plain. */
static bool set_type(struct yaml_builder *b, const yaml_event_t *ev, struct yaml_value *v,
                     struct err *e)
{
    const char *tag = (const char *)ev->data.scalar.tag;

    v->quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (!tag && !v->quoted)
        v->type = yaml_scalar_type(v->text);
    else if (!tag || strcmp(tag, YAML_STR_TAG) == 0 || strcmp(tag, "!") == 0)
        v->type = YAML_TYPE_STRING;
    else
        return yaml_tree_error(b->tree, v, ERR_INPUT, e, "the tag '%s' is not supported", tag);
    v->quoted = v->quoted || tag;
    return true;
}

static bool add_scalar(struct yaml_builder *b, const yaml_event_t *ev, struct err *e)
{
    struct yaml_value *v = new_value(b, ev);

    v->text = arena_str(&b->tree->arena, to_str(ev->data.scalar.value, ev->data.scalar.length));
    v->is_key = b->depth && is_key_next(&b->frames[b->depth - 1]);
    v->complete = true;
    set_anchor(b, ev->data.scalar.anchor, v);
    return set_type(b, ev, v, e) && add_value(b, v, v, e);
}

static bool open_frame(struct yaml_builder *b, const yaml_event_t *ev, enum yaml_type type,
                       struct err *e)
{
    bool list = type == YAML_TYPE_LIST;
    const yaml_char_t *anchor =
        list ? ev->data.sequence_start.anchor : ev->data.mapping_start.anchor;
    const char *tag =
        (const char *)(list ? ev->data.sequence_start.tag : ev->data.mapping_start.tag);
    struct yaml_value *v = new_value(b, ev);

    v->type = type;
    if (tag && strcmp(tag, list ? YAML_SEQ_TAG : YAML_MAP_TAG) != 0)
        return yaml_tree_error(b->tree, v, ERR_INPUT, e, "the tag '%s' is not supported", tag);
    if (b->depth == YAML_TREE_DEPTH_MAX)
        return yaml_tree_error(b->tree, v, ERR_LIMIT, e,
                               "nested too deeply: %d levels are allowed", YAML_TREE_DEPTH_MAX);
    set_anchor(b, anchor, v);
    b->frames[b->depth++] = (struct yaml_frame){ .value = v };
    return true;
}

/* The members of a map while it is completed. */
struct yaml_members {
    struct yaml_member *at;
    size_t count, cap;
    struct map keys; /* to the key's value */
};

static void add_member(struct yaml_members *m, struct yaml_member member)
{
    map_put(&m->keys, member.key->text, member.key);
    m->at = mem_reserve(m->at, &m->cap, m->count + 1, sizeof *m->at);
    m->at[m->count++] = member;
}

static bool is_merge_key(const struct yaml_value *key)
{
    return !key->quoted && str_eq(key->text, STR("<<"));
}

static bool add_own_members(struct yaml_builder *b, const struct yaml_frame *f,
                            struct yaml_members *m, struct err *e)
{
    for (size_t i = 0; i + 1 < f->count; i += 2) {
        struct yaml_value *key = f->parts[i];
        const struct yaml_value *first = map_get(&m->keys, key->text);

        if (first)
            return yaml_tree_error(b->tree, key, ERR_INPUT, e,
                                   "the key '%.*s' is on line %u already", STR_ARG(key->text),
                                   first->line);
        if (!is_merge_key(key))
            add_member(m, (struct yaml_member){ key, f->parts[i + 1] });
    }
    return true;
}

static bool merge_map(struct yaml_builder *b, struct yaml_value *into, struct yaml_members *m,
                      const struct yaml_value *key, const struct yaml_value *from,
                      struct err *e)
{
    if (from->type != YAML_TYPE_MAP)
        return yaml_tree_error(b->tree, key, ERR_INPUT, e,
                               "'<<' takes a map or a list of maps, not %s",
                               yaml_tree_type_name(from));
    for (size_t i = 0; i < from->count; i++) {
        if (map_get(&m->keys, from->members[i].key->text))
            continue;
        into->size += 1 + from->members[i].value->size;
        add_member(m, from->members[i]);
    }
    if (into->size > YAML_TREE_VALUES_MAX)
        return yaml_tree_error(b->tree, key, ERR_LIMIT, e,
                               "too many values: %d are allowed, with all aliases expanded",
                               YAML_TREE_VALUES_MAX);
    return true;
}

static bool add_merged_members(struct yaml_builder *b, const struct yaml_frame *f,
                               struct yaml_members *m, struct err *e)
{
    for (size_t i = 0; i + 1 < f->count; i += 2) {
        const struct yaml_value *from = f->parts[i + 1];

        if (!is_merge_key(f->parts[i]))
            continue;
        if (from->type != YAML_TYPE_LIST) {
            if (!merge_map(b, f->value, m, f->parts[i], from, e))
                return false;
            continue;
        }
        for (size_t k = 0; k < from->count; k++)
            if (!merge_map(b, f->value, m, f->parts[i], from->items[k], e))
                return false;
    }
    return true;
}

static bool complete_map(struct yaml_builder *b, const struct yaml_frame *f, struct err *e)
{
    struct yaml_members m = { .at = NULL };
    size_t own;
    bool ok;

    map_init(&m.keys);
    ok = add_own_members(b, f, &m, e);
    own = m.count;
    ok = ok && add_merged_members(b, f, &m, e);
    if (ok && m.count) {
        struct yaml_member *to = arena_alloc(&b->tree->arena, m.count * sizeof *to);
        size_t merged = m.count - own;

        if (merged)
            memcpy(to, m.at + own, merged * sizeof *to);
        memcpy(to + merged, m.at, own * sizeof *to);
        f->value->members = to;
        f->value->count = m.count;
    }
    map_release(&m.keys);
    free(m.at);
    return ok;
}

static void complete_list(struct yaml_builder *b, const struct yaml_frame *f)
{
    size_t size = f->count * sizeof(struct yaml_value *);

    if (!f->count)
        return;
    f->value->items = arena_alloc(&b->tree->arena, size);
    memcpy(f->value->items, f->parts, size);
    f->value->count = f->count;
}

static bool close_frame(struct yaml_builder *b, struct err *e)
{
    struct yaml_frame f = b->frames[--b->depth];
    bool ok = true;

    if (f.value->type == YAML_TYPE_LIST)
        complete_list(b, &f);
    else
        ok = complete_map(b, &f, e);
    f.value->complete = true;
    free(f.parts);
    return ok && add_value(b, f.value, f.value, e);
}

static bool handle_event(struct yaml_builder *b, const yaml_event_t *ev, struct err *e)
{
    struct yaml_value at = at_mark(&ev->start_mark);

    switch (ev->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (b->ended)
            return yaml_tree_error(b->tree, &at, ERR_INPUT, e,
                                   "a second document begins; one is allowed");
        return true;
    case YAML_DOCUMENT_END_EVENT:
        b->ended = true;
        return true;
    case YAML_ALIAS_EVENT:
        return add_alias(b, ev, e);
    case YAML_SCALAR_EVENT:
        return add_scalar(b, ev, e);
    case YAML_SEQUENCE_START_EVENT:
        return open_frame(b, ev, YAML_TYPE_LIST, e);
    case YAML_MAPPING_START_EVENT:
        return open_frame(b, ev, YAML_TYPE_MAP, e);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_frame(b, e);
    default:
        return true; /* the start and the end of the stream */
    }
}

/* Sets the error of libyaml. That of its reader has no position in lines. */
static bool set_parser_error(const struct yaml_tree *t, const yaml_parser_t *p, struct str text,
                             struct err *e)
{
    struct yaml_value at = at_mark(&p->problem_mark);

    if (p->error == YAML_MEMORY_ERROR)
        mem_checked(NULL);
    if (p->error == YAML_READER_ERROR) {
        at = (struct yaml_value){ .line = 1, .column = 1 };
        for (size_t i = 0; i < p->problem_offset && i < text.len; i++) {
            at.line += text.at[i] == '\n';
            at.column = text.at[i] == '\n' ? 1 : at.column + 1;
        }
    }
    return yaml_tree_error(t, &at, ERR_INPUT, e, "not valid YAML: %s%s%s",
                           p->context ? p->context : "", p->context ? ", " : "", p->problem);
}

static bool build(struct yaml_builder *b, yaml_parser_t *p, struct str text, struct err *e)
{
    yaml_event_t ev;
    bool ok = true, more = true;

    while (ok && more) {
        if (!yaml_parser_parse(p, &ev))
            return set_parser_error(b->tree, p, text, e);
        more = ev.type != YAML_STREAM_END_EVENT;
        ok = handle_event(b, &ev, e);
        yaml_event_delete(&ev);
    }
    return ok;
}

bool yaml_tree_parse(struct yaml_tree *t, struct str text, const char *name, struct err *e)
{
    struct yaml_builder b = { .tree = t };
    yaml_parser_t parser;
    bool ok;

    *t = (struct yaml_tree){ .name = name };
    if (text.len > YAML_TREE_TEXT_MAX)
        return err_set(e, ERR_LIMIT, "'%s' is too large: %d MiB are allowed", name,
                       YAML_TREE_TEXT_MAX >> 20);
    if (!yaml_parser_initialize(&parser))
        mem_checked(NULL);
    yaml_parser_set_input_string(&parser, (const unsigned char *)(text.len ? text.at : ""),
                                 text.len);
    map_init(&b.anchors);
    ok = build(&b, &parser, text, e);
    while (b.depth)
        free(b.frames[--b.depth].parts);
    map_release(&b.anchors);
    yaml_parser_delete(&parser);
    return ok;
}

void yaml_tree_release(struct yaml_tree *t)
{
    arena_release(&t->arena);
}

bool yaml_tree_each_string(struct yaml_tree *t,
                           bool (*change)(void *arg, struct yaml_value *string, struct err *e),
                           void *arg, struct err *e)
{
    for (struct yaml_value *v = t->first; v; v = v->next)
        if (v->type == YAML_TYPE_STRING && !v->is_key && !change(arg, v, e))
            return false;
    return true;
}

struct yaml_value *yaml_tree_get(const struct yaml_value *map, struct str key)
{
    if (map->type == YAML_TYPE_MAP)
        for (size_t i = 0; i < map->count; i++)
            if (str_eq(map->members[i].key->text, key))
                return map->members[i].value;
    return NULL;
}

const char *yaml_tree_type_name(const struct yaml_value *v)
{
    static const char *const names[] = {
        [YAML_TYPE_NULL] = "empty",   [YAML_TYPE_BOOL] = "a boolean",
        [YAML_TYPE_INT] = "a number", [YAML_TYPE_FLOAT] = "a number",
        [YAML_TYPE_STRING] = "text",  [YAML_TYPE_LIST] = "a list",
        [YAML_TYPE_MAP] = "a map",
    };

    return names[v->type];
}
