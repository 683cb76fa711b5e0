#include "cmd/check-secrets.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/term.h"
#include "base/units.h"
#include "report/inspect-file.h"

static const char *const record_names[] = {
    [RECORD_HEADER] = "header",
    [RECORD_MESSAGE] = "message",
    [RECORD_RAW] = "raw",
    [RECORD_STDERR] = "stderr",
    [RECORD_PROC] = "proc",
    [RECORD_HTTP_REQUEST] = "http",
    [RECORD_HTTP_RESPONSE] = "http",
    [RECORD_HTTP_END] = "http",
    [RECORD_SSE] = "sse",
    [RECORD_GAP] = "gap",
    [RECORD_FOOTER] = "footer",
    [RECORD_UNKNOWN] = "unknown",
};

static void on_hit(struct redactor_observer *self, const struct redactor_hit *hit)
{
    struct secret_findings *l = (struct secret_findings *)self;
    const struct record *r = hit->record;

    if (++l->total > SECRET_FINDINGS_MAX)
        return;
    l->rows = mem_reserve(l->rows, &l->cap, l->row_count + 1, sizeof *l->rows);
    l->rows[l->row_count++] = (struct secret_finding){
        .kind = r->kind,
        .record = hit->record_index + 1,
        .seq = r->kind == RECORD_MESSAGE && r->has & HAS_SEQ ? r->message.seq : 0,
        .line = r->kind == RECORD_MESSAGE ? r->message.line : 0,
        .member = hit->member,
        .pointer = arena_str(&l->arena, hit->pointer),
        .rule = arena_str(&l->arena, str_z(hit->rule_name)),
    };
}

void secret_findings_init(struct secret_findings *l)
{
    *l = (struct secret_findings){ .observer = { on_hit } };
}

void secret_findings_release(struct secret_findings *l)
{
    free(l->rows);
    arena_release(&l->arena);
}

void secret_findings_add_count(struct buf *to, const struct secret_findings *l)
{
    buf_add(to, STR("redacted "));
    units_write_count(to, l->total, "secret", "secrets");
}

/* Adds the record: "message 4", "record 3 (stderr)". */
static void add_record(struct buf *to, const struct secret_finding *row)
{
    if (row->seq)
        buf_printf(to, "message %" PRIu64, row->seq);
    else
        buf_printf(to, "record %" PRIu64 " (%s)", row->record, record_names[row->kind]);
}

void secret_findings_add_text(struct buf *to, const struct secret_findings *l)
{
    for (size_t i = 0; i < l->row_count; i++) {
        const struct secret_finding *row = &l->rows[i];

        buf_add(to, STR("  "));
        add_record(to, row);
        buf_add(to, STR(", "));
        term_escape(to, row->pointer.len ? row->pointer : str_z(row->member), TERM_ONE_LINE);
        buf_printf(to, ": %.*s\n", STR_ARG(row->rule));
    }
    if (l->total > l->row_count) {
        buf_add(to, STR("  and "));
        units_write_count(to, l->total - l->row_count, "more", "more");
        buf_add_ch(to, '\n');
    }
}

void secret_findings_add_json(struct json_out *o, const struct secret_findings *l)
{
    json_out_array(o);
    for (size_t i = 0; i < l->row_count; i++) {
        const struct secret_finding *row = &l->rows[i];

        json_out_object(o);
        json_out_key_int(o, STR("record"), (int64_t)row->record);
        json_out_key_str(o, STR("type"), str_z(record_names[row->kind]));
        if (row->seq)
            json_out_key_int(o, STR("seq"), (int64_t)row->seq);
        json_out_key_str(o, STR("member"), str_z(row->member));
        if (row->kind == RECORD_MESSAGE)
            json_out_key_str(o, STR("pointer"), row->pointer);
        json_out_key_str(o, STR("rule"), row->rule);
        json_out_end_object(o);
    }
    json_out_end_array(o);
}

enum { REPORT_MAX = 256 << 20 };

