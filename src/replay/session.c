#include "replay/session.h"

#include "match/miss-report.h"
#include "mcp/error-code.h"
#include "mcp/meta.h"
#include "replay/discover.h"
#include "replay/task-state.h"
#include "trace/limits.h"

enum { STATEFUL = 1 << 0, STATELESS = 1 << 1 }; /* protocols */

enum { REJECTED_MAX = 256 };

/* Calls of the other protocol that cannot be converted for the current request. */
struct rejected {
    uint32_t calls[REJECTED_MAX];
    size_t count;
};

/* Returns the first successful call of a method, else the first with a response; 0: none. */
static uint32_t first_call_with_response(const struct index *s, struct str method,
                                         unsigned protocols)
{
    uint32_t index, answered = 0;

    if (!index_find_method(s, method, &index))
        return 0;
    for (uint32_t call = 1; call < s->call_count; call++) {
        unsigned protocol =
            index_is_stateless(s, s->calls[call].session) ? STATELESS : STATEFUL;

        if (s->calls[call].method != index || !(s->calls[call].flags & CALL_HAS_RESPONSE) ||
            !(protocols & protocol))
            continue;
        if (s->calls[call].flags & CALL_SUCCEEDED)
            return call;
        answered = answered ? answered : call;
    }
    return answered;
}

void session_shared_init(struct replay_shared *h)
{
    unsigned other =
        h->index->has_stateful && h->index->has_stateless ? 0 : STATEFUL | STATELESS;

    session_assign_init(&h->session_assign, h->index);
    used_set_init(&h->stateless_used, h->index->call_count);
    h->discover_call =
        first_call_with_response(h->index, STR("server/discover"), STATEFUL | STATELESS);
    h->ping_call[false] = first_call_with_response(h->index, STR("ping"), STATEFUL | other);
    h->ping_call[true] = first_call_with_response(h->index, STR("ping"), STATELESS | other);
}

void session_shared_release(struct replay_shared *h)
{
    session_assign_release(&h->session_assign);
    used_set_release(&h->stateless_used);
}

void session_init(struct session *s, struct replay_shared *host)
{
    *s = (struct session){ .shared = host };
    player_init(&s->player, host->index, host->actions, host->report, host->pace,
                &host->last_timer);
    used_set_init(&s->used_set, host->index->call_count);
    s->recorded_session = session_assign_next(session_assign_list_any(&host->session_assign));
}

void session_release(struct session *s)
{
    player_release(&s->player);
    used_set_release(&s->used_set);
    arena_release(&s->arena);
}

static void send_error(struct session *s, const struct mcp_message *live, int64_t code,
                       struct str message, struct str data)
{
    actions_send_error(s->shared->actions, json_raw(live->id), code, message, data);
}

static void reject_version(struct session *s, const struct mcp_message *live,
                           struct json_val asked)
{
    struct str requested = json_type(asked) == JSON_STRING ? json_raw(asked) : STR("null");
    struct str supported = discover_versions(s->shared->index, &s->arena);

    send_error(s, live, MCP_UNSUPPORTED_VERSION, STR("Unsupported protocol version"),
               arena_printf(&s->arena, "{\"supported\":%.*s,\"requested\":%.*s}",
                            STR_ARG(supported), STR_ARG(requested)));
}

/* Counts a refused protocol version. A later successful initialize takes it back (note_served):
 * a client may try versions. Over HTTP, clients without a session id cannot be distinguished,
 * so any successful initialize clears the refusal of the shared session. */
static void note_refused(struct session *s)
{
    struct replay_shared *h = s->shared;

    replay_report_add_refusal(h->report);
    h->shared_refused = h->shared_refused || s->is_shared;
    h->refused_clients += !s->is_shared && !s->version_refused;
    s->version_refused = true;
}

static void note_served(struct session *s)
{
    s->shared->shared_refused = false;
    s->shared->refused_clients -= !s->is_shared && s->version_refused;
    s->version_refused = false;
}

