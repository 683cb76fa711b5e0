/* format/thoughtjack.c - a configuration of ThoughtJack (TJ-SPEC-001), only written.
 *
 * Describes a server with the recorded tools, resources and prompts, which answers the n-th
 * call of each with the n-th recorded response, and then with the last one. The phased style
 * has another phase after some calls: it is the same server, but every tool that was called has
 * a response with a marker for the attack.
 *
 * ThoughtJack replaces "${NAME}" twice: in the text of the file (yaml/yaml-out.h), and in
 * responses, where "$${" stands for "${". */
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/term.h"
#include "format/attack-notes.h"
#include "trace/limits.h"
#include "json/meta-schema.h"

/* Limits of ThoughtJack. */
enum { FILE_BYTES_MAX = 10 << 20, DEPTH_MAX = 64 };

enum { WARNINGS_MAX = 64 << 10 }; /* further ones are not printed */
static const size_t items_max[SURFACE_LISTS] = {
    [SURFACE_TOOL] = 1000,
    [SURFACE_RESOURCE] = 1000,
    [SURFACE_PROMPT] = 500,
};

#define NO_DESCRIPTION STR("(no description recorded)")
#define NO_RESPONSE STR("(no response recorded)")
#define MARKER_TEXT "\n\n" ATTACK_MARKER "\n"

struct thoughtjack {
    struct attack_model model;
    struct attack_notes notes;
    const struct format_options *options;
    struct yaml_out o;
    struct arena arena;   /* of the current response */
    struct buf warnings;  /* about single tools, one in a line */
    struct json response; /* the current one */
};

static void *thoughtjack_begin(const struct format_options *options)
{
    struct thoughtjack *t = mem_new(struct thoughtjack);

    t->options = options;
    attack_model_init(&t->model);
    json_init(&t->response);
    buf_init(&t->warnings, WARNINGS_MAX);
    return t;
}

static void thoughtjack_put(void *state, struct buf *to, const struct record *r)
{
    struct thoughtjack *t = state;

    attack_model_put(&t->model, r);
    to->full = to->full || t->model.failed;
}

static void thoughtjack_put_operation(void *state, struct buf *to,
                                      const struct format_operation *o)
{
    struct thoughtjack *t = state;

    (void)to;
    attack_model_put_operation(&t->model, o);
}

/* Writes "$${" for "${". */
static void escape_template(struct buf *to, struct str text)
{
    while (text.len) {
        size_t n = str_find(text, '$');

        buf_add(to, str_n(text.at, n));
        text = str_skip(text, n);
        if (str_starts(text, STR("${")))
            buf_add_ch(to, '$');
        buf_add(to, str_n(text.at, text.len > 0));
        text = str_skip(text, 1);
    }
}

/* Parses a recorded response; valid until the next one. */
static struct json_val response_of(struct thoughtjack *t, const struct attack_call *call)
{
    struct json_fault fault;

    arena_clear(&t->arena);
    if (!json_scan(&t->response, call->response, &fault))
        BUG("a recorded response is no JSON");
    return json_root(&t->response);
}

static struct str text_member(struct thoughtjack *t, struct json_val object, struct str name)
{
    return json_text(json_get(object, name), &t->arena);
}

static void put_text_item(struct thoughtjack *t, struct str text, struct str marker)
{
    yaml_out_key_plain(&t->o, STR("type"), STR("text"));
    yaml_out_key_str(&t->o, STR("text"), attack_notes_join(&t->arena, text, marker));
}

/* Whether it is a resource with a text or a blob, in a content item or in a result. */
static bool is_resource(struct thoughtjack *t, struct json_val resource)
{
    return text_member(t, resource, STR("uri")).len &&
           (json_type(json_get(resource, STR("text"))) == JSON_STRING ||
            json_type(json_get(resource, STR("blob"))) == JSON_STRING);
}

