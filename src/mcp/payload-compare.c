#include "mcp/payload-compare.h"

#include <stdlib.h>

#include "base/base64.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "mcp/meta.h"
#include "mcp/params-hash.h"
#include "mcp/volatile-text.h"
#include "mcp/volatile-values.h"
#include "json/equal.h"
#include "json/member-index.h"

/* A string is opened at JSON_MAX_DEPTH or above, and its text is not deeper than that. The rest
 * is for messages that were scanned with an envelope. */
enum { STEPS_MAX = 2 * JSON_MAX_DEPTH + 64 };

enum { BLOB_MIN = 16 }; /* bytes of a string that is decoded as base64 */

static const struct json_rules by_value = { .numbers_by_value = true };

/* Kinds of objects and arrays that the protocol defines. */
enum protocol_object {
    OBJECT_OTHER, /* content of the user, and everything inside strings */
    OBJECT_MESSAGE,
    OBJECT_RESULT,
    OBJECT_ERROR,
    OBJECT_TASKS,
    OBJECT_TASK,
    OBJECT_SERVER_INFO,
    OBJECT_RESOURCES,
    OBJECT_RESOURCE, /* or a block of content */
    OBJECT_PROMPT_MESSAGES,
    OBJECT_PROMPT_MESSAGE,
    OBJECT_ANNOTATIONS,
    OBJECT_META,
    OBJECT_SCHEMA, /* and everything in it: its members have names of parameters */
};

static const struct object_edge {
    enum protocol_object from;
    const char *name; /* of the member; NULL: an element */
    enum protocol_object to;
} object_edges[] = {
    { OBJECT_MESSAGE, "result", OBJECT_RESULT },
    { OBJECT_MESSAGE, "error", OBJECT_ERROR },
    { OBJECT_RESULT, "result", OBJECT_RESULT }, /* of a finished task, as is `error` */
    { OBJECT_RESULT, "error", OBJECT_ERROR },
    { OBJECT_RESULT, "task", OBJECT_TASK },
    { OBJECT_RESULT, "tasks", OBJECT_TASKS },
    { OBJECT_TASKS, NULL, OBJECT_TASK },
    { OBJECT_RESULT, "serverInfo", OBJECT_SERVER_INFO },
    { OBJECT_RESULT, "resources", OBJECT_RESOURCES },
    { OBJECT_RESULT, "resourceTemplates", OBJECT_RESOURCES },
    { OBJECT_RESULT, "content", OBJECT_RESOURCES },
    { OBJECT_RESOURCES, NULL, OBJECT_RESOURCE },
    { OBJECT_RESOURCE, "resource", OBJECT_RESOURCE }, /* embedded */
    { OBJECT_RESOURCE, "annotations", OBJECT_ANNOTATIONS },
    { OBJECT_RESULT, "messages", OBJECT_PROMPT_MESSAGES },
    { OBJECT_PROMPT_MESSAGES, NULL, OBJECT_PROMPT_MESSAGE },
    { OBJECT_PROMPT_MESSAGE, "content", OBJECT_RESOURCE },
    { OBJECT_META, "io.modelcontextprotocol/serverInfo", OBJECT_SERVER_INFO },
    { OBJECT_META, "io.modelcontextprotocol/related-task", OBJECT_TASK },
};

/* How a value is compared; if several rules apply, the last of these. */
enum treatment {
    TREAT_CONTENT,
    TREAT_GENERATED, /* values of the same type are volatile, at any depth below */
    TREAT_VOLATILE,  /* any difference is */
    TREAT_IGNORED,
};

#define AT(object) (1U << (object))

