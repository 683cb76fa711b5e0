#include "engine/mock.h"

#include "engine/miss.h"
#include "mcp/code.h"
#include "mcp/meta.h"
#include "trace/limits.h"

enum { UNUSED_SHOWN = 5 };

void mock_init(struct mock *m, const struct script *script, const struct mock_options *options,
               struct action_sink *out)
{
    *m = (struct mock){ .script = script, .options = *options };
    matcher_init(&m->matcher, script, options->match);
    stage_init(&m->stage, out);
}

void mock_release(struct mock *m)
{
    matcher_release(&m->matcher);
    stage_release(&m->stage);
    arena_release(&m->arena);
}

/* The n-th recorded request of a method, or the last there is; NULL: none. */
static const struct script_op *nth(const struct script *s, struct str method, uint64_t n)
{
    const struct script_op *found = NULL;

    for (size_t i = 0; i < s->count; i++)
        if (str_eq(s->ops[i]->method, method)) {
            found = s->ops[i];
            if (n-- == 0)
                break;
        }
    return found;
}

/* A recording may start after the greeting. The client still needs one. */
static void greet_unrecorded(struct mock *m, const struct mcp_message *live)
{
    struct json_val version = json_get(live->params, STR("protocolVersion"));
    struct str asked =
        json_type(version) == JSON_STRING ? json_raw(version) : STR("\"2025-11-25\"");

    if (m->script->modern) {
        stage_send_error(&m->stage, json_raw(live->id), MCP_UNSUPPORTED_VERSION,
                         STR("Unsupported protocol version"),
                         arena_printf(&m->arena,
                                      "{\"supported\":[\"2026-07-28\"],\"requested\":%.*s}",
                                      STR_ARG(asked)));
        return;
    }
    stage_report(&m->stage, LOG_WARN, "the recording has no initialize; made one up");
    stage_send_result(
        &m->stage, json_raw(live->id),
        arena_printf(&m->arena,
                     "{\"protocolVersion\":%.*s,\"capabilities\":{},\"serverInfo\":"
                     "{\"name\":\"mcpreel replay\",\"version\":\"%s\"}}",
                     STR_ARG(asked), MCPREEL_VERSION));
}

static void greet(struct mock *m, const struct mcp_message *live)
{
    const struct script_op *op = nth(m->script, live->method, m->greetings++);

    matcher_reset(&m->matcher);
    stage_reset(&m->stage, json_get(live->params, STR("capabilities")));
    if (op)
        stage_play(&m->stage, op, live, false);
    else
        greet_unrecorded(m, live);
}

/* A client of both eras asks this first to learn which one it talks to. */
static void discover(struct mock *m, const struct mcp_message *live)
{
    const struct script_op *op = nth(m->script, live->method, 0);

    if (op)
        stage_play(&m->stage, op, live, true);
    else if (m->script->modern)
        stage_send_result(&m->stage, json_raw(live->id),
                          STR("{\"resultType\":\"complete\",\"supportedVersions\":"
                              "[\"2026-07-28\"],\"capabilities\":{\"tools\":{},\"prompts\":{},"
                              "\"resources\":{}},\"ttlMs\":0,\"cacheScope\":\"private\"}"));
    else
        stage_send_error(&m->stage, json_raw(live->id), MCP_METHOD_NOT_FOUND,
                         STR("Method not found"), STR_NONE);
}

/* As recorded, also where that was an error: the last revision has no ping. */
static void pong(struct mock *m, const struct mcp_message *live)
{
    const struct script_op *op = nth(m->script, live->method, 0);

    if (op && op->answered)
        stage_play(&m->stage, op, live, true);
    else
        stage_send_result(&m->stage, json_raw(live->id), STR("{}"));
}

static void miss(struct mock *m, const struct mcp_message *live, enum match_outcome outcome)
{
    struct miss why;

    m->missed++;
    miss_explain(&why, m->script, live->method, live->params, outcome == MATCH_EXHAUSTED);
    stage_send_error(&m->stage, json_raw(live->id), MCP_SERVER_ERROR, buf_str(&why.message),
                     buf_str(&why.data));
    stage_report(&m->stage, LOG_ERROR, "%s", buf_z(&why.report));
    miss_release(&why);
    if (!m->options.finish_on_miss)
        return;
    m->exit_code = 1;
    m->closed = true;
}

