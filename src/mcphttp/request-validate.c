#include "mcphttp/request-validate.h"

#include "mcp/error-code.h"
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

static const struct http_rejection accepted = { .status = 0 };

static struct http_rejection reject(unsigned status, int64_t code, struct str text)
{
    return (struct http_rejection){ .status = status, .code = code, .text = text };
}

static struct http_rejection reject_mismatch(struct str text)
{
    return reject(BAD_REQUEST, MCP_HEADER_MISMATCH, text);
}

static struct http_rejection reject_method(const struct request_rules *rules)
{
    struct http_rejection v = reject(NOT_ALLOWED, MCP_SERVER_ERROR, STR("Method not allowed"));

    if (!rules->stateful || (!rules->has_get_stream && !rules->uses_session_ids))
        v.allow = STR("POST");
    else if (!rules->has_get_stream)
        v.allow = STR("POST, DELETE");
    else
        v.allow = rules->uses_session_ids ? STR("GET, POST, DELETE") : STR("GET, POST");
    return v;
}

static struct http_rejection reject_version(const struct request_rules *rules,
                                            struct str requested, struct arena *a)
{
    struct http_rejection v =
        reject(BAD_REQUEST, MCP_UNSUPPORTED_VERSION, STR("Unsupported protocol version"));

    v.data =
        arena_printf(a, "{\"supported\":%.*s,\"requested\":%.*s}", STR_ARG(rules->versions),
                     STR_ARG(requested.len ? requested : STR("null")));
    return v;
}

static struct http_rejection check_host_origin(const struct http_request *c)
{
    if (c->host == ORIGIN_OTHER)
        return reject(FORBIDDEN, MCP_SERVER_ERROR, STR("Forbidden: Host is not allowed"));
    if (c->origin == ORIGIN_OTHER || c->origin == ORIGIN_NULL)
        return reject(FORBIDDEN, MCP_SERVER_ERROR, STR("Forbidden: Origin is not allowed"));
    return accepted;
}

struct http_rejection http_rejection_no_session(void)
{
    return reject(NOT_FOUND, CODE_NO_SESSION, STR("Session not found"));
}

static struct http_rejection check_session(const struct request_rules *rules,
                                           const struct http_request *c)
{
    if (rules->any_session_id)
        return accepted;
    if (c->session_state == SESSION_UNKNOWN || c->session_state == SESSION_ENDED)
        return rules->uses_session_ids ? http_rejection_no_session() : accepted;
    if (c->session_state == SESSION_NONE && rules->uses_session_ids)
        return reject(BAD_REQUEST, MCP_SERVER_ERROR,
                      STR("Bad Request: Mcp-Session-Id header is required"));
    return accepted;
}

static struct http_rejection check_version_header(const struct http_request *c)
{
    struct str value = http_request_header(c, STR("mcp-protocol-version"));

    if (value.len && http_request_header_version(c) == MCP_VERSION_UNKNOWN)
        return reject(BAD_REQUEST, MCP_SERVER_ERROR,
                      STR("Bad Request: Unsupported protocol version"));
    return accepted;
}

static struct http_rejection reject_no_sse(void)
{
    return reject(NOT_ACCEPTABLE, MCP_SERVER_ERROR,
                  STR("Not Acceptable: Client must accept text/event-stream"));
}

/* Requires text/event-stream by name: a browser that loads an image accepts anything, and would
 * wait for ever. */
static struct http_rejection check_get(const struct request_rules *rules,
                                       const struct http_request *c)
{
    const struct media_type_quality *sse = &c->accept.types[MEDIA_SSE];
    struct http_rejection v;

    if (!rules->stateful || !rules->has_get_stream)
        return reject_method(rules);
    if (!(rules->get_accepts_wildcard ? sse->q > 0 : sse->named))
        return reject_no_sse();
    v = check_version_header(c);
    return v.status ? v : check_session(rules, c);
}