/* A recording may begin after initialize. The client still needs a response. */
static void send_generated_initialize(struct session *s, const struct mcp_message *live)
{
    struct json_val version = json_get(live->params, STR("protocolVersion"));
    struct str asked =
        json_type(version) == JSON_STRING ? json_raw(version) : STR("\"2025-11-25\"");

    if (s->shared->index->has_stateless) {
        reject_version(s, live, version);
        note_refused(s);
        version_bridge_warn(&s->shared->version_bridge, s->shared->actions, s->shared->index,
                            false, json_text(version, &s->arena));
        return;
    }
    note_served(s);
    actions_report(s->shared->actions, LOG_WARN,
                   "no initialize in the recording; using a generated response");
    actions_send_result(
        s->shared->actions, json_raw(live->id),
        arena_printf(&s->arena,
                     "{\"protocolVersion\":%.*s,\"capabilities\":%.*s,\"serverInfo\":"
                     "{\"name\":\"mcpreel replay\",\"version\":\"%s\"}}",
                     STR_ARG(asked),
                     STR_ARG(discover_capabilities(s->shared->index, &s->arena)),
                     MCPREEL_VERSION));
}

/* Returns the initialize of the assigned session, else of any session. */
static uint32_t find_initialize_call(const struct session *s)
{
    const struct index *idx = s->shared->index;
    uint32_t call = idx->session_count ? idx->sessions[s->recorded_session].initialize_call : 0;

    for (size_t i = 0; !call && i < idx->session_count; i++)
        call = idx->sessions[i].initialize_call;
    return call;
}

/* Stateless calls are used for all clients together, except by a client with a session of its
 * own, which starts with an empty set. */
static struct used_set *used_set_in(struct session *s, uint32_t session)
{
    bool own = s->initialized && !s->is_shared;

    return !own && index_is_stateless(s->shared->index, session) ? &s->shared->stateless_used
                                                                 : &s->used_set;
}

/* The recorded sessions that this client may be assigned to. */
static struct session_assign_list *sessions_for(struct session *s)
{
    struct session_assign *c = &s->shared->session_assign;

    return s->initialized ? session_assign_list_for(c, s->requested_version)
                          : session_assign_list_any(c);
}

/* A new initialize ends the assignment. A client that was assigned before its first initialize
 * keeps its recorded session, unless the requested version has others. */
static void unassign(struct session *s, enum mcp_version asked)
{
    if (s->initialized || !s->assigned ||
        session_assign_has_list(&s->shared->session_assign, asked))
        s->assigned = false;
    s->initialized = true;
    s->requested_version = asked;
    if (!s->assigned)
        s->recorded_session = session_assign_next(sessions_for(s));
}

/* Chooses the recorded session for a request of a client that has none yet. If the request
 * does not match, the client remains without. */
static void choose_session(struct session *s, const struct mcp_message *live)
{
    const struct session_assign_list *l;
    size_t at;
    uint32_t session;

    if (s->assigned || s->stateless_request)
        return;
    l = sessions_for(s);
    at = matcher_find_session(s->shared->matcher,
                              &(struct match_sessions){ l->sessions, l->count, l->next,
                                                        &s->shared->session_assign.assigned },
                              live);
    session = at < l->count ? l->sessions[at] : session_assign_next(l);
    if (session != s->recorded_session)
        used_set_clear(&s->used_set);
    s->recorded_session = session;
}

static void assign_session(struct session *s)
{
    if (s->assigned || s->stateless_request)
        return;
    session_assign_mark(&s->shared->session_assign, s->recorded_session);
    s->assigned = true;
}

static void handle_initialize(struct session *s, const struct mcp_message *live)
{
    struct json_val version = json_get(live->params, STR("protocolVersion"));
    uint32_t call;

    unassign(s, mcp_version_parse(json_text(version, &s->arena)));
    s->warned_ambiguous = false;
    used_set_clear(used_set_in(s, s->recorded_session));
    player_reset(&s->player, json_get(live->params, STR("capabilities")), s->is_shared);
    passthrough_note_initialize(s->shared->passthrough, live);
    call = find_initialize_call(s);
    if (!call) {
        send_generated_initialize(s, live);
        return;
    }
    note_served(s);
    player_start(&s->player, call, live, false);
}

