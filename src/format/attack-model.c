#include "format/attack-model.h"

#include "trace/limits.h"
#include "json/write.h"

enum { UPSTREAM_MAX = 4096 };

/* The requests whose results are answers, by kind. */
static const struct {
    struct str method, member;
} requests[SURFACE_LISTS] = {
    [SURFACE_TOOL] = { STR_INIT("tools/call"), STR_INIT("name") },
    [SURFACE_RESOURCE] = { STR_INIT("resources/read"), STR_INIT("uri") },
    [SURFACE_PROMPT] = { STR_INIT("prompts/get"), STR_INIT("name") },
};

void attack_model_init(struct attack_model *m)
{
    *m = (struct attack_model){ .failed = false };
    surface_init(&m->surface);
    buf_init(&m->upstream, UPSTREAM_MAX);
    map_init(&m->calls);
}

void attack_model_release(struct attack_model *m)
{
    surface_release(&m->surface);
    buf_release(&m->upstream);
    map_release(&m->calls);
    arena_release(&m->arena);
}

/* Several recordings in one file: the first header counts. */
static void note_header(struct attack_model *m, const struct record *r)
{
    const struct record_header *h = &r->header;

    if (!m->upstream.len)
        buf_add(&m->upstream, h->upstream.len ? h->upstream : h->command);
}

void attack_model_put(struct attack_model *m, const struct record *r)
{
    if (r->kind == RECORD_HEADER)
        note_header(m, r);
}

/* Copies a text that counts towards the limit. */
static struct str keep(struct attack_model *m, struct str text)
{
    if (m->failed || m->bytes + text.len > LIMIT_LINE) {
        m->failed = true;
        return STR_NONE;
    }
    m->bytes += text.len;
    return arena_str(&m->arena, text);
}

static struct attack_call *call_of(const struct attack_model *m, uint64_t number)
{
    return map_get(&m->calls, map_number_key(&number));
}

static void remember_call(struct attack_model *m, uint64_t number, struct attack_call *call)
{
    map_put(&m->calls, map_number_key(&number), call);
}

static void add_call(struct attack_model *m, enum surface_kind kind, const struct operation *op,
                     struct json_val params)
{
    struct json_val key = json_get(params, requests[kind].member);
    struct attack_call *call;

    if (json_type(key) != JSON_STRING)
        return;
    call = arena_new(&m->arena, struct attack_call);
    call->kind = kind;
    call->key = keep(m, json_text(key, &m->arena));
    call->arguments = keep(m, json_raw(json_get(params, STR("arguments"))));
    if (m->last)
        m->last->next = call;
    else
        m->first = call;
    m->last = call;
    remember_call(m, op->number, call);
}

/* A retry, or a request about the task that a call became, continues that call. */
static void note_request(struct attack_model *m, const struct operation *op,
                         struct json_val request)
{
    struct attack_call *continued = call_of(m, op->parent);

    if ((op->link == LINK_RETRY || op->link == LINK_TASK) && continued) {
        remember_call(m, op->number, continued);
        return;
    }
    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++)
        if (requests[k].method.len && str_eq(op->method, requests[k].method))
            add_call(m, k, op, json_get(request, STR("params")));
}

/* Returns what a response gives its call; absent: nothing. */
static struct json_val answer_in(const struct operation *op, struct json_val response,
                                 bool *is_error)
{
    struct json_val result = json_get(response, STR("result"));

    *is_error = !json_exists(result);
    if (op->link == LINK_TASK && !str_eq(op->method, STR("tasks/result")))
        return json_get(result, STR("result"));
    if (op->response == RESPONSE_RESULT || op->response == RESPONSE_ERROR)
        return *is_error ? json_get(response, STR("error")) : result;
    return JSON_VAL_NONE;
}

static void note_response(struct attack_model *m, const struct operation *op,
                          struct json_val response)
{
    struct attack_call *call = call_of(m, op->number);
    struct json_val answer;
    bool is_error;

    answer = answer_in(op, response, &is_error);
    if (!json_exists(answer) || m->failed)
        return;
    if (call) {
        call->response = keep(m, json_raw(answer));
        call->is_error = is_error;
    } else if (!is_error && surface_add_result(&m->surface, op->method, true, answer, 0)) {
        m->bytes += json_raw(answer).len;
        m->failed = m->bytes > LIMIT_LINE;
    }
}

void attack_model_put_operation(struct attack_model *m, const struct format_operation *o)
{
    const struct operation_event *ev = o->event;

    if (!m->start_known && o->start_known) {
        m->start_known = true;
        m->start_wall_us = o->start_wall_us;
    }
    if (!ev->message || ev->op->kind != OPERATION_REQUEST || ev->op->dir != TO_SERVER)
        return;
    if (ev->message->role == ROLE_REQUEST)
        note_request(m, ev->op, ev->record->message.msg);
    else if (ev->message->role == ROLE_RESPONSE)
        note_response(m, ev->op, ev->record->message.msg);
}

const struct attack_call *attack_model_answered(const struct attack_call *call)
{
    while (call && !call->response.len)
        call = call->next_same;
    return call;
}

/* Returns the last part of the path of a URI, or all of it. */
static struct str resource_name(struct str uri)
{
    struct str rest = uri, name = uri;

    while (rest.len) {
        struct str part = str_cut(&rest, '/');

        if (part.len)
            name = part;
    }
    return name;
}

