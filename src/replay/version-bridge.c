#include "replay/version-bridge.h"

#include <stdio.h>

#include "mcp/meta.h"
#include "replay/client-filter.h"

/* Appends the recorded versions; if none is known, only the protocol. */
static void add_versions(struct buf *to, const struct index *s)
{
    for (unsigned v = MCP_VERSION_LATEST; v > MCP_VERSION_UNKNOWN; v--) {
        struct str text = mcp_version_text((enum mcp_version)v);

        if (s->versions >> v & 1)
            buf_printf(to, "%s%.*s", to->len ? ", " : "", STR_ARG(text));
    }
    if (!to->len)
        buf_add(to, s->has_stateless ? STR("2026-07-28") : STR("2025-11-25 or earlier"));
}

void version_bridge_warn(struct version_bridge *o, struct actions *actions,
                         const struct index *idx, bool stateless, struct str version)
{
    struct buf versions;

    if (o->warned[stateless])
        return;
    o->warned[stateless] = true;
    if (!version.len)
        version = stateless ? STR("2026-07-28") : STR("2025-11-25 or earlier");
    version.len = version.len < VERSION_BRIDGE_TEXT ? version.len : VERSION_BRIDGE_TEXT - 1;
    buf_init(&versions, 1 << 10);
    add_versions(&versions, idx);
    if (stateless)
        actions_report(
            actions, LOG_WARN,
            "a client speaks protocol version %.*s, the recorded server only %s: use a client "
            "that speaks that version, or record a server that speaks %.*s",
            STR_ARG(version), buf_z(&versions), STR_ARG(version));
    else /* the server may support both: in 2026-07-28 the client chooses */
        actions_report(
            actions, LOG_WARN,
            "a client speaks protocol version %.*s, the recorded client chose %s: record again "
            "with a client that speaks %.*s, or replay to a client that speaks %s",
            STR_ARG(version), buf_z(&versions), STR_ARG(version), buf_z(&versions));
    buf_release(&versions);
}

void version_bridge_check_request(struct version_bridge *o, struct actions *actions,
                                  const struct index *idx, const struct request_rules *rules,
                                  const struct http_request *c, bool refused, struct arena *a)
{
    const struct mcp_message *m = c->message;
    struct str version;
    bool is_initialize;

    if ((!refused && !o->probed_version[0]) || !m || m->kind != MCP_REQUEST)
        return;
    is_initialize = str_eq(m->method, STR("initialize"));
    if (!refused) {
        o->probed_version[0] = is_initialize ? '\0' : o->probed_version[0];
        return;
    }
    if (is_initialize && !rules->stateful)
        version_bridge_warn(o, actions, idx, false,
                            json_text(json_get(m->params, STR("protocolVersion")), a));
    if (rules->stateless || !http_request_is_stateless(c, a))
        return;
    version = json_text(json_get(m->meta, MCP_META_VERSION), a);
    if (!str_eq(m->method, STR("server/discover")))
        version_bridge_warn(o, actions, idx, true, version);
    else
        snprintf(o->probed_version, sizeof o->probed_version, "%.*s",
                 STR_ARG(version.len ? version : STR("2026-07-28")));
}

void version_bridge_finish(struct version_bridge *o, struct actions *actions,
                           const struct index *idx)
{
    if (o->probed_version[0])
        version_bridge_warn(o, actions, idx, true, str_z(o->probed_version));
}

static bool is_final(struct json_val root)
{
    struct json_val type = json_get(json_get(root, STR("result")), STR("resultType"));

    return !json_exists(type) || json_is(type, STR("complete"));
}

/* A response to a ping changes nothing; one to any other server request does. */
static bool can_convert_step(enum step_kind kind, struct json_val root)
{
    return kind == STEP_SERVER_REQUEST ? json_is(json_get(root, STR("method")), STR("ping"))
                                       : is_final(root);
}

bool version_bridge_can_convert(const struct index *s, uint32_t call, struct err *e)
{
    bool possible = !(s->calls[call].flags & CALL_CREATED_TASK), answered = false;
    struct json_val root = JSON_VAL_NONE;
    struct index_message t;

    index_message_init(&t);
    for (uint32_t step = index_first_step(s, call); step && possible && !answered;
         step = index_next_step(s, call, step)) {
        enum step_kind kind = s->steps[step].kind;

        answered = kind == STEP_RESPONSE;
        if (answered || kind == STEP_SERVER_REQUEST)
            possible = index_read_step(s, step, &t, &root, e) && can_convert_step(kind, root);
    }
    index_message_release(&t);
    return possible;
}

bool version_bridge_can_send(struct json_val root)
{
    struct arena a = { 0 };
    struct mcp_message m = mcp_classify(root, &a);
    const struct mcp_method *known = mcp_method_find(m.method);
    bool taken_back = str_eq(m.method, STR("notifications/cancelled"));
    bool can = !taken_back && (!known || known->until == MCP_VERSION_LATEST) &&
               client_filter_wants(JSON_VAL_NONE, &m);

    arena_release(&a);
    return can;
}

/* The recording does not say how long the result is valid, so it must not be cached. */
static bool is_cacheable(const struct mcp_method *of)
{
    return of && (of->class == MCP_CLASS_LIST || str_eq(of->name, STR("resources/read")));
}

void version_bridge_to_stateless(struct json_splice *edit, struct json_val root,
                                 const struct mcp_method *of)
{
    struct json_val result = json_get(root, STR("result"));

    json_splice_set(edit, result, STR("resultType"), STR("\"complete\""));
    if (!is_cacheable(of))
        return;
    json_splice_set(edit, result, STR("ttlMs"), STR("0"));
    json_splice_set(edit, result, STR("cacheScope"), STR("\"private\""));
}