/* A client of both protocols sends this first to find out which one the server speaks. */
static void handle_discover(struct session *s, const struct mcp_message *live)
{
    if (s->shared->discover_call)
        player_start(&s->player, s->shared->discover_call, live, true);
    else if (s->shared->index->has_stateless)
        actions_send_result(s->shared->actions, json_raw(live->id),
                            discover_result(s->shared->index, &s->arena));
    else
        send_error(s, live, MCP_METHOD_NOT_FOUND, STR("Method not found"), STR_NONE);
}

static void send_miss_error(struct session *s, const struct mcp_message *live,
                            const struct miss_report *why)
{
    struct str text;

    if (!s->shared->mcp_recorder_errors) {
        send_error(s, live, MCP_SERVER_ERROR, buf_str(&why->message), buf_str(&why->data));
        return;
    }
    text = arena_printf(&s->arena, "No matching interaction for %.*s%s%.*s%s",
                        STR_ARG(live->method), why->subject.len ? " [" : "",
                        STR_ARG(why->subject), why->subject.len ? "]" : "");
    send_error(s, live, MCP_INVALID_REQUEST, text, buf_str(&why->data));
}

static bool is_stateless(struct session *s, const struct mcp_message *live)
{
    struct str version = json_text(json_get(live->meta, MCP_META_VERSION), &s->arena);

    return mcp_version_protocol(mcp_version_parse(version)) == MCP_PROTOCOL_STATELESS;
}

/* Returns the recorded session that is searched first for the current request. */
static uint32_t recorded_session_of(const struct session *s)
{
    return s->stateless_request ? s->shared->index->stateless_session - 1 : s->recorded_session;
}

static struct used_set *used_set_of(struct session *s)
{
    return used_set_in(s, recorded_session_of(s));
}

/* Answers a ping like the recorded server did, errors included: 2026-07-28 has no ping. If none
 * was recorded, answers with an empty result of the client's protocol. */
static void handle_ping(struct session *s, const struct mcp_message *live)
{
    const struct replay_shared *h = s->shared;
    bool stateless = is_stateless(s, live);
    uint32_t ping = h->ping_call[stateless];
    bool fails = ping && !(h->index->calls[ping].flags & CALL_SUCCEEDED);

    if (stateless && !fails)
        actions_send_result(h->actions, json_raw(live->id),
                            STR("{\"resultType\":\"complete\"}"));
    else if (ping)
        player_start(&s->player, ping, live, true);
    else
        actions_send_result(h->actions, json_raw(live->id), STR("{}"));
}

static void handle_miss(struct session *s, const struct mcp_message *live,
                        const struct match *found)
{
    struct replay_shared *h = s->shared;
    struct miss_report why;

    miss_report_build(&why, h->matcher, used_set_of(s), live, found);
    if (h->on_miss == ON_MISS_PASSTHROUGH) { /* the hint says to do so */
        buf_clear(&why.log_line);
        buf_printf(&why.log_line, "%s; %s", buf_z(&why.message),
                   passthrough_has_ended(h->passthrough)
                       ? "the passthrough server has ended"
                       : "forwarded to the passthrough server");
    }
    replay_report_add_miss(h->report, live, &why);
    if (h->on_miss == ON_MISS_PASSTHROUGH) {
        actions_report(h->actions, LOG_INFO, "%s", buf_z(&why.log_line));
        passthrough_forward(h->passthrough, live, is_stateless(s, live), s);
    } else {
        send_miss_error(s, live, &why);
        actions_report(h->actions, LOG_ERROR, "%s", buf_z(&why.log_line));
    }
    miss_report_release(&why);
    if (!h->exit_code && (h->on_miss == ON_MISS_ERROR || h->fail_at_end))
        h->exit_code = 1;
    h->must_end = h->must_end || (h->on_miss == ON_MISS_ERROR && !h->fail_at_end);
}

static bool is_other_protocol(const struct session *s, uint32_t call)
{
    const struct index *idx = s->shared->index;

    return index_is_stateless(idx, idx->calls[call].session) != s->stateless_request;
}

/* Returns method and subject of a request, for the log. */
static struct str request_name(struct session *s, const struct mcp_message *live)
{
    struct str subject = json_text(mcp_subject(live->method, live->params), &s->arena);

    if (!subject.len)
        return live->method;
    return arena_printf(&s->arena, "%.*s %.*s", STR_ARG(live->method), STR_ARG(subject));
}

