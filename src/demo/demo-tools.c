#include "demo/demo-tools.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "mcp/id.h"
#include "mcp/meta.h"
#include "trace/limits.h"
#include "json/write.h"

enum {
    COUNT_MAX = 10,
    COUNT_US = 20000, /* between two numbers */
    DIVIDE_MAX = 1000000000,
    PENDING_MAX = 16, /* pending calls */
};

/* A pending call: it counts, or waits for the client's model. */
struct demo_tools_pending {
    struct demo_tools_pending *next;
    uint64_t request_id;       /* id of its server request; 0: none */
    uint64_t timer;            /* of the next number; 0: it does not count */
    int64_t counted, count_to; /* numbers sent, and the last one */
    struct str id, token;      /* as JSON; no token: no progress */
    struct str key;            /* of the id */
};

void demo_tools_init(struct demo_tools *t, struct actions *actions)
{
    *t = (struct demo_tools){ .actions = actions, .wants_info = true };
    buf_init(&t->body, LIMIT_MESSAGE * 2);
}

void demo_tools_release(struct demo_tools *t)
{
    while (t->pending) {
        struct demo_tools_pending *next = t->pending->next;
        free(t->pending);
        t->pending = next;
    }
    buf_release(&t->body);
    arena_release(&t->arena);
}

static struct json_out begin_body(struct demo_tools *t)
{
    buf_clear(&t->body);
    return json_out_to(&t->body);
}

static void send_body(struct demo_tools *t, struct str id)
{
    BUG_IF(t->body.full);
    actions_send_result(t->actions, id, buf_str(&t->body));
}

static void add_text(struct json_out *o, struct str text)
{
    json_out_object(o);
    json_out_key_str(o, STR("type"), STR("text"));
    json_out_key_str(o, STR("text"), text);
    json_out_end_object(o);
}

static void begin_tool_result(struct json_out *o, struct str text)
{
    json_out_object(o);
    json_out_key(o, STR("content"));
    json_out_array(o);
    add_text(o, text);
    json_out_end_array(o);
}

static void send_text(struct demo_tools *t, struct str id, struct str text)
{
    struct json_out o = begin_body(t);

    begin_tool_result(&o, text);
    json_out_end_object(&o);
    send_body(t, id);
}

/* Sends an error that the calling model can read. */
static void send_tool_error(struct demo_tools *t, struct str id, struct str text)
{
    struct json_out o = begin_body(t);

    begin_tool_result(&o, text);
    json_out_key_bool(&o, STR("isError"), true);
    json_out_end_object(&o);
    send_body(t, id);
}

/* A tools/call with its parsed parameters. */
struct tool_call {
    struct str id;  /* as JSON */
    struct str key; /* of the id */
    struct json_val args, token;
};

static void call_weather(struct demo_tools *t, const struct tool_call *c)
{
    static const struct str skies[] = { STR_INIT("sunny"), STR_INIT("cloudy"),
                                        STR_INIT("rainy"), STR_INIT("windy") };
    struct str city = json_text(json_get(c->args, STR("city")), &t->arena), text;
    uint64_t fate = hash_bytes(city, 0);
    struct json_out o = begin_body(t);

    if (!city.len) {
        send_tool_error(t, c->id, STR("'city' must be the name of a city"));
        return;
    }
    json_out_object(&o);
    json_out_key_str(&o, STR("city"), city);
    json_out_key_int(&o, STR("celsius"), (int64_t)(fate % 25) + 5);
    json_out_key_str(&o, STR("sky"), skies[fate / 25 % 4]);
    json_out_end_object(&o);
    text = arena_str(&t->arena, buf_str(&t->body));
    o = begin_body(t);
    begin_tool_result(&o, text);
    json_out_key_raw(&o, STR("structuredContent"), text);
    json_out_end_object(&o);
    send_body(t, c->id);
}

/* Adds a pending call. NULL: there are too many, and the client got an error. */
static struct demo_tools_pending *add_pending(struct demo_tools *t, const struct tool_call *c)
{
    struct str texts[3] = { c->id, json_raw(c->token), c->key };
    struct demo_tools_pending *kept;
    size_t count = 0;
    char *at;

    for (kept = t->pending; kept; kept = kept->next)
        count++;
    if (count == PENDING_MAX) {
        send_tool_error(t, c->id, STR("too many calls at once"));
        return NULL;
    }
    kept = mem_alloc(sizeof *kept + texts[0].len + texts[1].len + texts[2].len);
    at = (char *)(kept + 1);
    for (size_t i = 0; i < 3; i++) {
        if (texts[i].len)
            memcpy(at, texts[i].at, texts[i].len);
        texts[i].at = at;
        at += texts[i].len;
    }
    kept->id = texts[0];
    kept->token = texts[1];
    kept->key = texts[2];
    kept->next = t->pending;
    t->pending = kept;
    return kept;
}

static void remove_pending(struct demo_tools *t, struct demo_tools_pending *gone)
{
    struct demo_tools_pending **at = &t->pending;

    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    free(gone);
}