/* The default volatile set: members of the protocol. */
static const struct volatile_member {
    unsigned objects; /* AT() of those that have the member */
    const char *name;
    enum treatment treatment;
} volatile_members[] = {
    /* A client acts on the presence of these three. */
    { AT(OBJECT_RESULT), "nextCursor", TREAT_GENERATED },
    { AT(OBJECT_RESULT), "requestState", TREAT_GENERATED },
    { AT(OBJECT_RESULT) | AT(OBJECT_TASK), "taskId", TREAT_GENERATED },
    /* 2025-11-25 has tasks as objects, the extension of 2026-07-28 in the result itself. */
    { AT(OBJECT_RESULT) | AT(OBJECT_TASK), "createdAt", TREAT_VOLATILE },
    { AT(OBJECT_RESULT) | AT(OBJECT_TASK), "lastUpdatedAt", TREAT_VOLATILE },
    { AT(OBJECT_RESULT) | AT(OBJECT_TASK), "statusMessage", TREAT_VOLATILE },
    { AT(OBJECT_RESULT) | AT(OBJECT_TASK), "ttl", TREAT_VOLATILE },
    { AT(OBJECT_RESULT) | AT(OBJECT_TASK), "ttlMs", TREAT_VOLATILE },
    { AT(OBJECT_RESULT) | AT(OBJECT_TASK), "pollInterval", TREAT_VOLATILE },
    { AT(OBJECT_RESULT) | AT(OBJECT_TASK), "pollIntervalMs", TREAT_VOLATILE },
    { AT(OBJECT_RESULT), "supportedVersions", TREAT_VOLATILE },
    { AT(OBJECT_RESULT), "instructions", TREAT_VOLATILE },
    { AT(OBJECT_SERVER_INFO), "version", TREAT_VOLATILE },
    { AT(OBJECT_ERROR), "message", TREAT_VOLATILE },
    { AT(OBJECT_ERROR), "data", TREAT_VOLATILE },
    { AT(OBJECT_RESOURCE), "size", TREAT_VOLATILE },
    { AT(OBJECT_ANNOTATIONS), "lastModified", TREAT_VOLATILE },
    { AT(OBJECT_META), "traceparent", TREAT_VOLATILE },
    { AT(OBJECT_META), "tracestate", TREAT_VOLATILE },
    { AT(OBJECT_META), "baggage", TREAT_VOLATILE },
};

/* Lists whose items have an identity: a key, and another one for items without a partner. */
static const struct keyed_list {
    const char *method, *member, *key, *second_key;
} keyed_lists[] = {
    { "tools/list", "tools", "name", NULL },
    { "prompts/list", "prompts", "name", NULL },
    { "resources/list", "resources", "uri", "name" },
    { "resources/templates/list", "resourceTemplates", "uriTemplate", "name" },
};

#define NO_INDEX SIZE_MAX /* of an item that is not on this side */

/* A member, element or item of a list, on both sides. */
struct payload_child {
    struct json_step step;
    bool is_item;                      /* of a keyed list; `step` has its key */
    size_t recorded_index, live_index; /* of an item */
    struct json_val recorded, live;
};

/* An item of a keyed list, on one side. */
struct list_item {
    bool has_key;
    struct str key;
    size_t index;
    struct json_val value;
};

struct payload_comparison {
    const struct compare_rules *rules;
    struct str method;
    bool (*found)(void *arg, const struct payload_difference *d);
    void *arg;
    bool stopped; /* set when `found` returned false */
    struct payload_counts counts;
    struct json_member_index members;
    struct payload_child *children; /* a stack, because a comparison continues inside them */
    size_t child_count, child_cap;
    uint64_t *states; /* of every path at every depth: states[depth * path_count + path] */
    size_t state_cap;
    struct buf masked[2];
    struct json_step *steps; /* up to STEPS_MAX */
    size_t step_cap;
};

/* Where the comparison is. */
struct payload_position {
    size_t depth;
    enum protocol_object object;
    enum treatment treatment;
    unsigned strings; /* how many strings it is inside */
};

const char *payload_class_name(enum payload_class class)
{
    static const char *const names[PAYLOAD_CLASSES] = { "content", "volatile", "ignored",
                                                        "order" };

    return names[class];
}

const char *payload_python_type(struct json_val v)
{
    struct str raw = json_raw(v);

    switch (json_type(v)) {
    case JSON_NULL:
        return "NoneType";
    case JSON_FALSE:
    case JSON_TRUE:
        return "bool";
    case JSON_NUMBER:
        return str_find(raw, '.') < raw.len || str_find(raw, 'e') < raw.len ||
                       str_find(raw, 'E') < raw.len
                   ? "float"
                   : "int";
    case JSON_STRING:
        return "str";
    case JSON_ARRAY:
        return "list";
    case JSON_OBJECT:
        return "dict";
    case JSON_ABSENT:
        break;
    }
    BUG("an absent value has no type");
}