static void put_resource_members(struct thoughtjack *t, struct json_val resource)
{
    struct str media = text_member(t, resource, STR("mimeType"));
    struct str member =
        json_type(json_get(resource, STR("text"))) == JSON_STRING ? STR("text") : STR("blob");

    yaml_out_key_str(&t->o, STR("uri"), text_member(t, resource, STR("uri")));
    if (media.len)
        yaml_out_key_str(&t->o, STR("mimeType"), media);
    yaml_out_key_str(&t->o, member, text_member(t, resource, member));
}

static bool put_resource_item(struct thoughtjack *t, struct json_val item)
{
    struct json_val resource = json_get(item, STR("resource"));

    if (!is_resource(t, resource))
        return false;
    yaml_out_key_plain(&t->o, STR("type"), STR("resource"));
    yaml_out_key(&t->o, STR("resource"));
    yaml_out_open(&t->o);
    put_resource_members(t, resource);
    yaml_out_close(&t->o);
    return true;
}

static bool put_image_item(struct thoughtjack *t, struct json_val item)
{
    struct str media = text_member(t, item, STR("mimeType"));
    struct json_val data = json_get(item, STR("data"));

    if (!media.len || json_type(data) != JSON_STRING)
        return false;
    yaml_out_key_plain(&t->o, STR("type"), STR("image"));
    yaml_out_key_str(&t->o, STR("mimeType"), media);
    yaml_out_key_str(&t->o, STR("data"), json_text(data, &t->arena));
    return true;
}

/* Text instead of an item that the format does not have: "[resource_link file:///a]". */
static void put_unknown_item(struct thoughtjack *t, struct json_val item, struct str marker)
{
    struct str type = text_member(t, item, STR("type")), name;

    name = text_member(t, item, STR("uri"));
    if (!name.len)
        name = text_member(t, item, STR("mimeType"));
    t->notes.count[ATTACK_CONTENT]++;
    put_text_item(t,
                  arena_printf(&t->arena, "[%.*s%s%.*s]", STR_ARG(type), name.len ? " " : "",
                               STR_ARG(name)),
                  marker);
}

static bool is_text_item(struct json_val item)
{
    return json_is(json_get(item, STR("type")), STR("text")) &&
           json_type(json_get(item, STR("text"))) == JSON_STRING;
}

/* The members of one content item; `marker` is put behind its text. */
static void put_content_item(struct thoughtjack *t, struct json_val item, struct str marker)
{
    struct json_val type = json_get(item, STR("type"));

    yaml_out_open(&t->o);
    if (is_text_item(item))
        put_text_item(t, text_member(t, item, STR("text")), marker);
    else if (!(json_is(type, STR("image")) && put_image_item(t, item)) &&
             !(json_is(type, STR("resource")) && put_resource_item(t, item)))
        put_unknown_item(t, item, marker);
    yaml_out_close(&t->o);
}

static void put_single_text(struct thoughtjack *t, struct str text, struct str marker)
{
    yaml_out_item(&t->o);
    yaml_out_open(&t->o);
    put_text_item(t, text, marker);
    yaml_out_close(&t->o);
}

/* Older servers have only text in `content`; newer ones may have only data beside it. The
 * format needs an item: of a response without content that is an empty text. */
static struct str text_without_content(struct thoughtjack *t, struct json_val result)
{
    struct json_val structured = json_get(result, STR("structuredContent"));

    t->notes.count[ATTACK_NO_CONTENT] += !json_exists(structured);
    return json_exists(structured) ? json_raw(structured) : STR("");
}

/* The items of a result. The marker goes behind the last text; without one it is an item. */
static void put_result_content(struct thoughtjack *t, struct json_val result, struct str marker)
{
    struct json_val content = json_get(result, STR("content"));
    struct json_iter it = json_each(content);
    size_t last_text = SIZE_MAX, i = 0;

    for (; json_next(&it); i++)
        if (is_text_item(it.value))
            last_text = i;
    it = json_each(content);
    for (i = 0; json_next(&it); i++) {
        yaml_out_item(&t->o);
        put_content_item(t, it.value, i == last_text ? marker : STR_NONE);
    }
    if (!i || (marker.len && last_text == SIZE_MAX))
        put_single_text(t, i ? STR_NONE : text_without_content(t, result), marker);
}