/* What differs from the recording although it was answered from it. */
static void remark(struct mock *m, const struct script_op *op, const struct mcp_message *live)
{
    const struct script_op *older = matcher_passed_over(&m->matcher, op);
    struct json_fault fault;
    struct json j;

    if (older)
        stage_report(&m->stage, LOG_DEBUG, "#%llu %.*s was passed over: not asked for yet",
                     (unsigned long long)older->seq, STR_ARG(older->method));
    json_init(&j);
    if (json_scan(&j, op->raw, &fault) &&
        !matcher_same_params(json_get(json_root(&j), STR("params")), live->params))
        stage_report(&m->stage, LOG_INFO, "%.*s%s%.*s answered with #%llu, whose params differ",
                     STR_ARG(live->method), op->subject.len ? " " : "", STR_ARG(op->subject),
                     (unsigned long long)op->seq);
    json_release(&j);
}

static void answer(struct mock *m, const struct mcp_message *live)
{
    const struct script_op *op;
    enum match_outcome outcome = matcher_take(&m->matcher, live->method, live->params, &op);

    if (!op) {
        miss(m, live, outcome);
        return;
    }
    remark(m, op, live);
    stage_play(&m->stage, op, live, outcome == MATCH_AGAIN);
}

static void hear_request(struct mock *m, const struct mcp_message *live)
{
    if (live->duplicate)
        stage_send_error(&m->stage, json_raw(live->id), MCP_INVALID_REQUEST,
                         STR("a member of the request stands there twice"), STR_NONE);
    else if (str_eq(live->method, STR("initialize")))
        greet(m, live);
    else if (str_eq(live->method, STR("server/discover")))
        discover(m, live);
    else if (str_eq(live->method, STR("ping")))
        pong(m, live);
    else
        answer(m, live);
}

static void hear_notification(struct mock *m, const struct mcp_message *live)
{
    if (str_eq(live->method, STR("notifications/cancelled")))
        stage_hear_cancel(&m->stage, json_get(live->params, STR("requestId")));
    else
        stage_hear_notification(&m->stage, live->method);
}

static void hear(struct mock *m, const struct record *r)
{
    struct mcp_message live;

    if (r->kind == RECORD_RAW) {
        bool json = str_eq(r->bytes.why, STR("not JSON-RPC"));
        stage_send_error(&m->stage, STR("null"), json ? MCP_INVALID_REQUEST : MCP_PARSE_ERROR,
                         json ? STR("not a JSON-RPC message") : STR("not valid JSON"),
                         STR_NONE);
        return;
    }
    live = mcp_classify(r->message.msg, &m->arena);
    if (live.kind == MCP_REQUEST)
        hear_request(m, &live);
    else if (live.kind == MCP_NOTIFICATION)
        hear_notification(m, &live);
    else if (!stage_hear_answer(&m->stage, live.id))
        stage_report(&m->stage, LOG_WARN,
                     "the client answered a question nobody asked: id %.*s",
                     STR_ARG(json_raw(live.id)));
}

static void add_name(struct buf *to, const struct script_op *op)
{
    buf_printf(to, "%s#%llu %.*s", to->len ? ", " : "", (unsigned long long)op->seq,
               STR_ARG(op->method));
    if (op->subject.len)
        buf_printf(to, " %.*s", STR_ARG(op->subject));
}

static void report_unused(struct mock *m)
{
    size_t unused = 0;
    struct buf names;

    buf_init(&names, LIMIT_MESSAGE);
    for (size_t i = 0; i < m->script->count; i++) {
        const struct script_op *op = m->script->ops[i];
        if (matcher_counts(op) && !matcher_used(&m->matcher, op) && ++unused <= UNUSED_SHOWN)
            add_name(&names, op);
    }
    if (unused)
        stage_report(&m->stage, LOG_INFO, "never asked for: %s%s", buf_z(&names),
                     unused > UNUSED_SHOWN ? ", …" : "");
    buf_release(&names);
}

/* A client that has closed its end, or that asked for too much, may still wait for
 * an answer that is only delayed. */
static void close_session(struct mock *m)
{
    if (!m->closed || stage_needs_time(&m->stage))
        return;
    stage_report(&m->stage, LOG_INFO,
                 "answered %llu request%s from the recording, %llu unmatched",
                 (unsigned long long)m->stage.answered, m->stage.answered == 1 ? "" : "s",
                 (unsigned long long)m->missed);
    report_unused(m);
    m->finished = true;
    say_finish(&m->stage.say, m->exit_code);
}

void mock_step(struct mock *m, const struct event *ev)
{
    if (m->finished)
        return;
    arena_clear(&m->arena);
    switch (ev->kind) {
    case EVENT_OPENED:
        stage_play(&m->stage, &m->script->opening, NULL, false);
        break;
    case EVENT_RECORD:
        if (!m->closed)
            hear(m, ev->record);
        break;
    case EVENT_TIMER:
        stage_hear_timer(&m->stage, ev->timer);
        break;
    case EVENT_CLOSED:
        m->closed = true;
        break;
    }
    close_session(m);
}
