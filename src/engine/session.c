#include "engine/session.h"

#include "engine/crossing.h"
#include "engine/discover.h"
#include "engine/miss.h"
#include "engine/tasks.h"
#include "mcp/code.h"
#include "mcp/meta.h"
#include "trace/limits.h"

enum { OLDER = 1 << 0, NEWER = 1 << 1 }; /* eras */

enum { VAIN_MAX = 256 };

/* Recorded requests of the other era that cannot answer the live one at hand. */
struct vain {
    uint32_t ops[VAIN_MAX];
    size_t count;
};

/* The first recorded request of a method that succeeded, else the first that was answered at
 * all; 0: none. */
static uint32_t first_answered(const struct script *s, struct str method, unsigned eras)
{
    uint32_t index, answered = 0;

    if (!script_find_method(s, method, &index))
        return 0;
    for (uint32_t op = 1; op < s->op_count; op++) {
        unsigned era = script_is_stateless(s, s->ops[op].session) ? NEWER : OLDER;

        if (s->ops[op].method != index || !(s->ops[op].flags & STRAND_ANSWERED) ||
            !(eras & era))
            continue;
        if (s->ops[op].flags & STRAND_SUCCEEDED)
            return op;
        answered = answered ? answered : op;
    }
    return answered;
}

void session_host_init(struct session_host *h)
{
    unsigned other = h->script->legacy && h->script->modern ? 0 : OLDER | NEWER;

    casting_init(&h->casting, h->script);
    spent_init(&h->stateless, h->script->op_count);
    h->discover = first_answered(h->script, STR("server/discover"), OLDER | NEWER);
    h->ping[false] = first_answered(h->script, STR("ping"), OLDER | other);
    h->ping[true] = first_answered(h->script, STR("ping"), NEWER | other);
}

void session_host_release(struct session_host *h)
{
    casting_release(&h->casting);
    spent_release(&h->stateless);
}

void session_init(struct session *s, struct session_host *host)
{
    *s = (struct session){ .host = host };
    stage_init(&s->stage, host->script, host->say, host->review, host->pace, &host->timers);
    spent_init(&s->spent, host->script->op_count);
    s->plays = casting_next(casting_of_any(&host->casting));
}

void session_release(struct session *s)
{
    stage_release(&s->stage);
    spent_release(&s->spent);
    arena_release(&s->arena);
}

static void send_error(struct session *s, const struct mcp_message *live, int64_t code,
                       struct str message, struct str data)
{
    say_error(s->host->say, json_raw(live->id), code, message, data);
}

static void refuse_version(struct session *s, const struct mcp_message *live,
                           struct json_val asked)
{
    struct str requested = json_type(asked) == JSON_STRING ? json_raw(asked) : STR("null");
    struct str supported = discover_versions(s->host->script, &s->arena);

    send_error(s, live, MCP_UNSUPPORTED_VERSION, STR("Unsupported protocol version"),
               arena_printf(&s->arena, "{\"supported\":%.*s,\"requested\":%.*s}",
                            STR_ARG(supported), STR_ARG(requested)));
}

/* A client that finds out how to talk to the recorded server is none the worse for it. Over
 * HTTP the one that greets may be the one that was refused before. */
static void note_refused(struct session *s)
{
    struct session_host *h = s->host;

    review_refusal(h->review);
    h->stranger = h->stranger || s->shared;
    h->unserved += !s->shared && !s->refused;
    s->refused = true;
}

static void note_served(struct session *s)
{
    s->host->stranger = false;
    s->host->unserved -= !s->shared && s->refused;
    s->refused = false;
}