static void note_members(struct thoughtjack *t, struct json_val object, const struct str *known,
                         enum attack_note note)
{
    struct json_iter it = json_each(object);

    while (json_next(&it)) {
        const struct str *k = known;

        while (k->len && !json_is(it.key, *k))
            k++;
        t->notes.count[note] += !k->len;
    }
}

static void put_error(struct thoughtjack *t, struct json_val error, struct str marker)
{
    struct str message = text_member(t, error, STR("message"));

    t->notes.count[ATTACK_RPC_ERROR]++;
    put_single_text(t, message.len ? message : STR("error"), marker);
}

/* The members `content` and `isError` of a response. */
static void put_call_result(struct thoughtjack *t, const struct attack_call *call,
                            struct str marker, bool in_sequence)
{
    static const struct str known[] = { STR_INIT("content"), STR_INIT("isError"), { 0 } };
    struct json_val result = response_of(t, call);
    bool is_error = call->is_error || json_type(json_get(result, STR("isError"))) == JSON_TRUE;

    yaml_out_key(&t->o, STR("content"));
    yaml_out_open(&t->o);
    t->o.change = escape_template;
    if (call->is_error) {
        put_error(t, result, marker);
    } else {
        put_result_content(t, result, marker);
        note_members(t, result, known, ATTACK_STRUCTURED);
    }
    t->o.change = NULL;
    yaml_out_close(&t->o);
    if (is_error)
        yaml_out_key_plain(&t->o, STR("isError"), STR("true"));
    t->notes.count[ATTACK_ERROR_IN_SEQUENCE] += is_error && in_sequence;
}

static void put_content_of_resource(struct thoughtjack *t, const struct attack_call *call,
                                    struct json_val resource)
{
    yaml_out_item(&t->o);
    yaml_out_open(&t->o);
    if (is_resource(t, resource)) {
        put_resource_members(t, resource);
    } else {
        yaml_out_key_str(&t->o, STR("uri"), call->key);
        yaml_out_key_str(&t->o, STR("text"), text_member(t, resource, STR("message")));
        t->notes.count[call->is_error ? ATTACK_RPC_ERROR : ATTACK_CONTENT]++;
    }
    yaml_out_close(&t->o);
}

/* The result of resources/read; for an error a text with its message. */
static void put_contents(struct thoughtjack *t, const struct attack_call *call,
                         struct str marker, bool in_sequence)
{
    static const struct str known[] = { STR_INIT("contents"), { 0 } };
    struct json_val result = response_of(t, call);
    struct json_val contents = json_get(result, STR("contents"));
    struct json_iter it = json_each(contents);

    (void)marker;
    (void)in_sequence;
    yaml_out_key(&t->o, STR("contents"));
    if (!call->is_error && !json_count(contents)) {
        yaml_out_plain(&t->o, STR("[]"));
        return;
    }
    yaml_out_open(&t->o);
    t->o.change = escape_template;
    while (!call->is_error && json_next(&it))
        put_content_of_resource(t, call, it.value);
    if (call->is_error)
        put_content_of_resource(t, call, result);
    else
        note_members(t, result, known, ATTACK_STRUCTURED);
    t->o.change = NULL;
    yaml_out_close(&t->o);
}

static void put_message(struct thoughtjack *t, struct json_val message)
{
    yaml_out_open(&t->o);
    yaml_out_key_plain(&t->o, STR("role"),
                       json_is(json_get(message, STR("role")), STR("assistant"))
                           ? STR("assistant")
                           : STR("user"));
    yaml_out_key(&t->o, STR("content"));
    put_content_item(t, json_get(message, STR("content")), STR_NONE);
    yaml_out_close(&t->o);
}

static void put_message_text(struct thoughtjack *t, struct str text)
{
    yaml_out_item(&t->o);
    yaml_out_open(&t->o);
    yaml_out_key_plain(&t->o, STR("role"), STR("user"));
    yaml_out_key(&t->o, STR("content"));
    yaml_out_open(&t->o);
    put_text_item(t, text, STR_NONE);
    yaml_out_close(&t->o);
    yaml_out_close(&t->o);
}

