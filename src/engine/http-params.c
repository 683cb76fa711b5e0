#include "engine/http-params.h"

#include "base/base64.h"

enum { DEPTH_MAX = 8 };

/* An argument that has a header line. */
struct http_param {
    struct http_param *next;
    struct str header;
    size_t depth;
    struct str path[DEPTH_MAX];
};

/* What is found in the schema of one tool. */
struct walk {
    struct http_params *params;
    struct http_param *found;
    size_t depth;
    struct str path[DEPTH_MAX];
};

void http_params_init(struct http_params *p)
{
    *p = (struct http_params){ .arena = { NULL, 0 } };
    map_init(&p->tools);
}

void http_params_release(struct http_params *p)
{
    map_release(&p->tools);
    arena_release(&p->arena);
}

static void note(struct walk *w, struct str name)
{
    struct arena *a = &w->params->arena;
    struct http_param *param = arena_new(a, struct http_param);

    param->header = arena_printf(a, "Mcp-Param-%.*s", STR_ARG(name));
    param->depth = w->depth;
    for (size_t i = 0; i < w->depth; i++)
        param->path[i] = arena_str(a, w->path[i]);
    param->next = w->found;
    w->found = param;
}

/* Only what is reached by way of `properties` counts. */
static void walk(struct walk *w, struct json_val schema)
{
    struct json_iter it = json_each(json_get(schema, STR("properties")));
    struct arena *a = &w->params->arena;

    if (w->depth == DEPTH_MAX)
        return;
    while (json_next(&it)) {
        struct json_val name = json_get(it.value, STR("x-mcp-header"));

        w->path[w->depth++] = json_text(it.key, a);
        if (json_type(name) == JSON_STRING && json_raw(name).len <= HTTP_PARAMS_VALUE_MAX)
            note(w, json_text(name, a));
        walk(w, it.value);
        w->depth--;
    }
}

void http_params_learn(struct http_params *p, struct json_val result)
{
    struct json_iter it = json_each(json_get(result, STR("tools")));

    while (json_next(&it)) {
        struct str name = json_text(json_get(it.value, STR("name")), &p->arena);
        struct walk w = { .params = p };

        walk(&w, json_get(it.value, STR("inputSchema")));
        if (w.found)
            map_put(&p->tools, name, w.found);
        else
            map_remove(&p->tools, name);
    }
}

static bool is_plain(struct str text)
{
    if (text.len && (text.at[0] == ' ' || text.at[text.len - 1] == ' '))
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] < 0x20 || text.at[i] > 0x7e)
            return false;
    return !str_starts(text, STR("=?base64?"));
}

struct str http_params_value(struct str text, struct arena *a)
{
    struct str value;
    struct buf b;

    if (is_plain(text))
        return text;
    buf_init(&b, text.len * 2 + 64);
    buf_add(&b, STR("=?base64?"));
    base64_encode(&b, text);
    buf_add(&b, STR("?="));
    value = arena_str(a, buf_str(&b));
    buf_release(&b);
    return value;
}

struct str http_params_text(struct str value, struct arena *a)
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

static struct json_val argument(const struct http_param *p, const struct mcp_message *m)
{
    struct json_val value = json_get(m->params, STR("arguments"));

    for (size_t i = 0; i < p->depth; i++)
        value = json_get(value, p->path[i]);
    return value;
}

/* Only texts, whole numbers and truth values are repeated; what is not there is not. */
static bool fits(const struct http_param *p, const struct http_call *c, struct arena *a)
{
    struct json_val value = argument(p, c->message);
    const struct field *f = fields_next(c->fields, p->header, NULL);
    struct str text = f ? http_params_text(f->value, a) : STR_NONE;

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

static const struct http_param *params_of(const struct http_params *p,
                                          const struct mcp_message *m, struct arena *a)
{
    struct str tool = json_text(json_get(m->params, STR("name")), a);

    return str_eq(m->method, STR("tools/call")) ? map_get(&p->tools, tool) : NULL;
}

static struct str value_text(struct json_val value, struct arena *a)
{
    int64_t n;

    switch (json_type(value)) {
    case JSON_STRING:
        return http_params_value(json_text(value, a), a);
    case JSON_NUMBER:
        return json_int(value, &n) ? json_raw(value) : STR_NONE;
    case JSON_TRUE:
    case JSON_FALSE:
        return json_raw(value);
    default:
        return STR_NONE;
    }
}

/* A name that could not stand in a line is the server's mistake, which it will hear of. */
void http_params_add(const struct http_params *p, const struct mcp_message *m,
                     struct fields *to, struct arena *a)
{
    const struct http_param *param = params_of(p, m, a);

    for (size_t i = 0; param && i < HTTP_PARAMS_MAX; i++, param = param->next) {
        struct str value = value_text(argument(param, m), a);

        if (value.at && value.len <= HTTP_PARAMS_VALUE_MAX && fields_is_token(param->header))
            fields_add(to, param->header, value);
    }
}

void http_params_text_of(const struct http_params *p, const struct mcp_message *m,
                         struct buf *to, struct arena *a)
{
    struct fields f = { .at = NULL };

    http_params_add(p, m, &f, a);
    for (size_t i = 0; i < f.count; i++)
        buf_printf(to, "%.*s: %.*s\n", STR_ARG(f.at[i].name), STR_ARG(f.at[i].value));
    fields_release(&f);
}

bool http_params_fit(const struct http_params *p, const struct http_call *c, struct arena *a)
{
    const struct http_param *param = params_of(p, c->message, a);

    while (param && fits(param, c, a))
        param = param->next;
    return !param;
}