/* A recording may start after the greeting. The client still needs one. */
static void greet_unrecorded(struct session *s, const struct mcp_message *live)
{
    struct json_val version = json_get(live->params, STR("protocolVersion"));
    struct str asked =
        json_type(version) == JSON_STRING ? json_raw(version) : STR("\"2025-11-25\"");

    if (s->host->script->modern) {
        refuse_version(s, live, version);
        note_refused(s);
        other_era_tell(&s->host->era, s->host->say, s->host->script, false,
                       json_text(version, &s->arena));
        return;
    }
    note_served(s);
    say_report(s->host->say, LOG_WARN, "the recording has no initialize; made one up");
    say_result(s->host->say, json_raw(live->id),
               arena_printf(&s->arena,
                            "{\"protocolVersion\":%.*s,\"capabilities\":%.*s,\"serverInfo\":"
                            "{\"name\":\"mcpreel replay\",\"version\":\"%s\"}}",
                            STR_ARG(asked),
                            STR_ARG(discover_capabilities(s->host->script, &s->arena)),
                            MCPREEL_VERSION));
}

/* The greeting of the session that is played, else that of any. */
static uint32_t find_greeting(const struct session *s)
{
    const struct script *script = s->host->script;
    uint32_t op = script->session_count ? script->sessions[s->plays].greeting : 0;

    for (size_t i = 0; !op && i < script->session_count; i++)
        op = script->sessions[i].greeting;
    return op;
}

/* What needs no session is used up for all, also by those who do not say that it needs none;
 * but not by a client that has a session of its own, which begins at its beginning. */
static struct spent *spent_in(struct session *s, uint32_t session)
{
    bool own = s->greeted && !s->shared;

    return !own && script_is_stateless(s->host->script, session) ? &s->host->stateless
                                                                 : &s->spent;
}

/* The recorded sessions that this client may be assigned to. */
static struct casting_list *sessions_for(struct session *s)
{
    struct casting *c = &s->host->casting;

    return s->greeted ? casting_of(c, s->asked) : casting_of_any(c);
}

/* A new initialize ends the assignment. A client that was assigned before its first initialize
 * keeps its recorded session, unless the requested version has others. */
static void unassign(struct session *s, enum mcp_version asked)
{
    if (s->greeted || !s->assigned || casting_tells_apart(&s->host->casting, asked))
        s->assigned = false;
    s->greeted = true;
    s->asked = asked;
    if (!s->assigned)
        s->plays = casting_next(sessions_for(s));
}

/* Chooses the recorded session for a request of a client that has none yet. If the request
 * does not match, the client remains without. */
static void choose_session(struct session *s, const struct mcp_message *live)
{
    const struct casting_list *l;
    size_t at;
    uint32_t plays;

    if (s->assigned || s->stateless)
        return;
    l = sessions_for(s);
    at = matcher_find_session(
        s->host->matcher,
        &(struct match_sessions){ l->at, l->count, l->from, &s->host->casting.played }, live);
    plays = at < l->count ? l->at[at] : casting_next(l);
    if (plays != s->plays)
        spent_clear(&s->spent);
    s->plays = plays;
}

static void assign(struct session *s)
{
    if (s->assigned || s->stateless)
        return;
    casting_play(&s->host->casting, s->plays);
    s->assigned = true;
}

static void greet(struct session *s, const struct mcp_message *live)
{
    struct json_val version = json_get(live->params, STR("protocolVersion"));
    uint32_t op;

    unassign(s, mcp_version_parse(json_text(version, &s->arena)));
    s->blurred = false;
    spent_clear(spent_in(s, s->plays));
    stage_reset(&s->stage, json_get(live->params, STR("capabilities")), s->shared);
    upstream_note_greeting(s->host->upstream, live);
    op = find_greeting(s);
    if (!op) {
        greet_unrecorded(s, live);
        return;
    }
    note_served(s);
    stage_play(&s->stage, op, live, false);
}

/* A client of both eras asks this first to learn which one it talks to. */
static void discover(struct session *s, const struct mcp_message *live)
{
    if (s->host->discover)
        stage_play(&s->stage, s->host->discover, live, true);
    else if (s->host->script->modern)
        say_result(s->host->say, json_raw(live->id),
                   discover_result(s->host->script, &s->arena));
    else
        send_error(s, live, MCP_METHOD_NOT_FOUND, STR("Method not found"), STR_NONE);
}