static void put_messages(struct thoughtjack *t, const struct attack_call *call,
                         struct str marker, bool in_sequence)
{
    static const struct str known[] = { STR_INIT("messages"), STR_INIT("description"), { 0 } };
    struct json_val result = response_of(t, call);
    struct json_iter it = json_each(json_get(result, STR("messages")));

    (void)marker;
    (void)in_sequence;
    yaml_out_key(&t->o, STR("messages"));
    yaml_out_open(&t->o);
    t->o.change = escape_template;
    while (json_next(&it)) {
        yaml_out_item(&t->o);
        put_message(t, it.value);
    }
    if (call->is_error) {
        t->notes.count[ATTACK_RPC_ERROR]++;
        put_message_text(t, text_member(t, result, STR("message")));
    } else {
        if (!json_count(json_get(result, STR("messages")))) {
            t->notes.count[ATTACK_NO_CONTENT]++;
            put_message_text(t, STR(""));
        }
        note_members(t, result, known, ATTACK_STRUCTURED);
    }
    t->o.change = NULL;
    yaml_out_close(&t->o);
}

/* How a kind of items is written. */
static const struct item_kind {
    struct str list, item, key, no_response_member;
    void (*put_response)(struct thoughtjack *t, const struct attack_call *call,
                         struct str marker, bool in_sequence);
    bool has_first; /* beside a sequence there must be the first response */
} item_kinds[SURFACE_LISTS] = {
    [SURFACE_TOOL] = { STR_INIT("tools"), STR_INIT("tool"), STR_INIT("name"),
                       STR_INIT("content"), put_call_result, false },
    [SURFACE_RESOURCE] = { STR_INIT("resources"), STR_INIT("resource"), STR_INIT("uri"),
                           STR_INIT("contents"), put_contents, true },
    [SURFACE_PROMPT] = { STR_INIT("prompts"), STR_INIT("prompt"), STR_INIT("name"),
                         STR_INIT("messages"), put_messages, true },
};

/* The calls of an item that a phase has: those up to a number, or else the first. */
struct answers {
    const struct attack_call *first;
    size_t up_to, count;
    bool are_equal;
};

static const struct attack_call *next_answer(const struct answers *a,
                                             const struct attack_call *call)
{
    const struct attack_call *next = attack_model_answered(call->next_same);

    return next && next->number <= a->up_to ? next : NULL;
}

static struct answers answers_of(const struct attack_item *item, size_t up_to)
{
    struct answers a = { .first = attack_model_answered(item->calls),
                         .up_to = up_to,
                         .are_equal = true };

    for (const struct attack_call *c = a.first; c; c = next_answer(&a, c), a.count++)
        a.are_equal = a.are_equal && str_eq(c->response, a.first->response) &&
                      c->is_error == a.first->is_error;
    return a;
}

static void put_sequence(struct thoughtjack *t, const struct item_kind *kind,
                         const struct answers *a)
{
    yaml_out_key(&t->o, STR("sequence"));
    yaml_out_open(&t->o);
    for (const struct attack_call *c = a->first; c; c = next_answer(a, c)) {
        if (c->arguments.len)
            yaml_out_comment(&t->o, "%.*s", STR_ARG(c->arguments));
        yaml_out_item(&t->o);
        yaml_out_open(&t->o);
        kind->put_response(t, c, STR_NONE, true);
        yaml_out_close(&t->o);
    }
    yaml_out_close(&t->o);
    yaml_out_key_plain(&t->o, STR("on_exhausted"), STR("last"));
}