static bool uses_default_set(const struct payload_comparison *c)
{
    return c->rules->default_volatile && !c->rules->like_mcp_recorder;
}

static void report(struct payload_comparison *c, const struct payload_position *at,
                   enum payload_class class, enum payload_kind kind, struct json_val recorded,
                   struct json_val live)
{
    const struct payload_difference d = {
        class, kind, { c->steps, at->depth }, recorded, live
    };

    c->counts.of[class]++;
    if (c->found && !c->found(c->arg, &d))
        c->stopped = true;
}

static bool is_bool(enum json_type type)
{
    return type == JSON_TRUE || type == JSON_FALSE;
}

static bool is_same_type(const struct payload_comparison *c, struct json_val a,
                         struct json_val b)
{
    enum json_type x = json_type(a), y = json_type(b);

    if (is_bool(x) && is_bool(y))
        return true;
    if (x == JSON_NUMBER && y == JSON_NUMBER && c->rules->like_mcp_recorder)
        return strcmp(payload_python_type(a), payload_python_type(b)) == 0;
    return x == y;
}

static enum payload_kind kind_of(const struct payload_comparison *c, struct json_val recorded,
                                 struct json_val live)
{
    if (!json_exists(recorded))
        return PAYLOAD_ADDED;
    if (!json_exists(live))
        return PAYLOAD_REMOVED;
    return is_same_type(c, recorded, live) ? PAYLOAD_CHANGED : PAYLOAD_TYPE_CHANGED;
}

/* Rules by location. */

static uint64_t *states_at(struct payload_comparison *c, size_t depth)
{
    size_t n = c->rules->path_count;

    c->states = mem_reserve(c->states, &c->state_cap, (depth + 1) * n, sizeof *c->states);
    return c->states + depth * n;
}

static enum treatment path_treatment(enum compare_path_kind kind)
{
    switch (kind) {
    case COMPARE_PATH_IGNORE:
        return TREAT_IGNORED;
    case COMPARE_PATH_VOLATILE:
        return TREAT_VOLATILE;
    case COMPARE_PATH_REBIND:
        return TREAT_GENERATED;
    }
    BUG("no such kind of path");
}

static enum treatment stronger(enum treatment a, enum treatment b)
{
    return a > b ? a : b;
}

/* Advances one path to a child. An item is at its key, and at its index on either side. */
static uint64_t advance_path(const struct json_path *path, uint64_t state,
                             const struct payload_child *child)
{
    const struct json_step recorded = { .is_index = true, .index = child->recorded_index },
                           live = { .is_index = true, .index = child->live_index };
    uint64_t next = json_path_advance(path, state, &child->step);

    if (child->is_item)
        next |=
            json_path_advance(path, state, &recorded) | json_path_advance(path, state, &live);
    return next;
}

/* Advances all paths to a child at `depth`; returns the treatment by those that match it. */
static enum treatment advance_paths(struct payload_comparison *c, size_t depth,
                                    const struct payload_child *child)
{
    const struct compare_rules *rules = c->rules;
    enum treatment t = TREAT_CONTENT;
    uint64_t *to, *from;

    if (!rules->path_count)
        return t;
    to = states_at(c, depth);
    from = to - rules->path_count;
    for (size_t i = 0; i < rules->path_count; i++) {
        const struct json_path *path = &rules->paths[i]->path;

        to[i] = from[i] ? advance_path(path, from[i], child) : 0;
        if (to[i] && json_path_has_matched(path, to[i]))
            t = stronger(t, path_treatment(rules->paths[i]->kind));
    }
    return t;
}

/* Starts all paths; returns the treatment of the root. */
static enum treatment start_paths(struct payload_comparison *c)
{
    const struct compare_rules *rules = c->rules;
    enum treatment t = TREAT_CONTENT;
    uint64_t *states = rules->path_count ? states_at(c, 0) : NULL;

