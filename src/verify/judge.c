#include "verify/judge.h"

#include "base/buf.h"
#include "mcp/meta.h"
#include "mcp/payload-compare.h"
#include "trace/limits.h"
#include "json/equal.h"
#include "json/schema.h"
#include "json/write.h"

enum { PATH_MAX_BYTES = 4096, RESULT_MEMBERS = 3 /* jsonrpc, id, result */ };

void judge_init(struct judge *j, const struct compare_rules *rules, struct rebind *rebind)
{
    *j = (struct judge){ .rules = rules, .rebind = rebind };
}

void judge_release(struct judge *j)
{
    arena_release(&j->arena);
}

void judge_clear(struct judge *j)
{
    arena_clear(&j->arena);
    j->count = 0;
    j->hidden = j->volatile_count = j->ignored_count = 0;
    j->failure = FAILURE_NONE;
    j->obstacle = STR_NONE;
}

void judge_add(struct judge *j, enum verdict_failure failure, const struct finding *f)
{
    if (f->severity == FINDING_ERROR && j->failure == FAILURE_NONE)
        j->failure = failure;
    if (j->count < JUDGE_FINDINGS_MAX)
        j->findings[j->count++] = *f;
    else
        j->hidden++;
}

void judge_obstruct(struct judge *j, struct str why)
{
    if (!j->obstacle.len)
        j->obstacle = why;
}

void judge_hint(struct judge *j, struct str hint)
{
    for (size_t i = 0; i < j->count; i++)
        if (j->findings[i].severity == FINDING_ERROR && !j->findings[i].hint.len) {
            j->findings[i].hint = hint;
            return;
        }
}

struct str judge_quote(struct judge *j, struct str text)
{
    struct json_fault fault;
    struct str json = text;
    struct buf quoted;
    struct json doc;

    json_init(&doc);
    if (!json_scan(&doc, text, &fault)) {
        buf_init(&quoted, LIMIT_LINE);
        json_write_str(&quoted, text);
        json = arena_str(&j->arena, quoted.full ? STR("\"…\"") : buf_str(&quoted));
        buf_release(&quoted);
    }
    json_release(&doc);
    return json;
}

void judge_finish(struct judge *j)
{
    if (!j->hidden)
        return;
    j->findings[j->count++] = (struct finding){
        .rule = STR("more-differences"),
        .severity = FINDING_NOTE,
        .message =
            arena_printf(&j->arena, "%llu more differences", (unsigned long long)j->hidden),
    };
    j->hidden = 0;
}

static struct str path_text(struct judge *j, struct json_location at)
{
    struct buf text;
    struct str path;

    buf_init(&text, PATH_MAX_BYTES);
    json_location_write(at, &text);
    path = arena_str(&j->arena, buf_str(&text));
    buf_release(&text);
    return path;
}

struct judge_comparison {
    struct judge *judge;
    bool all_volatile; /* a task was recorded in another state than it is in */
};

/* The texts of values are copied: those inside strings live no longer than the call. */
static void add_difference(struct judge *j, const struct payload_difference *d)
{
    static const struct {
        const char *rule, *message;
    } kinds[] = {
        [PAYLOAD_CHANGED] = { "content-changed", "the value differs" },
        [PAYLOAD_TYPE_CHANGED] = { "type-changed", "the value has another type" },
        [PAYLOAD_ADDED] = { "content-added", "the recorded response does not have it" },
        [PAYLOAD_REMOVED] = { "content-removed", "the live response does not have it" },
        [PAYLOAD_REORDERED] = { "order-changed", "the list has another order" },
        [PAYLOAD_LENGTH_CHANGED] = { "length-changed", "the array has another length" },
    };
    struct finding f = { .rule = str_z(kinds[d->kind].rule),
                         .message = str_z(kinds[d->kind].message) };

    f.severity = d->class == PAYLOAD_CONTENT ? FINDING_ERROR : FINDING_NOTE;
    if (j->count < JUDGE_FINDINGS_MAX) {
        f.path = path_text(j, d->location);
        f.recorded = arena_str(&j->arena, json_raw(d->recorded));
        f.live = arena_str(&j->arena, json_raw(d->live));
    }
    judge_add(j, FAILURE_CONTENT, &f);
}

