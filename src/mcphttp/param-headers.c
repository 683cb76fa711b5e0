#include "mcphttp/param-headers.h"

#include "base/base64.h"

enum { DEPTH_MAX = 8 };

/* An argument that is repeated in a header. */
struct param_header {
    struct param_header *next;
    struct str name;
    size_t depth;
    struct str path[DEPTH_MAX];
};

/* A walk through the schema of one tool. */
struct schema_walk {
    struct param_headers *headers;
    struct param_header *found;
    size_t depth;
    struct str path[DEPTH_MAX];
};

void param_headers_init(struct param_headers *p)
{
    *p = (struct param_headers){ .arena = { NULL, 0 } };
    map_init(&p->tools);
}

void param_headers_release(struct param_headers *p)
{
    map_release(&p->tools);
    arena_release(&p->arena);
}

static void add_header(struct schema_walk *w, struct str name)
{
    struct arena *a = &w->headers->arena;
    struct param_header *param = arena_new(a, struct param_header);

    param->name = arena_printf(a, "Mcp-Param-%.*s", STR_ARG(name));
    param->depth = w->depth;
    for (size_t i = 0; i < w->depth; i++)
        param->path[i] = arena_str(a, w->path[i]);
    param->next = w->found;
    w->found = param;
}

/* Follows `properties` only. */
static void walk_schema(struct schema_walk *w, struct json_val schema)
{
    struct json_iter it = json_each(json_get(schema, STR("properties")));
    struct arena *a = &w->headers->arena;

    if (w->depth == DEPTH_MAX)
        return;
    while (json_next(&it)) {
        struct json_val name = json_get(it.value, STR("x-mcp-header"));

        w->path[w->depth++] = json_text(it.key, a);
        if (json_type(name) == JSON_STRING && json_raw(name).len <= PARAM_HEADERS_VALUE_MAX)
            add_header(w, json_text(name, a));
        walk_schema(w, it.value);
        w->depth--;
    }
}

void param_headers_update(struct param_headers *p, struct json_val result)
{
    struct json_iter it = json_each(json_get(result, STR("tools")));

    while (json_next(&it)) {
        struct str name = json_text(json_get(it.value, STR("name")), &p->arena);
        struct schema_walk w = { .headers = p };

        walk_schema(&w, json_get(it.value, STR("inputSchema")));
        if (w.found)
            map_put(&p->tools, name, w.found);
        else
            map_remove(&p->tools, name);
    }
}

static bool is_header_safe(struct str text)
{
    if (text.len && (text.at[0] == ' ' || text.at[text.len - 1] == ' '))
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] < 0x20 || text.at[i] > 0x7e)
            return false;
    return !str_starts(text, STR("=?base64?"));
}

struct str param_headers_encode(struct str text, struct arena *a)
{
    struct str value;
    struct buf b;

    if (is_header_safe(text))
        return text;
    buf_init(&b, text.len * 2 + 64);
    buf_add(&b, STR("=?base64?"));
    base64_encode(&b, text);
    buf_add(&b, STR("?="));
    value = arena_str(a, buf_str(&b));
    buf_release(&b);
    return value;
}

struct str param_headers_decode(struct str value, struct arena *a)
{
    static const struct str open = STR_INIT("=?base64?"), close = STR_INIT("?=");
    struct str bytes;

    if (!str_starts(value, open) || !str_ends(value, close) || value.len < open.len + close.len)
        return value;
    value = str_n(value.at + open.len, value.len - open.len - close.len);
    return base64_decode(value, a, &bytes) ? bytes : STR_NONE;
}

static bool is_same_number(struct json_val value, struct str text)
{
    struct json_fault fault;
    int64_t one, other;
    struct json j;
    bool same;

    json_init(&j);
    same = json_scan(&j, text, &fault) && json_int(value, &one) &&
           json_int(json_root(&j), &other) && one == other;
    json_release(&j);
    return same;
}

static struct json_val find_argument(const struct param_header *p, const struct mcp_message *m)
{
    struct json_val value = json_get(m->params, STR("arguments"));

    for (size_t i = 0; i < p->depth; i++)
        value = json_get(value, p->path[i]);
    return value;
}

/* Strings, integers and booleans are repeated; for any other value there must be no header. */
static bool header_matches(const struct param_header *p, const struct http_request *c,
                           struct arena *a)
{
    struct json_val value = find_argument(p, c->message);
    const struct header *f = headers_next(c->headers, p->name, NULL);
    struct str text = f ? param_headers_decode(f->value, a) : STR_NONE;

    switch (json_type(value)) {
    case JSON_STRING:
        return f && str_eq(text, json_text(value, a));
    case JSON_NUMBER:
        return f && is_same_number(value, text);
    case JSON_TRUE:
    case JSON_FALSE:
        return f && str_eq(text, json_raw(value));
    default:
        return !f;
    }
}

static const struct param_header *find_headers(const struct param_headers *p,
                                               const struct mcp_message *m, struct arena *a)
{
    struct str tool = json_text(json_get(m->params, STR("name")), a);

    return str_eq(m->method, STR("tools/call")) ? map_get(&p->tools, tool) : NULL;
}

static struct str header_value(struct json_val value, struct arena *a)
{
    int64_t n;

    switch (json_type(value)) {
    case JSON_STRING:
        return param_headers_encode(json_text(value, a), a);
    case JSON_NUMBER:
        return json_int(value, &n) ? json_raw(value) : STR_NONE;
    case JSON_TRUE:
    case JSON_FALSE:
        return json_raw(value);
    default:
        return STR_NONE;
    }
}

/* Skips a header name that is no token: the schema is wrong, and the server will reject the
 * call. */
void param_headers_add(const struct param_headers *p, const struct mcp_message *m,
                       struct headers *to, struct arena *a)
{
    const struct param_header *param = find_headers(p, m, a);

    for (size_t i = 0; param && i < PARAM_HEADERS_MAX; i++, param = param->next) {
        struct str value = header_value(find_argument(param, m), a);

        if (value.at && value.len <= PARAM_HEADERS_VALUE_MAX && headers_is_token(param->name))
            headers_add(to, param->name, value);
    }
}

void param_headers_to_text(const struct param_headers *p, const struct mcp_message *m,
                           struct buf *to, struct arena *a)
{
    struct headers f = { .at = NULL };

    param_headers_add(p, m, &f, a);
    for (size_t i = 0; i < f.count; i++)
        buf_printf(to, "%.*s: %.*s\n", STR_ARG(f.at[i].name), STR_ARG(f.at[i].value));
    headers_release(&f);
}

bool param_headers_match(const struct param_headers *p, const struct http_request *c,
                         struct arena *a)
{
    const struct param_header *param = find_headers(p, c->message, a);

    while (param && header_matches(param, c, a))
        param = param->next;
    return !param;
}