    for (size_t i = 0; i < rules->path_count; i++) {
        states[i] = JSON_PATH_START;
        if (json_path_has_matched(&rules->paths[i]->path, states[i]))
            t = stronger(t, path_treatment(rules->paths[i]->kind));
    }
    return t;
}

static enum treatment default_treatment(enum protocol_object object, struct str name)
{
    for (size_t i = 0; i < sizeof volatile_members / sizeof *volatile_members; i++)
        if (volatile_members[i].objects & AT(object) &&
            str_eq(str_z(volatile_members[i].name), name))
            return volatile_members[i].treatment;
    return mcp_is_volatile_name(name) ? TREAT_GENERATED : TREAT_CONTENT;
}

static enum treatment member_treatment(const struct payload_comparison *c,
                                       const struct payload_position *in, struct str name)
{
    if (compare_rules_find_field(c->rules, name) != COMPARE_RULES_NONE)
        return TREAT_IGNORED;
    if (!in->strings && compare_rules_strips_field(c->rules, name))
        return TREAT_IGNORED;
    if (c->rules->like_mcp_recorder || in->object == OBJECT_SCHEMA)
        return TREAT_CONTENT;
    if (!c->rules->include_meta && str_eq(name, MCP_META_KEY))
        return TREAT_VOLATILE;
    return uses_default_set(c) ? default_treatment(in->object, name) : TREAT_CONTENT;
}

static bool is_schema_name(struct str name)
{
    return str_eq(name, STR("inputSchema")) || str_eq(name, STR("outputSchema")) ||
           str_eq(name, STR("requestedSchema"));
}

static enum protocol_object next_object(const struct payload_position *in,
                                        const struct payload_child *child)
{
    bool is_member = !child->step.is_index && !child->is_item;

    if (in->object == OBJECT_SCHEMA)
        return OBJECT_SCHEMA;
    if (is_member && str_eq(child->step.name, MCP_META_KEY))
        return OBJECT_META;
    if (is_member && !in->strings && is_schema_name(child->step.name))
        return OBJECT_SCHEMA;
    for (size_t i = 0; i < sizeof object_edges / sizeof *object_edges; i++) {
        const struct object_edge *e = &object_edges[i];

        if (e->from == in->object && (e->name != NULL) == is_member &&
            (!is_member || str_eq(str_z(e->name), child->step.name)))
            return e->to;
    }
    return OBJECT_OTHER;
}

static struct payload_position enter(struct payload_comparison *c,
                                     const struct payload_position *in,
                                     const struct payload_child *child)
{
    struct payload_position at = { .depth = in->depth + 1,
                                   .object = next_object(in, child),
                                   .treatment = in->treatment,
                                   .strings = in->strings };

    c->steps = mem_reserve(c->steps, &c->step_cap, in->depth + 1, sizeof *c->steps);
    c->steps[in->depth] = child->step;
    at.treatment = stronger(at.treatment, advance_paths(c, at.depth, child));
    if (!child->step.is_index && !child->is_item)
        at.treatment = stronger(at.treatment, member_treatment(c, in, child->step.name));
    return at;
}

/* Values. */

static void compare(struct payload_comparison *c, const struct payload_position *at,
                    struct json_val recorded, struct json_val live);

static void add_child(struct payload_comparison *c, struct payload_child child)
{
    c->children =
        mem_reserve(c->children, &c->child_cap, c->child_count + 1, sizeof *c->children);
    c->children[c->child_count++] = child;
}

/* Compares the children from `first` on and drops them. */
static void compare_children(struct payload_comparison *c, const struct payload_position *in,
                             size_t first)
{
    size_t end = c->child_count;

    for (size_t i = first; i < end && !c->stopped; i++) {
        const struct payload_child child = c->children[i]; /* the stack may move */
        struct payload_position at = enter(c, in, &child);

        compare(c, &at, child.recorded, child.live);
    }
    c->child_count = first;
}

static int compare_child_names(const void *left, const void *right)
{
    const struct payload_child *a = left, *b = right;

    return str_cmp(a->step.name, b->step.name);
}

