#include "engine/demo-client.h"

#include "mcp/code.h"
#include "mcp/id.h"
#include "mcp/version.h"
#include "json/write.h"

enum { HEARD_MAX = 1000 };

static const struct step {
    struct str method, about, params;
    bool progress; /* asks to be told */
} steps[DEMO_STEPS] = {
    { .method = STR_INIT("initialize"),
      .params = JSON_TEXT({
          "protocolVersion" : "2025-11-25",
          "capabilities" : { "sampling" : {} },
          "clientInfo" : { "name" : "mcpreel-demo-client", "version" : "1.0" }
      }) },
    { .method = STR_INIT("tools/list") },
    { .method = STR_INIT("tools/call"),
      .about = STR_INIT("weather Lisbon"),
      .params = JSON_TEXT({ "name" : "weather", "arguments" : { "city" : "Lisbon" } }) },
    { .method = STR_INIT("tools/call"),
      .about = STR_INIT("count to 3"),
      .params = JSON_TEXT({ "name" : "count", "arguments" : { "to" : 3 } }),
      .progress = true },
    { .method = STR_INIT("tools/call"),
      .about = STR_INIT("divide 1 by 0"),
      .params = JSON_TEXT({ "name" : "divide", "arguments" : { "a" : 1, "b" : 0 } }) },
    { .method = STR_INIT("tools/call"),
      .about = STR_INIT("teleport"),
      .params = JSON_TEXT({ "name" : "teleport", "arguments" : { "to" : "Lisbon" } }) },
    { .method = STR_INIT("tools/call"),
      .about = STR_INIT("haiku on tape"),
      .params = JSON_TEXT({ "name" : "haiku", "arguments" : { "about" : "tape" } }) },
    { .method = STR_INIT("resources/read"),
      .about = STR_INIT("demo://manual"),
      .params = JSON_TEXT({ "uri" : "demo://manual" }) },
    { .method = STR_INIT("prompts/get"),
      .about = STR_INIT("postcard"),
      .params = JSON_TEXT({ "name" : "postcard", "arguments" : { "city" : "Lisbon" } }) },
};

/* What our model says, whatever it is asked. */
static const struct str model_answer = JSON_TEXT({
    "role" : "assistant",
    "content" : {
        "type" : "text",
        "text" : "Bytes pass, none is lost / the tape remembers each word / play it once again"
    },
    "model" : "mcpreel-demo-model",
    "stopReason" : "endTurn"
});

void demo_client_init(struct demo_client *c, enum demo_names names, struct action_sink *out)
{
    *c = (struct demo_client){ .names = names };
    say_init(&c->say, out);
}

void demo_client_release(struct demo_client *c)
{
    say_release(&c->say);
    arena_release(&c->arena);
}

static void finish(struct demo_client *c, struct str trouble)
{
    c->finished = true;
    c->trouble = trouble;
    say_finish(&c->say, trouble.len ? 1 : 0);
}

/* The id of the n-th request, and the token of its progress, as JSON. */
static struct str name_of(struct demo_client *c, size_t n)
{
    return arena_printf(&c->arena, c->names == DEMO_NUMBERS ? "%zu" : "\"again-%zu\"", n);
}

static void ask_next(struct demo_client *c)
{
    const struct step *step = &steps[c->count];
    struct demo_exchange *x = &c->exchanges[c->count++];
    struct str name = name_of(c, c->count), params = step->params;

    x->method = step->method;
    x->about = step->about;
    x->tail = &x->heard;
    if (step->progress)
        params = arena_printf(&c->arena, "{\"_meta\":{\"progressToken\":%s},%.*s", name.at,
                              STR_ARG(str_skip(params, 1)));
    say_request(&c->say, name, step->method, params);
}

static struct demo_exchange *current(struct demo_client *c)
{
    return &c->exchanges[c->count - 1];
}

static void hear(struct demo_client *c, enum demo_heard_kind kind, struct str words,
                 struct str exact)
{
    struct demo_exchange *x = current(c);
    struct demo_heard *h;