/* A response for an item that was never called. */
static void put_no_response(struct thoughtjack *t, enum surface_kind k,
                            const struct attack_item *item, struct str marker)
{
    yaml_out_key(&t->o, item_kinds[k].no_response_member);
    yaml_out_open(&t->o);
    if (k == SURFACE_PROMPT) {
        put_message_text(t, NO_RESPONSE);
    } else if (k == SURFACE_TOOL) {
        put_single_text(t, NO_RESPONSE, marker);
    } else {
        yaml_out_item(&t->o);
        yaml_out_open(&t->o);
        yaml_out_key_str(&t->o, STR("uri"), item->key);
        yaml_out_key_str(&t->o, STR("text"), NO_RESPONSE);
        yaml_out_close(&t->o);
    }
    yaml_out_close(&t->o);
}

static void put_response(struct thoughtjack *t, enum surface_kind k,
                         const struct attack_item *item, size_t up_to)
{
    struct answers a = answers_of(item, up_to);

    yaml_out_key(&t->o, STR("response"));
    yaml_out_open(&t->o);
    if (!a.first) {
        put_no_response(t, k, item, STR_NONE);
    } else if (a.are_equal) {
        if (a.count > 1)
            yaml_out_comment(&t->o, "%zu equal responses", a.count);
        item_kinds[k].put_response(t, a.first, STR_NONE, false);
    } else {
        if (item_kinds[k].has_first)
            item_kinds[k].put_response(t, a.first, STR_NONE, false);
        put_sequence(t, &item_kinds[k], &a);
    }
    yaml_out_close(&t->o);
}

/* Whether a value has a key that ThoughtJack would execute. The depth of recursion is that of
 * the value: JSON_MAX_DEPTH at most. */
static bool has_directive(struct json_val v)
{
    static const struct str directives[] = { STR_INIT("$include"), STR_INIT("$file"),
                                             STR_INIT("$generate") };
    struct json_iter it = json_each(v);

    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        if (json_exists(json_get(v, directives[i])))
            return true;
    while (json_next(&it))
        if (has_directive(it.value))
            return true;
    return false;
}

static void put_any_object(struct thoughtjack *t)
{
    yaml_out_key(&t->o, STR("inputSchema"));
    yaml_out_open(&t->o);
    yaml_out_key_plain(&t->o, STR("type"), STR("object"));
    yaml_out_close(&t->o);
}

static void add_warning(struct thoughtjack *t, struct str tool, struct str why)
{
    buf_add(&t->warnings, STR("the input schema of the tool '"));
    term_escape(&t->warnings, tool, TERM_ONE_LINE);
    buf_printf(&t->warnings,
               "' is no valid JSON Schema: %.*s; it accepts any object in the file\n",
               STR_ARG(why));
}

/* TJ-SPEC-001 demands a valid schema; ThoughtJack 0.4.1 only checks that it is an object. */
static void put_checked_schema(struct thoughtjack *t, const struct attack_item *item,
                               struct json_val schema)
{
    struct buf why;

    buf_init(&why, LIMIT_LINE);
    if (json_meta_schema_check(schema, &why)) {
        yaml_out_key(&t->o, STR("inputSchema"));
        yaml_out_json(&t->o, schema);
    } else {
        add_warning(t, item->key, buf_str(&why));
        yaml_out_comment(&t->o, "the recorded schema is not valid: %.*s",
                         STR_ARG(buf_str(&why)));
        put_any_object(t);
    }
    buf_release(&why);
}

static void put_input_schema(struct thoughtjack *t, const struct attack_item *item)
{
    struct json_val schema = json_get(item->def, STR("inputSchema"));
    const bool is_object = json_type(schema) == JSON_OBJECT && json_count(schema);

    if (is_object && !has_directive(schema)) {
        put_checked_schema(t, item, schema);
        return;
    }
    t->notes.count[is_object ? ATTACK_DIRECTIVE : ATTACK_NO_SCHEMA]++;
    put_any_object(t);
}

static void put_text_member(struct thoughtjack *t, const struct attack_item *item,
                            struct str member)
{
    struct str text = text_member(t, item->def, member);

    if (text.len)
        yaml_out_key_str(&t->o, member, text);
}

