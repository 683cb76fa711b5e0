#include "mcp/surface.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcp/meta.h"
#include "json/equal.h"

static const struct json_rules by_value = { .numbers_by_value = true };

static const struct {
    struct str name, method, member, key, capability;
} kinds[] = {
    [SURFACE_TOOL] = { STR_INIT("tool"), STR_INIT("tools/list"), STR_INIT("tools"),
                       STR_INIT("name"), STR_INIT("tools") },
    [SURFACE_RESOURCE] = { STR_INIT("resource"), STR_INIT("resources/list"),
                           STR_INIT("resources"), STR_INIT("uri"), STR_INIT("resources") },
    [SURFACE_TEMPLATE] = { STR_INIT("template"), STR_INIT("resources/templates/list"),
                           STR_INIT("resourceTemplates"), STR_INIT("uriTemplate"),
                           STR_INIT("resources") },
    [SURFACE_PROMPT] = { STR_INIT("prompt"), STR_INIT("prompts/list"), STR_INIT("prompts"),
                         STR_INIT("name"), STR_INIT("prompts") },
    [SURFACE_SERVER] = { .name = STR_INIT("server") },
};

static void init_maps(struct surface_list *l)
{
    map_init(&l->by_key);
    map_init(&l->by_def);
}

static void release_maps(struct surface_list *l)
{
    map_release(&l->by_key);
    map_release(&l->by_def);
}

void surface_init(struct surface *s)
{
    *s = (struct surface){ .described = false };
    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++)
        init_maps(&s->lists[k]);
}

void surface_release(struct surface *s)
{
    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++) {
        free(s->lists[k].items);
        release_maps(&s->lists[k]);
    }
    for (size_t i = 0; i < s->document_count; i++) {
        json_release(s->documents[i]);
        free(s->documents[i]);
    }
    free(s->documents);
    arena_release(&s->arena);
}

struct str surface_kind_name(enum surface_kind kind)
{
    return kinds[kind].name;
}

struct str surface_list_method(enum surface_kind kind)
{
    return kinds[kind].method;
}

struct str surface_list_member(enum surface_kind kind)
{
    return kinds[kind].member;
}

struct json_val surface_copy(struct surface *s, struct json_val v)
{
    struct json *j;
    struct json_fault fault;

    if (!json_exists(v))
        return v;
    j = mem_new(struct json);
    json_init(j);
    if (!json_scan(j, arena_str(&s->arena, json_raw(v)), &fault))
        BUG("a JSON value is no JSON");
    s->documents = mem_reserve(s->documents, &s->document_cap, s->document_count + 1,
                               sizeof *s->documents);
    s->documents[s->document_count++] = j;
    return json_root(j);
}

static void begin_list(struct surface_list *l)
{
    l->count = 0;
    l->nameless = 0;
    release_maps(l);
    init_maps(l);
}

static struct str repeat_key(struct arena *a, struct str key, size_t repeat)
{
    return arena_printf(a, "%zu %.*s", repeat, STR_ARG(key));
}

static size_t find_index(const struct surface_list *l, struct str key, size_t repeat)
{
    struct arena a = { 0 };
    size_t index = (size_t)(uintptr_t)map_get(&l->by_key, repeat_key(&a, key, repeat));

    arena_release(&a);
    return index;
}

/* A page that was read twice has equal definitions. */
static bool has_definition(const struct surface_list *l, uint64_t hash, struct json_val def)
{
    size_t index = (size_t)(uintptr_t)map_get(&l->by_def, map_number_key(&hash));

    return index && json_equal(l->items[index - 1].def, def, &by_value);
}

bool surface_add_item(struct surface *s, enum surface_kind kind, struct json_val def,
                      uint64_t line)
{
    struct surface_list *l = &s->lists[kind];
    struct json_val key = json_get(def, kinds[kind].key);
    struct surface_item item = { .line = line };
    uint64_t hash;
    size_t first;

    if (json_type(key) != JSON_STRING) {
        l->nameless++;
        return false;
    }
    hash = json_hash(def, &by_value);
    if (has_definition(l, hash, def))
        return true;
    item.def = surface_copy(s, def);
    item.key = json_text(json_get(item.def, kinds[kind].key), &s->arena);
    item.name = json_get(item.def, STR("name"));
    first = find_index(l, item.key, 0);
    if (first)
        item.repeat = ++l->items[first - 1].repeats;
    l->items = mem_reserve(l->items, &l->cap, l->count + 1, sizeof *l->items);
    l->items[l->count++] = item;
    map_put(&l->by_key, repeat_key(&s->arena, item.key, item.repeat),
            (void *)(uintptr_t)l->count);
    map_put(&l->by_def, map_number_key(&hash), (void *)(uintptr_t)l->count);
    return true;
}

static bool add_page(struct surface *s, enum surface_kind kind, bool next_page,
                     struct json_val result, uint64_t line)
{
    struct surface_list *l = &s->lists[kind];
    struct json_val list = json_get(result, kinds[kind].member);
    struct json_iter it = json_each(list);

