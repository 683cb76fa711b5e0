#include "engine/demo-server.h"

#include "mcp/code.h"
#include "mcp/message.h"
#include "mcp/version.h"
#include "trace/limits.h"
#include "json/write.h"

void demo_server_init(struct demo_server *s, struct action_sink *out)
{
    *s = (struct demo_server){ 0 };
    say_init(&s->say, out);
    demo_tools_init(&s->tools, &s->say);
    buf_init(&s->body, LIMIT_MESSAGE * 2);
}

void demo_server_release(struct demo_server *s)
{
    demo_tools_release(&s->tools);
    say_release(&s->say);
    buf_release(&s->body);
    arena_release(&s->arena);
}

static struct json_out begin_body(struct demo_server *s)
{
    buf_clear(&s->body);
    return json_out_to(&s->body);
}

static void send_body(struct demo_server *s, struct str id)
{
    BUG_IF(s->body.full);
    say_result(&s->say, id, buf_str(&s->body));
}

static void send_fault(struct demo_server *s, struct str id, enum mcp_code code,
                       struct str message)
{
    say_error(&s->say, id, code, message, STR_NONE);
}

#define MANUAL_URI "demo://manual"
#define GREETING_URI "demo://greeting/"

static const char manual[] =
    "What the demo server of mcpreel can do\n"
    "\n"
    "weather  has structured output\n"
    "count    reports progress and logs\n"
    "divide   fails when asked to divide by zero\n"
    "haiku    asks your client's model\n"
    "\n"
    "The same questions get the same answers, so a recording of it never grows old.\n";

static void send_invalid(struct demo_server *s, struct str id, const char *what,
                         struct str subject)
{
    send_fault(s, id, MCP_INVALID_PARAMS,
               arena_printf(&s->arena, "%s '%.*s'", what, STR_ARG(subject)));
}

static void answer_initialize(struct demo_server *s, const struct mcp_message *live)
{
    struct json_val asked = json_get(live->params, STR("protocolVersion"));
    struct json_val who = json_get(json_get(live->params, STR("clientInfo")), STR("name"));
    enum mcp_version version = mcp_version_parse(json_text(asked, &s->arena));
    struct json_out o = begin_body(s);

    if (json_type(asked) != JSON_STRING) {
        send_invalid(s, json_raw(live->id), "initialize needs a", STR("protocolVersion"));
        return;
    }
    say_report(&s->say, LOG_INFO, "demo server: hello, %.*s",
               STR_ARG(json_text(who, &s->arena)));
    s->tools.can_sample = json_type(json_get(json_get(live->params, STR("capabilities")),
                                             STR("sampling"))) == JSON_OBJECT;
    if (mcp_version_era(version) != MCP_ERA_LEGACY)
        version = MCP_2025_11_25;
    json_out_object(&o);
    json_out_key_str(&o, STR("protocolVersion"), mcp_version_text(version));
    json_out_key_raw(&o, STR("capabilities"),
                     STR("{\"tools\":{},\"resources\":{},\"prompts\":{},\"logging\":{}}"));
    json_out_key_raw(&o, STR("serverInfo"),
                     STR("{\"name\":\"mcpreel-demo\",\"title\":\"mcpreel demo server\","
                         "\"version\":\"" MCPREEL_VERSION "\"}"));
    json_out_key_str(&o, STR("instructions"), STR("Everything is explained in " MANUAL_URI));
    json_out_end_object(&o);
    send_body(s, json_raw(live->id));
}

static void answer_nothing(struct demo_server *s, const struct mcp_message *live)
{
    say_result(&s->say, json_raw(live->id), STR("{}"));
}

/* Everything fits on one page, so no cursor can be one that we gave. */
static bool refuse_cursor(struct demo_server *s, const struct mcp_message *live)
{
    struct json_val cursor = json_get(live->params, STR("cursor"));

    if (!json_exists(cursor))
        return false;
    send_invalid(s, json_raw(live->id), "no page has the cursor", json_raw(cursor));
    return true;
}

static void answer_tools(struct demo_server *s, const struct mcp_message *live)
{
    struct json_out o = begin_body(s);

    if (refuse_cursor(s, live))
        return;
    json_out_object(&o);
    json_out_key(&o, STR("tools"));
    demo_tools_list(&o);
    json_out_end_object(&o);
    send_body(s, json_raw(live->id));
}