static void put_prompt_arguments(struct thoughtjack *t, struct json_val arguments)
{
    struct json_iter it = json_each(arguments);
    bool is_open = false;

    while (json_next(&it)) {
        struct str name = text_member(t, it.value, STR("name"));
        struct str description = text_member(t, it.value, STR("description"));

        if (!name.len)
            continue;
        if (!is_open) {
            yaml_out_key(&t->o, STR("arguments"));
            yaml_out_open(&t->o);
            is_open = true;
        }
        yaml_out_item(&t->o);
        yaml_out_open(&t->o);
        yaml_out_key_str(&t->o, STR("name"), name);
        if (description.len)
            yaml_out_key_str(&t->o, STR("description"), description);
        if (json_type(json_get(it.value, STR("required"))) == JSON_TRUE)
            yaml_out_key_plain(&t->o, STR("required"), STR("true"));
        yaml_out_close(&t->o);
    }
    if (is_open)
        yaml_out_close(&t->o);
}

static void put_tool(struct thoughtjack *t, const struct attack_item *item)
{
    static const struct str known[] = {
        STR_INIT("name"), STR_INIT("description"), STR_INIT("inputSchema"), { 0 }
    };
    struct str description = text_member(t, item->def, STR("description"));

    yaml_out_key_str(&t->o, STR("name"), item->key);
    yaml_out_key_str(&t->o, STR("description"), description.len ? description : NO_DESCRIPTION);
    put_input_schema(t, item);
    note_members(t, item->def, known, ATTACK_MEMBERS);
}

static void put_resource(struct thoughtjack *t, const struct attack_item *item)
{
    static const struct str known[] = {
        STR_INIT("uri"), STR_INIT("name"), STR_INIT("description"), STR_INIT("mimeType"), { 0 }
    };
    struct str name = text_member(t, item->def, STR("name"));

    yaml_out_key_str(&t->o, STR("uri"), item->key);
    yaml_out_key_str(&t->o, STR("name"), name.len ? name : item->key);
    put_text_member(t, item, STR("description"));
    put_text_member(t, item, STR("mimeType"));
    note_members(t, item->def, known, ATTACK_MEMBERS);
}

static void put_prompt(struct thoughtjack *t, const struct attack_item *item)
{
    static const struct str known[] = {
        STR_INIT("name"), STR_INIT("description"), STR_INIT("arguments"), { 0 }
    };

    yaml_out_key_str(&t->o, STR("name"), item->key);
    put_text_member(t, item, STR("description"));
    put_prompt_arguments(t, json_get(item->def, STR("arguments")));
    note_members(t, item->def, known, ATTACK_MEMBERS);
}

static void put_definition(struct thoughtjack *t, enum surface_kind k,
                           const struct attack_item *item)
{
    arena_clear(&t->arena);
    yaml_out_key(&t->o, item_kinds[k].item);
    yaml_out_open(&t->o);
    if (k == SURFACE_TOOL)
        put_tool(t, item);
    else if (k == SURFACE_RESOURCE)
        put_resource(t, item);
    else
        put_prompt(t, item);
    yaml_out_close(&t->o);
}

static void put_items(struct thoughtjack *t, enum surface_kind k, size_t up_to)
{
    const struct attack_items *items = &t->model.items[k];
    bool is_open = false;

    for (size_t i = 0; i < items->count; i++) {
        if (!items->at[i].key.len) {
            t->notes.count[ATTACK_NAMELESS]++;
            continue;
        }
        if (!is_open) {
            yaml_out_key(&t->o, item_kinds[k].list);
            yaml_out_open(&t->o);
            is_open = true;
        }
        t->notes.count[k == SURFACE_TOOL ? ATTACK_INFERRED_TOOL : ATTACK_INFERRED_OTHER] +=
            items->at[i].is_inferred;
        if (items->at[i].is_inferred)
            yaml_out_comment(&t->o, "in no list; inferred from requests");
        yaml_out_item(&t->o);
        yaml_out_open(&t->o);
        put_definition(t, k, &items->at[i]);
        put_response(t, k, &items->at[i], up_to);
        yaml_out_close(&t->o);
    }
    if (is_open)
        yaml_out_close(&t->o);
    else if (k == SURFACE_TOOL)
        yaml_out_key_plain(&t->o, item_kinds[k].list, STR("[]"));
}

