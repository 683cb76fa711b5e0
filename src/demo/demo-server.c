#include "demo/demo-server.h"

#include "mcp/error-code.h"
#include "mcp/message.h"
#include "mcp/version.h"
#include "trace/limits.h"
#include "json/write.h"

void demo_server_init(struct demo_server *s, struct action_sink *out)
{
    *s = (struct demo_server){ 0 };
    actions_init(&s->actions, out);
    demo_tools_init(&s->tools, &s->actions);
    buf_init(&s->body, LIMIT_MESSAGE * 2);
}

void demo_server_release(struct demo_server *s)
{
    demo_tools_release(&s->tools);
    actions_release(&s->actions);
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
    actions_send_result(&s->actions, id, buf_str(&s->body));
}

static void send_error(struct demo_server *s, struct str id, enum mcp_error_code code,
                       struct str message)
{
    actions_send_error(&s->actions, id, code, message, STR_NONE);
}

#define MANUAL_URI "demo://manual"
#define GREETING_URI "demo://greeting/"

static const char manual[] = "The mcpreel demo server\n"
                             "\n"
                             "weather  has structured output\n"
                             "count    reports progress and logs\n"
                             "divide   fails if the divisor is zero\n"
                             "haiku    sends a sampling request to the client\n"
                             "\n"
                             "Equal requests always get equal responses.\n";

static void send_invalid(struct demo_server *s, struct str id, const char *what,
                         struct str subject)
{
    send_error(s, id, MCP_INVALID_PARAMS,
               arena_printf(&s->arena, "%s '%.*s'", what, STR_ARG(subject)));
}

static void handle_initialize(struct demo_server *s, const struct mcp_message *message)
{
    struct json_val asked = json_get(message->params, STR("protocolVersion"));
    struct json_val who = json_get(json_get(message->params, STR("clientInfo")), STR("name"));
    enum mcp_version version = mcp_version_parse(json_text(asked, &s->arena));
    struct json_out o = begin_body(s);

    if (json_type(asked) != JSON_STRING) {
        send_invalid(s, json_raw(message->id), "initialize needs a", STR("protocolVersion"));
        return;
    }
    actions_report(&s->actions, LOG_INFO, "demo server: client connected: %.*s",
                   STR_ARG(json_text(who, &s->arena)));
    s->tools.can_sample = json_type(json_get(json_get(message->params, STR("capabilities")),
                                             STR("sampling"))) == JSON_OBJECT;
    if (mcp_version_protocol(version) != MCP_PROTOCOL_STATEFUL)
        version = MCP_2025_11_25;
    json_out_object(&o);
    json_out_key_str(&o, STR("protocolVersion"), mcp_version_text(version));
    json_out_key_raw(&o, STR("capabilities"),
                     STR("{\"tools\":{},\"resources\":{},\"prompts\":{},\"logging\":{}}"));
    json_out_key_raw(&o, STR("serverInfo"),
                     STR("{\"name\":\"mcpreel-demo\",\"title\":\"mcpreel demo server\","
                         "\"version\":\"" MCPREEL_VERSION "\"}"));
    json_out_key_str(&o, STR("instructions"), STR("The manual is in " MANUAL_URI));
    json_out_end_object(&o);
    send_body(s, json_raw(message->id));
}

static void send_empty_result(struct demo_server *s, const struct mcp_message *message)
{
    actions_send_result(&s->actions, json_raw(message->id), STR("{}"));
}

/* Rejects every cursor: all lists have one page. */
static bool reject_cursor(struct demo_server *s, const struct mcp_message *message)
{
    struct json_val cursor = json_get(message->params, STR("cursor"));

    if (!json_exists(cursor))
        return false;
    send_invalid(s, json_raw(message->id), "unknown cursor", json_raw(cursor));
    return true;
}

static void handle_tools_list(struct demo_server *s, const struct mcp_message *message)
{
    struct json_out o = begin_body(s);

    if (reject_cursor(s, message))
        return;
    json_out_object(&o);
    json_out_key(&o, STR("tools"));
    demo_tools_list(&o);
    json_out_end_object(&o);
    send_body(s, json_raw(message->id));
}

static void handle_tools_call(struct demo_server *s, const struct mcp_message *message)
{
    struct str name = json_text(json_get(message->params, STR("name")), &s->arena);

    if (!demo_tools_call(&s->tools, message))
        send_invalid(s, json_raw(message->id), "unknown tool", name);
}

static void handle_resources_list(struct demo_server *s, const struct mcp_message *message)
{
    static const struct str list = JSON_LITERAL({
        "resources" : [ {
            "uri" : "demo://manual",
            "name" : "manual",
            "title" : "Manual",
            "description" : "Describes the tools of this server.",
            "mimeType" : "text/plain"
        } ]
    });

    if (!reject_cursor(s, message))
        actions_send_result(&s->actions, json_raw(message->id), list);
}

static void handle_templates_list(struct demo_server *s, const struct mcp_message *message)
{
    static const struct str list = JSON_LITERAL({
        "resourceTemplates" : [ {
            "uriTemplate" : "demo://greeting/{name}",
            "name" : "greeting",
            "title" : "Greeting",
            "description" : "A greeting for the given name.",
            "mimeType" : "text/plain"
        } ]
    });

    if (!reject_cursor(s, message))
        actions_send_result(&s->actions, json_raw(message->id), list);
}

/* Invalid %xx sequences stay. */
static struct str percent_decoded(struct arena *a, struct str text)
{
    char *to = arena_alloc(a, text.len + 1);
    size_t len = 0;

    while (text.len) {
        char c = text.at[0];

        text = str_skip(text, str_parse_percent(text, &c) ? 3 : 1);
        to[len++] = c;
    }
    return str_n(to, len);
}