static void answer_miss(struct session *s, const struct mcp_message *live,
                        const struct miss *why)
{
    struct str words;

    if (!s->host->recorder) {
        send_error(s, live, MCP_SERVER_ERROR, buf_str(&why->message), buf_str(&why->data));
        return;
    }
    words = arena_printf(&s->arena, "No matching interaction for %.*s%s%.*s%s",
                         STR_ARG(live->method), why->subject.len ? " [" : "",
                         STR_ARG(why->subject), why->subject.len ? "]" : "");
    send_error(s, live, MCP_INVALID_REQUEST, words, buf_str(&why->data));
}

static bool is_modern(struct session *s, const struct mcp_message *live)
{
    struct str version = json_text(json_get(live->meta, MCP_META_VERSION), &s->arena);

    return mcp_version_era(mcp_version_parse(version)) == MCP_ERA_MODERN;
}

/* The recorded session that answers the request at hand first, and what of it is used up. */
static uint32_t session_of(const struct session *s)
{
    return s->stateless ? s->host->script->stateless - 1 : s->plays;
}

static struct spent *spent_of(struct session *s)
{
    return spent_in(s, session_of(s));
}

/* As recorded, also where that was never but an error: the last revision has no ping. A
 * server that answers it there all the same says what every answer of that revision does. */
static void pong(struct session *s, const struct mcp_message *live)
{
    const struct session_host *h = s->host;
    bool modern = is_modern(s, live);
    uint32_t ping = h->ping[modern];
    bool fails = ping && !(h->script->ops[ping].flags & STRAND_SUCCEEDED);

    if (modern && !fails)
        say_result(h->say, json_raw(live->id), STR("{\"resultType\":\"complete\"}"));
    else if (ping)
        stage_play(&s->stage, ping, live, true);
    else
        say_result(h->say, json_raw(live->id), STR("{}"));
}

static void miss(struct session *s, const struct mcp_message *live, const struct match *found)
{
    struct session_host *h = s->host;
    struct miss why;

    miss_explain(&why, h->matcher, spent_of(s), live, found);
    review_miss(h->review, live, &why);
    if (h->on_miss == ON_MISS_PASS) {
        say_report(h->say, LOG_INFO, "%s; %s", buf_z(&why.message),
                   upstream_is_gone(h->upstream) ? "the server is gone" : "asking the server");
        upstream_forward(h->upstream, live, is_modern(s, live), s);
    } else {
        answer_miss(s, live, &why);
        say_report(h->say, LOG_ERROR, "%s", buf_z(&why.report));
    }
    miss_release(&why);
    if (!h->exit_code && (h->on_miss == ON_MISS_ERROR || h->fail_at_end))
        h->exit_code = 1;
    h->over = h->over || (h->on_miss == ON_MISS_ERROR && !h->fail_at_end);
}

static bool is_of_other_era(const struct session *s, uint32_t op)
{
    const struct script *script = s->host->script;

    return script_is_stateless(script, script->ops[op].session) != s->stateless;
}

/* What is asked for, as it is told. */
static struct str name_of(struct session *s, const struct mcp_message *live)
{
    struct str subject = json_text(mcp_subject(live->method, live->params), &s->arena);

    if (!subject.len)
        return live->method;
    return arena_printf(&s->arena, "%.*s %.*s", STR_ARG(live->method), STR_ARG(subject));
}

/* Reports that the params of the matched request are not the live ones. Only in sequential
 * mode the user has not asked for that. */
static void report_difference(struct session *s, uint32_t op, const struct mcp_message *live)
{
    const struct matcher *m = s->host->matcher;
    bool asked_for = m->options.mode != MATCH_SEQUENTIAL ||
                     queues_is_sequence(&m->queues, m->script->ops[op].method);
    struct buf where;

    buf_init(&where, LIMIT_MESSAGE);
    miss_differences(m, op, live, &where);
    say_report(s->host->say, asked_for ? LOG_INFO : LOG_WARN,
               "%.*s: matched #%lu, but params differ at %s", STR_ARG(name_of(s, live)),
               (unsigned long)m->script->ops[op].seq, buf_z(&where));
    buf_release(&where);
}