static void answer_call(struct demo_server *s, const struct mcp_message *live)
{
    struct str name = json_text(json_get(live->params, STR("name")), &s->arena);

    if (!demo_tools_call(&s->tools, live))
        send_invalid(s, json_raw(live->id), "unknown tool", name);
}

static void answer_resources(struct demo_server *s, const struct mcp_message *live)
{
    static const struct str list = JSON_TEXT({
        "resources" : [ {
            "uri" : "demo://manual",
            "name" : "manual",
            "title" : "Manual",
            "description" : "What this server can do.",
            "mimeType" : "text/plain"
        } ]
    });

    if (!refuse_cursor(s, live))
        say_result(&s->say, json_raw(live->id), list);
}

static void answer_templates(struct demo_server *s, const struct mcp_message *live)
{
    static const struct str list = JSON_TEXT({
        "resourceTemplates" : [ {
            "uriTemplate" : "demo://greeting/{name}",
            "name" : "greeting",
            "title" : "Greeting",
            "description" : "A greeting for somebody.",
            "mimeType" : "text/plain"
        } ]
    });

    if (!refuse_cursor(s, live))
        say_result(&s->say, json_raw(live->id), list);
}

/* Without its %xx; one that is broken stays as it is. */
static struct str percent_decoded(struct arena *a, struct str text)
{
    char *to = arena_alloc(a, text.len + 1);
    size_t len = 0;

    while (text.len) {
        char c = text.at[0];

        text = str_skip(text, str_percent(text, &c) ? 3 : 1);
        to[len++] = c;
    }
    return str_n(to, len);
}

static void answer_read(struct demo_server *s, const struct mcp_message *live)
{
    struct json_val asked = json_get(live->params, STR("uri"));
    struct str uri = json_text(asked, &s->arena), text = str_z(manual);
    struct str name = str_skip(uri, sizeof GREETING_URI - 1);
    struct json_out o;

    if (json_type(asked) != JSON_STRING) {
        send_invalid(s, json_raw(live->id), "resources/read needs a", STR("uri"));
        return;
    }
    if (str_starts(uri, STR(GREETING_URI)) && name.len) {
        name = percent_decoded(&s->arena, name);
        text = arena_printf(&s->arena, "Hello, %.*s!", STR_ARG(name));
    } else if (!str_eq(uri, STR(MANUAL_URI))) {
        say_error(&s->say, json_raw(live->id), MCP_RESOURCE_NOT_FOUND,
                  STR("Resource not found"),
                  arena_printf(&s->arena, "{\"uri\":%.*s}", STR_ARG(json_raw(asked))));
        return;
    }
    o = begin_body(s);
    json_out_object(&o);
    json_out_key(&o, STR("contents"));
    json_out_array(&o);
    json_out_object(&o);
    json_out_key_raw(&o, STR("uri"), json_raw(asked));
    json_out_key_str(&o, STR("mimeType"), STR("text/plain"));
    json_out_key_str(&o, STR("text"), text);
    json_out_end_object(&o);
    json_out_end_array(&o);
    json_out_end_object(&o);
    send_body(s, json_raw(live->id));
}

static void answer_prompts(struct demo_server *s, const struct mcp_message *live)
{
    static const struct str list = JSON_TEXT({
        "prompts" : [ {
            "name" : "postcard",
            "title" : "Postcard",
            "description" : "Write a postcard from somewhere.",
            "arguments" :
                [ { "name" : "city", "description" : "Where you are.", "required" : true } ]
        } ]
    });

    if (!refuse_cursor(s, live))
        say_result(&s->say, json_raw(live->id), list);
}

static void answer_prompt(struct demo_server *s, const struct mcp_message *live)
{
    struct str name = json_text(json_get(live->params, STR("name")), &s->arena);
    struct json_val args = json_get(live->params, STR("arguments"));
    struct str city = json_text(json_get(args, STR("city")), &s->arena);
    struct json_out o = begin_body(s);

    if (!str_eq(name, STR("postcard"))) {
        send_invalid(s, json_raw(live->id), "unknown prompt", name);
        return;
    }
    if (!city.len) {
        send_invalid(s, json_raw(live->id), "the prompt needs the argument", STR("city"));
        return;
    }
    json_out_object(&o);
    json_out_key_str(&o, STR("description"), STR("Write a postcard from somewhere."));
    json_out_key(&o, STR("messages"));
    json_out_array(&o);
    json_out_object(&o);
    json_out_key_str(&o, STR("role"), STR("user"));
    json_out_key(&o, STR("content"));
    json_out_object(&o);
    json_out_key_str(&o, STR("type"), STR("text"));
    json_out_key_str(
        &o, STR("text"),
        arena_printf(&s->arena, "Write a postcard from %.*s, weather and all.", STR_ARG(city)));
    json_out_end_object(&o);
    json_out_end_object(&o);
    json_out_end_array(&o);
    json_out_end_object(&o);
    send_body(s, json_raw(live->id));
}

