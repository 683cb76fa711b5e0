/* cmd/cmd-check.c - the check command: judges recordings, and repairs them. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/file-lock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "base/term.h"
#include "base/units.h"
#include "check/definition-check.h"
#include "cmd/check-secrets.h"
#include "cmd/command.h"
#include "cmd/gate-options.h"
#include "cmd/repair.h"
#include "report/findings.h"
#include "report/report-files.h"
#include "runtime/record-path.h"

enum { CHECK_TEXT_MAX = 1 << 20, CHECK_JSON_MAX = 256 << 20 };

struct check_args {
    const char *output;
    struct str_list ignore, report;
    bool fix, force, secrets;
    struct gate_args gate;
    struct redaction_args redaction;
};

static const struct option check_options[] = {
    { .name = "fix",
      .type = OPTION_FLAG,
      .offset = offsetof(struct check_args, fix),
      .help = "write a repaired copy to FILE.fixed" },
    { .key = 'o',
      .name = "output",
      .arg = "OUT",
      .type = OPTION_PATH,
      .offset = offsetof(struct check_args, output),
      .no_env = true,
      .help = "write the repaired copy to OUT" },
    { .name = "force",
      .type = OPTION_FLAG,
      .offset = offsetof(struct check_args, force),
      .help = "replace the copy and reports if they exist" },
    { .name = "report",
      .arg = "[FORMAT=]FILE",
      .type = OPTION_LIST,
      .paths = true,
      .offset = offsetof(struct check_args, report),
      .help = "write a report; FORMAT: json (if not given), junit, github, markdown or sarif; "
              "'-' is standard output" },
    { .name = "ignore",
      .arg = "IDS",
      .type = OPTION_LIST,
      .split = true,
      .offset = offsetof(struct check_args, ignore),
      .help = "accept these findings; --json shows their ids" },
    { .name = "secrets",
      .type = OPTION_FLAG,
      .offset = offsetof(struct check_args, secrets),
      .help = "search for secrets instead" },
    GATE_OPTIONS(struct check_args, gate),
    REDACTION_OPTIONS(struct check_args, redaction),
    { 0 },
};

/* Findings about the file, not about the recorded traffic. */
static const bool is_file_finding[STATS_FINDING_COUNT] = {
    [STATS_NO_HEADER] = true,    [STATS_EXTRA_HEADER] = true,   [STATS_NO_FOOTER] = true,
    [STATS_AFTER_FOOTER] = true, [STATS_FOOTER_DIFFERS] = true, [STATS_DAMAGED_END] = true,
    [STATS_GAP] = true,          [STATS_SEQ_ORDER] = true,
};

enum verdict { VERDICT_WHOLE, VERDICT_FINDINGS, VERDICT_DAMAGED, VERDICT_UNUSABLE };

static const char *const verdict_names[] = { "ok", "findings", "damaged", "unreadable" };

struct check {
    const struct app *app;
    const struct check_args *args;
    bool ignored[STATS_FINDING_COUNT], ignored_rules[DEFINITION_RULES];
    struct gate_options gate;
    struct buf json_text; /* report of --json so far */
    struct json_out json;
    struct report_files reports;
    int worst_code; /* exit code */
};

/* One checked file. */
struct checked_file {
    struct inspect_file file;
    struct stats stats;
    struct operation_sink events; /* passes them on to `gate` and `definitions` */
    struct gate gate;
    struct assertion_check assertions;
    struct definition_check definitions, copied_definitions;
    struct repair repair;
    const char *copy_path; /* NULL: no copy is made */
    bool is_journal;       /* of a one-document format: the copy is the document */
    struct err error;
    bool usable;

    /* Set after reading, without those of --ignore. */
    struct finding_list findings;
    struct finding_list remaining; /* of the copy */
};

/* Some warnings of the readers have no finding of their own. */
static bool has_only_warnings(const struct checked_file *f)
{
    bool odd = false;

    for (enum stats_finding_kind what = 0; what < STATS_FINDING_COUNT; what++)
        odd |= f->stats.findings[what].count > 0;
    return f->file.notes && !odd;
}

/* Returns whether only a part of the file could be read. */
static bool is_incomplete(const struct checked_file *f)
{
    return f->file.damage.lines || f->file.damage.decompress_failed;
}

