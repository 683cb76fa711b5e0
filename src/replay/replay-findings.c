#include "replay/replay-findings.h"

#include "base/units.h"

enum { MESSAGE = 16 << 10 };

struct giver {
    const struct replay *replay;
    const struct replay_report *report;
    const struct replay_findings_sink *sink;
    struct call_verdict_totals totals;
    uint32_t calls; /* verdicts given */
    struct buf message;
};

/* Gives the finding whose message was composed, and clears the message. */
static void give_finding(struct giver *g, const char *rule, enum finding_severity severity,
                         uint32_t seq)
{
    const struct finding f = {
        .rule = str_z(rule), .severity = severity, .message = buf_str(&g->message), .seq = seq
    };

    g->totals.findings[severity]++;
    g->sink->finding(g->sink->to, &f);
    buf_clear(&g->message);
}

static void give_verdict(struct giver *g, uint32_t call)
{
    const struct index *idx = g->report->index;
    bool used = used_set_has(&g->report->used, call), fails = g->replay->options.strict_unused;
    struct index_message t;
    struct call_verdict v = { .number = ++g->calls,
                              .session = idx->calls[call].session + 1,
                              .seq = idx->calls[call].seq,
                              .method = index_method(idx, call)->name,
                              .kind = used    ? VERDICT_PASSED
                                      : fails ? VERDICT_FAILED
                                              : VERDICT_SKIPPED,
                              .reason = used ? STR_NONE : STR("no client requested it"),
                              .duration_us = -1 };

    index_message_init(&t);
    v.subject = replay_report_read_subject(g->report, call, &t);
    g->totals.count[v.kind]++;
    g->sink->verdict(g->sink->to, &v);
    index_message_release(&t);
}

static void give_miss(struct giver *g, const struct replay_report_miss *m,
                      enum finding_severity severity)
{
    buf_printf(&g->message, "no recorded call matches %.*s%s%.*s", STR_ARG(m->method),
               m->subject.len ? " " : "", STR_ARG(m->subject));
    if (strcmp(m->reason, "no-match") != 0)
        buf_printf(&g->message, " (%s)", m->reason);
    if (m->nearest) {
        buf_add(&g->message, STR("; nearest: "));
        replay_report_write_name(g->report, m->nearest, &g->message);
    }
    give_finding(g, "unmatched-request", severity,
                 m->nearest ? g->report->index->calls[m->nearest].seq : 0);
}

static void give_misses(struct giver *g)
{
    const struct replay_report *r = g->report;
    bool fails = g->replay->options.on_miss == ON_MISS_ERROR || g->replay->options.fail_at_end;
    enum finding_severity severity = fails ? FINDING_ERROR : FINDING_WARNING;

    for (size_t i = 0; i < r->miss_count; i++)
        give_miss(g, &r->misses[i], severity);
    if (r->unmatched <= r->miss_count)
        return;
    units_write_count(&g->message, r->unmatched - r->miss_count, "more unmatched request",
                      "more unmatched requests");
    give_finding(g, "unmatched-request", severity, 0);
}

/* Gives one finding for `n` requests; none if there are none. */
static void give_count(struct giver *g, const char *rule, enum finding_severity severity,
                       uint64_t n, const char *what)
{
    if (!n)
        return;
    units_write_count(&g->message, n, "request", "requests");
    buf_printf(&g->message, " %s", what);
    give_finding(g, rule, severity, 0);
}

/* Gives one note for the requests that needed rules of the user, with these rules. */
static void give_rules(struct giver *g, const char *rule, enum match_rule_kind kind,
                       const char *what)
{
    uint64_t n = replay_report_rule_requests(g->report, kind);

    if (!n)
        return;
    units_write_count(&g->message, n, "request", "requests");
    buf_printf(&g->message, " %s: ", what);
    replay_report_write_rules(g->report, kind, &g->message);
    give_finding(g, rule, FINDING_NOTE, 0);
}

static void give_server_request(struct giver *g, const struct replay_report_note *n)
{
    static const struct {
        const char *rule, *what;
    } outcomes[SERVER_REQUEST_OUTCOMES] = {
        [SERVER_REQUEST_SENT] = { "", "" }, /* never a note */
        [SERVER_REQUEST_DIFFERS] = { "server-request-differs",
                                     "the client's response differs from the recorded one" },
        [SERVER_REQUEST_UNSUPPORTED] = { "server-request-unsupported",
                                         "not sent: the client does not support it" },
        [SERVER_REQUEST_NO_RESPONSE] = { "server-request-unanswered",
                                         "the client did not respond" },
    };
    const struct recorded_call *call = &g->report->index->calls[n->call];

    buf_printf(&g->message, "server request %.*s", STR_ARG(n->method));
    if (!(call->flags & CALL_PREAMBLE)) {
        buf_add(&g->message, STR(" of "));
        replay_report_write_name(g->report, n->call, &g->message);
    }
    buf_printf(&g->message, ": %s", outcomes[n->outcome].what);
    give_finding(g, outcomes[n->outcome].rule, FINDING_WARNING, call->seq);
}

static void give_findings(struct giver *g)
{
    const struct replay_report *r = g->report;
    const struct replay_shared *shared = &g->replay->shared;
    bool refused = shared->refused_clients || shared->shared_refused;

    give_misses(g);
    give_count(g, "protocol-version-refused", refused ? FINDING_ERROR : FINDING_WARNING,
               r->version_refused, "with a protocol version that is not in the recording");
    if (g->replay->passthrough.failed) {
        buf_add(&g->message, STR("the upstream for unmatched requests failed"));
        give_finding(g, "upstream-failed", FINDING_ERROR, 0);
    }
    give_count(g, "differing-params", FINDING_WARNING, r->params_differ,
               "matched in spite of other params");
    give_rules(g, "ignored-params", MATCH_RULE_IGNORE, "matched because values are ignored");
    give_rules(g, "tool-mode", MATCH_RULE_TOOL_MODE, "matched by the mode for a tool");
    give_count(g, "redacted-params", FINDING_NOTE, r->redacted,
               "matched a call with redacted params, which were not compared");
    give_count(g, "ambiguous-match", FINDING_WARNING, r->ambiguous,
               "matched one of several calls that differ only in redacted values");
    for (size_t i = 0; i < r->note_count; i++)
        give_server_request(g, &r->notes[i]);
}

struct call_verdict_totals replay_findings_give(const struct replay *m,
                                                const struct replay_findings_sink *sink)
{
    struct giver g = {
        .replay = m, .report = &m->report, .sink = sink, .totals = { .duration_us = -1 }
    };

    buf_init(&g.message, MESSAGE);
    for (uint32_t call = 1; call < m->index->call_count; call++)
        if (m->index->calls[call].flags & CALL_MATCHABLE)
            give_verdict(&g, call);
    give_findings(&g);
    buf_release(&g.message);
    return g.totals;
}
