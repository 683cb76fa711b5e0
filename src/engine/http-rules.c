#include "engine/http-rules.h"

#include "mcp/code.h"
#include "mcp/meta.h"
#include "mcp/method.h"

enum {
    OK = 200,
    BAD_REQUEST = 400,
    FORBIDDEN = 403,
    NOT_FOUND = 404,
    NOT_ALLOWED = 405,
    NOT_ACCEPTABLE = 406,
    UNSUPPORTED_TYPE = 415,
};

enum { CODE_NO_SESSION = -32001 };

static const struct http_verdict fine = { .status = 0 };

static struct http_verdict refuse(unsigned status, int64_t code, struct str text)
{
    return (struct http_verdict){ .status = status, .code = code, .text = text };
}

static struct http_verdict mismatch(struct str text)
{
    return refuse(BAD_REQUEST, MCP_HEADER_MISMATCH, text);
}

static struct http_verdict not_allowed(const struct http_rules *rules)
{
    struct http_verdict v = refuse(NOT_ALLOWED, MCP_SERVER_ERROR, STR("Method not allowed"));

    if (!rules->legacy || (!rules->stream && !rules->sessions))
        v.allow = STR("POST");
    else if (!rules->stream)
        v.allow = STR("POST, DELETE");
    else
        v.allow = rules->sessions ? STR("GET, POST, DELETE") : STR("GET, POST");
    return v;
}

static struct http_verdict wrong_version(const struct http_rules *rules, struct str asked,
                                         struct arena *a)
{
    struct http_verdict v =
        refuse(BAD_REQUEST, MCP_UNSUPPORTED_VERSION, STR("Unsupported protocol version"));

    v.data = arena_printf(a, "{\"supported\":%.*s,\"requested\":%.*s}",
                          STR_ARG(rules->versions), STR_ARG(asked.len ? asked : STR("null")));
    return v;
}

static struct http_verdict judge_place(const struct http_call *c)
{
    if (c->host == PLACE_OTHER)
        return refuse(FORBIDDEN, MCP_SERVER_ERROR, STR("Forbidden: Host is not this server"));
    if (c->origin == PLACE_OTHER || c->origin == PLACE_NULL)
        return refuse(FORBIDDEN, MCP_SERVER_ERROR, STR("Forbidden: Origin is another site"));
    return fine;
}

struct http_verdict http_rules_no_session(void)
{
    return refuse(NOT_FOUND, CODE_NO_SESSION, STR("Session not found"));
}

static struct http_verdict judge_session(const struct http_rules *rules,
                                         const struct http_call *c)
{
    if (rules->unchecked)
        return fine;
    if (c->state == SESSION_UNKNOWN || c->state == SESSION_ENDED)
        return rules->sessions ? http_rules_no_session() : fine;
    if (c->state == SESSION_NONE && rules->sessions)
        return refuse(BAD_REQUEST, MCP_SERVER_ERROR,
                      STR("Bad Request: Mcp-Session-Id header is required"));
    return fine;
}

static struct http_verdict judge_version_header(const struct http_call *c)
{
    struct str said = http_call_header(c, STR("mcp-protocol-version"));

    if (said.len && http_call_version(c) == MCP_VERSION_UNKNOWN)
        return refuse(BAD_REQUEST, MCP_SERVER_ERROR,
                      STR("Bad Request: Unsupported protocol version"));
    return fine;
}

static struct http_verdict no_stream_taken(void)
{
    return refuse(NOT_ACCEPTABLE, MCP_SERVER_ERROR,
                  STR("Not Acceptable: Client must accept text/event-stream"));
}

/* A browser that looks for a picture takes anything, and would wait for ever. */
static struct http_verdict judge_get(const struct http_rules *rules, const struct http_call *c)
{
    const struct media_liking *sse = &c->accept.of[MEDIA_SSE];
    struct http_verdict v;

    if (!rules->legacy || !rules->stream)
        return not_allowed(rules);
    if (!(rules->unnamed ? sse->q > 0 : sse->named))
        return no_stream_taken();
    v = judge_version_header(c);
    return v.status ? v : judge_session(rules, c);
}

