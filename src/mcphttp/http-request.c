#include "mcphttp/http-request.h"

#include "base/ascii.h"
#include "base/hash.h"
#include "mcp/meta.h"
#include "mcp/params-hash.h"
#include "mcphttp/header-policy.h"

static enum parse_kind classify_body(struct json *j, struct str body, struct mcp_message *m,
                                     struct arena *a)
{
    struct json_fault fault;
    struct json_val root;

    if (!str_trim(body).len)
        return PARSE_EMPTY;
    if (!json_scan(j, body, &fault))
        return PARSE_OTHER;
    root = json_root(j);
    if (json_type(root) == JSON_ARRAY && json_count(root))
        return PARSE_BATCH;
    *m = mcp_classify(root, a);
    return m->kind == MCP_OTHER || m->kind == MCP_BATCH ? PARSE_OTHER : PARSE_MESSAGE;
}

static bool has_initialize(struct json_val batch)
{
    struct json_iter it = json_each(batch);
    bool found = false;

    while (!found && json_next(&it))
        found = json_is(json_get(it.value, STR("method")), STR("initialize"));
    return found;
}

struct http_request http_request_from_event(const struct event_request *r)
{
    return (struct http_request){ .method = r->method,
                                  .headers = r->headers,
                                  .accept = media_type_accept(r->headers),
                                  .host = r->host,
                                  .origin = r->origin };
}

void http_request_parse_body(struct http_request *c, struct json *j, struct str body,
                             struct mcp_message *m, struct arena *a)
{
    c->body_kind = classify_body(j, body, m, a);
    c->initialize_in_batch = c->body_kind == PARSE_BATCH && has_initialize(json_root(j));
    c->message = c->body_kind == PARSE_MESSAGE ? m : NULL;
    c->raw = c->body_kind == PARSE_OTHER ? str_trim(body) : STR_NONE;
}

/* A method with an invalid id, even null, counts as an invalid request: it gets an error. */
static bool needs_response(struct json_val v, const struct mcp_message *as)
{
    return as->kind == MCP_REQUEST || as->kind == MCP_OTHER || as->kind == MCP_BATCH ||
           (as->kind == MCP_NOTIFICATION && json_exists(json_get(v, STR("id"))));
}

size_t http_request_response_count(const struct http_request *c, struct json_val body,
                                   struct arena *a)
{
    struct json_iter it = json_each(body);
    size_t count = 0;

    if (c->body_kind != PARSE_BATCH)
        return c->message && needs_response(body, c->message);
    while (json_next(&it)) {
        struct mcp_message as = mcp_classify(it.value, a);

        count += needs_response(it.value, &as);
    }
    return count;
}

struct str http_request_header(const struct http_request *c, struct str name)
{
    return headers_value(c->headers, name);
}

enum mcp_version http_request_header_version(const struct http_request *c)
{
    return mcp_version_parse(http_request_header(c, STR("mcp-protocol-version")));
}

enum mcp_version http_request_message_version(const struct http_request *c, struct arena *a)
{
    struct json_val version =
        c->message ? json_get(c->message->meta, MCP_META_VERSION) : JSON_VAL_NONE;

    return mcp_version_parse(json_text(version, a));
}

enum mcp_version http_request_client_version(const struct http_request *c,
                                             enum mcp_version negotiated, struct arena *a)
{
    enum mcp_version v = http_request_header_version(c);

    if (v != MCP_VERSION_UNKNOWN)
        return v;
    if (!c->message || !str_eq(c->message->method, STR("initialize")))
        return negotiated;
    return mcp_version_parse(
        json_text(json_get(c->message->params, STR("protocolVersion")), a));
}

bool http_request_is_stateless(const struct http_request *c, struct arena *a)
{
    return mcp_version_protocol(http_request_header_version(c)) == MCP_PROTOCOL_STATELESS ||
           mcp_version_protocol(http_request_message_version(c, a)) == MCP_PROTOCOL_STATELESS;
}

static bool is_own_origin(enum origin_kind p)
{
    return p == ORIGIN_NONE || p == ORIGIN_SELF || p == ORIGIN_LOOPBACK;
}

/* Hashes the meaning of Accept, not its spelling. */
static uint64_t accept_hash(const struct media_type_accept *accept)
{
    uint64_t key = accept->present;

    for (int i = 0; i < MEDIA_COUNT; i++)
        key = key * 4 + (accept->types[i].named ? 2u : 0u) + (accept->types[i].q > 0);
    return key;
}

static uint64_t hash_lower(struct str text)
{
    char lower[64];
    size_t len = text.len < sizeof lower ? text.len : sizeof lower;

    for (size_t i = 0; i < len; i++)
        lower[i] = ascii_lower(text.at[i]);
    return hash_bytes(str_n(lower, len), text.len);
}

/* Hashes the Mcp- headers, in any order. Accept and Content-Type are hashed by meaning. */
static uint64_t headers_hash(const struct headers *f)
{
    uint64_t key = 0;

    for (size_t i = 0; i < f->count; i++) {
        struct str name = f->at[i].name;

        if (name.len > 4 && headers_equal_nocase(str_n(name.at, 4), STR("mcp-")) &&
            header_policy_keeps_value(name))
            key += hash_bytes(f->at[i].value, hash_lower(name));
    }
    return key;
}

/* Hashes method and params without personal values: only the required members of _meta count.
 */
static uint64_t message_hash(const struct mcp_message *m, struct arena *a)
{
    static const struct params_rules rules = { .include_meta = false };
    struct str version = json_text(json_get(m->meta, MCP_META_VERSION), a);
    uint64_t key = hash_bytes(m->method, (uint64_t)m->kind);
    struct params_leaves leaves;

    params_leaves_init(&leaves);
    params_leaves_read(&leaves, m->params, &rules, (struct params_mask){ NULL, 0 });
    key = hash_mix(key, params_leaves_hash(&leaves));
    params_leaves_release(&leaves);
    key = hash_mix(key, hash_bytes(version, version.at != NULL));
    key = hash_mix(key, json_exists(json_get(m->meta, MCP_META_CLIENT_CAPABILITIES)));
    return hash_mix(key, json_exists(json_get(m->meta, MCP_META_CLIENT_INFO)));
}

uint64_t http_request_hash(const struct http_request *c, struct arena *a)
{
    uint64_t key = hash_bytes(c->method, (uint64_t)c->session_state * 2 + c->to_sse_endpoint);

    if (c->body_kind == PARSE_BATCH)
        return 0;
    key = hash_mix(key, (uint64_t)is_own_origin(c->host) * 2 + is_own_origin(c->origin));
    key = hash_mix(key, accept_hash(&c->accept));
    key = hash_mix(key, headers_hash(c->headers));
    if (str_eq(c->method, STR("POST")))
        key = hash_mix(key, media_type_of_headers(c->headers));
    key = hash_mix(key, headers_count(c->headers, STR("last-event-id")) > 0);
    if (c->body_kind == PARSE_MESSAGE)
        key = hash_mix(key, message_hash(c->message, a));
    else
        key = hash_bytes(c->raw, key);
    return key ? key : 1;
}
