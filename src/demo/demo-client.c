#include "demo/demo-client.h"

#include "mcp/error-code.h"
#include "mcp/id.h"
#include "mcp/version.h"
#include "json/write.h"

enum { RECEIVED_MAX = 1000 };

static const struct step {
    struct str method, about, params;
    bool progress; /* with a progress token */
} steps[DEMO_STEPS] = {
    { .method = STR_INIT("initialize"),
      .params = JSON_LITERAL({
          "protocolVersion" : "2025-11-25",
          "capabilities" : { "sampling" : {} },
          "clientInfo" : { "name" : "mcpreel-demo-client", "version" : "1.0" }
      }) },
    { .method = STR_INIT("tools/list") },
    { .method = STR_INIT("tools/call"),
      .about = STR_INIT("weather Lisbon"),
      .params = JSON_LITERAL({ "name" : "weather", "arguments" : { "city" : "Lisbon" } }) },
    { .method = STR_INIT("tools/call"),
      .about = STR_INIT("count to 3"),
      .params = JSON_LITERAL({ "name" : "count", "arguments" : { "to" : 3 } }),
      .progress = true },
    { .method = STR_INIT("tools/call"),
      .about = STR_INIT("divide 1 by 0"),
      .params = JSON_LITERAL({ "name" : "divide", "arguments" : { "a" : 1, "b" : 0 } }) },
    { .method = STR_INIT("tools/call"),
      .about = STR_INIT("teleport"),
      .params = JSON_LITERAL({ "name" : "teleport", "arguments" : { "to" : "Lisbon" } }) },
    { .method = STR_INIT("tools/call"),
      .about = STR_INIT("haiku on tape"),
      .params = JSON_LITERAL({ "name" : "haiku", "arguments" : { "about" : "tape" } }) },
    { .method = STR_INIT("resources/read"),
      .about = STR_INIT("demo://manual"),
      .params = JSON_LITERAL({ "uri" : "demo://manual" }) },
    { .method = STR_INIT("prompts/get"),
      .about = STR_INIT("postcard"),
      .params = JSON_LITERAL({ "name" : "postcard", "arguments" : { "city" : "Lisbon" } }) },
};

/* The response to every sampling request. */
static const struct str model_result = JSON_LITERAL({
    "role" : "assistant",
    "content" : {
        "type" : "text",
        "text" : "Bytes pass, none is lost / the tape remembers each word / play it once again"
    },
    "model" : "mcpreel-demo-model",
    "stopReason" : "endTurn"
});

void demo_client_init(struct demo_client *c, enum demo_id_style id_style,
                      struct action_sink *out)
{
    *c = (struct demo_client){ .id_style = id_style };
    actions_init(&c->actions, out);
}

void demo_client_release(struct demo_client *c)
{
    actions_release(&c->actions);
    arena_release(&c->arena);
}

static void finish(struct demo_client *c, struct str trouble)
{
    c->finished = true;
    c->failure = trouble;
    actions_finish(&c->actions, trouble.len ? 1 : 0);
}

/* Returns id and progress token of the n-th request, as JSON. */
static struct str id_of(struct demo_client *c, size_t n)
{
    return arena_printf(&c->arena, c->id_style == DEMO_ID_NUMBERS ? "%zu" : "\"again-%zu\"", n);
}

static void send_next(struct demo_client *c)
{
    const struct step *step = &steps[c->sent_count];
    struct demo_call *x = &c->calls[c->sent_count++];
    struct str name = id_of(c, c->sent_count), params = step->params;

    x->method = step->method;
    x->about = step->about;
    x->tail = &x->received;
    if (step->progress)
        params = arena_printf(&c->arena, "{\"_meta\":{\"progressToken\":%s},%.*s", name.at,
                              STR_ARG(str_skip(params, 1)));
    actions_send_request(&c->actions, name, step->method, params);
}

static struct demo_call *current_call(struct demo_client *c)
{
    return &c->calls[c->sent_count - 1];
}

static void add_received(struct demo_client *c, enum demo_message_kind kind, struct str words,
                         struct str exact)
{
    struct demo_call *x = current_call(c);
    struct demo_message *h;