/* Reports that the params of the matched request are not the live ones. Only in sequential
 * mode the user has not asked for that. */
static void log_difference(struct session *s, uint32_t call, const struct mcp_message *live)
{
    const struct matcher *m = s->shared->matcher;
    const struct match_options *o = &m->options;
    size_t mode = match_reason_mode_rule(o, live);
    bool asked_for = matcher_mode(o, live) != MATCH_SEQUENTIAL ||
                     candidates_is_sequence(matcher_candidates(m, CANDIDATES_BY_SUBJECT),
                                            s->shared->index->calls[call].method);
    struct buf where, rule;

    buf_init(&where, LIMIT_MESSAGE);
    buf_init(&rule, LIMIT_MESSAGE);
    if (match_reason_kind(o, mode) == MATCH_RULE_TOOL_MODE) {
        buf_add(&rule, STR(" by "));
        match_reason_write(o, mode, &rule);
    }
    miss_report_differences(m, call, live, &where);
    actions_report(s->shared->actions, asked_for ? LOG_INFO : LOG_WARN,
                   "%.*s: matched #%lu%s, but params differ at %s",
                   STR_ARG(request_name(s, live)), (unsigned long)m->index->calls[call].seq,
                   buf_z(&rule), buf_z(&where));
    buf_release(&rule);
    buf_release(&where);
}

/* Logs the values that were ignored, each with its rule. */
static void log_ignored(struct session *s, const struct match_reason *why, uint32_t call,
                        const struct mcp_message *live)
{
    const struct matcher *m = s->shared->matcher;
    struct buf where;

    buf_init(&where, LIMIT_MESSAGE);
    for (size_t i = 0; i < why->path_count; i++) {
        if (match_reason_kind(&m->options, why->paths[i].rule) != MATCH_RULE_IGNORE)
            continue;
        buf_printf(&where, "%s%.*s (", where.len ? ", " : "", STR_ARG(why->paths[i].path));
        match_reason_write(&m->options, why->paths[i].rule, &where);
        buf_add_ch(&where, ')');
    }
    if (where.len)
        actions_report(s->shared->actions, LOG_DEBUG, "%.*s: matched #%lu; ignored %s",
                       STR_ARG(request_name(s, live)), (unsigned long)m->index->calls[call].seq,
                       buf_z(&where));
    buf_release(&where);
}

/* Reports why a call matched that is not equal to the request. One with redacted values is
 * compared once more only as long as the report lists it. */
static void note_reason(struct session *s, const struct match *m,
                        const struct mcp_message *live)
{
    const struct replay_shared *h = s->shared;
    bool masked = h->index->calls[m->call].flags & CALL_REDACTED;
    bool listed = h->report->reason_count < REPLAY_REPORT_MAX;
    struct match_reason why;

    if (!m->values_ignored && !m->params_differ && !(masked && listed))
        return;
    match_reason_find(&why, h->matcher, m->call, live, listed || !h->hide_details);
    replay_report_add_reason(h->report, m->call, &why);
    if (!h->hide_details)
        log_ignored(s, &why, m->call, live);
    match_reason_release(&why);
}

/* Logs how a matched call differs from the live request. */
static void log_match_details(struct session *s, const struct match *m,
                              const struct mcp_message *live, bool masked)
{
    const struct index *idx = s->shared->index;
    struct actions *actions = s->shared->actions;
    struct str name = request_name(s, live);
    unsigned long seq = idx->calls[m->call].seq;

    if (m->from_other_session)
        actions_report(actions, LOG_INFO, "%.*s: matched #%lu of another %s", STR_ARG(name),
                       seq, is_other_protocol(s, m->call) ? "protocol" : "session");
    if (m->tie)
        actions_report(actions, LOG_DEBUG, "%.*s: matched #%lu (tie with #%lu)", STR_ARG(name),
                       seq, (unsigned long)idx->calls[m->tie].seq);
    if (masked)
        actions_report(actions, LOG_DEBUG,
                       "%.*s: matched #%lu; a redacted value was not compared", STR_ARG(name),
                       seq);
    if (m->ambiguous_with && !s->warned_ambiguous)
        actions_report(actions, LOG_WARN,
                       "%.*s: matched #%lu, which differs from #%lu only in a redacted value; "
                       "using recorded order",
                       STR_ARG(name), seq, (unsigned long)idx->calls[m->ambiguous_with].seq);
    s->warned_ambiguous = s->warned_ambiguous || m->ambiguous_with;
    if (m->params_differ)
        log_difference(s, m->call, live);
}