static enum verdict verdict_of(const struct check *c, const struct checked_file *f)
{
    if (!f->usable)
        return VERDICT_UNUSABLE;
    if (is_incomplete(f))
        return VERDICT_DAMAGED;
    for (enum stats_finding_kind what = 0; what < STATS_FINDING_COUNT; what++)
        if (is_file_finding[what] && f->stats.findings[what].count && !c->ignored[what])
            return VERDICT_DAMAGED;
    return f->findings.count || has_only_warnings(f) ? VERDICT_FINDINGS : VERDICT_WHOLE;
}

/* Returns the exit code; with a copy, that of the copy. */
static int exit_code(const struct check *c, const struct checked_file *f)
{
    if (!f->usable)
        return app_exit_code(&f->error);
    if (f->copy_path)
        return f->remaining.count || is_incomplete(f) ||
                       (loss_is_any(&f->repair.loss) && !f->is_journal)
                   ? EXIT_FINDINGS
                   : EXIT_OK;
    return verdict_of(c, f) == VERDICT_WHOLE ? EXIT_OK : EXIT_FINDINGS;
}

static uint64_t message_count(const struct checked_file *f)
{
    return f->stats.lines[RECORD_MESSAGE];
}

static void add_verdict(struct buf *to, const struct check *c, const struct checked_file *f)
{
    static const enum term_style styles[] = { TERM_GREEN, TERM_YELLOW, TERM_RED, TERM_RED };
    enum verdict verdict = verdict_of(c, f);

    term_escape(to, str_z(f->file.path), TERM_ONE_LINE);
    buf_add(to, STR(": "));
    term_style(to, c->app->color, styles[verdict]);
    buf_add(to, str_z(verdict_names[verdict]));
    term_style(to, c->app->color, TERM_PLAIN);
    if (f->usable) {
        buf_add(to, STR(", "));
        units_write_count(to, message_count(f), "message", "messages");
    }
    buf_add_ch(to, '\n');
}

/* It is no finding, but a schema that cannot be used must not look like one that was met. */
static void add_unjudged(struct buf *to, const struct definition_unjudged *u)
{
    struct buf line;

    buf_init(&line, CHECK_TEXT_MAX);
    definition_check_write_unjudged(&line, u);
    if (line.len)
        buf_printf(to, "  %.*s\n", STR_ARG(buf_str(&line)));
    buf_release(&line);
}

static void add_unjudged_json(struct json_out *o, const struct definition_unjudged *u)
{
    struct buf reason;

    buf_init(&reason, CHECK_TEXT_MAX);
    definition_check_write_reason(&reason, u);
    if (reason.len) {
        json_out_key(o, STR("not_judged"));
        json_out_object(o);
        json_out_key_int(o, STR("calls"), (int64_t)u->calls);
        json_out_key_int(o, STR("results"), (int64_t)u->results);
        json_out_key_str(o, STR("reason"), buf_str(&reason));
        json_out_end_object(o);
    }
    buf_release(&reason);
}

static void add_findings(struct buf *to, const struct checked_file *f)
{
    for (size_t i = 0; i < f->findings.count; i++) {
        buf_add(to, STR("  "));
        term_escape(to, f->findings.at[i].message, TERM_ONE_LINE);
        buf_add_ch(to, '\n');
    }
    if (has_only_warnings(f)) {
        buf_add(to, STR("  "));
        units_write_count(to, f->file.notes, "warning", "warnings");
        buf_add(to, STR(" while reading it\n"));
    }
    add_unjudged(to, &f->definitions.unjudged);
}

/* "dropped: line 4, lines 7 to 9" */
static void add_skipped(struct buf *to, const struct reader_damage *d)
{
    if (d->decompress_failed)
        buf_add(to, STR("  dropped: data that cannot be decompressed\n"));
    if (!d->lines)
        return;
    buf_add(to, STR("  dropped: "));
    for (size_t i = 0; i < d->range_count && i < READER_DAMAGE_RANGES; i++) {
        buf_printf(to, i ? ", line" : "line");
        if (d->ranges[i].first < d->ranges[i].last)
            buf_printf(to, "s %llu to", (unsigned long long)d->ranges[i].first);
        buf_printf(to, " %llu", (unsigned long long)d->ranges[i].last);
    }
    if (d->range_count > READER_DAMAGE_RANGES)
        buf_printf(to, " and others, %llu lines in all", (unsigned long long)d->lines);
    buf_add_ch(to, '\n');
}