static struct http_verdict judge_delete(const struct http_rules *rules,
                                        const struct http_call *c)
{
    if (!rules->unchecked && (!rules->legacy || !rules->sessions))
        return not_allowed(rules);
    return judge_session(rules, c);
}

/* Whether a header has to repeat what a request of that method is about. */
static bool wants_name(struct str method)
{
    static const struct str methods[] = {
        STR_INIT("tools/call"), STR_INIT("prompts/get"),  STR_INIT("resources/read"),
        STR_INIT("tasks/get"),  STR_INIT("tasks/update"), STR_INIT("tasks/cancel"),
    };

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (str_eq(method, methods[i]))
            return true;
    return false;
}

static struct http_verdict judge_name(const struct http_call *c, struct arena *a)
{
    const struct mcp_message *m = c->message;
    struct str subject = json_text(mcp_subject(m->method, m->params), a);
    struct str said = http_params_text(http_call_header(c, STR("mcp-name")), a);

    if (!wants_name(m->method) && !said.len)
        return fine;
    if (!said.len)
        return mismatch(STR("Header mismatch: Mcp-Name header is required"));
    if (!str_eq(said, subject))
        return mismatch(STR("Header mismatch: Mcp-Name does not match the body"));
    return fine;
}

static struct http_verdict judge_meta(const struct mcp_message *m)
{
    if (json_type(json_get(m->meta, MCP_META_VERSION)) != JSON_STRING)
        return refuse(BAD_REQUEST, MCP_INVALID_PARAMS,
                      STR("Invalid params: _meta must name the protocol version"));
    if (json_type(json_get(m->meta, MCP_META_CLIENT_CAPABILITIES)) != JSON_OBJECT)
        return refuse(BAD_REQUEST, MCP_INVALID_PARAMS,
                      STR("Invalid params: _meta must name the client's capabilities"));
    return fine;
}

/* A second line could say something else to whoever looks at that one. */
static struct http_verdict judge_twice(const struct http_call *c)
{
    if (fields_count(c->fields, STR("mcp-protocol-version")) > 1)
        return mismatch(STR("Header mismatch: MCP-Protocol-Version stands there twice"));
    if (fields_count(c->fields, STR("mcp-method")) > 1)
        return mismatch(STR("Header mismatch: Mcp-Method stands there twice"));
    if (fields_count(c->fields, STR("mcp-name")) > 1)
        return mismatch(STR("Header mismatch: Mcp-Name stands there twice"));
    return fine;
}

static struct http_verdict judge_modern_headers(const struct http_rules *rules,
                                                const struct http_call *c, struct arena *a)
{
    const struct mcp_message *m = c->message;
    struct str version = http_call_header(c, STR("mcp-protocol-version"));
    struct str method = http_call_header(c, STR("mcp-method"));
    struct http_verdict v = judge_twice(c);

    if (v.status)
        return v;
    if (!version.len)
        return mismatch(STR("Header mismatch: MCP-Protocol-Version header is required"));
    if (!json_is(json_get(m->meta, MCP_META_VERSION), version))
        return mismatch(STR("Header mismatch: MCP-Protocol-Version does not match the body"));
    if (!method.len)
        return mismatch(STR("Header mismatch: Mcp-Method header is required"));
    if (!str_eq(method, m->method))
        return mismatch(STR("Header mismatch: Mcp-Method does not match the body"));
    if (rules->params && !http_params_fit(rules->params, c, a))
        return mismatch(STR("Header mismatch: Mcp-Param does not match the arguments"));
    return judge_name(c, a);
}

static struct http_verdict judge_modern(const struct http_rules *rules,
                                        const struct http_call *c, struct arena *a)
{
    struct http_verdict v;

    if (c->kind == INTAKE_BATCH || mcp_is_response(c->message))
        return refuse(BAD_REQUEST, MCP_INVALID_REQUEST,
                      STR("Invalid Request: one request or notification at a time"));
    if (!rules->modern)
        return refuse(BAD_REQUEST, MCP_SERVER_ERROR,
                      STR("Bad Request: Server not initialized"));
    if (c->message->kind == MCP_NOTIFICATION)
        return fine;
    v = judge_meta(c->message);
    if (!v.status)
        v = judge_modern_headers(rules, c, a);
    if (!v.status && mcp_version_era(http_call_message_version(c, a)) != MCP_ERA_MODERN)
        v = wrong_version(rules, json_raw(json_get(c->message->meta, MCP_META_VERSION)), a);
    return v;
}

