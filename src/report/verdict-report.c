#include "report/verdict-report.h"

#include "base/term.h"
#include "mcp/meta.h"

enum { NAME = 500, REASON = 2000 }; /* columns */

/* The server's name and version are in its response to initialize; in the stateless protocol
 * they may be in any result. */
void verdict_report_read_server(struct verdict_report_run *run, struct str method,
                                struct str response, struct arena *a)
{
    struct json j;
    struct json_fault fault;
    struct json_val result, info;

    json_init(&j);
    if (response.len && json_scan(&j, response, &fault)) {
        result = json_get(json_root(&j), STR("result"));
        info = str_eq(method, STR("initialize")) ? json_get(result, STR("serverInfo"))
                                                 : mcp_meta(result, MCP_META_SERVER_INFO);
        run->server_name = arena_str(a, json_text(json_get(info, STR("name")), a));
        run->server_version = arena_str(a, json_text(json_get(info, STR("version")), a));
        run->protocol = arena_str(a, json_text(json_get(result, STR("protocolVersion")), a));
    }
    json_release(&j);
}

struct str verdict_report_located_file(const struct verdict_report_run *run)
{
    return run->lines_of.len ? run->lines_of : run->file;
}

struct str verdict_report_kind(enum verdict_kind kind)
{
    static const char *const names[VERDICT_KINDS] = {
        [VERDICT_PASSED] = "passed",   [VERDICT_VOLATILE] = "volatile",
        [VERDICT_FAILED] = "failed",   [VERDICT_BLOCKED] = "blocked",
        [VERDICT_SKIPPED] = "skipped",
    };

    return str_z(names[kind]);
}

struct str verdict_report_failure(enum verdict_failure failure)
{
    static const char *const names[] = {
        [FAILURE_NONE] = "none",         [FAILURE_CONTENT] = "content",
        [FAILURE_ERROR] = "error",       [FAILURE_MISSING] = "no-response",
        [FAILURE_PROTOCOL] = "protocol",
    };

    return str_z(names[failure]);
}

struct str verdict_report_severity(enum finding_severity severity)
{
    static const char *const names[] = {
        [FINDING_ERROR] = "error", [FINDING_WARNING] = "warning", [FINDING_NOTE] = "note"
    };

    return str_z(names[severity]);
}

void verdict_report_write_name(struct buf *to, const struct call_verdict *v)
{
    term_escape_cut(to, v->scenario, NAME);
    if (v->scenario.len)
        buf_add(to, STR(": "));
    term_escape_cut(to, v->method, NAME);
    if (v->subject.len)
        buf_add_ch(to, ' ');
    term_escape_cut(to, v->subject, NAME);
    if (v->seq)
        buf_printf(to, " #%lu", (unsigned long)v->seq);
}

void verdict_report_write_reason(struct buf *to, const struct call_verdict *v)
{
    const char *label = NULL;

    if (v->kind == VERDICT_BLOCKED || v->kind == VERDICT_SKIPPED)
        label = verdict_report_kind(v->kind).at;
    else if (v->failure == FAILURE_MISSING)
        label = "no response";
    if (label && str_starts(v->reason, str_z(label))) /* "no response within 30 s" */
        label = NULL;
    if (label)
        buf_add(to, str_z(label));
    if (label && v->reason.len)
        buf_add(to, STR(": "));
    term_escape_cut(to, v->reason, REASON);
}

bool verdict_report_needs_message(const struct finding *f)
{
    return f->message.len &&
           !(f->severity != FINDING_NOTE && str_eq(f->rule, STR("content-changed")) &&
             f->path.len && f->recorded.len && f->live.len && !str_eq(f->recorded, f->live));
}

bool verdict_report_repeats_reason(const struct call_verdict *v, const struct finding *f)
{
    return v->reason.len && str_eq(f->message, v->reason) && !f->path.len && !f->hint.len;
}

uint64_t verdict_report_passed(const struct call_verdict_totals *totals)
{
    return totals->count[VERDICT_PASSED] + totals->count[VERDICT_VOLATILE];
}

void verdict_report_finish_nothing(struct verdict_report *self)
{
    (void)self;
}

void verdict_report_add_totals(struct call_verdict_totals *to,
                               const struct call_verdict_totals *more)
{
    for (size_t i = 0; i < VERDICT_KINDS; i++)
        to->count[i] += more->count[i];
    for (size_t i = 0; i <= FINDING_NOTE; i++)
        to->findings[i] += more->findings[i];
    to->updated += more->updated;
    to->not_read_only += more->not_read_only;
    if (more->duration_us >= 0 && to->duration_us >= 0)
        to->duration_us += more->duration_us;
    else
        to->duration_us = -1;
}

void verdict_report_write_not_read_only(struct buf *to,
                                        const struct call_verdict_totals *totals)
{
    if (totals->not_read_only)
        buf_printf(to,
                   " (%llu of tools that the server does not mark as read-only: "
                   "--include-destructive calls them)",
                   (unsigned long long)totals->not_read_only);
}