static void answer_set_level(struct demo_server *s, const struct mcp_message *live)
{
    static const struct str log_levels[] = {
        STR_INIT("debug"), STR_INIT("info"),     STR_INIT("notice"), STR_INIT("warning"),
        STR_INIT("error"), STR_INIT("critical"), STR_INIT("alert"),  STR_INIT("emergency"),
    };
    struct json_val level = json_get(live->params, STR("level"));

    for (size_t i = 0; i < sizeof log_levels / sizeof log_levels[0]; i++)
        if (json_is(level, log_levels[i])) {
            s->tools.wants_info = i <= 1;
            answer_nothing(s, live);
            return;
        }
    send_invalid(s, json_raw(live->id), "no log level is called", json_text(level, &s->arena));
}

static const struct method {
    struct str name;
    void (*answer)(struct demo_server *s, const struct mcp_message *live);
} methods[] = {
    { STR_INIT("initialize"), answer_initialize },
    { STR_INIT("ping"), answer_nothing },
    { STR_INIT("logging/setLevel"), answer_set_level },
    { STR_INIT("tools/list"), answer_tools },
    { STR_INIT("tools/call"), answer_call },
    { STR_INIT("resources/list"), answer_resources },
    { STR_INIT("resources/templates/list"), answer_templates },
    { STR_INIT("resources/read"), answer_read },
    { STR_INIT("prompts/list"), answer_prompts },
    { STR_INIT("prompts/get"), answer_prompt },
};

static void hear_request(struct demo_server *s, const struct mcp_message *live)
{
    if (live->duplicate) {
        send_fault(s, json_raw(live->id), MCP_INVALID_REQUEST,
                   STR("a member of the request stands there twice"));
        return;
    }
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (str_eq(methods[i].name, live->method)) {
            methods[i].answer(s, live);
            return;
        }
    send_fault(s, json_raw(live->id), MCP_METHOD_NOT_FOUND, STR("Method not found"));
}

static void hear_message(struct demo_server *s, struct json_val msg)
{
    struct mcp_message live = mcp_classify(msg, &s->arena);

    if (live.kind == MCP_REQUEST)
        hear_request(s, &live);
    else if (mcp_is_response(&live))
        demo_tools_hear_answer(&s->tools, &live);
    else if (str_eq(live.method, STR("notifications/cancelled")))
        demo_tools_hear_cancelled(&s->tools, json_get(live.params, STR("requestId")));
}

static void hear_raw(struct demo_server *s, const struct record_bytes *raw)
{
    if (str_eq(raw->why, STR("not JSON-RPC")))
        send_fault(s, STR_NONE, MCP_INVALID_REQUEST, STR("not a JSON-RPC message"));
    else
        send_fault(s, STR_NONE, MCP_PARSE_ERROR, STR("not valid JSON"));
}

static void hear_record(struct demo_server *s, const struct record *r)
{
    if (r->kind == RECORD_MESSAGE)
        hear_message(s, r->message.msg);
    else if (r->kind == RECORD_RAW)
        hear_raw(s, &r->bytes);
}

void demo_server_step(struct demo_server *s, const struct event *ev)
{
    if (s->finished)
        return;
    arena_clear(&s->arena);
    switch (ev->kind) {
    case EVENT_OPENED:
        break;
    case EVENT_RECORD:
        hear_record(s, ev->record);
        break;
    case EVENT_TIMER:
        demo_tools_hear_timer(&s->tools, ev->timer);
        break;
    case EVENT_CLOSED:
        s->closed = true;
        break;
    default:
        BUG("the demo server has none behind it");
    }
    if (s->closed && !demo_tools_need_time(&s->tools)) {
        s->finished = true;
        say_finish(&s->say, 0);
    }
}