static void put_all_items(struct thoughtjack *t, size_t up_to)
{
    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++)
        if (item_kinds[k].list.len)
            put_items(t, k, up_to);
    t->notes.count[ATTACK_TEMPLATE] += t->model.items[SURFACE_TEMPLATE].count;
}

/* The server changes its tools when the attack begins. */
static void put_capabilities(struct thoughtjack *t)
{
    yaml_out_key(&t->o, STR("capabilities"));
    yaml_out_open(&t->o);
    yaml_out_key(&t->o, STR("tools"));
    yaml_out_open(&t->o);
    yaml_out_key_plain(&t->o, STR("listChanged"), STR("true"));
    yaml_out_close(&t->o);
    yaml_out_close(&t->o);
}

static void put_server(struct thoughtjack *t, bool tools_change)
{
    struct arena a = { 0 };

    yaml_out_key(&t->o, STR("server"));
    yaml_out_open(&t->o);
    yaml_out_key_str(&t->o, STR("name"), attack_notes_name(t->options, &a));
    yaml_out_key_str(&t->o, STR("version"), STR("1.0.0"));
    if (tools_change)
        put_capabilities(t);
    yaml_out_close(&t->o);
    arena_release(&a);
}

static void put_simple(struct thoughtjack *t)
{
    put_server(t, false);
    yaml_out_space(&t->o);
    put_all_items(t, SIZE_MAX);
}

/* The first call after the benign phase, or else the last one. */
static const struct attack_call *attacked_call(const struct attack_item *item, size_t after)
{
    const struct attack_call *c = attack_model_answered(item->calls);

    while (c && c->number <= after && attack_model_answered(c->next_same))
        c = attack_model_answered(c->next_same);
    return c;
}

static void put_attacked_tool(struct thoughtjack *t, const struct attack_item *item)
{
    const struct attack_call *call = attacked_call(item, (size_t)t->options->phase_after);

    yaml_out_key(&t->o, item->key);
    yaml_out_open(&t->o);
    put_definition(t, SURFACE_TOOL, item);
    yaml_out_key(&t->o, STR("response"));
    yaml_out_open(&t->o);
    if (call)
        put_call_result(t, call, STR(MARKER_TEXT), false);
    else
        put_no_response(t, SURFACE_TOOL, item, STR(MARKER_TEXT));
    yaml_out_close(&t->o);
    yaml_out_close(&t->o);
}

/* Tools that were called, or all if none was. The notes about them were made before. */
static void put_attack(struct thoughtjack *t)
{
    const struct attack_items *tools = &t->model.items[SURFACE_TOOL];
    const struct attack_notes notes = t->notes;
    const size_t warnings = t->warnings.len;
    bool any_called = false;

    for (size_t i = 0; i < tools->count; i++)
        any_called = any_called || (tools->at[i].answered && tools->at[i].key.len);
    yaml_out_key(&t->o, STR("replace_tools"));
    yaml_out_open(&t->o);
    for (size_t i = 0; i < tools->count; i++)
        if (tools->at[i].key.len && (tools->at[i].answered || !any_called))
            put_attacked_tool(t, &tools->at[i]);
    yaml_out_close(&t->o);
    t->notes = notes;
    t->warnings.len = warnings;
}

static void put_phases(struct thoughtjack *t)
{
    yaml_out_open(&t->o);
    yaml_out_comment(&t->o, "the server starts here");
    yaml_out_item(&t->o);
    yaml_out_open(&t->o);
    yaml_out_key_plain(&t->o, STR("name"), STR("benign"));
    yaml_out_key(&t->o, STR("advance"));
    yaml_out_open(&t->o);
    yaml_out_key_plain(&t->o, STR("on"), STR("tools/call"));
    yaml_out_key_int(&t->o, STR("count"), t->options->phase_after);
    yaml_out_close(&t->o);
    yaml_out_close(&t->o);
    yaml_out_item(&t->o);
    yaml_out_open(&t->o);
    yaml_out_key_plain(&t->o, STR("name"), STR("attack"));
    yaml_out_comment(&t->o, "to announce the change, remove the '#':");
    yaml_out_comment(&t->o,
                     "on_enter: [{send_notification: notifications/tools/list_changed}]");
    put_attack(t);
    yaml_out_close(&t->o);
    yaml_out_close(&t->o);
}

