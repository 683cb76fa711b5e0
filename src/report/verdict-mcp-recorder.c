#include "report/verdict-mcp-recorder.h"

#include "base/term.h"
#include "format/python-json.h"
#include "mcp/payload-compare.h"

enum { TEXT = 2000 }; /* columns of a path or reason */

static void add_path(struct buf *to, const struct finding *f)
{
    buf_add(to, STR("  "));
    term_escape_cut(to, f->path, TEXT);
    buf_add(to, STR(": "));
}

static void add_value(struct buf *to, const char *label, struct str json)
{
    buf_add(to, str_z(label));
    python_json_write_ascii(to, json);
    buf_add_ch(to, '\n');
}

static void add_missing(struct buf *to, const struct finding *f)
{
    add_path(to, f);
    buf_add(to, STR("missing in actual\n"));
    add_value(to, "    expected: ", f->recorded);
}

static void add_unexpected(struct buf *to, const struct finding *f)
{
    add_path(to, f);
    buf_add(to, STR("unexpected key in actual\n"));
    add_value(to, "    actual: ", f->live);
}

/* The text of a finding's value, parsed. */
struct parsed {
    struct json doc;
    struct json_val value;
};

static void parse(struct parsed *p, struct str text)
{
    struct json_fault fault;

    json_init(&p->doc);
    BUG_IF(!json_scan(&p->doc, text, &fault)); /* a finding has JSON or nothing */
    p->value = json_root(&p->doc);
}

static void add_types(struct buf *to, const struct finding *f)
{
    struct parsed recorded, live;

    parse(&recorded, f->recorded);
    parse(&live, f->live);
    add_path(to, f);
    buf_printf(to, "type %s != %s\n", payload_python_type(recorded.value),
               payload_python_type(live.value));
    add_value(to, "    expected: ", f->recorded);
    add_value(to, "    actual:   ", f->live);
    json_release(&recorded.doc);
    json_release(&live.doc);
}

static void add_lengths(struct buf *to, const struct finding *f)
{
    struct parsed recorded, live;

    parse(&recorded, f->recorded);
    parse(&live, f->live);
    add_path(to, f);
    buf_printf(to, "list length %zu != %zu\n", json_count(recorded.value),
               json_count(live.value));
    json_release(&recorded.doc);
    json_release(&live.doc);
}

static void add_values(struct buf *to, const struct finding *f)
{
    add_path(to, f);
    python_json_write_ascii(to, f->recorded);
    buf_add(to, STR(" != "));
    python_json_write_ascii(to, f->live);
    buf_add_ch(to, '\n');
}

/* An error in place of a result, or the other way round: mcp-recorder compares the members of
 * the response, in order of their names. */
static void add_other_kind(struct buf *to, const struct finding *f, bool error_is_live)
{
    const struct finding error = { .path = STR("$.error"),
                                   .recorded = f->recorded,
                                   .live = f->live },
                         result = { .path = STR("$.result"),
                                    .recorded = f->recorded,
                                    .live = f->live };

    if (error_is_live) {
        add_unexpected(to, &error);
        add_missing(to, &result);
    } else {
        add_missing(to, &error);
        add_unexpected(to, &result);
    }
}

void verdict_mcp_recorder_write_difference(struct buf *to, const struct finding *f)
{
    bool both = f->recorded.len && f->live.len;

    if (both && str_eq(f->rule, STR("error-in-place-of-result"))) {
        add_other_kind(to, f, true);
    } else if (both && str_eq(f->rule, STR("result-in-place-of-error"))) {
        add_other_kind(to, f, false);
    } else if (both && str_eq(f->rule, STR("type-changed"))) {
        add_types(to, f);
    } else if (both && str_eq(f->rule, STR("length-changed"))) {
        add_lengths(to, f);
    } else if (both) {
        add_values(to, f);
    } else if (f->recorded.len) {
        add_missing(to, f);
    } else if (f->live.len) {
        add_unexpected(to, f);
    } else {
        buf_add(to, STR("  "));
        term_escape_cut(to, f->message, TEXT);
        buf_add_ch(to, '\n');
    }
}

static void add_ignored(struct buf *to, const char *label, struct str names)
{
    if (!names.len)
        return;
    buf_add(to, str_z(label));
    term_escape(to, names, TERM_ONE_LINE);
    buf_add_ch(to, '\n');
}