/* Adds a child for every name of the two lists. */
static void pair_members(struct payload_comparison *c, struct json_member_list recorded,
                         struct json_member_list live)
{
    for (size_t i = 0; i < recorded.count; i++) {
        const struct json_member m = c->members.at[recorded.first + i];

        add_child(c, (struct payload_child){
                         .step = { .name = m.name },
                         .recorded = m.value,
                         .live = json_member_index_find(&c->members, live, m.name, m.hash),
                     });
    }
    for (size_t i = 0; i < live.count; i++) {
        const struct json_member m = c->members.at[live.first + i];

        if (!json_exists(json_member_index_find(&c->members, recorded, m.name, m.hash)))
            add_child(c, (struct payload_child){ .step = { .name = m.name }, .live = m.value });
    }
}

static void compare_objects(struct payload_comparison *c, const struct payload_position *at,
                            struct json_val recorded, struct json_val live)
{
    const struct str envelope[] = { STR("id"), STR("jsonrpc") };
    size_t skip = at->depth || at->strings ? 0 : c->rules->like_mcp_recorder ? 1 : 2;
    size_t first = c->child_count;
    struct json_member_list a = json_member_index_add(&c->members, recorded, envelope, skip);
    struct json_member_list b = json_member_index_add(&c->members, live, envelope, skip);

    pair_members(c, a, b);
    json_member_index_drop(&c->members, a);
    if (c->child_count > first)
        qsort(c->children + first, c->child_count - first, sizeof *c->children,
              compare_child_names);
    compare_children(c, at, first);
}

static void compare_arrays(struct payload_comparison *c, const struct payload_position *at,
                           struct json_val recorded, struct json_val live)
{
    bool prefix_only = c->rules->like_mcp_recorder;
    struct json_iter a = json_each(recorded), b = json_each(live);
    bool more_a = json_next(&a), more_b = json_next(&b);

    if (prefix_only && json_count(recorded) != json_count(live))
        report(c, at, PAYLOAD_CONTENT, PAYLOAD_LENGTH_CHANGED, recorded, live);
    for (size_t i = 0; prefix_only ? more_a && more_b : more_a || more_b; i++) {
        const struct payload_child child = { .step = { .is_index = true, .index = i },
                                             .recorded = more_a ? a.value : JSON_VAL_NONE,
                                             .live = more_b ? b.value : JSON_VAL_NONE };
        struct payload_position in;

        if (c->stopped)
            return;
        in = enter(c, at, &child);
        compare(c, &in, child.recorded, child.live);
        more_a = more_a && json_next(&a);
        more_b = more_b && json_next(&b);
    }
}

/* Lists by key. */

static const struct keyed_list *find_keyed_list(const struct payload_comparison *c,
                                                const struct payload_position *at)
{
    if (c->rules->like_mcp_recorder || at->strings || at->depth != 2 ||
        !str_eq(c->steps[0].name, STR("result")))
        return NULL;
    for (size_t i = 0; i < sizeof keyed_lists / sizeof *keyed_lists; i++)
        if (str_eq(str_z(keyed_lists[i].method), c->method) &&
            str_eq(str_z(keyed_lists[i].member), c->steps[1].name))
            return &keyed_lists[i];
    return NULL;
}

static int compare_item_keys(const struct list_item *a, const struct list_item *b)
{
    return a->has_key != b->has_key ? a->has_key - b->has_key : str_cmp(a->key, b->key);
}

/* Items with one key, and items without, keep their order. */
static int compare_items(const void *left, const void *right)
{
    const struct list_item *a = left, *b = right;
    int c = compare_item_keys(a, b);

    return c ? c : (a->index > b->index) - (a->index < b->index);
}

/* Returns the items sorted by key; the caller frees them. */
static struct list_item *sorted_items(struct payload_comparison *c, struct json_val list,
                                      const char *key)
{
    struct list_item *items = mem_alloc((json_count(list) + 1) * sizeof *items);
    struct json_iter it = json_each(list);
    size_t n = 0;

    for (; json_next(&it); n++) {
        struct json_val v = json_get(it.value, str_z(key));

        items[n] = (struct list_item){ .has_key = json_type(v) == JSON_STRING,
                                       .key = json_text(v, &c->members.names),
                                       .index = n,
                                       .value = it.value };
    }
    qsort(items, n, sizeof *items, compare_items);
    return items;
}