static bool has_tools(const struct thoughtjack *t)
{
    const struct attack_items *tools = &t->model.items[SURFACE_TOOL];

    for (size_t i = 0; i < tools->count; i++)
        if (tools->at[i].key.len)
            return true;
    return false;
}

/* ThoughtJack 0.4 reads the capabilities of a phased server from the baseline. */
static void put_phased(struct thoughtjack *t)
{
    put_server(t, true);
    yaml_out_space(&t->o);
    yaml_out_key(&t->o, STR("baseline"));
    yaml_out_open(&t->o);
    put_capabilities(t);
    put_all_items(t, (size_t)t->options->phase_after);
    yaml_out_close(&t->o);
    yaml_out_space(&t->o);
    yaml_out_key(&t->o, STR("phases"));
    if (has_tools(t))
        put_phases(t);
    else
        yaml_out_plain(&t->o, STR("[]"));
}

static void warn_limits(const struct thoughtjack *t, size_t bytes)
{
    const struct log *log = t->options->log;

    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++)
        if (items_max[k] && t->model.items[k].count > items_max[k])
            log_printf(log, LOG_WARN, "ThoughtJack reads at most %zu %.*s, the file has %zu",
                       items_max[k], STR_ARG(item_kinds[k].list), t->model.items[k].count);
    if (bytes > FILE_BYTES_MAX)
        log_printf(log, LOG_WARN,
                   "ThoughtJack reads at most 10 MB (THOUGHTJACK_MAX_CONFIG_SIZE), the file is "
                   "larger");
    if (t->o.deepest > DEPTH_MAX)
        log_printf(log, LOG_WARN, "ThoughtJack reads at most %d levels, the file has %u",
                   DEPTH_MAX, t->o.deepest);
}

static void log_warnings(const struct thoughtjack *t)
{
    struct str rest = buf_str(&t->warnings);

    while (rest.len) {
        struct str line = str_cut(&rest, '\n');

        log_printf(t->options->log, LOG_WARN, "%.*s", STR_ARG(line));
    }
}

static void write_document(struct thoughtjack *t, struct buf *to)
{
    const size_t before = to->len;

    attack_model_finish(&t->model);
    t->o = yaml_out_to(to);
    attack_notes_write_head(&t->o, &t->model, t->options);
    yaml_out_space(&t->o);
    yaml_out_open(&t->o);
    if (t->options->style == FORMAT_STYLE_PHASED)
        put_phased(t);
    else
        put_simple(t);
    yaml_out_close(&t->o);
    to->full = to->full || t->model.failed;
    if (to->full || !t->options->log)
        return;
    attack_notes_check_phase(&t->model, t->options);
    attack_notes_log(&t->notes, t->options->log);
    log_warnings(t);
    warn_limits(t, to->len - before);
}

/* A full buffer means that the file is not written. */
static void thoughtjack_end(void *state, struct buf *to)
{
    struct thoughtjack *t = state;

    if (!to->full)
        write_document(t, to);
    attack_model_release(&t->model);
    json_release(&t->response);
    arena_release(&t->arena);
    buf_release(&t->warnings);
    free(t);
}

const struct format thoughtjack_format = {
    .name = "thoughtjack",
    .about = "ThoughtJack's YAML: a server that gives the recorded responses",
    .ext = { ".yaml", ".yml" },
    .options = { "style", "phase-after" },
    .begin = thoughtjack_begin,
    .put = thoughtjack_put,
    .put_operation = thoughtjack_put_operation,
    .end = thoughtjack_end,
};