    if (json_type(list) != JSON_ARRAY)
        return false;
    if (!next_page)
        begin_list(l);
    l->known = true;
    l->has_more = json_type(json_get(result, STR("nextCursor"))) == JSON_STRING;
    while (json_next(&it))
        surface_add_item(s, kind, it.value, line);
    return true;
}

/* The latest version of `supportedVersions`; dates sort as text. */
static struct str latest_version(struct json_val versions, struct arena *a)
{
    struct json_iter it = json_each(versions);
    struct str latest = STR_NONE;

    while (json_next(&it)) {
        struct str v = json_text(it.value, a);

        if (str_cmp(v, latest) > 0)
            latest = v;
    }
    return latest;
}

static bool add_description(struct surface *s, struct json_val result, uint64_t line)
{
    struct json_val info = json_get(result, STR("serverInfo"));
    struct json_val version = json_get(result, STR("protocolVersion"));
    struct arena *a = &s->arena;

    if (json_type(result) != JSON_OBJECT)
        return false;
    if (!json_exists(info))
        info = mcp_meta(result, MCP_META_SERVER_INFO);
    s->described = true;
    s->server_line = line;
    s->capabilities = surface_copy(s, json_get(result, STR("capabilities")));
    s->server_info = surface_copy(s, info);
    s->instructions = arena_str(a, json_text(json_get(result, STR("instructions")), a));
    s->protocol_version =
        arena_str(a, json_type(version) == JSON_STRING
                         ? json_text(version, a)
                         : latest_version(json_get(result, STR("supportedVersions")), a));
    return true;
}

bool surface_add_result(struct surface *s, struct str method, bool next_page,
                        struct json_val result, uint64_t line)
{
    if (str_eq(method, STR("initialize")) || str_eq(method, STR("server/discover")))
        return add_description(s, result, line);
    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++)
        if (str_eq(method, kinds[k].method))
            return add_page(s, k, next_page, result, line);
    return false;
}

const struct surface_item *surface_find_repeat(const struct surface *s, enum surface_kind kind,
                                               struct str key, size_t repeat)
{
    size_t index = find_index(&s->lists[kind], key, repeat);

    return index ? &s->lists[kind].items[index - 1] : NULL;
}

const struct surface_item *surface_find(const struct surface *s, enum surface_kind kind,
                                        struct str key)
{
    return surface_find_repeat(s, kind, key, 0);
}

bool surface_offers(const struct surface *s, enum surface_kind kind)
{
    return json_type(json_get(s->capabilities, kinds[kind].capability)) == JSON_OBJECT;
}

void surface_complete(struct surface *s)
{
    for (enum surface_kind k = 0; k < SURFACE_LISTS && s->described; k++)
        s->lists[k].known = s->lists[k].known || !surface_offers(s, k);
}

bool surface_is_empty(const struct surface *s)
{
    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++)
        if (s->lists[k].known)
            return false;
    return !s->described;
}

/* Finds an item that only one of two lists has, or that differs; false: there is none. */
static bool find_difference(const struct surface *a, const struct surface *b,
                            enum surface_kind kind, struct str *key)
{
    const struct surface_list *l = &a->lists[kind];

    for (size_t i = 0; i < l->count; i++) {
        const struct surface_item *other =
            surface_find_repeat(b, kind, l->items[i].key, l->items[i].repeat);

        if (!other || !json_equal(l->items[i].def, other->def, &by_value)) {
            *key = l->items[i].key;
            return true;
        }
    }
    return false;
}

static void copy_list(struct surface *s, const struct surface *other, enum surface_kind kind)
{
    const struct surface_list *from = &other->lists[kind];

    begin_list(&s->lists[kind]);
    s->lists[kind].known = true;
    s->lists[kind].has_more = from->has_more;
    s->lists[kind].nameless = from->nameless;
    for (size_t i = 0; i < from->count; i++)
        surface_add_item(s, kind, from->items[i].def, from->items[i].line);
}

static void copy_description(struct surface *s, const struct surface *other)
{
    s->described = true;
    s->server_line = other->server_line;
    s->capabilities = surface_copy(s, other->capabilities);
    s->server_info = surface_copy(s, other->server_info);
    s->protocol_version = arena_str(&s->arena, other->protocol_version);
    s->instructions = arena_str(&s->arena, other->instructions);
}

bool surface_merge(struct surface *s, const struct surface *other, enum surface_kind *kind,
                   struct str *key)
{
    if (!s->described && other->described)
        copy_description(s, other);
    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++) {
        const struct surface_list *mine = &s->lists[k], *theirs = &other->lists[k];

        *kind = k;
        if (!theirs->known)
            continue;
        if (!mine->known || (mine->has_more && !theirs->has_more))
            copy_list(s, other, k);
        else if (!(theirs->has_more && !mine->has_more) &&
                 (find_difference(s, other, k, key) || find_difference(other, s, k, key)))
            return false;
    }
    return true;
}