/* Either item may be NULL. */
static struct payload_child make_item_child(const struct list_item *recorded,
                                            const struct list_item *live)
{
    const struct list_item *either = recorded ? recorded : live;
    struct payload_child child = {
        .is_item = either->has_key,
        .recorded_index = recorded ? recorded->index : NO_INDEX,
        .live_index = live ? live->index : NO_INDEX,
        .recorded = recorded ? recorded->value : JSON_VAL_NONE,
        .live = live ? live->value : JSON_VAL_NONE,
    };

    if (either->has_key)
        child.step.name = either->key;
    else
        child.step = (struct json_step){ .is_index = true, .index = either->index };
    return child;
}

/* As recorded, then the added ones. */
static int compare_child_order(const void *left, const void *right)
{
    const struct payload_child *a = left, *b = right;

    if (a->recorded_index != b->recorded_index)
        return a->recorded_index < b->recorded_index ? -1 : 1;
    return (a->live_index > b->live_index) - (a->live_index < b->live_index);
}

static void pair_items(struct payload_comparison *c, struct json_val recorded,
                       struct json_val live, const char *key)
{
    struct list_item *a = sorted_items(c, recorded, key), *b = sorted_items(c, live, key);
    size_t i = 0, i_end = json_count(recorded), k = 0, k_end = json_count(live);

    while (i < i_end || k < k_end) {
        int order = i == i_end ? 1 : k == k_end ? -1 : compare_item_keys(&a[i], &b[k]);

        add_child(c, make_item_child(order <= 0 ? &a[i] : NULL, order >= 0 ? &b[k] : NULL));
        i += order <= 0;
        k += order >= 0;
    }
    free(a);
    free(b);
}

/* Moves the live side of a child to one that has only the recorded side. */
static void join_children(struct payload_child *recorded, struct payload_child *live)
{
    recorded->live = live->live;
    recorded->live_index = live->live_index;
    live->live = JSON_VAL_NONE;
}

static void drop_empty_children(struct payload_comparison *c, size_t first)
{
    size_t kept = first;

    for (size_t i = first; i < c->child_count; i++)
        if (json_exists(c->children[i].recorded) || json_exists(c->children[i].live))
            c->children[kept++] = c->children[i];
    c->child_count = kept;
}

/* Returns the items of one side that have no partner, sorted by another key; `index` is that of
 * the child. The caller frees them. */
static struct list_item *sorted_rest(struct payload_comparison *c, size_t first, bool live,
                                     const char *key, size_t *count)
{
    struct list_item *items = mem_alloc((c->child_count - first + 1) * sizeof *items);

    *count = 0;
    for (size_t i = first; i < c->child_count; i++) {
        const struct payload_child *child = &c->children[i];
        struct json_val name = json_get(live ? child->live : child->recorded, str_z(key));

        if (json_exists(live ? child->recorded : child->live) || json_type(name) != JSON_STRING)
            continue;
        items[(*count)++] = (struct list_item){ .has_key = true,
                                                .key = json_text(name, &c->members.names),
                                                .index = i };
    }
    qsort(items, *count, sizeof *items, compare_items);
    return items;
}

/* Pairs items without a partner by another key: a server may give a resource another URI in
 * each session, and keep its name. */
static void pair_rest(struct payload_comparison *c, size_t first, const char *key)
{
    size_t i = 0, i_end, k = 0, k_end;
    struct list_item *a = sorted_rest(c, first, false, key, &i_end);
    struct list_item *b = sorted_rest(c, first, true, key, &k_end);

    while (i < i_end && k < k_end) {
        int order = compare_item_keys(&a[i], &b[k]);

        if (!order)
            join_children(&c->children[a[i].index], &c->children[b[k].index]);
        i += order <= 0;
        k += order >= 0;
    }
    free(a);
    free(b);
    drop_empty_children(c, first);
}

