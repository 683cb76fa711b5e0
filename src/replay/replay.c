#include "replay/replay.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/limits.h"

enum { CALLS_SHOWN = 5, UPSTREAM_WAIT_US = 60 * 1000000, GRACE_US = 1000000 };

/* Without sessions there is no start to count from, so the default is to cycle. */
static enum match_exhausted exhausted_policy(const struct replay_options *options,
                                             bool stateless)
{
    if (options->exhausted_given)
        return options->match.exhausted;
    return stateless ? EXHAUSTED_CYCLE : EXHAUSTED_ERROR;
}

void replay_init(struct replay *m, const struct index *idx, struct fuzzy *fuzzy,
                 const struct replay_options *options, struct action_sink *out)
{
    *m = (struct replay){ .index = idx, .options = *options };
    m->options.match.exhausted = exhausted_policy(
        options, options->shared_session || (idx->has_stateless && !idx->has_stateful));
    m->options.match.exhausted_stateless = exhausted_policy(options, true);
    actions_init(&m->actions, out);
    matcher_init(&m->matcher, idx, &m->options.match, fuzzy);
    replay_report_init(&m->report, idx, &m->options.match);
    passthrough_init(&m->passthrough, &m->actions, &m->shared.last_timer, options->is_remote);
    m->shared = (struct replay_shared){
        .index = idx,
        .matcher = &m->matcher,
        .report = &m->report,
        .passthrough = &m->passthrough,
        .actions = &m->actions,
        .on_miss = options->on_miss,
        .fail_at_end = options->fail_at_end,
        .mcp_recorder_errors = options->mcp_recorder_errors,
        .hide_details = options->hide_details,
        .pace = options->pace,
    };
    session_shared_init(&m->shared);
    m->main_session = &replay_add_client(m)->session;
}

struct replay_client *replay_add_client(struct replay *m)
{
    struct replay_client *c = mem_new(struct replay_client);

    session_init(&c->session, &m->shared);
    c->next = m->clients;
    c->prev_next = &m->clients;
    if (c->next)
        c->next->prev_next = &c->next;
    m->clients = c;
    return c;
}

static void free_client(struct replay_client *c)
{
    *c->prev_next = c->next;
    if (c->next)
        c->next->prev_next = c->prev_next;
    session_release(&c->session);
    free(c);
}

void replay_remove_client(struct replay *m, struct replay_client *c)
{
    m->past_responses += c->session.player.response_count;
    passthrough_drop_calls(&m->passthrough, &c->session, 0);
    free_client(c);
}

void replay_release(struct replay *m)
{
    while (m->clients)
        free_client(m->clients);
    passthrough_release(&m->passthrough);
    session_shared_release(&m->shared);
    replay_report_release(&m->report);
    matcher_release(&m->matcher);
    actions_release(&m->actions);
}

/* Logs `what` and the first of `count` calls. */
static void log_calls(struct replay *m, enum log_level level, const char *what, uint64_t count,
                      uint32_t (*next)(const struct replay_report *r, uint32_t call))
{
    struct buf names;
    uint64_t shown = 0;

    if (!count)
        return;
    buf_init(&names, LIMIT_MESSAGE);
    for (uint32_t call = 0; shown < CALLS_SHOWN && (call = next(&m->report, call)); shown++) {
        buf_add(&names, shown ? STR(", ") : STR_NONE);
        replay_report_write_name(&m->report, call, &names);
    }
    if (count > shown)
        buf_printf(&names, " and %llu more", (unsigned long long)(count - shown));
    actions_report(&m->actions, level, "%s: %s", what, buf_z(&names));
    buf_release(&names);
}

static bool has_refused_clients(const struct replay *m)
{
    return m->shared.refused_clients || m->shared.shared_refused;
}

static int exit_code(const struct replay *m)
{
    if (m->shared.exit_code)
        return m->shared.exit_code;
    if (m->passthrough.failed)
        return 4;
    if (has_refused_clients(m))
        return 1;
    return m->options.strict_unused && replay_report_unused_count(&m->report) ? 1 : 0;
}

/* Logs which rules of the user let requests match. */
static void log_rules_of(struct replay *m, enum match_rule_kind kind, const char *what)
{
    uint64_t count = replay_report_rule_requests(&m->report, kind);
    struct buf rules;

    if (!count)
        return;
    buf_init(&rules, LIMIT_MESSAGE);
    replay_report_write_rules(&m->report, kind, &rules);
    actions_report(&m->actions, LOG_INFO, "%llu request%s matched %s: %s",
                   (unsigned long long)count, count == 1 ? "" : "s", what, buf_z(&rules));
    buf_release(&rules);
}