/* Whether a difference of content counts as volatile for this response. */
static bool is_excused(const struct judge_comparison *c, const struct payload_difference *d)
{
    return d->class == PAYLOAD_CONTENT &&
           (c->all_volatile ||
            (c->judge->rebind && rebind_explains(c->judge->rebind, d->recorded, d->live)));
}

static bool on_difference(void *arg, const struct payload_difference *d)
{
    struct judge_comparison *c = arg;

    if (d->class == PAYLOAD_IGNORED)
        c->judge->ignored_count++;
    else if (d->class == PAYLOAD_VOLATILE || is_excused(c, d))
        c->judge->volatile_count++;
    else
        add_difference(c->judge, d);
    return true;
}

struct judge_request {
    struct judge_comparison comparison;
    struct finding *difference; /* may be NULL */
    bool differs;
};

static bool is_empty_params(struct json_val params)
{
    return !json_exists(params) ||
           (json_type(params) == JSON_OBJECT &&
            json_count(params) == json_exists(json_get(params, MCP_META_KEY)));
}

static bool on_request_difference(void *arg, const struct payload_difference *d)
{
    struct judge_request *q = arg;
    struct judge *j = q->comparison.judge;

    if (d->class != PAYLOAD_CONTENT || is_excused(&q->comparison, d))
        return true;
    if (d->location.count == 1 && is_empty_params(d->recorded) && is_empty_params(d->live))
        return true;
    q->differs = true;
    if (q->difference) {
        q->difference->path = path_text(j, d->location);
        q->difference->recorded = arena_str(&j->arena, json_raw(d->recorded));
        q->difference->live = arena_str(&j->arena, json_raw(d->live));
    }
    return false;
}

bool judge_request(struct judge *j, struct json_val recorded, const struct mcp_message *live,
                   struct finding *difference)
{
    struct judge_request q = { .comparison = { .judge = j }, .difference = difference };

    (void)payload_compare(recorded, live->root, live->method, j->rules, on_request_difference,
                          &q);
    return !q.differs;
}

static struct json_val task_status(struct json_val response)
{
    return json_get(json_get(response, STR("result")), STR("status"));
}

bool judge_task_is_open(struct json_val response)
{
    struct json_val status = task_status(response);

    return json_is(status, STR("working")) || json_is(status, STR("submitted"));
}

/* An error in place of a result, or the other way round. */
static bool judge_kind(struct judge *j, struct json_val recorded, struct json_val live)
{
    struct json_val was = json_get(recorded, STR("error")), is = json_get(live, STR("error"));
    struct finding f = { .severity = FINDING_ERROR };

    if (json_exists(was) == json_exists(is))
        return true;
    if (json_exists(is)) {
        f.rule = STR("error-in-place-of-result");
        f.message = STR("the server responded with an error; a result was recorded");
        f.path = STR("$.error");
        f.live = arena_str(&j->arena, json_raw(is));
        f.recorded = arena_str(&j->arena, json_raw(json_get(recorded, STR("result"))));
    } else {
        f.rule = STR("result-in-place-of-error");
        f.message = STR("the server responded with a result; an error was recorded");
        f.path = STR("$.result");
        f.live = arena_str(&j->arena, json_raw(json_get(live, STR("result"))));
        f.recorded = arena_str(&j->arena, json_raw(was));
    }
    judge_add(j, FAILURE_ERROR, &f);
    return false;
}

static bool is_tool_error(struct json_val response)
{
    return json_type(json_get(json_get(response, STR("result")), STR("isError"))) == JSON_TRUE;
}

/* The client sent the recorded version, so the server no longer speaks it, or prefers another.
 */
static void explain_version(struct judge *j)
{
    for (size_t i = 0; i < j->count; i++)
        if (str_eq(j->findings[i].path, STR("$.result.protocolVersion")))
            j->findings[i].hint =
                STR("the server did not accept the recorded protocol version: "
                    "later requests may fail for this reason");
}