static void send_log(struct demo_tools *t, struct str logger, struct str text)
{
    struct json_out o = begin_body(t);

    if (!t->wants_info)
        return;
    json_out_object(&o);
    json_out_key_str(&o, STR("level"), STR("info"));
    json_out_key_str(&o, STR("logger"), logger);
    json_out_key_str(&o, STR("data"), text);
    json_out_end_object(&o);
    actions_send_notification(t->actions, STR("notifications/message"), buf_str(&t->body));
}

static const struct str numbers[COUNT_MAX] = {
    STR_INIT("one"), STR_INIT("two"),   STR_INIT("three"), STR_INIT("four"), STR_INIT("five"),
    STR_INIT("six"), STR_INIT("seven"), STR_INIT("eight"), STR_INIT("nine"), STR_INIT("ten"),
};

static void send_progress(struct demo_tools *t, const struct demo_tools_pending *c)
{
    struct json_out o = begin_body(t);

    if (!c->token.len)
        return;
    json_out_object(&o);
    json_out_key_raw(&o, STR("progressToken"), c->token);
    json_out_key_int(&o, STR("progress"), c->counted);
    json_out_key_int(&o, STR("total"), c->count_to);
    json_out_key_str(&o, STR("message"), numbers[c->counted - 1]);
    json_out_end_object(&o);
    actions_send_notification(t->actions, STR("notifications/progress"), buf_str(&t->body));
}

/* Sends the next number, or the result. */
static void send_next_number(struct demo_tools *t, struct demo_tools_pending *c)
{
    const char *last = numbers[c->count_to - 1].at;

    if (c->counted < c->count_to) {
        c->counted++;
        c->timer = ++t->timer_count;
        send_progress(t, c);
        actions_set_timer(t->actions, c->timer, COUNT_US);
        return;
    }
    send_log(t, STR("count"), arena_printf(&t->arena, "got to %s without an error", last));
    send_text(t, c->id, arena_printf(&t->arena, "counted to %s", last));
    remove_pending(t, c);
}

static void call_count(struct demo_tools *t, const struct tool_call *c)
{
    struct demo_tools_pending *kept;
    int64_t to;

    if (!json_int(json_get(c->args, STR("to")), &to) || to < 1 || to > COUNT_MAX) {
        send_tool_error(t, c->id, STR("'to' must be a whole number from 1 to 10"));
        return;
    }
    kept = add_pending(t, c);
    if (!kept)
        return;
    kept->count_to = to;
    send_next_number(t, kept);
}

static bool get_operand(struct json_val args, struct str name, int64_t *out)
{
    return json_int(json_get(args, name), out) && *out >= -DIVIDE_MAX && *out <= DIVIDE_MAX;
}

static void call_divide(struct demo_tools *t, const struct tool_call *c)
{
    int64_t a, b;

    if (!get_operand(c->args, STR("a"), &a) || !get_operand(c->args, STR("b"), &b))
        send_tool_error(t, c->id, STR("'a' and 'b' must be whole numbers up to 1000000000"));
    else if (b == 0)
        send_tool_error(
            t, c->id,
            t->changed ? STR("division by zero")
                       : arena_printf(&t->arena, "cannot divide %lld by zero", (long long)a));
    else
        send_text(t, c->id,
                  arena_printf(&t->arena, "%lld divided by %lld is %lld, remainder %lld",
                               (long long)a, (long long)b, (long long)(a / b),
                               (long long)(a % b)));
}

static void request_sampling(struct demo_tools *t, uint64_t number, struct str text)
{
    struct json_out o = begin_body(t);

    json_out_object(&o);
    json_out_key(&o, STR("messages"));
    json_out_array(&o);
    json_out_object(&o);
    json_out_key_str(&o, STR("role"), STR("user"));
    json_out_key(&o, STR("content"));
    add_text(&o, text);
    json_out_end_object(&o);
    json_out_end_array(&o);
    json_out_key_int(&o, STR("maxTokens"), 100);
    json_out_end_object(&o);
    actions_send_request(t->actions,
                         arena_printf(&t->arena, "%llu", (unsigned long long)number),
                         STR("sampling/createMessage"), buf_str(&t->body));
}

static void call_haiku(struct demo_tools *t, const struct tool_call *c)
{
    struct str about = json_text(json_get(c->args, STR("about")), &t->arena);
    struct demo_tools_pending *kept;

    if (!about.len) {
        send_tool_error(t, c->id, STR("'about' must be a non-empty text"));
        return;
    }
    if (!t->can_sample) {
        send_tool_error(t, c->id, STR("this client does not support sampling"));
        return;
    }
    kept = add_pending(t, c);
    if (!kept)
        return;
    kept->request_id = ++t->request_count;
    request_sampling(t, kept->request_id,
                     arena_printf(&t->arena, "Write a haiku about %.*s.", STR_ARG(about)));
}

struct tool {
    struct str name;
    void (*call)(struct demo_tools *t, const struct tool_call *c);
    struct str definition;
};