static void add_skipped_json(struct json_out *o, const struct reader_damage *d)
{
    json_out_key(o, STR("dropped"));
    json_out_object(o);
    json_out_key_int(o, STR("lines"), (int64_t)d->lines);
    json_out_key_bool(o, STR("decompress_failed"), d->decompress_failed);
    json_out_key(o, STR("line_ranges"));
    json_out_array(o);
    for (size_t i = 0; i < d->range_count && i < READER_DAMAGE_RANGES; i++) {
        json_out_array(o);
        json_out_int(o, (int64_t)d->ranges[i].first);
        json_out_int(o, (int64_t)d->ranges[i].last);
        json_out_end_array(o);
    }
    json_out_end_array(o);
    json_out_end_object(o);
}

static void add_copy(struct buf *to, const struct checked_file *f)
{
    const char *before = "; remaining findings: ";

    buf_add(to, f->is_journal ? STR("  finished: ") : STR("  repaired copy: "));
    term_escape(to, str_z(f->copy_path), TERM_ONE_LINE);
    for (size_t i = 0; i < f->remaining.count; i++) {
        buf_printf(to, "%s%.*s", before, STR_ARG(f->remaining.at[i].rule));
        before = ", ";
    }
    if (loss_is_any(&f->repair.loss)) {
        buf_add(to, STR("; dropped: "));
        loss_add_text(to, &f->repair.loss);
    }
    buf_add_ch(to, '\n');
}

static bool write_text(struct check *c, const struct checked_file *f, struct err *e)
{
    struct buf out;
    bool ok;

    buf_init(&out, CHECK_TEXT_MAX);
    add_verdict(&out, c, f);
    if (f->usable)
        add_findings(&out, f);
    if (f->usable && f->copy_path) {
        add_skipped(&out, &f->file.damage);
        add_copy(&out, f);
    }
    ok = buf_ok(&out, e) && app_write(c->app, buf_str(&out), e);
    buf_release(&out);
    if (!f->usable)
        log_err(c->app->log, &f->error);
    return ok;
}

static void add_usable_json(struct json_out *o, const struct checked_file *f)
{
    json_out_key_str(o, STR("format"), str_z(f->file.format));
    json_out_key_int(o, STR("bytes"), (int64_t)f->file.bytes);
    json_out_key_int(o, STR("messages"), (int64_t)message_count(f));
    json_out_key_int(o, STR("notes"), (int64_t)f->file.notes);
    findings_write_json(o, &f->findings);
    add_unjudged_json(o, &f->definitions.unjudged);
    if (!f->copy_path)
        return;
    json_out_key(o, STR("copy"));
    json_out_object(o);
    json_out_key_str(o, STR("path"), str_z(f->copy_path));
    findings_write_json(o, &f->remaining);
    json_out_key(o, STR("lost"));
    loss_write_json(o, &f->repair.loss);
    add_skipped_json(o, &f->file.damage);
    json_out_end_object(o);
}

static bool needs_json(const struct check *c)
{
    return c->app->json || c->reports.count;
}

static void add_file_json(struct check *c, const struct checked_file *f)
{
    struct json_out *o = &c->json;

    json_out_object(o);
    json_out_key_str(o, STR("path"), str_z(f->file.path));
    json_out_key_str(o, STR("verdict"), str_z(verdict_names[verdict_of(c, f)]));
    if (f->usable)
        add_usable_json(o, f);
    else
        json_out_key_str(o, STR("error"), str_z(f->error.msg));
    json_out_end_object(o);
}

/* Reports. */

static bool write_stdout(const void *app, struct str text, struct err *e)
{
    return app_write(app, text, e);
}

static struct report_files_target report_target(const struct check *c)
{
    return (struct report_files_target){ .sys = c->app->sys,
                                         .replace = c->args->force,
                                         .write_stdout = write_stdout,
                                         .arg = c->app };
}

static bool open_reports(struct check *c, const struct operands *in, struct err *e)
{
    const struct report_files_target target = report_target(c);

    if (!report_files_parse(&c->reports, &c->args->report, e))
        return false;
    for (size_t i = 0; i < in->count; i++)
        if (!report_files_check(&c->reports, &target, in->at[i], e))
            return false;
    return !c->args->output || report_files_check(&c->reports, &target, c->args->output, e);
}