    if (++c->heard == HEARD_MAX && !c->finished)
        finish(c, STR("the server talks without end"));
    if (c->heard >= HEARD_MAX)
        return;
    h = arena_new(&c->arena, struct demo_heard);
    h->kind = kind;
    h->words = arena_str(&c->arena, words);
    h->exact = arena_str(&c->arena, exact);
    *x->tail = h;
    x->tail = &h->next;
}

static bool is_current(struct demo_client *c, struct json_val name)
{
    struct json_fault fault;
    struct json own;
    bool is;

    json_init(&own);
    if (!json_scan(&own, name_of(c, c->count), &fault))
        BUG("our own name is JSON");
    is = str_eq(mcp_id_key(name, &c->arena), mcp_id_key(json_root(&own), &c->arena));
    json_release(&own);
    return is;
}

static struct str text_of(struct demo_client *c, struct json_val object, struct str name)
{
    return json_text(json_get(object, name), &c->arena);
}

static struct str server_words(struct demo_client *c, struct json_val result)
{
    struct json_val info = json_get(result, STR("serverInfo"));
    struct str name = text_of(c, info, STR("name")), version = text_of(c, info, STR("version"));
    struct str protocol = text_of(c, result, STR("protocolVersion"));

    return arena_printf(&c->arena, "%.*s %.*s, MCP %.*s", STR_ARG(name), STR_ARG(version),
                        STR_ARG(protocol));
}

static struct str tools_words(struct demo_client *c, struct json_val result)
{
    struct json_iter it = json_each(json_get(result, STR("tools")));
    struct str words = STR_NONE;

    while (json_next(&it))
        words = arena_printf(&c->arena, "%.*s%s%.*s", STR_ARG(words), words.len ? ", " : "",
                             STR_ARG(text_of(c, it.value, STR("name"))));
    return words;
}

/* A result in a line: the first text in it. */
static struct str result_words(struct demo_client *c, struct json_val result)
{
    struct str method = current(c)->method, words;
    struct json_val block;

    if (str_eq(method, STR("initialize")))
        return server_words(c, result);
    if (str_eq(method, STR("tools/list")))
        return tools_words(c, result);
    if (str_eq(method, STR("resources/read")))
        block = json_item(json_get(result, STR("contents")), 0);
    else if (str_eq(method, STR("prompts/get")))
        block = json_get(json_item(json_get(result, STR("messages")), 0), STR("content"));
    else
        block = json_item(json_get(result, STR("content")), 0);
    words = text_of(c, block, STR("text"));
    return str_cut(&words, '\n');
}

/* What the server said of its protocol decides whether we can go on. */
static void be_initialized(struct demo_client *c, const struct mcp_message *m)
{
    struct str version = text_of(c, m->result, STR("protocolVersion"));

    if (m->kind == MCP_ERROR)
        finish(c, STR("the server refused to start a session"));
    else if (mcp_version_era(mcp_version_parse(version)) != MCP_ERA_LEGACY)
        finish(c,
               arena_printf(&c->arena, "the server speaks MCP '%.*s', which the demo does not",
                            STR_ARG(version)));
    else
        say_notification(&c->say, STR("notifications/initialized"), STR_NONE);
}

static void hear_answer(struct demo_client *c, const struct mcp_message *m)
{
    if (c->finished || !is_current(c, m->id)) {
        hear(c, DEMO_ODD, STR("an answer to a question nobody asked"), json_raw(m->root));
        return;
    }
    if (m->kind == MCP_ERROR)
        hear(c, DEMO_ERROR,
             arena_printf(&c->arena, "%.*s %.*s",
                          STR_ARG(json_raw(json_get(m->error, STR("code")))),
                          STR_ARG(text_of(c, m->error, STR("message")))),
             json_raw(m->error));
    else
        hear(c,
             json_type(json_get(m->result, STR("isError"))) == JSON_TRUE ? DEMO_TOOL_ERROR
                                                                         : DEMO_RESULT,
             result_words(c, m->result), json_raw(m->result));
    if (c->count == 1)
        be_initialized(c, m);
    if (c->finished)
        return;
    if (c->count < DEMO_STEPS)
        ask_next(c);
    else
        finish(c, STR_NONE);
}