/* A match that is not equal to its request must be visible in the summary. */
static void log_rules(struct replay *m)
{
    log_rules_of(m, MATCH_RULE_IGNORE, "because values are ignored");
    log_rules_of(m, MATCH_RULE_TOOL_MODE, "by the mode for a tool");
    if (m->report.redacted)
        actions_report(&m->actions, LOG_INFO,
                       "%llu request%s matched a call with redacted params, which were not "
                       "compared",
                       (unsigned long long)m->report.redacted,
                       m->report.redacted == 1 ? "" : "s");
}

static void log_summary(struct replay *m)
{
    uint64_t answered = m->past_responses;

    for (const struct replay_client *c = m->clients; c; c = c->next)
        answered += c->session.player.response_count;
    actions_report(&m->actions, LOG_INFO,
                   "answered %llu request%s from the recording, %llu unmatched",
                   (unsigned long long)answered, answered == 1 ? "" : "s",
                   (unsigned long long)m->report.unmatched);
    log_rules(m);
    if (has_refused_clients(m))
        actions_report(&m->actions, LOG_ERROR,
                       "a client was not served: its protocol version is not in the recording");
    log_calls(m, LOG_INFO, "a recorded progress token inside a text was not replaced",
              m->report.token_count, replay_report_next_token);
    log_calls(m, m->options.strict_unused ? LOG_ERROR : LOG_INFO, "unused recorded calls",
              replay_report_unused_count(&m->report), replay_report_next_unused);
}

/* The upstream may respond after the client has closed its input, within a time limit. */
static bool waits_for_upstream(struct replay *m)
{
    if (!passthrough_has_pending(&m->passthrough))
        return false;
    if (!m->upstream_wait_timer) {
        m->upstream_wait_timer = ++m->shared.last_timer;
        actions_set_timer(&m->actions, m->upstream_wait_timer,
                          m->ending_soon ? GRACE_US : UPSTREAM_WAIT_US);
    }
    return true;
}

static void abort_passthrough(struct replay *m)
{
    passthrough_abort(&m->passthrough, m->ending_soon
                                           ? STR("it had not responded when the replay ended")
                                           : STR("it does not respond"));
}

static bool has_delayed_response(const struct replay *m)
{
    const struct replay_client *c = m->clients;

    while (c && !player_has_delayed_response(&c->session.player))
        c = c->next;
    return c != NULL;
}

void replay_end_soon(struct replay *m)
{
    m->input_closed = true;
    if (!m->ending_soon)
        m->upstream_wait_timer = 0; /* a longer one may be set */
    m->ending_soon = true;
}

/* After the end of input or a miss, delayed responses are still sent. */
void replay_finish_if_done(struct replay *m)
{
    m->input_closed = m->input_closed || m->shared.must_end;
    if (m->finished || !m->input_closed || has_delayed_response(m) || waits_for_upstream(m))
        return;
    log_summary(m);
    m->report.forwarded = m->passthrough.forwarded;
    m->exit_code = exit_code(m);
    m->finished = true;
    actions_finish(&m->actions, m->exit_code);
}

void replay_step(struct replay *m, const struct event *ev)
{
    if (m->finished)
        return;
    switch (ev->kind) {
    case EVENT_OPENED:
        session_open(m->main_session, ev->now_us);
        break;
    case EVENT_RECORD:
        if (!m->input_closed)
            session_handle_record(m->main_session, ev->record, ev->now_us);
        break;
    case EVENT_TIMER:
        if (ev->timer == m->upstream_wait_timer)
            abort_passthrough(m);
        else if (!passthrough_handle_timer(&m->passthrough, ev->timer))
            session_handle_timer(m->main_session, ev->timer, ev->now_us);
        break;
    case EVENT_INPUT_CLOSED:
        m->input_closed = true;
        if (ev->shutting_down)
            replay_end_soon(m);
        session_close(m->main_session, ev->shutting_down, ev->now_us);
        break;
    case EVENT_UPSTREAM_RECORD:
        passthrough_handle_record(&m->passthrough, ev->record);
        break;
    case EVENT_UPSTREAM_CLOSED:
        passthrough_handle_closed(&m->passthrough, ev->why);
        break;
    case EVENT_UPSTREAM_LOST:
        passthrough_handle_lost(&m->passthrough, ev->why);
        break;
    default:
        BUG("an event of an HTTP client");
    }
    replay_finish_if_done(m);
}

void replay_write_report(const struct replay *m, struct buf *to)
{
    replay_report_write(&m->report, to, m->exit_code);
}