static void report_finding(struct check *c, const struct finding *f,
                           struct call_verdict_totals *totals)
{
    totals->findings[f->severity]++;
    c->reports.report.finding(&c->reports.report, f);
}

/* Gives the findings of a file to the reports; with a copy, those that it still has. */
static void report_file(struct check *c, const struct checked_file *f)
{
    const struct finding_list *l = f->copy_path ? &f->remaining : &f->findings;
    const struct verdict_report_run run = { .command = STR("check"),
                                            .file = str_z(f->file.path),
                                            .no_calls = true };
    struct call_verdict_totals totals = { .duration_us = -1 };
    const struct verdict_report_result result = { .totals = &totals,
                                                  .exit_code = exit_code(c, f) };
    const struct finding unreadable = { .rule = STR("unreadable"),
                                        .severity = FINDING_ERROR,
                                        .message = str_z(f->error.msg),
                                        .hint = str_z(f->error.hint) };

    if (!c->reports.count)
        return;
    c->reports.report.begin(&c->reports.report, &run);
    if (!f->usable)
        report_finding(c, &unreadable, &totals);
    for (size_t i = 0; f->usable && i < l->count; i++)
        report_finding(c, &l->at[i], &totals);
    c->reports.report.end(&c->reports.report, &result);
}

static bool write_reports(struct check *c, struct err *e)
{
    const struct report_files_target target = report_target(c);

    report_files_set_json(&c->reports, buf_str(&c->json_text));
    return report_files_write(&c->reports, &target, e);
}

/* Chooses the path of the copy, if one is made: that of the document for a journal. */
static void plan_copy(const struct check *c, struct checked_file *f, struct arena *a)
{
    const struct format *as = NULL;
    const char *target = NULL;

    if (c->args->fix) {
        f->is_journal = record_path_parse_journal(f->file.path, a, &target, &as);
        if (!f->is_journal)
            target = arena_printf(a, "%s.fixed", f->file.path).at;
        f->copy_path = c->args->output ? c->args->output : target;
    }
    repair_init(&f->repair, c->app, &f->file, f->copy_path, c->args->force);
    f->repair.target_format = as;
}

/* Removes the journal when its document is complete: it would prevent the next recording.
 * Keeps it if lines had to be left out or a process still writes it. */
static void remove_journal(const struct check *c, const struct checked_file *f)
{
    const struct sys *sys = c->app->sys;

    if (f->is_journal && !c->args->output && !is_incomplete(f) &&
        !file_lock_is_held(sys, f->file.path))
        sys->unlink(sys, f->file.path);
}

/* Reads the file. False: an error that is not about the file. */
static bool read_file(const struct check *c, struct checked_file *f, struct err *e)
{
    struct sink *also = f->copy_path               ? &f->repair.sink
                        : c->gate.assertions.count ? &f->assertions.sink
                                                   : NULL;

    f->file.show_progress = app_shows_progress(c->app);
    f->usable =
        inspect_file_read(&f->file, c->app->sys, c->app->log, &f->stats, also, &f->error);
    if (!f->usable && f->error.kind != ERR_INPUT && f->error.kind != ERR_LIMIT) {
        *e = f->error;
        return false;
    }
    stats_finish(&f->stats);
    findings_collect(&f->findings, &f->stats, c->ignored);
    definition_check_finish(&f->definitions, c->ignored_rules, &f->findings);
    if (!f->copy_path) {
        gate_finish(&f->gate, &f->stats, clock_wall_us(), &f->findings);
        assertion_check_finish(&f->assertions, &f->findings);
    }
    if (!f->copy_path || !f->usable)
        return true;
    if (!repair_finish(&f->repair, e))
        return false;
    findings_collect(&f->remaining, &f->repair.remaining, c->ignored);
    definition_check_finish(&f->copied_definitions, c->ignored_rules, &f->remaining);
    for (size_t i = 0; i < f->remaining.count; i++)
        f->remaining.at[i].line = 0; /* it is that of the original */
    remove_journal(c, f);
    return true;
}

static bool put_event(struct operation_sink *self, const struct operation_event *ev,
                      struct err *e)
{
    struct checked_file *f =
        (struct checked_file *)((char *)self - offsetof(struct checked_file, events));

    return f->gate.events.put(&f->gate.events, ev, e) &&
           f->definitions.events.put(&f->definitions.events, ev, e);
}