/* What differs from the recording although it was answered from it. */
static void remark_on(struct session *s, const struct match *m, const struct mcp_message *live,
                      bool masked)
{
    const struct script *script = s->host->script;
    struct say *say = s->host->say;
    struct str name = name_of(s, live);
    unsigned long seq = script->ops[m->op].seq;

    if (m->borrowed)
        say_report(say, LOG_INFO, "%.*s answered with #%lu, of another %s", STR_ARG(name), seq,
                   is_of_other_era(s, m->op) ? "era" : "session");
    if (m->rival)
        say_report(say, LOG_DEBUG, "%.*s answered with #%lu; #%lu is as much alike",
                   STR_ARG(name), seq, (unsigned long)script->ops[m->rival].seq);
    if (masked)
        say_report(say, LOG_DEBUG,
                   "%.*s answered with #%lu, of which a redacted value was not compared",
                   STR_ARG(name), seq);
    if (m->blur && !s->blurred)
        say_report(say, LOG_WARN,
                   "%.*s answered with #%lu, but only a redacted value tells that from #%lu: "
                   "they are given in recorded order",
                   STR_ARG(name), seq, (unsigned long)script->ops[m->blur].seq);
    s->blurred = s->blurred || m->blur;
    if (m->differs)
        report_difference(s, m->op, live);
}

static void remark(struct session *s, const struct match *m, const struct mcp_message *live)
{
    const struct script *script = s->host->script;
    bool masked = script->ops[m->op].flags & STRAND_MASKED;

    if (m->passed)
        say_report(s->host->say, LOG_DEBUG, "#%lu %.*s was passed over: not asked for yet",
                   (unsigned long)script->ops[m->passed].seq,
                   STR_ARG(script_method(script, m->passed)->name));
    if (s->host->recorder)
        say_report(s->host->say, LOG_DEBUG, "%.*s: matched #%lu", STR_ARG(name_of(s, live)),
                   (unsigned long)script->ops[m->op].seq);
    if (m->borrowed || m->rival || m->differs || m->blur || masked)
        remark_on(s, m, live, masked);
}

static struct tasks tasks_of(struct session *s, uint32_t session)
{
    const struct matcher *m = s->host->matcher;

    return (struct tasks){ &m->queues, &m->equal, spent_of(s), &s->stage, session };
}

/* A task that is made once more goes through its states once more. */
static void renew_task(struct session *s, uint32_t op)
{
    const struct script *script = s->host->script;
    struct err e = ERR_NONE;
    struct tasks tasks = tasks_of(s, script->ops[op].session);
    struct json_val root, result, id;
    struct script_text t;

    script_text_init(&t);
    for (uint32_t step = script_first_step(script, op); step;
         step = script_next_step(script, op, step)) {
        if (script->steps[step].kind != STEP_ANSWER ||
            !script_read_step(script, step, &t, &root, &e))
            continue;
        result = json_get(root, STR("result"));
        id = json_get(result, STR("taskId"));
        id = json_exists(id) ? id : json_get(json_get(result, STR("task")), STR("taskId"));
        tasks_renew(&tasks, json_text(id, &t.arena));
    }
    script_text_release(&t);
}

/* Nothing was recorded of a subscription: it is granted, and never has news. */
static void subscribe_unrecorded(struct session *s, const struct mcp_message *live)
{
    say_report(s->host->say, LOG_INFO, "no subscription was recorded; this one is kept quiet");
    say_notification(s->host->say, STR("notifications/subscriptions/acknowledged"),
                     arena_printf(&s->arena,
                                  "{\"notifications\":{},\"_meta\":{\"io."
                                  "modelcontextprotocol/subscriptionId\":%.*s}}",
                                  STR_ARG(json_raw(live->id))));
}

/* Some clients choose a level on their own account. A recording has the logs it has. */
static void set_unrecorded_level(struct session *s, const struct mcp_message *live)
{
    say_report(s->host->say, LOG_INFO, "this log level was not recorded; it changes nothing");
    say_result(s->host->say, json_raw(live->id), STR("{}"));
}