static const struct tool tools[] = {
    { STR_INIT("weather"), call_weather, JSON_LITERAL({
          "name" : "weather",
          "title" : "Weather",
          "description" : "Returns the weather in a city: invented, and always the same.",
          "inputSchema" : {
              "type" : "object",
              "properties" : { "city" : { "type" : "string", "minLength" : 1 } },
              "required" : ["city"]
          },
          "outputSchema" : {
              "type" : "object",
              "properties" : {
                  "city" : { "type" : "string" },
                  "celsius" : { "type" : "integer" },
                  "sky" : { "type" : "string" }
              },
              "required" : [ "city", "celsius", "sky" ]
          },
          "annotations" : { "readOnlyHint" : true }
      }) },
    { STR_INIT("count"), call_count, JSON_LITERAL({
          "name" : "count",
          "title" : "Count",
          "description" : "Counts, reports progress at each number, and logs the result.",
          "inputSchema" : {
              "type" : "object",
              "properties" : { "to" : { "type" : "integer", "minimum" : 1, "maximum" : 10 } },
              "required" : ["to"]
          },
          "annotations" : { "readOnlyHint" : true }
      }) },
    { STR_INIT("divide"), call_divide, JSON_LITERAL({
          "name" : "divide",
          "title" : "Divide",
          "description" : "Divides whole numbers; fails if the divisor is zero.",
          "inputSchema" : {
              "type" : "object",
              "properties" : { "a" : { "type" : "integer" }, "b" : { "type" : "integer" } },
              "required" : [ "a", "b" ]
          },
          "annotations" : { "readOnlyHint" : true }
      }) },
    { STR_INIT("haiku"), call_haiku, JSON_LITERAL({
          "name" : "haiku",
          "title" : "Haiku",
          "description" : "Returns a haiku that the client's model writes (sampling).",
          "inputSchema" : {
              "type" : "object",
              "properties" : { "about" : { "type" : "string", "minLength" : 1 } },
              "required" : ["about"]
          },
          "annotations" : { "readOnlyHint" : true }
      }) },
};

enum { TOOLS = sizeof tools / sizeof tools[0] };

void demo_tools_list(struct json_out *o)
{
    json_out_array(o);
    for (size_t i = 0; i < TOOLS; i++)
        json_out_raw(o, tools[i].definition);
    json_out_end_array(o);
}

bool demo_tools_call(struct demo_tools *t, const struct mcp_message *message)
{
    struct json_val name = json_get(message->params, STR("name"));
    struct tool_call c;

    arena_clear(&t->arena);
    c = (struct tool_call){
        .id = json_raw(message->id),
        .key = mcp_id_key(message->id, &t->arena),
        .args = json_get(message->params, STR("arguments")),
        .token = mcp_progress_token(message->meta),
    };
    for (size_t i = 0; i < TOOLS; i++)
        if (json_is(name, tools[i].name)) {
            tools[i].call(t, &c);
            return true;
        }
    return false;
}

/* Returns the text of a sampling result with one content block or several. */
static struct str model_text(struct demo_tools *t, struct json_val content)
{
    struct json_val block = json_type(content) == JSON_ARRAY ? json_item(content, 0) : content;

    return json_text(json_get(block, STR("text")), &t->arena);
}

static void finish_haiku(struct demo_tools *t, const struct demo_tools_pending *c,
                         const struct mcp_message *message)
{
    struct str text = model_text(t, json_get(message->result, STR("content")));
    struct str refusal = json_text(json_get(message->error, STR("message")), &t->arena);

    if (text.len)
        send_text(t, c->id, text);
    else if (message->kind == MCP_ERROR)
        send_tool_error(t, c->id,
                        arena_printf(&t->arena,
                                     "the client rejected the sampling request: %.*s",
                                     STR_ARG(refusal)));
    else
        send_tool_error(t, c->id, STR("the sampling response has no text"));
}

bool demo_tools_has_timers(const struct demo_tools *t)
{
    for (const struct demo_tools_pending *c = t->pending; c; c = c->next)
        if (c->timer)
            return true;
    return false;
}

void demo_tools_handle_response(struct demo_tools *t, const struct mcp_message *message)
{
    struct demo_tools_pending *c = t->pending;
    int64_t question;

    arena_clear(&t->arena);
    if (!json_int(message->id, &question) || question < 1)
        return;
    while (c && c->request_id != (uint64_t)question)
        c = c->next;
    if (!c)
        return;
    finish_haiku(t, c, message);
    remove_pending(t, c);
}

/* Drops the call and cancels its server request. */
void demo_tools_handle_cancelled(struct demo_tools *t, struct json_val id)
{
    struct demo_tools_pending *c = t->pending;
    struct str key;

    arena_clear(&t->arena);
    key = mcp_id_key(id, &t->arena);
    while (c && !str_eq(c->key, key))
        c = c->next;
    if (!c)
        return;
    if (c->request_id)
        actions_send_notification(
            t->actions, STR("notifications/cancelled"),
            arena_printf(&t->arena, "{\"requestId\":%llu}", (unsigned long long)c->request_id));
    remove_pending(t, c);
}

void demo_tools_handle_timer(struct demo_tools *t, uint64_t timer)
{
    struct demo_tools_pending *c = t->pending;

    arena_clear(&t->arena);
    while (c && c->timer != timer)
        c = c->next;
    if (c)
        send_next_number(t, c);
}