/* Whether the results have the same bytes, as those of most calls: then nothing can differ. */
static bool has_same_bytes(struct json_val recorded, struct json_val live)
{
    struct json_val was = json_get(recorded, STR("result"));

    return json_exists(was) && json_count(recorded) == RESULT_MEMBERS &&
           json_count(live) == RESULT_MEMBERS &&
           str_eq(json_raw(was), json_raw(json_get(live, STR("result"))));
}

void judge_response(struct judge *j, struct str method, bool is_poll, struct json_val recorded,
                    struct json_val live)
{
    struct judge_comparison c = { .judge = j };

    if (!j->rules->like_mcp_recorder && has_same_bytes(recorded, live))
        return;
    if (!judge_kind(j, recorded, live))
        return;
    c.all_volatile = is_poll && judge_task_is_open(recorded) &&
                     !json_equal(task_status(recorded), task_status(live), NULL) &&
                     !json_is(task_status(live), STR("failed")) &&
                     !json_is(task_status(live), STR("cancelled"));
    (void)payload_compare(recorded, live, method, j->rules, on_difference, &c);
    if (str_eq(method, STR("initialize")))
        explain_version(j);
    if (j->failure == FAILURE_CONTENT && (json_exists(json_get(recorded, STR("error"))) ||
                                          is_tool_error(recorded) != is_tool_error(live)))
        j->failure = FAILURE_ERROR;
}

static bool add_violation(void *arg, const struct json_schema_violation *v)
{
    struct judge *j = arg;
    struct finding f = { .rule = STR("output-schema"), .severity = FINDING_ERROR };
    struct str path = path_text(j, v->location); /* begins with "$" */

    f.path =
        arena_printf(&j->arena, "$.result.structuredContent%.*s", STR_ARG(str_skip(path, 1)));
    f.message =
        arena_printf(&j->arena, "the tool's outputSchema: it %.*s", STR_ARG(v->message));
    f.live = arena_str(&j->arena, json_raw(v->value));
    judge_add(j, FAILURE_PROTOCOL, &f);
    judge_obstruct(j, STR("it violates the outputSchema of the tool"));
    return true;
}

static struct json_val structured_content(struct json_val response)
{
    return json_get(json_get(response, STR("result")), STR("structuredContent"));
}

/* Whether it is the result of a tool that has done its work: no task, no request for input. */
static bool is_complete_result(struct json_val response)
{
    struct json_val result = json_get(response, STR("result"));
    struct json_val type = json_get(result, STR("resultType"));

    return json_exists(result) && !is_tool_error(response) &&
           (!json_exists(type) || json_is(type, STR("complete"))) &&
           !json_exists(json_get(json_get(result, STR("task")), STR("taskId")));
}

/* The server had the fault already when it was recorded, or it has it now. */
static void add_missing_content(struct judge *j, struct json_val recorded)
{
    bool is_old = is_complete_result(recorded) && !json_exists(structured_content(recorded));
    struct finding f = { .rule = STR("structured-content-missing"),
                         .severity = is_old ? FINDING_WARNING : FINDING_ERROR,
                         .path = STR("$.result.structuredContent"),
                         .message =
                             STR("the tool has an outputSchema, so that its result needs "
                                 "structured content, and has none") };

    judge_add(j, FAILURE_PROTOCOL, &f);
    if (is_old)
        return;
    j->failure = FAILURE_PROTOCOL; /* it says more than the difference that it causes */
    judge_obstruct(j, STR("it lacks the structured content that the outputSchema requires"));
}

static void check_schema(struct judge *j, struct str schema, struct json_val content)
{
    struct json_schema *compiled;
    struct json_fault fault;
    struct json json;

    json_init(&json);
    if (!json_scan(&json, schema, &fault))
        BUG("it was a part of a message");
    compiled = json_schema_new(json_root(&json));
    (void)json_schema_check(compiled, content, add_violation, j); /* partial results are fine */
    json_schema_free(compiled);
    json_release(&json);
}

void judge_output_schema(struct judge *j, struct str schema, struct json_val recorded,
                         struct json_val live)
{
    struct json_val content = structured_content(live);

    if (!schema.len || is_tool_error(live))
        return;
    if (json_exists(content))
        check_schema(j, schema, content);
    else if (is_complete_result(live))
        add_missing_content(j, recorded);
}
