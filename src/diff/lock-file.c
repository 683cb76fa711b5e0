#include "diff/lock-file.h"

#include <stdlib.h>

#include "base/mem.h"
#include "json/canonical.h"

#define VERSION_MEMBER "mcpreelLock"
#define NAMELESS_MEMBER "nameless"

static int compare_items(const void *a, const void *b)
{
    const struct surface_item *const *x = a, *const *y = b;

    int order = str_cmp((*x)->key, (*y)->key);

    return order ? order : (*x)->repeat < (*y)->repeat ? -1 : (*x)->repeat > (*y)->repeat;
}

static void begin_member(struct buf *to, struct str name)
{
    buf_printf(to, ",\n  \"%.*s\": ", STR_ARG(name));
}

static void write_list(struct buf *to, const struct surface_list *l, struct str name)
{
    const struct surface_item **sorted = mem_alloc((l->count + 1) * sizeof *sorted);

    for (size_t i = 0; i < l->count; i++)
        sorted[i] = &l->items[i];
    qsort(sorted, l->count, sizeof *sorted, compare_items);
    begin_member(to, name);
    buf_add_ch(to, '[');
    for (size_t i = 0; i < l->count; i++) {
        buf_add(to, i ? STR(",\n    ") : STR("\n    "));
        json_canonical_write(to, sorted[i]->def, 2);
    }
    buf_add(to, l->count ? STR("\n  ]") : STR("]"));
    free(sorted);
}

static void write_value(struct buf *to, struct str name, struct json_val v)
{
    if (!json_exists(v))
        return;
    begin_member(to, name);
    json_canonical_write(to, v, 1);
}

static void write_text(struct buf *to, struct str name, struct str text)
{
    if (!text.len)
        return;
    begin_member(to, name);
    json_canonical_write_str(to, text);
}

static void write_nameless(struct buf *to, const struct surface *s)
{
    bool any = false;

    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++) {
        struct str name = surface_list_member(k);

        if (!s->lists[k].nameless)
            continue;
        if (!any)
            begin_member(to, STR(NAMELESS_MEMBER));
        buf_printf(to, "%s\n    \"%.*s\": %zu", any ? "," : "{", STR_ARG(name),
                   s->lists[k].nameless);
        any = true;
    }
    if (any)
        buf_add(to, STR("\n  }"));
}

void lock_file_write(struct buf *to, const struct surface *s)
{
    buf_printf(to, "{\n  \"" VERSION_MEMBER "\": %d", LOCK_FILE_VERSION);
    write_value(to, STR("serverInfo"), s->server_info);
    write_text(to, STR("protocolVersion"), s->protocol_version);
    write_value(to, STR("capabilities"), s->capabilities);
    write_text(to, STR("instructions"), s->instructions);
    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++)
        if (s->lists[k].known)
            write_list(to, &s->lists[k], surface_list_member(k));
    write_nameless(to, s);
    buf_add(to, STR("\n}\n"));
}

/* Lines of a text, counted from the front to the back. */
struct line_counter {
    struct str text;
    size_t offset;
    uint64_t line;
};

static uint64_t line_at(struct line_counter *c, size_t offset)
{
    if (offset < c->offset)
        *c = (struct line_counter){ c->text, 0, 1 };
    for (; c->offset < offset; c->offset++)
        c->line += c->text.at[c->offset] == '\n';
    return c->line;
}

static bool fail_at(struct err *e, struct line_counter *lines, struct json_val v,
                    const char *what)
{
    err_set(e, ERR_INPUT, "line %llu: %s", (unsigned long long)line_at(lines, json_offset(v)),
            what);
    return err_hint(e, "write the file again: mcpreel lock FILE -- COMMAND");
}

static bool read_list(struct surface *s, enum surface_kind kind, struct json_val list,
                      struct line_counter *lines, struct err *e)
{
    struct json_iter it = json_each(list);