static void log_match(struct session *s, const struct match *m, const struct mcp_message *live)
{
    const struct index *idx = s->shared->index;
    bool masked = idx->calls[m->call].flags & CALL_REDACTED;

    if (m->skipped_first)
        actions_report(s->shared->actions, LOG_DEBUG, "skipped #%lu %.*s (not requested yet)",
                       (unsigned long)idx->calls[m->skipped_first].seq,
                       STR_ARG(index_method(idx, m->skipped_first)->name));
    if (s->shared->mcp_recorder_errors)
        actions_report(s->shared->actions, LOG_DEBUG, "%.*s: matched #%lu",
                       STR_ARG(request_name(s, live)), (unsigned long)idx->calls[m->call].seq);
    if (m->from_other_session || m->tie || m->params_differ || m->ambiguous_with || masked)
        log_match_details(s, m, live, masked);
}

static struct task_state task_state_of(struct session *s, uint32_t session)
{
    const struct matcher *m = s->shared->matcher;

    return (struct task_state){ .candidates = matcher_candidates(m, CANDIDATES_BY_SUBJECT),
                                .equal_candidates = matcher_candidates(m, CANDIDATES_BY_PARAMS),
                                .reduced_candidates =
                                    matcher_candidates(m, CANDIDATES_BY_REDUCED_PARAMS),
                                .used_set = used_set_of(s),
                                .player = &s->player,
                                .session = session };
}

/* A task that is created again starts over with its states. */
static void restart_task(struct session *s, uint32_t call)
{
    const struct index *idx = s->shared->index;
    struct err e = ERR_NONE;
    struct task_state state = task_state_of(s, idx->calls[call].session);
    struct json_val root, result, id;
    struct index_message t;

    index_message_init(&t);
    for (uint32_t step = index_first_step(idx, call); step;
         step = index_next_step(idx, call, step)) {
        if (idx->steps[step].kind != STEP_RESPONSE ||
            !index_read_step(idx, step, &t, &root, &e))
            continue;
        result = json_get(root, STR("result"));
        id = json_get(result, STR("taskId"));
        id = json_exists(id) ? id : json_get(json_get(result, STR("task")), STR("taskId"));
        task_state_restart(&state, json_text(id, &t.arena));
    }
    index_message_release(&t);
}

/* Grants a subscription although none was recorded; no events will follow. */
static void accept_unrecorded_subscription(struct session *s, const struct mcp_message *live)
{
    actions_report(s->shared->actions, LOG_INFO,
                   "no subscription was recorded; accepted, no events will be sent");
    actions_send_notification(s->shared->actions,
                              STR("notifications/subscriptions/acknowledged"),
                              arena_printf(&s->arena,
                                           "{\"notifications\":{},\"_meta\":{\"io."
                                           "modelcontextprotocol/subscriptionId\":%.*s}}",
                                           STR_ARG(json_raw(live->id))));
}

/* Some clients set a level unasked. The recorded logs do not depend on it. */
static void accept_unrecorded_level(struct session *s, const struct mcp_message *live)
{
    actions_report(s->shared->actions, LOG_INFO,
                   "logging/setLevel was not recorded; acknowledged without effect");
    actions_send_result(s->shared->actions, json_raw(live->id), STR("{}"));
}

static bool is_unrecorded_level(struct session *s, const struct mcp_message *live,
                                const struct match *m)
{
    return m->outcome == MATCH_NOT_RECORDED && str_eq(live->method, STR("logging/setLevel")) &&
           s->shared->on_miss != ON_MISS_PASSTHROUGH && !is_stateless(s, live);
}

/* Returns the task that a request is about, if it is of that method; else empty. */
static struct str task_id_of(struct session *s, const struct mcp_message *live,
                             struct str method)
{
    if (!str_eq(live->method, method))
        return STR_NONE;
    return json_text(mcp_subject(live->method, live->params), &s->arena);
}