/* Calls `put` for each name that the calls of an item had as an argument, once. */
static void each_argument(const struct attack_item *item, struct json_out *to,
                          void (*put)(struct json_out *to, struct str name))
{
    struct json arguments;
    struct json_fault fault;
    struct arena a = { 0 };
    struct map names;

    map_init(&names);
    json_init(&arguments);
    for (const struct attack_call *c = item->calls; c; c = c->next_same) {
        struct json_iter it;

        if (!c->arguments.len || !json_scan(&arguments, c->arguments, &fault) ||
            json_type(json_root(&arguments)) != JSON_OBJECT)
            continue;
        it = json_each(json_root(&arguments));
        while (json_next(&it)) {
            struct str name = json_text(it.key, &a);

            if (map_get(&names, name))
                continue;
            map_put(&names, name, &names);
            put(to, name);
        }
    }
    json_release(&arguments);
    map_release(&names);
    arena_release(&a);
}

static void put_property(struct json_out *to, struct str name)
{
    json_out_key_raw(to, name, STR("{}"));
}

static void put_prompt_argument(struct json_out *to, struct str name)
{
    json_out_object(to);
    json_out_key_str(to, STR("name"), name);
    json_out_end_object(to);
}

static void write_definition(struct buf *to, enum surface_kind kind,
                             const struct attack_item *item)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    if (kind == SURFACE_RESOURCE)
        json_out_key_str(&o, STR("uri"), item->key);
    json_out_key_str(&o, STR("name"),
                     kind == SURFACE_RESOURCE ? resource_name(item->key) : item->key);
    if (kind == SURFACE_TOOL) {
        json_out_key(&o, STR("inputSchema"));
        json_out_object(&o);
        json_out_key_str(&o, STR("type"), STR("object"));
        json_out_key(&o, STR("properties"));
        json_out_object(&o);
        each_argument(item, &o, put_property);
        json_out_end_object(&o);
        json_out_end_object(&o);
    }
    if (kind == SURFACE_PROMPT) {
        json_out_key(&o, STR("arguments"));
        json_out_array(&o);
        each_argument(item, &o, put_prompt_argument);
        json_out_end_array(&o);
    }
    json_out_end_object(&o);
}

/* Makes a definition of the calls. */
static void infer(struct attack_model *m, enum surface_kind kind, struct attack_item *item)
{
    struct json definition;
    struct json_fault fault;
    struct buf text;

    buf_init(&text, LIMIT_LINE);
    json_init(&definition);
    write_definition(&text, kind, item);
    if (text.full || !json_scan(&definition, buf_str(&text), &fault))
        m->failed = true;
    else
        item->def = surface_copy(&m->surface, json_root(&definition));
    json_release(&definition);
    buf_release(&text);
}

static bool has_result(const struct attack_item *item)
{
    const struct attack_call *c = attack_model_answered(item->calls);

    while (c && c->is_error)
        c = attack_model_answered(c->next_same);
    return c;
}

/* Completes the items behind the first `listed`, which were in no list, and removes those that
 * the server rejected. */
static void complete_items(struct attack_model *m, enum surface_kind kind, size_t listed)
{
    const bool is_listed = m->surface.lists[kind].known;
    struct attack_items *items = &m->items[kind];
    size_t kept = listed;

    for (size_t i = listed; i < items->count; i++) {
        if (is_listed && !has_result(&items->at[i]))
            continue;
        items->at[kept] = items->at[i];
        items->at[kept].is_inferred = true;
        infer(m, kind, &items->at[kept++]);
    }
    items->count = kept;
}

static void add_to_item(struct attack_items *items, struct map *by_key, struct attack_call *c)
{
    size_t index = (size_t)(uintptr_t)map_get(by_key, c->key);
    struct attack_item *item;

    if (!index) {
        items->at[items->count++].key = c->key;
        index = items->count;
        map_put(by_key, c->key, (void *)(uintptr_t)index);
    }
    item = &items->at[index - 1];
    if (item->last)
        item->last->next_same = c;
    else
        item->calls = c;
    item->last = c;
    item->answered += c->response.len > 0;
}

/* The last of several definitions of a key counts. */
static void add_listed(struct attack_items *items, struct map *by_key,
                       const struct surface_item *of)
{
    size_t index = (size_t)(uintptr_t)map_get(by_key, of->key);

    if (!index) {
        index = ++items->count;
        items->at[index - 1].key = of->key;
        map_put(by_key, of->key, (void *)(uintptr_t)index);
    }
    items->at[index - 1].def = of->def;
}

static void group_calls(struct attack_model *m, enum surface_kind kind)
{
    const struct surface_list *list = &m->surface.lists[kind];
    struct attack_items *items = &m->items[kind];
    struct map by_key;
    size_t calls = 0, listed;

    map_init(&by_key);
    for (const struct attack_call *c = m->first; c; c = c->next)
        calls += c->kind == kind;
    items->at = arena_alloc(&m->arena, (list->count + calls + 1) * sizeof *items->at);
    for (size_t i = 0; i < list->count; i++)
        add_listed(items, &by_key, &list->items[i]);
    listed = items->count;
    for (struct attack_call *c = m->first; c; c = c->next)
        if (c->kind == kind)
            add_to_item(items, &by_key, c);
    map_release(&by_key);
    complete_items(m, kind, listed);
}

void attack_model_finish(struct attack_model *m)
{
    for (struct attack_call *c = m->first; c; c = c->next)
        if (c->kind == SURFACE_TOOL && c->response.len)
            c->number = ++m->answered_tool_calls;
    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++)
        group_calls(m, k);
}