static bool discard_record(struct sink *self, const struct record *r, struct err *e)
{
    (void)self;
    (void)r;
    (void)e;
    return true;
}

struct secret_report {
    const struct app *app;
    const struct redaction_args *args;
    const struct check_secrets_options *options;
    struct buf text;      /* for people */
    struct buf json_text; /* with --json, and for reports */
    struct json_out json;
    struct report_files reports;
    int worst_code;
};

/* One searched file, and its findings. */
struct searched_file {
    struct inspect_file file;
    struct secret_findings findings;
    struct err error; /* why it cannot be used */
    bool usable;
    uint64_t not_searched[REDACT_JSON_REASONS];
};

/* Adds how many base64 values were not searched. */
static void add_text_not_searched(struct buf *to, const struct searched_file *f)
{
    static const char *const kinds[][2] = {
        [REDACT_JSON_BINARY] = { "binary value", "binary values" },
        [REDACT_JSON_COMPRESSED] = { "compressed value", "compressed values" },
        [REDACT_JSON_LARGE] = { "value over 16 MiB", "values over 16 MiB" },
    };
    const char *sign = "  not searched: ";

    for (size_t i = 0; i < REDACT_JSON_REASONS; i++) {
        if (!f->not_searched[i])
            continue;
        buf_add(to, str_z(sign));
        units_write_count(to, f->not_searched[i], kinds[i][0], kinds[i][1]);
        sign = ", ";
    }
    if (*sign == ',')
        buf_add(to, STR(" in base64\n"));
}

static void add_text_list(struct buf *to, const char *what, const struct str_list *names)
{
    for (size_t i = 0; i < names->count; i++) {
        buf_add(to, i ? STR(", ") : STR("; "));
        if (!i)
            buf_printf(to, "%s ", what);
        term_escape(to, str_z(names->at[i]), TERM_ONE_LINE);
    }
}

/* Adds the last line: which secrets were searched for. */
static void add_text_searched(struct secret_report *r)
{
    const struct redaction_args *args = r->args;
    struct buf *to = &r->text;

    buf_add(to, STR("searched for: "));
    buf_add(to, args->defaults ? STR("well-known credential formats, values named as secrets")
                               : STR("no defaults"));
    add_text_list(to, "variables", &args->env);
    add_text_list(to, "members", &args->members);
    if (args->patterns.count) {
        buf_add(to, STR("; "));
        units_write_count(to, args->patterns.count, "pattern", "patterns");
    }
    buf_add_ch(to, '\n');
}

static void add_json_list(struct json_out *o, struct str name, const struct str_list *names)
{
    json_out_key(o, name);
    json_out_array(o);
    for (size_t i = 0; i < names->count; i++)
        json_out_str(o, str_z(names->at[i]));
    json_out_end_array(o);
}

static void add_json_searched(struct secret_report *r)
{
    struct json_out *o = &r->json;

    json_out_key(o, STR("searched_for"));
    json_out_object(o);
    json_out_key_bool(o, STR("defaults"), r->args->defaults);
    add_json_list(o, STR("variables"), &r->args->env);
    add_json_list(o, STR("members"), &r->args->members);
    json_out_key_int(o, STR("patterns"), (int64_t)r->args->patterns.count);
    json_out_end_object(o);
}

static void add_json_not_searched(struct json_out *o, const struct searched_file *f)
{
    json_out_key(o, STR("not_searched"));
    json_out_object(o);
    json_out_key_int(o, STR("binary"), (int64_t)f->not_searched[REDACT_JSON_BINARY]);
    json_out_key_int(o, STR("compressed"), (int64_t)f->not_searched[REDACT_JSON_COMPRESSED]);
    json_out_key_int(o, STR("too_large"), (int64_t)f->not_searched[REDACT_JSON_LARGE]);
    json_out_end_object(o);
}