/* The result of a task that runs is held back, for a client that polls it. */
static struct task_hold task_hold_for(struct session *s, const struct mcp_message *live)
{
    struct str task = task_id_of(s, live, STR("tasks/result"));
    struct task_state state = task_state_of(s, recorded_session_of(s));

    if (!task.len || !task_state_is_running(&state, task))
        return (struct task_hold){ STR_NONE, 0 };
    return (struct task_hold){ task, task_state_polled_ms(&state, task) };
}

/* After a poll or a cancellation: holds back or releases the result of the task. */
static void update_task_hold(struct session *s, const struct mcp_message *live, uint32_t call)
{
    struct str task = task_id_of(s, live, STR("tasks/get"));
    struct str cancelled = task_id_of(s, live, STR("tasks/cancel"));
    const struct recorded_call *o = &s->shared->index->calls[call];
    struct task_state state = task_state_of(s, recorded_session_of(s));

    if (cancelled.len && o->flags & CALL_SUCCEEDED && o->session == state.session)
        task_state_note_cancelled(&state, cancelled, call);
    if (!task.len)
        return;
    if (task_state_is_running(&state, task))
        player_restart_hold(&s->player,
                            (struct task_hold){ task, task_state_polled_ms(&state, task) });
    else
        player_end_hold(&s->player, task);
}

static struct match find_match(struct session *s, const struct mcp_message *live)
{
    struct str task = task_id_of(s, live, STR("tasks/get"));
    struct task_state state = task_state_of(s, recorded_session_of(s));

    if (task.len)
        task_state_skip_to_end(&state, task);
    if (task.len && task_state_waits_for_client(&state, task))
        return matcher_match_used(s->shared->matcher, state.used_set, state.session, live);
    return matcher_match(s->shared->matcher, state.used_set, state.session, live);
}

static bool is_match(const struct match *m)
{
    return m->outcome == MATCH_FOUND || m->outcome == MATCH_REPEAT;
}

/* Whether a call is of another session and of the other protocol. */
static bool is_from_other_protocol(const struct session *s, uint32_t call)
{
    return s->shared->index->calls[call].session != recorded_session_of(s) &&
           is_other_protocol(s, call);
}

static bool not_convertible(struct session *s, uint32_t call)
{
    return is_from_other_protocol(s, call) &&
           !version_bridge_can_convert(s->shared->index, call, &s->shared->matcher->error);
}

/* Adds a call to the rejected candidates. Returns false if it is there already or the table is
 * full. */
static bool reject_candidate(struct rejected *v, uint32_t call)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->calls[i] == call)
            return false;
    if (v->count == REJECTED_MAX)
        return false;
    v->calls[v->count++] = call;
    return true;
}

/* Finds a match. A call of the other protocol is used only if it can be converted; one that
 * cannot be does not hide later calls. */
static struct match find_usable_match(struct session *s, const struct mcp_message *live)
{
    struct match m = find_match(s, live);
    bool stuck;
    struct rejected rejected; /* only `count` is initialized */

    rejected.count = 0;
    while ((stuck = is_match(&m) && not_convertible(s, m.call)) &&
           reject_candidate(&rejected, m.call))
        m = find_match(s, live);
    if (m.outcome == MATCH_EXHAUSTED && !rejected.count && not_convertible(s, m.last_used))
        reject_candidate(&rejected, m.last_used);
    if (s->shared->matcher->error.kind != ERR_OK)
        return (struct match){ .outcome = MATCH_READ_ERROR };
    if (rejected.count && (stuck || !is_match(&m)))
        return (struct match){ .outcome = MATCH_OTHER_PROTOCOL, .call = rejected.calls[0] };
    s->player.convert_protocol =
        s->stateless_request && is_match(&m) && is_from_other_protocol(s, m.call);
    return m;
}

static void handle_read_error(struct session *s, const struct mcp_message *live,
                              const struct err *e)
{
    send_error(s, live, MCP_INTERNAL_ERROR, STR("the recording cannot be read"), STR_NONE);
    actions_report(s->shared->actions, LOG_ERROR, "%s", e->msg);
    s->shared->exit_code = 5;
    s->shared->must_end = true;
}