static bool check_file(struct check *c, const char *path, struct err *e)
{
    struct checked_file *f = mem_new(struct checked_file);
    struct arena a = { 0 };
    bool ok;
    int code;

    f->file.path = path;
    plan_copy(c, f, &a);
    f->file.salvage = f->copy_path;
    finding_list_init(&f->findings);
    finding_list_init(&f->remaining);
    stats_init(&f->stats);
    f->stats.thorough = true;
    gate_init(&f->gate, &c->gate.conditions);
    assertion_check_init(&f->assertions, &c->gate.assertions, path);
    definition_check_init(&f->definitions);
    definition_check_init(&f->copied_definitions);
    f->repair.remaining.observer = &f->copied_definitions.events;
    f->events.put = put_event;
    f->stats.observer = &f->events;
    f->file.find_lines = true;
    ok = read_file(c, f, e);
    if (ok && needs_json(c))
        add_file_json(c, f);
    if (ok && !c->app->json)
        ok = write_text(c, f, e);
    if (ok)
        report_file(c, f);
    code = exit_code(c, f);
    c->worst_code = code > c->worst_code ? code : c->worst_code;
    repair_release(&f->repair);
    gate_release(&f->gate);
    assertion_check_release(&f->assertions);
    definition_check_release(&f->definitions);
    definition_check_release(&f->copied_definitions);
    stats_release(&f->stats);
    finding_list_release(&f->findings);
    finding_list_release(&f->remaining);
    arena_release(&a);
    free(f);
    return ok;
}

/* Sets the rule with that id as ignored; false: there is none. */
static bool ignore(struct check *c, struct str id)
{
    enum stats_finding_kind what = findings_find(id);
    enum definition_rule rule = definition_check_find(id);

    if (what < STATS_FINDING_COUNT)
        c->ignored[what] = true;
    if (rule < DEFINITION_RULES)
        c->ignored_rules[rule] = true;
    return what < STATS_FINDING_COUNT || rule < DEFINITION_RULES;
}

static bool reject_ignored(const char *id, struct err *e)
{
    struct suggest near = suggest_for(str_z(id));

    for (enum stats_finding_kind what = 0; what < STATS_FINDING_COUNT; what++)
        suggest_try(&near, findings_id(what));
    for (enum definition_rule rule = 0; rule < DEFINITION_RULES; rule++)
        suggest_try(&near, definition_check_id(rule));
    err_set(e, ERR_USAGE, "unknown finding '%s'", id);
    if (near.best)
        err_hint(e, "did you mean '%s'?", near.best);
    return option_hint_help(e, "check");
}

static bool parse_ignored(struct check *c, struct err *e)
{
    for (size_t i = 0; i < c->args->ignore.count; i++)
        if (!ignore(c, str_z(c->args->ignore.at[i])))
            return reject_ignored(c->args->ignore.at[i], e);
    return true;
}

/* Rejects options that exclude each other. */
static bool check_conflicts(const struct check_args *args, const struct operands *in,
                            struct err *e)
{
    if (args->secrets && args->fix) {
        err_set(e, ERR_USAGE, "'--secrets' cannot be combined with '--fix'");
        return err_hint(e, "to redact secrets: mcpreel redact FILE -o OUT");
    }
    if (args->secrets && !gate_options_reject(check_options, in, "--secrets", e))
        return false;
    if (args->fix && !gate_options_reject(check_options, in, "--fix", e))
        return false;
    if (args->output && !args->fix)
        return err_set(e, ERR_USAGE, "'--output' needs '--fix'");
    if (args->output && in->count > 1)
        return err_set(e, ERR_USAGE, "'--output' is one file, but %zu files are to be repaired",
                       in->count);
    if (args->output && file_is_stdio(args->output))
        return err_set(e, ERR_USAGE,
                       "the copy cannot be written to standard output: it has the verdict");
    for (size_t i = 0; args->fix && !args->output && i < in->count; i++)
        if (file_is_stdio(in->at[i])) {
            err_set(e, ERR_USAGE, "the copy of standard input needs a name");
            return err_hint(e, "name one: mcpreel check --fix -o OUT -");
        }
    return true;
}