static struct http_rejection check_delete(const struct request_rules *rules,
                                          const struct http_request *c)
{
    if (!rules->any_session_id && (!rules->stateful || !rules->uses_session_ids))
        return reject_method(rules);
    return check_session(rules, c);
}

/* True if a request of that method needs an Mcp-Name header. */
static bool needs_name_header(struct str method)
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

static struct http_rejection check_name_header(const struct http_request *c, struct arena *a)
{
    const struct mcp_message *m = c->message;
    struct str subject = json_text(mcp_subject(m->method, m->params), a);
    struct str value = param_headers_decode(http_request_header(c, STR("mcp-name")), a);

    if (!needs_name_header(m->method) && !value.len)
        return accepted;
    if (!value.len)
        return reject_mismatch(STR("Header mismatch: Mcp-Name header is required"));
    if (!str_eq(value, subject))
        return reject_mismatch(STR("Header mismatch: Mcp-Name does not match the body"));
    return accepted;
}

static struct http_rejection check_meta(const struct mcp_message *m)
{
    if (json_type(json_get(m->meta, MCP_META_VERSION)) != JSON_STRING)
        return reject(BAD_REQUEST, MCP_INVALID_PARAMS,
                      STR("Invalid params: _meta must name the protocol version"));
    if (json_type(json_get(m->meta, MCP_META_CLIENT_CAPABILITIES)) != JSON_OBJECT)
        return reject(BAD_REQUEST, MCP_INVALID_PARAMS,
                      STR("Invalid params: _meta must name the client's capabilities"));
    return accepted;
}

/* Rejects duplicate headers: a proxy might read one of them and we the other. */
static struct http_rejection check_duplicates(const struct http_request *c)
{
    if (headers_count(c->headers, STR("mcp-protocol-version")) > 1)
        return reject_mismatch(STR("Header mismatch: duplicate MCP-Protocol-Version header"));
    if (headers_count(c->headers, STR("mcp-method")) > 1)
        return reject_mismatch(STR("Header mismatch: duplicate Mcp-Method header"));
    if (headers_count(c->headers, STR("mcp-name")) > 1)
        return reject_mismatch(STR("Header mismatch: duplicate Mcp-Name header"));
    return accepted;
}

static struct http_rejection check_stateless_headers(const struct request_rules *rules,
                                                     const struct http_request *c,
                                                     struct arena *a)
{
    const struct mcp_message *m = c->message;
    struct str version = http_request_header(c, STR("mcp-protocol-version"));
    struct str method = http_request_header(c, STR("mcp-method"));
    struct http_rejection v = check_duplicates(c);

    if (v.status)
        return v;
    if (!version.len)
        return reject_mismatch(STR("Header mismatch: MCP-Protocol-Version header is required"));
    if (!json_is(json_get(m->meta, MCP_META_VERSION), version))
        return reject_mismatch(
            STR("Header mismatch: MCP-Protocol-Version does not match the body"));
    if (!method.len)
        return reject_mismatch(STR("Header mismatch: Mcp-Method header is required"));
    if (!str_eq(method, m->method))
        return reject_mismatch(STR("Header mismatch: Mcp-Method does not match the body"));
    if (rules->param_headers && !param_headers_match(rules->param_headers, c, a))
        return reject_mismatch(STR("Header mismatch: Mcp-Param does not match the arguments"));
    return check_name_header(c, a);
}

static struct http_rejection check_stateless(const struct request_rules *rules,
                                             const struct http_request *c, struct arena *a)
{
    struct http_rejection v;

    if (c->body_kind == PARSE_BATCH || mcp_is_response(c->message))
        return reject(BAD_REQUEST, MCP_INVALID_REQUEST,
                      STR("Invalid Request: one request or notification at a time"));
    if (!rules->stateless)
        return reject(BAD_REQUEST, MCP_SERVER_ERROR,
                      STR("Bad Request: Server not initialized"));
    if (c->message->kind == MCP_NOTIFICATION)
        return accepted;
    v = check_meta(c->message);
    if (!v.status)
        v = check_stateless_headers(rules, c, a);
    if (!v.status &&
        mcp_version_protocol(http_request_message_version(c, a)) != MCP_PROTOCOL_STATELESS)
        v = reject_version(rules, json_raw(json_get(c->message->meta, MCP_META_VERSION)), a);
    return v;
}