static void add_text(struct secret_report *r, const struct searched_file *f)
{
    struct buf *to = &r->text;

    term_escape(to, str_z(f->file.path), TERM_ONE_LINE);
    buf_add(to, STR(": "));
    if (!f->usable)
        buf_add(to, STR("unreadable"));
    else if (f->findings.total)
        units_write_count(to, f->findings.total, "secret", "secrets");
    else
        buf_add(to, STR("no secrets found"));
    buf_add_ch(to, '\n');
    secret_findings_add_text(to, &f->findings);
    add_text_not_searched(to, f);
}

static void add_json(struct secret_report *r, const struct searched_file *f)
{
    struct json_out *o = &r->json;

    json_out_object(o);
    json_out_key_str(o, STR("path"), str_z(f->file.path));
    if (f->usable) {
        json_out_key_str(o, STR("format"), str_z(f->file.format));
        json_out_key_int(o, STR("count"), (int64_t)f->findings.total);
        json_out_key(o, STR("secrets"));
        secret_findings_add_json(o, &f->findings);
        add_json_not_searched(o, f);
    } else {
        json_out_key_str(o, STR("error"), str_z(f->error.msg));
    }
    json_out_end_object(o);
}

/* Reports. */

static bool write_stdout(const void *app, struct str text, struct err *e)
{
    return app_write(app, text, e);
}

static struct report_files_target report_target(const struct secret_report *r)
{
    return (struct report_files_target){ .sys = r->app->sys,
                                         .replace = r->options->replace,
                                         .write_stdout = write_stdout,
                                         .arg = r->app };
}

static bool open_reports(struct secret_report *r, const struct operands *in, struct err *e)
{
    const struct report_files_target target = report_target(r);

    if (!report_files_parse(&r->reports, r->options->report, e))
        return false;
    for (size_t i = 0; i < in->count; i++)
        if (!report_files_check(&r->reports, &target, in->at[i], e))
            return false;
    return true;
}

static void give(struct secret_report *r, const struct finding *f,
                 struct call_verdict_totals *totals)
{
    totals->findings[f->severity]++;
    r->reports.report.finding(&r->reports.report, f);
}

static void give_secret(struct secret_report *r, const struct secret_finding *row,
                        struct call_verdict_totals *totals)
{
    struct finding f = { .rule = STR("secret"),
                         .severity = FINDING_ERROR,
                         .line = row->line,
                         .seq = row->seq,
                         .path = row->pointer.len ? row->pointer : str_z(row->member),
                         .hint = STR("mcpreel redact FILE -o OUT") };
    struct buf text;

    buf_init(&text, REPORT_MAX);
    add_record(&text, row);
    buf_printf(&text, " has a secret: %.*s", STR_ARG(row->rule));
    f.message = buf_str(&text);
    give(r, &f, totals);
    buf_release(&text);
}

/* Those that are only counted are one finding. */
static void give_more(struct secret_report *r, const struct secret_findings *l,
                      struct call_verdict_totals *totals)
{
    struct finding f = { .rule = STR("secret"), .severity = FINDING_ERROR };
    struct buf text;

    if (l->total == l->row_count)
        return;
    buf_init(&text, 256);
    units_write_count(&text, l->total - l->row_count, "more secret", "more secrets");
    f.message = buf_str(&text);
    give(r, &f, totals);
    buf_release(&text);
}

static void report_file(struct secret_report *r, const struct searched_file *f, int code)
{
    const struct verdict_report_run run = { .command = STR("check"),
                                            .file = str_z(f->file.path),
                                            .no_calls = true };
    struct call_verdict_totals totals = { .duration_us = -1 };
    const struct verdict_report_result result = { .totals = &totals, .exit_code = code };
    const struct finding unreadable = { .rule = STR("unreadable"),
                                        .severity = FINDING_ERROR,
                                        .message = str_z(f->error.msg),
                                        .hint = str_z(f->error.hint) };

    if (!r->reports.count)
        return;
    r->reports.report.begin(&r->reports.report, &run);
    if (!f->usable)
        give(r, &unreadable, &totals);
    for (size_t i = 0; f->usable && i < f->findings.row_count; i++)
        give_secret(r, &f->findings.rows[i], &totals);
    if (f->usable)
        give_more(r, &f->findings, &totals);
    r->reports.report.end(&r->reports.report, &result);
}