    if (!json_exists(list))
        return true;
    if (json_type(list) != JSON_ARRAY)
        return fail_at(e, lines, list, "a list of definitions is not an array");
    s->lists[kind].known = true;
    while (json_next(&it))
        if (!surface_add_item(s, kind, it.value, line_at(lines, json_offset(it.value))))
            return fail_at(e, lines, it.value, "a definition has no name");
    return true;
}

static bool read_nameless(struct surface *s, enum surface_kind kind, struct json_val numbers,
                          struct line_counter *lines, struct err *e)
{
    struct json_val v = json_get(numbers, surface_list_member(kind));
    int64_t n = 0;

    if (json_exists(v) && (!json_int(v, &n) || n < 0))
        return fail_at(e, lines, v, "expected a number of definitions");
    s->lists[kind].nameless = (size_t)n;
    return true;
}

static bool read_text(struct surface *s, struct json_val root, struct str name, struct str *to,
                      struct line_counter *lines, struct err *e)
{
    struct json_val v = json_get(root, name);

    if (json_exists(v) && json_type(v) != JSON_STRING)
        return fail_at(e, lines, v, "expected a string");
    *to = arena_str(&s->arena, json_text(v, &s->arena));
    return true;
}

bool lock_file_read_value(struct surface *s, struct json_val root, struct err *e)
{
    struct line_counter lines = { root.doc->text, 0, 1 };
    struct json_val capabilities = json_get(root, STR("capabilities"));
    struct json_val info = json_get(root, STR("serverInfo"));

    s->sorted = true;
    s->described = json_exists(capabilities) || json_exists(info) ||
                   json_exists(json_get(root, STR("protocolVersion"))) ||
                   json_exists(json_get(root, STR("instructions")));
    s->capabilities = surface_copy(s, capabilities);
    s->server_info = surface_copy(s, info);
    s->server_line = 1;
    if (!read_text(s, root, STR("protocolVersion"), &s->protocol_version, &lines, e) ||
        !read_text(s, root, STR("instructions"), &s->instructions, &lines, e))
        return false;
    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++)
        if (!read_list(s, k, json_get(root, surface_list_member(k)), &lines, e) ||
            !read_nameless(s, k, json_get(root, STR(NAMELESS_MEMBER)), &lines, e))
            return false;
    return true;
}

static bool check_version(struct json_val root, struct err *e)
{
    struct json_val version = json_get(root, STR(VERSION_MEMBER));
    int64_t n;

    if (!json_exists(version)) {
        err_set(e, ERR_INPUT, "not a lock file: it has no member '" VERSION_MEMBER "'");
        return err_hint(e, "'mcpreel lock FILE -- COMMAND' writes one");
    }
    if (json_int(version, &n) && n == LOCK_FILE_VERSION)
        return true;
    err_set(e, ERR_INPUT, "lock file of version %.*s; this mcpreel reads version %d",
            STR_ARG(json_raw(version)), LOCK_FILE_VERSION);
    return err_hint(e, "write it again with this mcpreel, or use the one that wrote it");
}

bool lock_file_read(struct surface *s, struct str text, struct err *e)
{
    struct json j;
    struct json_fault fault;
    struct line_counter lines = { text, 0, 1 };
    bool ok;

    json_init(&j);
    if (!json_scan(&j, text, &fault)) {
        err_set(e, ERR_INPUT, "line %llu: not JSON: %s",
                (unsigned long long)line_at(&lines, fault.at), fault.what);
        ok =
            err_hint(e, "'mcpreel lock FILE -- COMMAND' writes a lock file; does this one have "
                        "conflict marks of git?");
    } else {
        ok = check_version(json_root(&j), e) && lock_file_read_value(s, json_root(&j), e);
    }
    json_release(&j);
    return ok;
}

bool lock_file_is_lock(struct str text)
{
    struct json j;
    struct json_fault fault;
    bool is;

    json_init(&j);
    is = json_scan(&j, text, &fault) &&
         json_exists(json_get(json_root(&j), STR(VERSION_MEMBER)));
    json_release(&j);
    return is;
}