static void begin_lines(struct verdict_report *self, const struct verdict_report_run *run)
{
    struct verdict_mcp_recorder *r = (struct verdict_mcp_recorder *)self;

    r->run = run;
    buf_add(r->to, STR("Verifying "));
    term_escape(r->to, run->file, TERM_ONE_LINE);
    buf_add(r->to, r->options.is_command ? STR(" against stdio: ") : STR(" against "));
    term_escape(r->to, run->shown_target.len ? run->shown_target : run->target, TERM_ONE_LINE);
    buf_printf(r->to, "\nInteractions: %llu\n", (unsigned long long)run->call_count);
    add_ignored(r->to, "Ignoring fields: ", r->options.ignored_fields);
    add_ignored(r->to, "Ignoring paths: ", r->options.ignored_paths);
    buf_add_ch(r->to, '\n');
}

/* Returns whether mcp-recorder shows the subject: only names of tools. */
static bool shows_subject(const struct call_verdict *v)
{
    return v->subject.len && str_eq(v->method, STR("tools/call"));
}

/* Returns whether a finding of a call has a line: errors, and why --update left the call as it
 * was. */
static bool is_shown(const struct finding *f)
{
    return f->severity == FINDING_ERROR || str_eq(f->rule, STR("not-updated"));
}

/* Appends the lines of a failed call, each indented by four blanks more. */
static void add_failure(struct verdict_mcp_recorder *r, const struct call_verdict *v)
{
    struct buf lines;
    struct str rest;

    buf_init(&lines, r->to->max);
    if (v->failure == FAILURE_MISSING)
        buf_add(&lines, STR("  transport error: "));
    else if (v->reason.len)
        buf_printf(&lines, "  %.*s: ", STR_ARG(verdict_report_kind(v->kind)));
    if (lines.len) {
        term_escape_cut(&lines, v->reason, TEXT);
        buf_add_ch(&lines, '\n');
    }
    for (size_t i = 0; i < v->finding_count; i++)
        if (is_shown(&v->findings[i]) && !verdict_report_repeats_reason(v, &v->findings[i]))
            verdict_mcp_recorder_write_difference(&lines, &v->findings[i]);
    for (rest = buf_str(&lines); rest.len;) {
        buf_add(r->to, STR("    "));
        buf_add(r->to, str_cut(&rest, '\n'));
        buf_add_ch(r->to, '\n');
    }
    buf_release(&lines);
}

static void add_verdict(struct verdict_report *self, const struct call_verdict *v)
{
    struct verdict_mcp_recorder *r = (struct verdict_mcp_recorder *)self;
    bool passed = v->kind == VERDICT_PASSED || v->kind == VERDICT_VOLATILE;

    buf_printf(r->to, "  %lu. ", (unsigned long)v->number);
    term_escape_cut(r->to, v->method, TEXT);
    if (shows_subject(v)) {
        buf_add(r->to, STR(" ["));
        term_escape_cut(r->to, v->subject, TEXT);
        buf_add_ch(r->to, ']');
    }
    buf_add(r->to, passed ? STR(" [PASS]\n") : STR(" [FAIL]\n"));
    if (!passed)
        add_failure(r, v);
}

/* mcp-recorder has no findings that belong to no call. An error of that kind decides the exit
 * code, so it has a line. */
static void add_finding(struct verdict_report *self, const struct finding *f)
{
    struct verdict_mcp_recorder *r = (struct verdict_mcp_recorder *)self;

    if (f->severity != FINDING_ERROR)
        return;
    buf_add(r->to, STR("  "));
    term_escape_cut(r->to, f->message, TEXT);
    buf_add(r->to, STR(" [FAIL]\n"));
}

static void end_lines(struct verdict_report *self, const struct verdict_report_result *result)
{
    struct verdict_mcp_recorder *r = (struct verdict_mcp_recorder *)self;
    const struct call_verdict_totals *totals = result->totals;
    uint64_t passed = verdict_report_passed(totals), all = 0;

    for (size_t k = 0; k < VERDICT_KINDS; k++)
        all += totals->count[k];
    buf_printf(r->to, "\nResult: %llu/%llu passed, %llu failed\n", (unsigned long long)passed,
               (unsigned long long)all, (unsigned long long)(all - passed));
    if (!totals->updated)
        return;
    buf_printf(r->to, "\nSaved %llu interactions to ", (unsigned long long)r->run->call_count);
    term_escape(r->to, r->run->file, TERM_ONE_LINE);
    buf_add(r->to, STR("\nUpdated "));
    term_escape(r->to, r->run->file, TERM_ONE_LINE);
    buf_add(r->to, STR(" with new responses.\n"));
}

void verdict_mcp_recorder_init(struct verdict_mcp_recorder *r, struct buf *to,
                               const struct verdict_mcp_recorder_options *options)
{
    *r = (struct verdict_mcp_recorder){
        .report = { begin_lines, add_verdict, add_finding, end_lines,
                    verdict_report_finish_nothing },
        .to = to,
        .options = *options,
    };
}