    if (++c->received_count == RECEIVED_MAX && !c->finished)
        finish(c, STR("the server sent too many messages"));
    if (c->received_count >= RECEIVED_MAX)
        return;
    h = arena_new(&c->arena, struct demo_message);
    h->kind = kind;
    h->summary = arena_str(&c->arena, words);
    h->json = arena_str(&c->arena, exact);
    *x->tail = h;
    x->tail = &h->next;
}

static bool is_current_id(struct demo_client *c, struct json_val name)
{
    struct json_fault fault;
    struct json own;
    bool is;

    json_init(&own);
    if (!json_scan(&own, id_of(c, c->sent_count), &fault))
        BUG("the request id is not JSON");
    is = str_eq(mcp_id_key(name, &c->arena), mcp_id_key(json_root(&own), &c->arena));
    json_release(&own);
    return is;
}

static struct str text_of(struct demo_client *c, struct json_val object, struct str name)
{
    return json_text(json_get(object, name), &c->arena);
}

static struct str server_summary(struct demo_client *c, struct json_val result)
{
    struct json_val info = json_get(result, STR("serverInfo"));
    struct str name = text_of(c, info, STR("name")), version = text_of(c, info, STR("version"));
    struct str protocol = text_of(c, result, STR("protocolVersion"));

    return arena_printf(&c->arena, "%.*s %.*s, MCP %.*s", STR_ARG(name), STR_ARG(version),
                        STR_ARG(protocol));
}

static struct str tools_summary(struct demo_client *c, struct json_val result)
{
    struct json_iter it = json_each(json_get(result, STR("tools")));
    struct str words = STR_NONE;

    while (json_next(&it))
        words = arena_printf(&c->arena, "%.*s%s%.*s", STR_ARG(words), words.len ? ", " : "",
                             STR_ARG(text_of(c, it.value, STR("name"))));
    return words;
}

/* A result in a line: the first text in it. */
static struct str result_summary(struct demo_client *c, struct json_val result)
{
    struct str method = current_call(c)->method, words;
    struct json_val block;

    if (str_eq(method, STR("initialize")))
        return server_summary(c, result);
    if (str_eq(method, STR("tools/list")))
        return tools_summary(c, result);
    if (str_eq(method, STR("resources/read")))
        block = json_item(json_get(result, STR("contents")), 0);
    else if (str_eq(method, STR("prompts/get")))
        block = json_get(json_item(json_get(result, STR("messages")), 0), STR("content"));
    else
        block = json_item(json_get(result, STR("content")), 0);
    words = text_of(c, block, STR("text"));
    return str_cut(&words, '\n');
}

/* Aborts the run if initialize failed or the server chose another protocol. */
static void check_initialize(struct demo_client *c, const struct mcp_message *m)
{
    struct str version = text_of(c, m->result, STR("protocolVersion"));

    if (m->kind == MCP_ERROR)
        finish(c, STR("the server rejected initialize"));
    else if (mcp_version_protocol(mcp_version_parse(version)) != MCP_PROTOCOL_STATEFUL)
        finish(c, arena_printf(&c->arena,
                               "the server speaks MCP '%.*s', which the demo does not support",
                               STR_ARG(version)));
    else
        actions_send_notification(&c->actions, STR("notifications/initialized"), STR_NONE);
}

static void handle_response(struct demo_client *c, const struct mcp_message *m)
{
    if (c->finished || !is_current_id(c, m->id)) {
        add_received(c, DEMO_UNEXPECTED, STR("a response to an unknown request"),
                     json_raw(m->root));
        return;
    }
    if (m->kind == MCP_ERROR)
        add_received(c, DEMO_ERROR,
                     arena_printf(&c->arena, "%.*s %.*s",
                                  STR_ARG(json_raw(json_get(m->error, STR("code")))),
                                  STR_ARG(text_of(c, m->error, STR("message")))),
                     json_raw(m->error));
    else
        add_received(c,
                     json_type(json_get(m->result, STR("isError"))) == JSON_TRUE
                         ? DEMO_TOOL_ERROR
                         : DEMO_RESULT,
                     result_summary(c, m->result), json_raw(m->result));
    if (c->sent_count == 1)
        check_initialize(c, m);
    if (c->finished)
        return;
    if (c->sent_count < DEMO_STEPS)
        send_next(c);
    else
        finish(c, STR_NONE);
}