static void handle_matchable(struct session *s, const struct mcp_message *live)
{
    struct replay_shared *h = s->shared;
    struct match m;

    choose_session(s, live);
    m = find_usable_match(s, live);
    if (m.outcome == MATCH_READ_ERROR) {
        handle_read_error(s, live, &h->matcher->error);
    } else if (is_match(&m)) {
        note_served(s);
        assign_session(s);
        replay_report_add_match(h->report, &m, used_set_of(s));
        log_match(s, &m, live);
        note_reason(s, &m, live);
        if (m.outcome == MATCH_REPEAT && h->index->calls[m.call].flags & CALL_CREATED_TASK)
            restart_task(s, m.call);
        player_start_held(&s->player, m.call, live,
                          m.outcome == MATCH_REPEAT && !m.replay_fully, task_hold_for(s, live));
        s->player.convert_protocol = false;
        update_task_hold(s, live, m.call);
    } else if (is_stateless(s, live) && str_eq(live->method, STR("subscriptions/listen"))) {
        accept_unrecorded_subscription(s, live);
    } else if (is_unrecorded_level(s, live, &m)) {
        accept_unrecorded_level(s, live);
    } else {
        handle_miss(s, live, &m);
    }
}

/* A client that only speaks the stateless protocol cannot use a stateful recording. */
static bool is_unsupported_protocol(struct session *s, const struct mcp_message *live)
{
    return s->shared->index->has_stateful && !s->shared->index->has_stateless &&
           !s->initialized && is_stateless(s, live);
}

static void reject_protocol(struct session *s, const struct mcp_message *live)
{
    if (s->shared->on_miss == ON_MISS_PASSTHROUGH) {
        handle_miss(s, live, &(struct match){ .outcome = MATCH_NOT_RECORDED });
        return;
    }
    note_refused(s);
    reject_version(s, live, json_get(live->meta, MCP_META_VERSION));
    version_bridge_warn(&s->shared->version_bridge, s->shared->actions, s->shared->index, true,
                        json_text(json_get(live->meta, MCP_META_VERSION), &s->arena));
}

/* A client that has initialized has a session, unless it shares one. */
static bool is_stateless_request(struct session *s, const struct mcp_message *live)
{
    return s->shared->index->stateless_session && (s->is_shared || !s->initialized) &&
           is_stateless(s, live);
}

static void handle_request(struct session *s, const struct mcp_message *live)
{
    s->stateless_request = is_stateless_request(s, live);
    if (live->duplicate_member)
        send_error(s, live, MCP_INVALID_REQUEST, STR("duplicate member in the request"),
                   STR_NONE);
    else if (str_eq(live->method, STR("initialize")))
        handle_initialize(s, live);
    else if (str_eq(live->method, STR("server/discover")))
        handle_discover(s, live);
    else if (str_eq(live->method, STR("ping")))
        handle_ping(s, live);
    else if (is_unsupported_protocol(s, live))
        reject_protocol(s, live);
    else
        handle_matchable(s, live);
}

/* Clients that share a session can use the same request id: a cancellation cannot be
 * attributed, so it is ignored. */
static void handle_notification(struct session *s, const struct mcp_message *live)
{
    if (json_exists(json_get(live->root, STR("id"))))
        actions_send_error(s->shared->actions, STR_NONE, MCP_INVALID_REQUEST,
                           STR("the id of a request cannot be null"), STR_NONE);
    else if (!str_eq(live->method, STR("notifications/cancelled"))) {
        passthrough_handle_notification(s->shared->passthrough, live);
        player_handle_notification(&s->player, live->method);
    } else if (!s->is_shared && !passthrough_handle_cancel(s->shared->passthrough, live, s)) {
        player_handle_cancel(&s->player, json_get(live->params, STR("requestId")));
    }
}

static void handle_response(struct session *s, const struct mcp_message *live)
{
    if (!passthrough_handle_client_response(s->shared->passthrough, live) &&
        !player_handle_response(&s->player, live))
        actions_report(s->shared->actions, LOG_WARN,
                       "the client responded to unknown request id %.*s",
                       STR_ARG(json_raw(live->id)));
}