static struct http_verdict judge_legacy(const struct http_rules *rules,
                                        const struct http_call *c, struct arena *a)
{
    const struct mcp_message *m = c->message;
    struct http_verdict v;

    if (m && m->kind == MCP_REQUEST && str_eq(m->method, STR("initialize"))) {
        if (!rules->legacy)
            return wrong_version(rules, json_raw(json_get(m->params, STR("protocolVersion"))),
                                 a);
        return c->state == SESSION_NONE ? fine : judge_session(rules, c);
    }
    /* A version nobody knows, and that is not how the old era says it. */
    if (m && m->kind == MCP_REQUEST && json_exists(json_get(m->meta, MCP_META_VERSION)) &&
        rules->modern)
        return wrong_version(rules, json_raw(json_get(m->meta, MCP_META_VERSION)), a);
    if (!rules->legacy)
        return judge_modern(rules, c, a);
    if (c->greets_in_batch) /* what else is in it would come before there is a session */
        return refuse(BAD_REQUEST, MCP_INVALID_REQUEST,
                      STR("Invalid Request: initialize must not be part of a batch"));
    v = judge_version_header(c);
    return v.status ? v : judge_session(rules, c);
}

/* A subscription stays open: nothing that is told in it fits into one JSON text. In HTTP+SSE
 * there is a stream already. */
static bool needs_stream(const struct http_call *c)
{
    const struct mcp_message *m = c->message;
    const struct mcp_method *known =
        m && m->kind == MCP_REQUEST ? mcp_method_find(m->method) : NULL;

    return known && known->class == MCP_CLASS_LISTEN && !c->posted;
}

static struct http_verdict judge_post(const struct http_rules *rules, const struct http_call *c,
                                      struct arena *a)
{
    if (media_of_fields(c->fields) != MEDIA_JSON)
        return refuse(UNSUPPORTED_TYPE, MCP_SERVER_ERROR,
                      STR("Unsupported Media Type: Content-Type must be application/json"));
    if (!c->accept.of[MEDIA_JSON].q && !c->accept.of[MEDIA_SSE].q)
        return refuse(NOT_ACCEPTABLE, MCP_SERVER_ERROR,
                      STR("Not Acceptable: Client must accept application/json and "
                          "text/event-stream"));
    if (c->kind == INTAKE_EMPTY || c->kind == INTAKE_OTHER)
        return refuse(BAD_REQUEST, MCP_PARSE_ERROR, STR("Parse error: no JSON-RPC message"));
    if (needs_stream(c) && !c->accept.of[MEDIA_SSE].q)
        return no_stream_taken();
    if (http_call_is_modern(c, a))
        return judge_modern(rules, c, a);
    return judge_legacy(rules, c, a);
}

struct http_verdict http_rules_judge(const struct http_rules *rules, const struct http_call *c,
                                     struct arena *a)
{
    struct http_verdict v = judge_place(c);

    if (v.status)
        return v;
    if (str_eq(c->method, STR("POST")))
        return judge_post(rules, c, a);
    if (str_eq(c->method, STR("GET")))
        return judge_get(rules, c);
    if (str_eq(c->method, STR("DELETE")))
        return judge_delete(rules, c);
    return not_allowed(rules);
}

static unsigned status_of_error(struct json_val error)
{
    int64_t code = 0;

    if (!json_int(json_get(error, STR("code")), &code))
        return OK;
    switch (code) {
    case MCP_METHOD_NOT_FOUND:
        return NOT_FOUND;
    case MCP_HEADER_MISMATCH:
    case MCP_MISSING_CAPABILITY:
    case MCP_UNSUPPORTED_VERSION:
        return BAD_REQUEST;
    default:
        return OK;
    }
}

unsigned http_rules_status_of(bool modern, struct str message)
{
    struct json_fault fault;
    unsigned status = OK;
    struct json j;

    json_init(&j);
    if (modern && json_scan(&j, message, &fault))
        status = status_of_error(json_get(json_root(&j), STR("error")));
    json_release(&j);
    return status;
}