static bool check_all(struct check *c, const struct operands *in, struct err *e)
{
    bool ok = true;

    if (needs_json(c)) {
        json_out_object(&c->json);
        json_out_key_int(&c->json, STR("v"), JSON_OUTPUT_VERSION);
        json_out_key_str(&c->json, STR("command"), STR("check"));
        json_out_key(&c->json, STR("files"));
        json_out_array(&c->json);
    }
    for (size_t i = 0; ok && i < in->count; i++)
        ok = check_file(c, in->at[i], e);
    if (!ok || !needs_json(c))
        return ok;
    json_out_end_array(&c->json);
    json_out_end_object(&c->json);
    buf_add_ch(&c->json_text, '\n');
    return buf_ok(&c->json_text, e) &&
           (!c->app->json || app_write(c->app, buf_str(&c->json_text), e)) &&
           write_reports(c, e);
}

static int check_run(const struct app *app, const void *options, const struct operands *in,
                     struct err *e)
{
    struct check c = { .app = app, .args = options };
    const struct check_secrets_options secrets = { .redaction = &c.args->redaction,
                                                   .report = &c.args->report,
                                                   .replace = c.args->force };
    bool ok;

    if (!check_conflicts(c.args, in, e) || !parse_ignored(&c, e))
        return EXIT_USAGE;
    if (c.args->secrets)
        return check_secrets(app, &secrets, in, e);
    buf_init(&c.json_text, CHECK_JSON_MAX);
    c.json = json_out_to(&c.json_text);
    report_files_init(&c.reports, NULL);
    ok = gate_options_read(&c.gate, &c.args->gate, e) && open_reports(&c, in, e) &&
         check_all(&c, in, e);
    gate_options_release(&c.gate);
    report_files_release(&c.reports);
    buf_release(&c.json_text);
    return ok ? c.worst_code : app_exit_code(e);
}

static const struct command_example check_examples[] = {
    { "mcpreel check recordings/*.jsonl",
      "one verdict per file; exit code 0 without findings" },
    { "mcpreel check --fix -o good.jsonl crashed.jsonl",
      "write a copy with all readable lines" },
    { "mcpreel check --ignore unanswered,server-exit session.jsonl", "accept known findings" },
    { "mcpreel check --forbid-tool 'delete_*' --max-errors 2 session.jsonl",
      "fail if the recorded calls are not as expected" },
    { "mcpreel check --secrets --redact-env API_KEY recordings/*",
      "before a commit: fail if there are secrets" },
    { 0 },
};

const struct command cmd_check = {
    .name = "check",
    .summary = "check whether recordings are complete, and repair them",
    .usage = (const char *const[]){ "[options] FILE…", "--fix [-o OUT] FILE", "--secrets FILE…",
                                    NULL },
    .about =
        "Prints a verdict for every file, and the reasons. A file is damaged if it is not as a "
        "recorder leaves it: cut off, without header or footer, with gaps, or with numbers "
        "that do not increase. A complete file may have findings: responses without a request, "
        "requests without a response, lines that are not messages, messages that jq rejects, "
        "arguments and results that the schemas of the server reject, definitions that changed "
        "or have hidden characters. A file that cannot be read is unreadable.\n\n"
        "Conditions on the recorded calls (see below) are findings where they are not met. "
        "Each file is judged alone, with the numbers of 'mcpreel stats'. A condition that "
        "cannot be judged is not met: a recording may have no times or no date.\n\n"
        "Ends with 0 if no file has a finding, with 1 if any file has one (--ignore accepts "
        "known findings), with 3 if a file cannot be read.\n\n"
        "--fix writes a copy in the same format: without the incomplete end, with a header, "
        "with a footer whose totals are right, and with increasing numbers. Messages are not "
        "changed. Damaged lines are left out and reported, with a gap in their place. From a "
        "compressed file that is cut off, everything that can be decompressed is saved. The "
        "exit code is that of the copy, or 1 if lines were left out. From the journal of a "
        "document that a recorder could not finish (NAME.FORMAT.journal), --fix makes that "
        "document, and removes the journal if nothing had to be left out.\n\n"
        "--secrets prints where secrets are, not their values, and ends with 1 if there are "
        "any. 'mcpreel redact' redacts them.",
    .examples = check_examples,
    .options = check_options,
    .args_size = sizeof(struct check_args),
    .operand = "FILE",
    .min = 1,
    .max = COMMAND_ANY,
    .run = check_run,
};