static bool is_unrecorded_level(struct session *s, const struct mcp_message *live,
                                const struct match *m)
{
    return m->outcome == MATCH_NEVER && str_eq(live->method, STR("logging/setLevel")) &&
           s->host->on_miss != ON_MISS_PASS && !is_modern(s, live);
}

/* The task a request is about, if it is of that method. */
static struct str task_of(struct session *s, const struct mcp_message *live, struct str method)
{
    if (!str_eq(live->method, method))
        return STR_NONE;
    return json_text(mcp_subject(live->method, live->params), &s->arena);
}

/* What a task comes to is not told before its end, to a client that asks how it is. */
static struct stage_block blocked_by(struct session *s, const struct mcp_message *live)
{
    struct str task = task_of(s, live, STR("tasks/result"));
    struct tasks tasks = tasks_of(s, session_of(s));

    if (!task.len || !tasks_goes_on(&tasks, task))
        return (struct stage_block){ STR_NONE, 0 };
    return (struct stage_block){ task, tasks_polled_ms(&tasks, task) };
}

/* It was told how its task is: that it goes on, or maybe that it has ended. */
static void tell_task(struct session *s, const struct mcp_message *live, uint32_t op)
{
    struct str task = task_of(s, live, STR("tasks/get"));
    struct str cancelled = task_of(s, live, STR("tasks/cancel"));
    const struct script_op *o = &s->host->script->ops[op];
    struct tasks tasks = tasks_of(s, session_of(s));

    if (cancelled.len && o->flags & STRAND_SUCCEEDED && o->session == tasks.session)
        tasks_cancel(&tasks, cancelled, op);
    if (!task.len)
        return;
    if (tasks_goes_on(&tasks, task))
        stage_block(&s->stage, (struct stage_block){ task, tasks_polled_ms(&tasks, task) });
    else
        stage_unblock(&s->stage, task);
}

static struct match find_match(struct session *s, const struct mcp_message *live)
{
    struct str task = task_of(s, live, STR("tasks/get"));
    struct tasks tasks = tasks_of(s, session_of(s));

    if (task.len)
        tasks_catch_up(&tasks, task);
    if (task.len && tasks_waits(&tasks, task))
        return matcher_repeat(s->host->matcher, tasks.spent, tasks.session, live);
    return matcher_take(s->host->matcher, tasks.spent, tasks.session, live);
}

static bool is_answer(const struct match *m)
{
    return m->outcome == MATCH_FOUND || m->outcome == MATCH_AGAIN;
}

/* From another session, and that of another era. */
static bool is_foreign(const struct session *s, uint32_t op)
{
    return s->host->script->ops[op].session != session_of(s) && is_of_other_era(s, op);
}

static bool cannot_cross(struct session *s, uint32_t op)
{
    return is_foreign(s, op) &&
           !crossing_is_possible(s->host->script, op, &s->host->matcher->trouble);
}

/* False: it was among them, or they are too many. */
static bool add_vain(struct vain *v, uint32_t op)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->ops[i] == op)
            return false;
    if (v->count == VAIN_MAX)
        return false;
    v->ops[v->count++] = op;
    return true;
}

/* What there is of another era is taken only if it can be said in this one; what cannot does
 * not hide what was recorded after it. */
static struct match find_answer(struct session *s, const struct mcp_message *live)
{
    struct match m = find_match(s, live);
    bool stuck;
    struct vain vain; /* filled as far as it is used */

    vain.count = 0;
    while ((stuck = is_answer(&m) && cannot_cross(s, m.op)) && add_vain(&vain, m.op))
        m = find_match(s, live);
    if (m.outcome == MATCH_EXHAUSTED && !vain.count && cannot_cross(s, m.used))
        add_vain(&vain, m.used);
    if (s->host->matcher->trouble.kind != ERR_OK)
        return (struct match){ .outcome = MATCH_BROKEN };
    if (vain.count && (stuck || !is_answer(&m)))
        return (struct match){ .outcome = MATCH_UNCROSSED, .op = vain.ops[0] };
    s->stage.crosses = s->stateless && is_answer(&m) && is_foreign(s, m.op);
    return m;
}