static bool is_reordered(const struct payload_child *children, size_t count)
{
    size_t last = 0;

    for (size_t i = 0; i < count; i++) {
        if (!json_exists(children[i].recorded) || !json_exists(children[i].live))
            continue;
        if (children[i].live_index < last)
            return true;
        last = children[i].live_index;
    }
    return false;
}

static void compare_keyed_lists(struct payload_comparison *c, const struct payload_position *at,
                                struct json_val recorded, struct json_val live,
                                const struct keyed_list *list)
{
    size_t first = c->child_count, count;

    pair_items(c, recorded, live, list->key);
    if (list->second_key)
        pair_rest(c, first, list->second_key);
    count = c->child_count - first;
    if (count)
        qsort(c->children + first, count, sizeof *c->children, compare_child_order);
    if (is_reordered(c->children + first, count))
        report(c, at, PAYLOAD_ORDER, PAYLOAD_REORDERED, recorded, live);
    compare_children(c, at, first);
}

/* Strings. */

static bool may_be_json(struct str text)
{
    text = str_trim(text);
    return text.len && text.len <= PAYLOAD_JSON_MAX && (text.at[0] == '{' || text.at[0] == '[');
}

static void compare_values(struct payload_comparison *c, const struct payload_position *at,
                           struct json_val recorded, struct json_val live);

/* Compares two strings as JSON; false if they are none. */
static bool compare_as_json(struct payload_comparison *c, const struct payload_position *at,
                            struct str recorded, struct str live)
{
    struct payload_position in = { .depth = at->depth,
                                   .object = OBJECT_OTHER,
                                   .treatment = at->treatment,
                                   .strings = at->strings + 1 };
    struct json_fault fault;
    struct json a, b;
    bool both;

    if (at->strings == PAYLOAD_STRINGS_MAX || at->depth > JSON_MAX_DEPTH ||
        !may_be_json(recorded) || !may_be_json(live))
        return false;
    json_init(&a);
    json_init(&b);
    both = json_scan(&a, recorded, &fault) && json_scan(&b, live, &fault);
    if (both)
        compare_values(c, &in, json_root(&a), json_root(&b));
    json_release(&a);
    json_release(&b);
    return both;
}

/* True if the texts differ only in volatile parts, and in redacted ones. */
static bool differ_in_volatile_parts(struct payload_comparison *c, struct str recorded,
                                     struct str live, bool redacted)
{
    struct str a, b;

    buf_clear(&c->masked[0]);
    buf_clear(&c->masked[1]);
    mcp_mask_volatile_text(recorded, &c->masked[0]);
    mcp_mask_volatile_text(live, &c->masked[1]);
    if (c->masked[0].full || c->masked[1].full)
        return false;
    a = buf_str(&c->masked[0]);
    b = buf_str(&c->masked[1]);
    return redacted ? params_texts_may_be_equal(a, b) : str_eq(a, b);
}

/* The same for texts in base64, as blobs of resources are. */
static bool differ_in_volatile_blobs(struct payload_comparison *c, struct str recorded,
                                     struct str live)
{
    struct arena decoded = { 0 };
    struct str a, b;
    bool ok = recorded.len >= BLOB_MIN && live.len >= BLOB_MIN &&
              recorded.len <= PAYLOAD_JSON_MAX && live.len <= PAYLOAD_JSON_MAX &&
              base64_decode(recorded, &decoded, &a) && base64_decode(live, &decoded, &b) &&
              utf8_valid(a) && utf8_valid(b) && differ_in_volatile_parts(c, a, b, false);

    arena_release(&decoded);
    return ok;
}

/* Compares two texts that are not equal and not JSON. */
static void compare_texts(struct payload_comparison *c, const struct payload_position *at,
                          struct json_val recorded, struct json_val live, struct str a,
                          struct str b)
{
    bool redacted = params_is_redacted(recorded), is_volatile;

    if (redacted && params_texts_may_be_equal(a, b))
        return;
    is_volatile = at->treatment == TREAT_GENERATED ||
                  (uses_default_set(c) && (differ_in_volatile_parts(c, a, b, redacted) ||
                                           differ_in_volatile_blobs(c, a, b)));
    report(c, at, is_volatile ? PAYLOAD_VOLATILE : PAYLOAD_CONTENT, PAYLOAD_CHANGED, recorded,
           live);
}