static void handle_non_message(struct session *s, const struct record *r)
{
    bool json = str_eq(r->bytes.why, STR("not JSON-RPC"));

    if (str_eq(r->bytes.why, STR("line too long"))) {
        actions_send_error(s->shared->actions, STR("null"), MCP_INVALID_REQUEST,
                           STR("the line is too long"), STR_NONE);
        return;
    }
    if (s->shared->mcp_recorder_errors) {
        actions_send_error(s->shared->actions, STR("null"), MCP_PARSE_ERROR,
                           STR("Parse error: invalid JSON"), STR_NONE);
        return;
    }
    actions_send_error(s->shared->actions, STR("null"),
                       json ? MCP_INVALID_REQUEST : MCP_PARSE_ERROR,
                       json ? STR("not a JSON-RPC message") : STR("not valid JSON"), STR_NONE);
}

/* Ends the replay if a recorded message could not be read: the file has changed. */
static void check_read_error(struct session *s)
{
    if (s->player.error.kind == ERR_OK || s->shared->must_end)
        return;
    actions_report(s->shared->actions, LOG_ERROR, "%s", s->player.error.msg);
    s->shared->exit_code = 5;
    s->shared->must_end = true;
}

void session_open(struct session *s, int64_t now_us)
{
    const struct index *idx = s->shared->index;
    uint32_t call = idx->session_count ? idx->sessions[s->recorded_session].preamble : 0;

    s->player.now_us = now_us;
    if (call)
        player_start(&s->player, call, NULL, false);
    check_read_error(s);
}

void session_handle_record(struct session *s, const struct record *r, int64_t now_us)
{
    struct mcp_message live;

    arena_clear(&s->arena);
    s->player.now_us = now_us;
    s->player.exchange = r->has & HAS_EXCHANGE ? r->exchange : 0;
    s->shared->actions->route = (struct route){ .exchange = s->player.exchange };
    if (r->kind == RECORD_RAW) {
        handle_non_message(s, r);
        return;
    }
    live = r->message.parsed ? *r->message.parsed : mcp_classify(r->message.msg, &s->arena);
    if (live.kind == MCP_REQUEST)
        handle_request(s, &live);
    else if (live.kind == MCP_NOTIFICATION)
        handle_notification(s, &live);
    else
        handle_response(s, &live);
    check_read_error(s);
}

void session_handle_message(struct session *s, uint64_t exchange, struct json_val v,
                            const struct mcp_message *as, int64_t now_us)
{
    struct record r = { .kind = RECORD_MESSAGE, .has = HAS_EXCHANGE, .exchange = exchange };

    if (as->kind == MCP_OTHER || as->kind == MCP_BATCH) {
        r.kind = RECORD_RAW;
        r.bytes = (struct record_bytes){ .dir = TO_SERVER,
                                         .bytes = json_raw(v),
                                         .why = STR("not JSON-RPC") };
    } else {
        r.message = (struct record_message){ .dir = TO_SERVER, .msg = v, .parsed = as };
    }
    session_handle_record(s, &r, now_us);
}

void session_close(struct session *s, bool hurry, int64_t now_us)
{
    s->player.now_us = now_us;
    if (hurry)
        player_skip_delays(&s->player);
    if (!s->input_closed)
        player_no_reply(&s->player, 0);
    s->input_closed = true;
    player_end_hold(&s->player, STR_NONE); /* it will not poll its tasks any more */
    check_read_error(s);
}

void session_handle_exchange_closed(struct session *s, uint64_t exchange, int64_t now_us)
{
    s->player.now_us = now_us;
    passthrough_drop_calls(s->shared->passthrough, s, exchange);
    player_handle_exchange_closed(&s->player, exchange);
    check_read_error(s);
}

void session_handle_unaskable(struct session *s, uint64_t exchange, int64_t now_us)
{
    s->player.now_us = now_us;
    passthrough_note_unaskable(s->shared->passthrough, s, exchange);
    player_no_reply(&s->player, exchange);
    check_read_error(s);
}

void session_handle_timer(struct session *s, uint64_t timer, int64_t now_us)
{
    s->player.now_us = now_us;
    player_handle_timer(&s->player, timer);
    check_read_error(s);
}