static void broken(struct session *s, const struct mcp_message *live, const struct err *e)
{
    send_error(s, live, MCP_INTERNAL_ERROR, STR("the recording cannot be read"), STR_NONE);
    say_report(s->host->say, LOG_ERROR, "%s", e->msg);
    s->host->exit_code = 5;
    s->host->over = true;
}

static void answer(struct session *s, const struct mcp_message *live)
{
    struct session_host *h = s->host;
    struct match m;

    choose_session(s, live);
    m = find_answer(s, live);
    if (m.outcome == MATCH_BROKEN) {
        broken(s, live, &h->matcher->trouble);
    } else if (is_answer(&m)) {
        note_served(s);
        assign(s);
        review_match(h->review, &m, spent_of(s));
        remark(s, &m, live);
        if (m.outcome == MATCH_AGAIN && h->script->ops[m.op].flags & STRAND_TASK)
            renew_task(s, m.op);
        stage_play_blocked(&s->stage, m.op, live, m.outcome == MATCH_AGAIN && !m.anew,
                           blocked_by(s, live));
        s->stage.crosses = false;
        tell_task(s, live, m.op);
    } else if (is_modern(s, live) && str_eq(live->method, STR("subscriptions/listen"))) {
        subscribe_unrecorded(s, live);
    } else if (is_unrecorded_level(s, live, &m)) {
        set_unrecorded_level(s, live);
    } else {
        miss(s, live, &m);
    }
}

/* A client that only speaks of the era without sessions can do nothing with answers of
 * the other one. */
static bool is_of_another_era(struct session *s, const struct mcp_message *live)
{
    return s->host->script->legacy && !s->host->script->modern && !s->greeted &&
           is_modern(s, live);
}

static void refuse_era(struct session *s, const struct mcp_message *live)
{
    if (s->host->on_miss == ON_MISS_PASS) {
        miss(s, live, &(struct match){ .outcome = MATCH_NEVER });
        return;
    }
    note_refused(s);
    refuse_version(s, live, json_get(live->meta, MCP_META_VERSION));
    other_era_tell(&s->host->era, s->host->say, s->host->script, true,
                   json_text(json_get(live->meta, MCP_META_VERSION), &s->arena));
}

/* A client that has greeted has a session, unless nothing tells it from others. */
static bool needs_no_session(struct session *s, const struct mcp_message *live)
{
    return s->host->script->stateless && (s->shared || !s->greeted) && is_modern(s, live);
}

static void hear_request(struct session *s, const struct mcp_message *live)
{
    s->stateless = needs_no_session(s, live);
    if (live->duplicate)
        send_error(s, live, MCP_INVALID_REQUEST,
                   STR("a member of the request stands there twice"), STR_NONE);
    else if (str_eq(live->method, STR("initialize")))
        greet(s, live);
    else if (str_eq(live->method, STR("server/discover")))
        discover(s, live);
    else if (str_eq(live->method, STR("ping")))
        pong(s, live);
    else if (is_of_another_era(s, live))
        refuse_era(s, live);
    else
        answer(s, live);
}

/* Of clients that nothing tells apart several may wait under the same id: which of them has
 * given up cannot be told. */
static void hear_notification(struct session *s, const struct mcp_message *live)
{
    if (json_exists(json_get(live->root, STR("id"))))
        say_error(s->host->say, STR_NONE, MCP_INVALID_REQUEST,
                  STR("the id of a request cannot be null"), STR_NONE);
    else if (!str_eq(live->method, STR("notifications/cancelled"))) {
        upstream_hear_notification(s->host->upstream, live);
        stage_hear_notification(&s->stage, live->method);
    } else if (!s->shared && !upstream_hear_cancel(s->host->upstream, live, s)) {
        stage_hear_cancel(&s->stage, json_get(live->params, STR("requestId")));
    }
}

static void hear_answer(struct session *s, const struct mcp_message *live)
{
    if (!upstream_hear_answer(s->host->upstream, live) && !stage_hear_answer(&s->stage, live))
        say_report(s->host->say, LOG_WARN,
                   "the client answered a question nobody asked: id %.*s",
                   STR_ARG(json_raw(live->id)));
}

