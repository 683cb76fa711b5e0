#include "engine/http-call.h"

#include "base/ascii.h"
#include "base/hash.h"
#include "engine/headers-kept.h"
#include "engine/leaves.h"
#include "mcp/meta.h"

static enum intake_kind kind_of(struct json *j, struct str body, struct mcp_message *m,
                                struct arena *a)
{
    struct json_fault fault;
    struct json_val root;

    if (!str_trim(body).len)
        return INTAKE_EMPTY;
    if (!json_scan(j, body, &fault))
        return INTAKE_OTHER;
    root = json_root(j);
    if (json_type(root) == JSON_ARRAY && json_count(root))
        return INTAKE_BATCH;
    *m = mcp_classify(root, a);
    return m->kind == MCP_OTHER || m->kind == MCP_BATCH ? INTAKE_OTHER : INTAKE_MESSAGE;
}

static bool greets_in(struct json_val batch)
{
    struct json_iter it = json_each(batch);
    bool greets = false;

    while (!greets && json_next(&it))
        greets = json_is(json_get(it.value, STR("method")), STR("initialize"));
    return greets;
}

struct http_call http_call_of(const struct step_request *r)
{
    return (struct http_call){ .method = r->method,
                               .fields = r->fields,
                               .accept = media_accept(r->fields),
                               .host = r->host,
                               .origin = r->origin };
}

void http_call_read(struct http_call *c, struct json *j, struct str body, struct mcp_message *m,
                    struct arena *a)
{
    c->kind = kind_of(j, body, m, a);
    c->greets_in_batch = c->kind == INTAKE_BATCH && greets_in(json_root(j));
    c->message = c->kind == INTAKE_MESSAGE ? m : NULL;
    c->raw = c->kind == INTAKE_OTHER ? str_trim(body) : STR_NONE;
}

/* What has an id that is none is no notification, but a request that is wrong. */
static bool is_owed(struct json_val v, const struct mcp_message *as)
{
    return as->kind == MCP_REQUEST || as->kind == MCP_OTHER || as->kind == MCP_BATCH ||
           (as->kind == MCP_NOTIFICATION && json_exists(json_get(v, STR("id"))));
}

size_t http_call_owed(const struct http_call *c, struct json_val body, struct arena *a)
{
    struct json_iter it = json_each(body);
    size_t owed = 0;

    if (c->kind != INTAKE_BATCH)
        return c->message && is_owed(body, c->message);
    while (json_next(&it)) {
        struct mcp_message as = mcp_classify(it.value, a);

        owed += is_owed(it.value, &as);
    }
    return owed;
}

struct str http_call_header(const struct http_call *c, struct str name)
{
    return fields_value(c->fields, name);
}

enum mcp_version http_call_version(const struct http_call *c)
{
    return mcp_version_parse(http_call_header(c, STR("mcp-protocol-version")));
}

enum mcp_version http_call_message_version(const struct http_call *c, struct arena *a)
{
    struct json_val said =
        c->message ? json_get(c->message->meta, MCP_META_VERSION) : JSON_VAL_NONE;

    return mcp_version_parse(json_text(said, a));
}

enum mcp_version http_call_spoken(const struct http_call *c, enum mcp_version agreed,
                                  struct arena *a)
{
    enum mcp_version v = http_call_version(c);

    if (v != MCP_VERSION_UNKNOWN)
        return v;
    if (!c->message || !str_eq(c->message->method, STR("initialize")))
        return agreed;
    return mcp_version_parse(
        json_text(json_get(c->message->params, STR("protocolVersion")), a));
}

bool http_call_is_modern(const struct http_call *c, struct arena *a)
{
    return mcp_version_era(http_call_version(c)) == MCP_ERA_MODERN ||
           mcp_version_era(http_call_message_version(c, a)) == MCP_ERA_MODERN;
}

static bool is_ours(enum place p)
{
    return p == PLACE_NONE || p == PLACE_SELF || p == PLACE_LOOPBACK;
}

/* What is accepted, not how that is spelled. */
static uint64_t accept_key(const struct media_accept *accept)
{
    uint64_t key = accept->said;

    for (int i = 0; i < MEDIA_COUNT; i++)
        key = key * 4 + (accept->of[i].named ? 2u : 0u) + (accept->of[i].q > 0);
    return key;
}

static uint64_t hash_small(struct str text)
{
    char small[64];
    size_t len = text.len < sizeof small ? text.len : sizeof small;

    for (size_t i = 0; i < len; i++)
        small[i] = ascii_lower(text.at[i]);
    return hash_bytes(str_n(small, len), text.len);
}

/* Lines about MCP, in whatever order; Accept and Content-Type are judged by meaning. */
static uint64_t headers_key(const struct fields *f)
{
    uint64_t key = 0;

    for (size_t i = 0; i < f->count; i++) {
        struct str name = f->at[i].name;

        if (name.len > 4 && fields_same(str_n(name.at, 4), STR("mcp-")) && headers_kept(name))
            key += hash_bytes(f->at[i].value, hash_small(name));
    }
    return key;
}

/* The params but for what is personal: of _meta only what the protocol wants there. */
static uint64_t message_key(const struct mcp_message *m, struct arena *a)
{
    static const struct leaf_rules rules = { .meta = false };
    struct str version = json_text(json_get(m->meta, MCP_META_VERSION), a);
    uint64_t key = hash_bytes(m->method, (uint64_t)m->kind);
    struct leaves leaves;

    leaves_init(&leaves);
    leaves_take(&leaves, m->params, &rules, (struct leaf_mask){ NULL, 0 });
    key = hash_mix(key, leaves_key(&leaves));
    leaves_release(&leaves);
    key = hash_mix(key, hash_bytes(version, version.at != NULL));
    key = hash_mix(key, json_exists(json_get(m->meta, MCP_META_CLIENT_CAPABILITIES)));
    return hash_mix(key, json_exists(json_get(m->meta, MCP_META_CLIENT_INFO)));
}

uint64_t http_call_key(const struct http_call *c, struct arena *a)
{
    uint64_t key = hash_bytes(c->method, (uint64_t)c->state * 2 + c->posted);

    if (c->kind == INTAKE_BATCH)
        return 0;
    key = hash_mix(key, (uint64_t)is_ours(c->host) * 2 + is_ours(c->origin));
    key = hash_mix(key, accept_key(&c->accept));
    key = hash_mix(key, headers_key(c->fields));
    if (str_eq(c->method, STR("POST")))
        key = hash_mix(key, media_of_fields(c->fields));
    key = hash_mix(key, fields_count(c->fields, STR("last-event-id")) > 0);
    if (c->kind == INTAKE_MESSAGE)
        key = hash_mix(key, message_key(c->message, a));
    else
        key = hash_bytes(c->raw, key);
    return key ? key : 1;
}