static void hear_progress(struct demo_client *c, struct json_val params)
{
    struct str done = json_raw(json_get(params, STR("progress")));
    struct str total = json_raw(json_get(params, STR("total")));
    struct json_val message = json_get(params, STR("message"));

    if (!steps[c->count - 1].progress || c->finished ||
        !is_current(c, json_get(params, STR("progressToken")))) {
        hear(c, DEMO_ODD, STR("progress nobody asked for"), json_raw(params));
        return;
    }
    hear(c, DEMO_PROGRESS,
         arena_printf(&c->arena, "%.*s/%.*s %.*s", STR_ARG(done), STR_ARG(total),
                      STR_ARG(json_text(message, &c->arena))),
         arena_printf(&c->arena, "[%.*s,%.*s,%.*s]", STR_ARG(done), STR_ARG(total),
                      STR_ARG(json_raw(message))));
}

static void hear_notification(struct demo_client *c, const struct mcp_message *m)
{
    if (str_eq(m->method, STR("notifications/progress")))
        hear_progress(c, m->params);
    else if (str_eq(m->method, STR("notifications/message")))
        hear(c, DEMO_LOG,
             arena_printf(&c->arena, "%.*s: %.*s", STR_ARG(text_of(c, m->params, STR("level"))),
                          STR_ARG(text_of(c, m->params, STR("data")))),
             json_raw(m->params));
    else
        hear(c, DEMO_ODD, m->method, json_raw(m->params));
}

static void hear_question(struct demo_client *c, const struct mcp_message *m)
{
    struct json_val message = json_item(json_get(m->params, STR("messages")), 0);

    if (str_eq(m->method, STR("sampling/createMessage"))) {
        hear(c, DEMO_QUESTION, text_of(c, json_get(message, STR("content")), STR("text")),
             json_raw(m->params));
        say_result(&c->say, json_raw(m->id), model_answer);
    } else {
        hear(c, DEMO_ODD, m->method, json_raw(m->params));
        say_error(&c->say, json_raw(m->id), MCP_METHOD_NOT_FOUND, STR("Method not found"),
                  STR_NONE);
    }
}

static void hear_record(struct demo_client *c, const struct record *r)
{
    struct mcp_message m;

    if (r->kind != RECORD_MESSAGE) {
        hear(c, DEMO_ODD, STR("something that is no message"), r->bytes.bytes);
        return;
    }
    m = mcp_classify(r->message.msg, &c->arena);
    if (mcp_is_response(&m))
        hear_answer(c, &m);
    else if (m.kind == MCP_NOTIFICATION)
        hear_notification(c, &m);
    else
        hear_question(c, &m);
}

void demo_client_step(struct demo_client *c, const struct event *ev)
{
    switch (ev->kind) {
    case EVENT_OPENED:
        ask_next(c);
        break;
    case EVENT_RECORD:
        hear_record(c, ev->record);
        break;
    case EVENT_TIMER:
        BUG("no timer was set");
    case EVENT_CLOSED:
        if (!c->finished)
            finish(c, arena_printf(&c->arena, "the server ended without an answer to %.*s",
                                   STR_ARG(current(c)->method)));
        break;
    default:
        BUG("a client has no server behind it");
    }
}

bool demo_client_differ(const struct demo_client *first, const struct demo_client *second,
                        struct demo_difference *where)
{
    for (size_t i = 0; i < DEMO_STEPS; i++) {
        const struct demo_heard *a = first->exchanges[i].heard, *b = second->exchanges[i].heard;

        while (a && b && a->kind == b->kind && str_eq(a->exact, b->exact)) {
            a = a->next;
            b = b->next;
        }
        if (a || b) {
            *where = (struct demo_difference){ &first->exchanges[i], a, b };
            return true;
        }
    }
    return false;
}