static void handle_progress(struct demo_client *c, struct json_val params)
{
    struct str done = json_raw(json_get(params, STR("progress")));
    struct str total = json_raw(json_get(params, STR("total")));
    struct json_val message = json_get(params, STR("message"));

    if (!steps[c->sent_count - 1].progress || c->finished ||
        !is_current_id(c, json_get(params, STR("progressToken")))) {
        add_received(c, DEMO_UNEXPECTED, STR("progress that was not requested"),
                     json_raw(params));
        return;
    }
    add_received(c, DEMO_PROGRESS,
                 arena_printf(&c->arena, "%.*s/%.*s %.*s", STR_ARG(done), STR_ARG(total),
                              STR_ARG(json_text(message, &c->arena))),
                 arena_printf(&c->arena, "[%.*s,%.*s,%.*s]", STR_ARG(done), STR_ARG(total),
                              STR_ARG(json_raw(message))));
}

static void handle_notification(struct demo_client *c, const struct mcp_message *m)
{
    if (str_eq(m->method, STR("notifications/progress")))
        handle_progress(c, m->params);
    else if (str_eq(m->method, STR("notifications/message")))
        add_received(c, DEMO_LOG,
                     arena_printf(&c->arena, "%.*s: %.*s",
                                  STR_ARG(text_of(c, m->params, STR("level"))),
                                  STR_ARG(text_of(c, m->params, STR("data")))),
                     json_raw(m->params));
    else
        add_received(c, DEMO_UNEXPECTED, m->method, json_raw(m->params));
}

static void handle_server_request(struct demo_client *c, const struct mcp_message *m)
{
    struct json_val message = json_item(json_get(m->params, STR("messages")), 0);

    if (str_eq(m->method, STR("sampling/createMessage"))) {
        add_received(c, DEMO_SERVER_REQUEST,
                     text_of(c, json_get(message, STR("content")), STR("text")),
                     json_raw(m->params));
        actions_send_result(&c->actions, json_raw(m->id), model_result);
    } else {
        add_received(c, DEMO_UNEXPECTED, m->method, json_raw(m->params));
        actions_send_error(&c->actions, json_raw(m->id), MCP_METHOD_NOT_FOUND,
                           STR("Method not found"), STR_NONE);
    }
}

static void handle_record(struct demo_client *c, const struct record *r)
{
    struct mcp_message m;

    if (r->kind != RECORD_MESSAGE) {
        add_received(c, DEMO_UNEXPECTED, STR("a line that is not a JSON-RPC message"),
                     r->bytes.bytes);
        return;
    }
    m = mcp_classify(r->message.msg, &c->arena);
    if (mcp_is_response(&m))
        handle_response(c, &m);
    else if (m.kind == MCP_NOTIFICATION)
        handle_notification(c, &m);
    else
        handle_server_request(c, &m);
}

void demo_client_step(struct demo_client *c, const struct event *ev)
{
    switch (ev->kind) {
    case EVENT_OPENED:
        send_next(c);
        break;
    case EVENT_RECORD:
        handle_record(c, ev->record);
        break;
    case EVENT_TIMER:
        BUG("no timer was set");
    case EVENT_INPUT_CLOSED:
        if (!c->finished)
            finish(c, arena_printf(&c->arena, "the server ended without a response to %.*s",
                                   STR_ARG(current_call(c)->method)));
        break;
    default:
        BUG("the demo client got an event of another engine");
    }
}

bool demo_client_find_difference(const struct demo_client *first,
                                 const struct demo_client *second,
                                 struct demo_difference *where)
{
    for (size_t i = 0; i < DEMO_STEPS; i++) {
        const struct demo_message *a = first->calls[i].received, *b = second->calls[i].received;

        while (a && b && a->kind == b->kind && str_eq(a->json, b->json)) {
            a = a->next;
            b = b->next;
        }
        if (a || b) {
            *where = (struct demo_difference){ &first->calls[i], a, b };
            return true;
        }
    }
    return false;
}
