#include "mcp/message.h"

#include "base/err.h"
#include "mcp/meta.h"

/* The members of the envelope; all others are ignored. */
enum member { MEMBER_ID, MEMBER_METHOD, MEMBER_PARAMS, MEMBER_RESULT, MEMBER_ERROR, MEMBERS };

struct envelope {
    struct json_val at[MEMBERS]; /* the last of duplicates, as json_get() has it */
    bool duplicate_member;
};

/* Compares the length first, which decides nearly always: this runs for every message. */
static enum member find_member(struct str name)
{
    switch (name.len) {
    case 2:
        return str_eq(name, STR("id")) ? MEMBER_ID : MEMBERS;
    case 5:
        return str_eq(name, STR("error")) ? MEMBER_ERROR : MEMBERS;
    case 6:
        return str_eq(name, STR("method"))   ? MEMBER_METHOD
               : str_eq(name, STR("params")) ? MEMBER_PARAMS
               : str_eq(name, STR("result")) ? MEMBER_RESULT
                                             : MEMBERS;
    default:
        return MEMBERS;
    }
}

static struct envelope parse_envelope(struct json_val root, struct arena *a)
{
    struct envelope env = { .duplicate_member = false };
    struct json_iter it = json_each(root);

    while (json_next(&it)) {
        enum member i = find_member(json_text(it.key, a));
        if (i == MEMBERS)
            continue;
        env.duplicate_member |= json_exists(env.at[i]);
        env.at[i] = it.value;
    }
    return env;
}

static bool is_non_null(struct json_val v)
{
    return json_exists(v) && json_type(v) != JSON_NULL;
}

static bool is_usable_id(struct json_val id)
{
    return json_type(id) == JSON_STRING || json_type(id) == JSON_NUMBER;
}

/* A method decides before a result, as in the SDKs' readers. */
static enum mcp_kind kind_of(const struct envelope *env)
{
    struct json_val id = env->at[MEMBER_ID], error = env->at[MEMBER_ERROR];

    if (is_non_null(id) && !is_usable_id(id))
        return MCP_OTHER;
    if (json_type(env->at[MEMBER_METHOD]) == JSON_STRING)
        return is_non_null(id) ? MCP_REQUEST : MCP_NOTIFICATION;
    /* An error without id must be an object: OAuth's
     * {"error":"invalid_token"} is not one of ours. */
    if (is_non_null(error))
        return is_non_null(id) || json_type(error) == JSON_OBJECT ? MCP_ERROR : MCP_OTHER;
    if (json_exists(env->at[MEMBER_RESULT]) && is_non_null(id))
        return MCP_RESULT;
    return MCP_OTHER;
}

struct mcp_message mcp_classify(struct json_val root, struct arena *a)
{
    struct mcp_message m = { .kind = MCP_OTHER, .root = root };
    struct envelope env;

    if (json_type(root) == JSON_ARRAY)
        m.kind = MCP_BATCH;
    if (json_type(root) != JSON_OBJECT)
        return m;
    env = parse_envelope(root, a);
    m.kind = kind_of(&env);
    m.duplicate_member = env.duplicate_member;
    switch (m.kind) {
    case MCP_REQUEST:
        m.id = env.at[MEMBER_ID];
        /* fall through */
    case MCP_NOTIFICATION:
        m.method = json_text(env.at[MEMBER_METHOD], a);
        m.params = env.at[MEMBER_PARAMS];
        m.meta = json_get(m.params, MCP_META_KEY);
        break;
    case MCP_RESULT:
        m.id = env.at[MEMBER_ID];
        m.result = env.at[MEMBER_RESULT];
        break;
    case MCP_ERROR:
        m.id = env.at[MEMBER_ID];
        m.error = env.at[MEMBER_ERROR];
        break;
    case MCP_OTHER:
    case MCP_BATCH:
        break;
    }
    return m;
}

bool mcp_error_has_code(const struct mcp_message *m, int64_t code)
{
    int64_t its;

    return m->kind == MCP_ERROR && json_int(json_get(m->error, STR("code")), &its) &&
           its == code;
}

const char *mcp_kind_name(enum mcp_kind kind)
{
    switch (kind) {
    case MCP_OTHER:
        return "other";
    case MCP_REQUEST:
        return "request";
    case MCP_NOTIFICATION:
        return "notification";
    case MCP_RESULT:
        return "result";
    case MCP_ERROR:
        return "error";
    case MCP_BATCH:
        return "batch";
    }
    BUG("no such kind of message");
}