static void compare_strings(struct payload_comparison *c, const struct payload_position *at,
                            struct json_val recorded, struct json_val live)
{
    struct arena texts = { 0 };
    struct str a = json_text(recorded, &texts), b = json_text(live, &texts);

    if (!str_eq(a, b) && (at->treatment == TREAT_GENERATED || !compare_as_json(c, at, a, b)))
        compare_texts(c, at, recorded, live, a, b);
    arena_release(&texts);
}

static void compare_scalars(struct payload_comparison *c, const struct payload_position *at,
                            struct json_val recorded, struct json_val live)
{
    bool is_volatile = at->treatment == TREAT_GENERATED;

    if (json_equal(recorded, live, &by_value))
        return;
    if (json_type(recorded) == JSON_NUMBER && uses_default_set(c))
        is_volatile = is_volatile || (mcp_is_volatile_number(json_raw(recorded)) &&
                                      mcp_is_volatile_number(json_raw(live)));
    report(c, at, is_volatile ? PAYLOAD_VOLATILE : PAYLOAD_CONTENT, PAYLOAD_CHANGED, recorded,
           live);
}

/* Recurses as deep as the values are nested; see STEPS_MAX. */
static void compare_values(struct payload_comparison *c, const struct payload_position *at,
                           struct json_val recorded, struct json_val live)
{
    const struct keyed_list *list;

    if (!is_same_type(c, recorded, live)) {
        if (!json_exists(live) || !params_is_redacted(recorded) ||
            !params_may_be_equal(recorded, live))
            report(c, at, PAYLOAD_CONTENT, kind_of(c, recorded, live), recorded, live);
        return;
    }
    switch (at->depth < STEPS_MAX ? json_type(recorded) : JSON_ABSENT) {
    case JSON_OBJECT:
        compare_objects(c, at, recorded, live);
        return;
    case JSON_ARRAY:
        list = find_keyed_list(c, at);
        if (list)
            compare_keyed_lists(c, at, recorded, live, list);
        else
            compare_arrays(c, at, recorded, live);
        return;
    case JSON_STRING:
        compare_strings(c, at, recorded, live);
        return;
    default:
        compare_scalars(c, at, recorded, live);
    }
}

/* Compares two values, one of which may be absent, by the rules for their location. */
static void compare(struct payload_comparison *c, const struct payload_position *at,
                    struct json_val recorded, struct json_val live)
{
    if (at->treatment < TREAT_VOLATILE)
        compare_values(c, at, recorded, live);
    else if (!json_equal(recorded, live, &by_value))
        report(c, at, at->treatment == TREAT_VOLATILE ? PAYLOAD_VOLATILE : PAYLOAD_IGNORED,
               kind_of(c, recorded, live), recorded, live);
}

struct payload_counts
payload_compare(struct json_val recorded, struct json_val live, struct str method,
                const struct compare_rules *rules,
                bool (*found)(void *arg, const struct payload_difference *d), void *arg)
{
    struct payload_position root = { .object = OBJECT_MESSAGE };
    struct payload_counts counts;
    struct payload_comparison *c = mem_alloc(sizeof *c);

    c->rules = rules;
    c->method = method;
    c->found = found;
    c->arg = arg;
    json_member_index_init(&c->members);
    buf_init(&c->masked[0], JSON_MAX_TEXT);
    buf_init(&c->masked[1], JSON_MAX_TEXT);
    root.treatment = start_paths(c);
    compare(c, &root, recorded, live);
    counts = c->counts;
    json_member_index_release(&c->members);
    buf_release(&c->masked[0]);
    buf_release(&c->masked[1]);
    free(c->children);
    free(c->states);
    free(c->steps);
    free(c);
    return counts;
}

static bool stop_at_content(void *arg, const struct payload_difference *d)
{
    (void)arg;
    return d->class != PAYLOAD_CONTENT;
}

bool payload_equal(struct json_val recorded, struct json_val live, struct str method,
                   const struct compare_rules *rules)
{
    return !payload_compare(recorded, live, method, rules, stop_at_content, NULL)
                .of[PAYLOAD_CONTENT];
}