static void hear_noise(struct session *s, const struct record *r)
{
    bool json = str_eq(r->bytes.why, STR("not JSON-RPC"));

    if (str_eq(r->bytes.why, STR("line too long"))) {
        say_error(s->host->say, STR("null"), MCP_INVALID_REQUEST,
                  STR("the line is longer than is read here"), STR_NONE);
        return;
    }
    if (s->host->recorder) {
        say_error(s->host->say, STR("null"), MCP_PARSE_ERROR, STR("Parse error: invalid JSON"),
                  STR_NONE);
        return;
    }
    say_error(s->host->say, STR("null"), json ? MCP_INVALID_REQUEST : MCP_PARSE_ERROR,
              json ? STR("not a JSON-RPC message") : STR("not valid JSON"), STR_NONE);
}

/* A message could not be got back: the file is not what it was. */
static void check_trouble(struct session *s)
{
    if (s->stage.trouble.kind == ERR_OK || s->host->over)
        return;
    say_report(s->host->say, LOG_ERROR, "%s", s->stage.trouble.msg);
    s->host->exit_code = 5;
    s->host->over = true;
}

void session_open(struct session *s, int64_t now_us)
{
    const struct script *script = s->host->script;
    uint32_t op = script->session_count ? script->sessions[s->plays].opening : 0;

    s->stage.now_us = now_us;
    if (op)
        stage_play(&s->stage, op, NULL, false);
    check_trouble(s);
}

void session_hear(struct session *s, const struct record *r, int64_t now_us)
{
    struct mcp_message live;

    arena_clear(&s->arena);
    s->stage.now_us = now_us;
    s->stage.exchange = r->has & HAS_EXCHANGE ? r->exchange : 0;
    s->host->say->way = (struct action_way){ .exchange = s->stage.exchange };
    if (r->kind == RECORD_RAW) {
        hear_noise(s, r);
        return;
    }
    live = r->message.as ? *r->message.as : mcp_classify(r->message.msg, &s->arena);
    if (live.kind == MCP_REQUEST)
        hear_request(s, &live);
    else if (live.kind == MCP_NOTIFICATION)
        hear_notification(s, &live);
    else
        hear_answer(s, &live);
    check_trouble(s);
}

void session_hear_value(struct session *s, uint64_t exchange, struct json_val v,
                        const struct mcp_message *as, int64_t now_us)
{
    struct record r = { .kind = RECORD_MESSAGE, .has = HAS_EXCHANGE, .exchange = exchange };

    if (as->kind == MCP_OTHER || as->kind == MCP_BATCH) {
        r.kind = RECORD_RAW;
        r.bytes = (struct record_bytes){ .from_to = TO_SERVER,
                                         .bytes = json_raw(v),
                                         .why = STR("not JSON-RPC") };
    } else {
        r.message = (struct record_message){ .dir = TO_SERVER, .msg = v, .as = as };
    }
    session_hear(s, &r, now_us);
}

void session_close(struct session *s, bool hurry, int64_t now_us)
{
    s->stage.now_us = now_us;
    if (hurry)
        stage_hurry(&s->stage);
    if (!s->left)
        stage_hear_silence(&s->stage, 0);
    s->left = true;
    stage_unblock(&s->stage, STR_NONE); /* it asks no more how its tasks are */
    check_trouble(s);
}

void session_gone(struct session *s, uint64_t exchange, int64_t now_us)
{
    s->stage.now_us = now_us;
    upstream_forget(s->host->upstream, s, exchange);
    stage_hear_gone(&s->stage, exchange);
    check_trouble(s);
}

void session_unasked(struct session *s, uint64_t exchange, int64_t now_us)
{
    s->stage.now_us = now_us;
    upstream_unasked(s->host->upstream, s, exchange);
    stage_hear_silence(&s->stage, exchange);
    check_trouble(s);
}

void session_timer(struct session *s, uint64_t timer, int64_t now_us)
{
    s->stage.now_us = now_us;
    stage_hear_timer(&s->stage, timer);
    check_trouble(s);
}