static void read_file(const struct secret_report *r, struct redaction *redaction,
                      struct searched_file *f)
{
    struct sink nowhere = { discard_record };
    struct stats stats;

    f->file.show_progress = app_shows_progress(r->app);
    f->file.find_lines = r->reports.count != 0;
    stats_init(&stats);
    f->usable = inspect_file_read(&f->file, r->app->sys, &redaction->log, &stats,
                                  redaction_sink(redaction, &nowhere), &f->error);
    stats_release(&stats);
    memcpy(f->not_searched, redactor_unsearched(&redaction->redactor), sizeof f->not_searched);
    redaction_redact_err(redaction, &f->error);
}

/* Searches a file and adds its result. False: an error that is not about the file. */
static bool search_file(struct secret_report *r, const char *path, struct err *e)
{
    struct searched_file f = { .file = { .path = path } };
    struct redaction redaction;
    int code = EXIT_OK;
    bool ok;

    if (!redact_options_init(&redaction, r->app, r->args, NULL, e))
        return false;
    secret_findings_init(&f.findings);
    redaction.redactor.observer = &f.findings.observer;
    read_file(r, &redaction, &f);
    ok = f.usable || f.error.kind == ERR_INPUT || f.error.kind == ERR_LIMIT;
    if (!ok) {
        *e = f.error;
    } else {
        add_json(r, &f);
        add_text(r, &f);
    }
    if (ok && !f.usable && !r->app->json)
        log_err(&redaction.log, &f.error);
    code = !f.usable ? app_exit_code(&f.error) : f.findings.total ? EXIT_FINDINGS : EXIT_OK;
    r->worst_code = code > r->worst_code ? code : r->worst_code;
    if (ok)
        report_file(r, &f, code);
    secret_findings_release(&f.findings);
    redaction_release(&redaction);
    return ok;
}

static bool search_files(struct secret_report *r, const struct operands *in, struct err *e)
{
    const struct report_files_target target = report_target(r);
    const struct buf *output = r->app->json ? &r->json_text : &r->text;

    json_out_object(&r->json);
    json_out_key_int(&r->json, STR("v"), JSON_OUTPUT_VERSION);
    json_out_key_str(&r->json, STR("command"), STR("check"));
    json_out_key(&r->json, STR("files"));
    json_out_array(&r->json);
    for (size_t i = 0; i < in->count; i++)
        if (!search_file(r, in->at[i], e))
            return false;
    json_out_end_array(&r->json);
    add_json_searched(r);
    json_out_end_object(&r->json);
    buf_add_ch(&r->json_text, '\n');
    add_text_searched(r);
    report_files_set_json(&r->reports, buf_str(&r->json_text));
    return (!r->reports.count || buf_ok(&r->json_text, e)) && buf_ok(output, e) &&
           app_write(r->app, buf_str(output), e) && report_files_write(&r->reports, &target, e);
}

int check_secrets(const struct app *app, const struct check_secrets_options *options,
                  const struct operands *in, struct err *e)
{
    const struct redaction_args *args = options->redaction;
    struct secret_report r = { .app = app, .args = args, .options = options };
    bool ok;

    if (!args->defaults && !args->env.count && !args->patterns.count && !args->members.count) {
        err_set(e, ERR_USAGE,
                "no secrets to search for: '--no-redact-defaults' without other rules");
        return EXIT_USAGE;
    }
    buf_init(&r.text, REPORT_MAX);
    buf_init(&r.json_text, REPORT_MAX);
    r.json = json_out_to(&r.json_text);
    report_files_init(&r.reports, NULL);
    ok = open_reports(&r, in, e) && search_files(&r, in, e);
    report_files_release(&r.reports);
    buf_release(&r.text);
    buf_release(&r.json_text);
    return ok ? r.worst_code : app_exit_code(e);
}
