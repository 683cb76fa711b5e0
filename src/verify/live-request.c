#include "verify/live-request.h"

#include "mcp/meta.h"
#include "mcp/params-hash.h"
#include "trace/limits.h"
#include "json/write.h"

enum { REASON_MAX = 4096 };

#define PLACEHOLDER_START STR("[REDACTED")

void live_request_init(struct live_request *q, struct rebind *rebind,
                       live_request_secret_fn *secret, void *arg)
{
    *q = (struct live_request){ .rebind = rebind, .secret = secret, .arg = arg };
    buf_init(&q->text, LIMIT_MESSAGE);
    buf_init(&q->reason, REASON_MAX);
}

void live_request_release(struct live_request *q)
{
    buf_release(&q->text);
    buf_release(&q->reason);
    arena_release(&q->arena);
}

/* Copies the recorded text up to the value, and `raw` in its place. Values come in the order of
 * the text. */
static void replace(struct live_request *q, struct json_val value, struct str raw)
{
    struct str whole = json_raw(q->root);
    size_t at = json_offset(value) - json_offset(q->root);

    buf_add(&q->text, str_n(whole.at + q->copied, at - q->copied));
    buf_add(&q->text, raw);
    q->copied = at + json_raw(value).len;
}

static bool skip(struct live_request *q, const char *why, struct str name)
{
    q->outcome = LIVE_REQUEST_SKIPPED;
    buf_printf(&q->reason, why, STR_ARG(name));
    return false;
}

/* Takes the name of the placeholder at the front of `*rest` and moves behind it. Empty: it has
 * no name, or one of a rule. */
static struct str cut_placeholder(struct str *rest)
{
    struct str inner = str_cut(rest, ']');

    inner = str_skip(inner, PLACEHOLDER_START.len);
    return inner.len && inner.at[0] == ':' ? str_skip(inner, 1) : STR_NONE;
}

static size_t find_placeholder(struct str text)
{
    size_t at = 0;

    while (at < text.len && !str_starts(str_skip(text, at), PLACEHOLDER_START))
        at++;
    return at;
}

/* Finds the value of a placeholder; else the request is skipped. */
static bool find_secret(struct live_request *q, struct str name, struct str *value)
{
    struct str why = STR_NONE;

    if (!name.len || str_starts(name, STR("rule-")))
        return skip(q, "a value that was redacted by a rule is needed%.*s", STR_NONE);
    if (q->secret(q->arg, name, value, &why))
        return true;
    return why.len
               ? skip(q, "%.*s", why)
               : skip(q, "a redacted value is needed: set the environment variable %.*s", name);
}

/* Puts the secrets of a string back in place of their placeholders. */
static bool refill(struct live_request *q, struct json_val string)
{
    struct str rest = json_text(string, &q->arena);
    struct buf decoded, raw;
    bool known = true;

    buf_init(&decoded, LIMIT_MESSAGE);
    buf_init(&raw, LIMIT_MESSAGE);
    while (known) {
        size_t at = find_placeholder(rest);
        struct str value = STR_NONE;

        buf_add(&decoded, str_n(rest.at, at));
        rest = str_skip(rest, at);
        if (!rest.len)
            break;
        known = find_secret(q, cut_placeholder(&rest), &value);
        buf_add(&decoded, value);
    }
    if (known) {
        json_write_str(&raw, buf_str(&decoded));
        replace(q, string, buf_str(&raw));
    }
    buf_release(&decoded);
    buf_release(&raw);
    return known;
}

static bool rebind_value(struct live_request *q, struct json_val v)
{
    const struct rebind_value *known = rebind_find(q->rebind, v);

    if (!known)
        return true;
    if (!known->live.len) {
        q->outcome = LIVE_REQUEST_BLOCKED;
        q->loss = known->loss;
        return false;
    }
    replace(q, v, known->live);
    q->rebound++;
    return true;
}

static bool is_path(struct json_location at, size_t count, struct str first, struct str second,
                    struct str third)
{
    return at.count == count && str_eq(at.steps[0].name, first) &&
           (count < 2 || str_eq(at.steps[1].name, second)) &&
           (count < 3 || str_eq(at.steps[2].name, third));
}

/* Whether the value is one that the client makes for each request. */
static bool is_own_value(const struct live_request *q, struct json_location at)
{
    if (json_exists(json_get(q->root, STR("id"))))
        return is_path(at, 1, STR("id"), STR_NONE, STR_NONE) ||
               is_path(at, 3, STR("params"), MCP_META_KEY, PARAMS_PROGRESS_TOKEN);
    return is_path(at, 2, STR("params"), STR("requestId"), STR_NONE);
}

/* The name of a tool or prompt is never a value of a session. */
static bool is_fixed(struct json_location at)
{
    return !str_eq(at.steps[0].name, STR("params")) ||
           is_path(at, 2, STR("params"), STR("name"), STR_NONE);
}

static bool visit(void *arg, struct json_location at, struct json_val v)
{
    struct live_request *q = arg;

    if (json_type(v) != JSON_STRING && json_type(v) != JSON_NUMBER)
        return true;
    if (is_own_value(q, at)) {
        if (q->id.len)
            replace(q, v, q->id);
        return true;
    }
    if (is_fixed(at))
        return true;
    if (params_is_redacted(v))
        return refill(q, v);
    return rebind_value(q, v);
}

enum live_request_outcome live_request_make(struct live_request *q, struct json_val recorded,
                                            struct str id)
{
    static const struct json_path everything = {
        .parts = { { .kind = JSON_PATH_ANY, .any_depth = true } }, .count = 1
    };
    struct str whole = json_raw(recorded);

    arena_clear(&q->arena);
    buf_clear(&q->text);
    buf_clear(&q->reason);
    q->root = recorded;
    q->id = id;
    q->copied = 0;
    q->outcome = LIVE_REQUEST_MADE;
    if (json_path_select(&everything, recorded, visit, q))
        buf_add(&q->text, str_skip(whole, q->copied));
    return q->outcome;
}