static struct http_rejection check_stateful(const struct request_rules *rules,
                                            const struct http_request *c, struct arena *a)
{
    const struct mcp_message *m = c->message;
    struct http_rejection v;

    if (m && m->kind == MCP_REQUEST && str_eq(m->method, STR("initialize"))) {
        if (!rules->stateful)
            return reject_version(rules, json_raw(json_get(m->params, STR("protocolVersion"))),
                                  a);
        return c->session_state == SESSION_NONE ? accepted : check_session(rules, c);
    }
    /* An unknown version, in the place where the stateless protocol has it. */
    if (m && m->kind == MCP_REQUEST && json_exists(json_get(m->meta, MCP_META_VERSION)) &&
        rules->stateless)
        return reject_version(rules, json_raw(json_get(m->meta, MCP_META_VERSION)), a);
    if (!rules->stateful)
        return check_stateless(rules, c, a);
    if (c->initialize_in_batch) /* its other messages would precede the session */
        return reject(BAD_REQUEST, MCP_INVALID_REQUEST,
                      STR("Invalid Request: initialize must not be part of a batch"));
    v = check_version_header(c);
    return v.status ? v : check_session(rules, c);
}

/* A subscription stays open and needs a stream. In HTTP+SSE there is one already. */
static bool needs_stream(const struct http_request *c)
{
    const struct mcp_message *m = c->message;
    const struct mcp_method *known =
        m && m->kind == MCP_REQUEST ? mcp_method_find(m->method) : NULL;

    return known && known->class == MCP_CLASS_LISTEN && !c->to_sse_endpoint;
}

static struct http_rejection check_post(const struct request_rules *rules,
                                        const struct http_request *c, struct arena *a)
{
    if (media_type_of_headers(c->headers) != MEDIA_JSON)
        return reject(UNSUPPORTED_TYPE, MCP_SERVER_ERROR,
                      STR("Unsupported Media Type: Content-Type must be application/json"));
    if (!c->accept.types[MEDIA_JSON].q && !c->accept.types[MEDIA_SSE].q)
        return reject(NOT_ACCEPTABLE, MCP_SERVER_ERROR,
                      STR("Not Acceptable: Client must accept application/json and "
                          "text/event-stream"));
    if (c->body_kind == PARSE_EMPTY || c->body_kind == PARSE_OTHER)
        return reject(BAD_REQUEST, MCP_PARSE_ERROR, STR("Parse error: not a JSON-RPC message"));
    if (needs_stream(c) && !c->accept.types[MEDIA_SSE].q)
        return reject_no_sse();
    if (http_request_is_stateless(c, a))
        return check_stateless(rules, c, a);
    return check_stateful(rules, c, a);
}

struct http_rejection http_request_validate(const struct request_rules *rules,
                                            const struct http_request *c, struct arena *a)
{
    struct http_rejection v = check_host_origin(c);

    if (v.status)
        return v;
    if (str_eq(c->method, STR("POST")))
        return check_post(rules, c, a);
    if (str_eq(c->method, STR("GET")))
        return check_get(rules, c);
    if (str_eq(c->method, STR("DELETE")))
        return check_delete(rules, c);
    return reject_method(rules);
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

unsigned http_response_status(bool stateless, struct str message)
{
    struct json_fault fault;
    unsigned status = OK;
    struct json j;

    json_init(&j);
    if (stateless && json_scan(&j, message, &fault))
        status = status_of_error(json_get(json_root(&j), STR("error")));
    json_release(&j);
    return status;
}