static void handle_resources_read(struct demo_server *s, const struct mcp_message *message)
{
    struct json_val asked = json_get(message->params, STR("uri"));
    struct str uri = json_text(asked, &s->arena), text = str_z(manual);
    struct str name = str_skip(uri, sizeof GREETING_URI - 1);
    struct json_out o;

    if (json_type(asked) != JSON_STRING) {
        send_invalid(s, json_raw(message->id), "resources/read needs a", STR("uri"));
        return;
    }
    if (str_starts(uri, STR(GREETING_URI)) && name.len) {
        name = percent_decoded(&s->arena, name);
        text = arena_printf(&s->arena, "Hello, %.*s!", STR_ARG(name));
    } else if (!str_eq(uri, STR(MANUAL_URI))) {
        actions_send_error(&s->actions, json_raw(message->id), MCP_RESOURCE_NOT_FOUND,
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
    send_body(s, json_raw(message->id));
}

static void handle_prompts_list(struct demo_server *s, const struct mcp_message *message)
{
    static const struct str list = JSON_LITERAL({
        "prompts" : [ {
            "name" : "postcard",
            "title" : "Postcard",
            "description" : "Write a postcard from somewhere.",
            "arguments" :
                [ { "name" : "city", "description" : "Where you are.", "required" : true } ]
        } ]
    });

    if (!reject_cursor(s, message))
        actions_send_result(&s->actions, json_raw(message->id), list);
}

static void handle_prompts_get(struct demo_server *s, const struct mcp_message *message)
{
    struct str name = json_text(json_get(message->params, STR("name")), &s->arena);
    struct json_val args = json_get(message->params, STR("arguments"));
    struct str city = json_text(json_get(args, STR("city")), &s->arena);
    struct json_out o = begin_body(s);

    if (!str_eq(name, STR("postcard"))) {
        send_invalid(s, json_raw(message->id), "unknown prompt", name);
        return;
    }
    if (!city.len) {
        send_invalid(s, json_raw(message->id), "the prompt needs the argument", STR("city"));
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
    send_body(s, json_raw(message->id));
}

static void handle_set_level(struct demo_server *s, const struct mcp_message *message)
{
    static const struct str log_levels[] = {
        STR_INIT("debug"), STR_INIT("info"),     STR_INIT("notice"), STR_INIT("warning"),
        STR_INIT("error"), STR_INIT("critical"), STR_INIT("alert"),  STR_INIT("emergency"),
    };
    struct json_val level = json_get(message->params, STR("level"));

    for (size_t i = 0; i < sizeof log_levels / sizeof log_levels[0]; i++)
        if (json_is(level, log_levels[i])) {
            s->tools.wants_info = i <= 1;
            send_empty_result(s, message);
            return;
        }
    send_invalid(s, json_raw(message->id), "unknown log level", json_text(level, &s->arena));
}

static const struct method {
    struct str name;
    void (*handle)(struct demo_server *s, const struct mcp_message *message);
} methods[] = {
    { STR_INIT("initialize"), handle_initialize },
    { STR_INIT("ping"), send_empty_result },
    { STR_INIT("logging/setLevel"), handle_set_level },
    { STR_INIT("tools/list"), handle_tools_list },
    { STR_INIT("tools/call"), handle_tools_call },
    { STR_INIT("resources/list"), handle_resources_list },
    { STR_INIT("resources/templates/list"), handle_templates_list },
    { STR_INIT("resources/read"), handle_resources_read },
    { STR_INIT("prompts/list"), handle_prompts_list },
    { STR_INIT("prompts/get"), handle_prompts_get },
};

static void handle_request(struct demo_server *s, const struct mcp_message *message)
{
    if (message->duplicate_member) {
        send_error(s, json_raw(message->id), MCP_INVALID_REQUEST,
                   STR("duplicate member in the request"));
        return;
    }
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (str_eq(methods[i].name, message->method)) {
            methods[i].handle(s, message);
            return;
        }
    send_error(s, json_raw(message->id), MCP_METHOD_NOT_FOUND, STR("Method not found"));
}

static void handle_message(struct demo_server *s, struct json_val msg)
{
    struct mcp_message message = mcp_classify(msg, &s->arena);

    if (message.kind == MCP_REQUEST)
        handle_request(s, &message);
    else if (mcp_is_response(&message))
        demo_tools_handle_response(&s->tools, &message);
    else if (str_eq(message.method, STR("notifications/cancelled")))
        demo_tools_handle_cancelled(&s->tools, json_get(message.params, STR("requestId")));
}

static void handle_non_message(struct demo_server *s, const struct record_bytes *raw)
{
    if (str_eq(raw->why, STR("not JSON-RPC")))
        send_error(s, STR_NONE, MCP_INVALID_REQUEST, STR("not a JSON-RPC message"));
    else
        send_error(s, STR_NONE, MCP_PARSE_ERROR, STR("not valid JSON"));
}

static void handle_record(struct demo_server *s, const struct record *r)
{
    if (r->kind == RECORD_MESSAGE)
        handle_message(s, r->message.msg);
    else if (r->kind == RECORD_RAW)
        handle_non_message(s, &r->bytes);
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
        handle_record(s, ev->record);
        break;
    case EVENT_TIMER:
        demo_tools_handle_timer(&s->tools, ev->timer);
        break;
    case EVENT_INPUT_CLOSED:
        s->closed = true;
        break;
    default:
        BUG("the demo server got an event of another engine");
    }
    if (s->closed && !demo_tools_has_timers(&s->tools)) {
        s->finished = true;
        actions_finish(&s->actions, 0);
    }
}
