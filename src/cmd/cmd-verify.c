/* cmd/cmd-verify.c - the verify command: sends recorded requests to a server and compares its
 * responses. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/shell-split.h"
#include "base/term.h"
#include "base/units.h"
#include "cmd/call-filter.h"
#include "cmd/command.h"
#include "cmd/remote-options.h"
#include "cmd/rules-options.h"
#include "cmd/verify-redaction.h"
#include "mcp/version.h"
#include "report/report-files.h"
#include "report/verdict-json.h"
#include "report/verdict-mcp-recorder.h"
#include "report/verdict-text.h"
#include "runtime/recording-update.h"
#include "runtime/run-verify.h"
#include "runtime/verify-recording.h"
#include "wire/url.h"

enum {
    VERIFY_TEXT_MAX = 64 << 20,
    VERIFY_TEXT_WRITE = 64 << 10, /* output that is written although a step has not ended */
};

struct verify_args {
    const char *cassette, *target_stdio, *before, *only, *skip;
    struct str_list target_env, volatile_paths, rebind, report, update;
    struct rules_args rules;
    int64_t timeout_us, wait_ready_us;
    bool strict, include_destructive, dry_run, force;
    struct remote_config_args remote;
    struct redaction_args redaction;
};

#define COMPARISON_GROUP "Comparison"

static const struct option verify_options[] = {
    { .name = "timeout",
      .arg = "TIME",
      .type = OPTION_DURATION,
      .preset = "30s",
      .offset = offsetof(struct verify_args, timeout_us),
      .help = "maximum wait for each response" },
    { .name = "wait-ready",
      .arg = "TIME",
      .type = OPTION_DURATION,
      .preset = "0",
      .offset = offsetof(struct verify_args, wait_ready_us),
      .help = "wait this long until a server at a URL can be reached" },
    { .name = "before",
      .arg = "COMMAND",
      .type = OPTION_STRING,
      .offset = offsetof(struct verify_args, before),
      .help = "run this shell command before each recorded session, to reset data" },
    { .name = "only",
      .arg = "FILTER",
      .type = OPTION_STRING,
      .offset = offsetof(struct verify_args, only),
      .help = "send only requests that match FILTER (mcpreel help filters)" },
    { .name = "skip",
      .arg = "FILTER",
      .type = OPTION_STRING,
      .offset = offsetof(struct verify_args, skip),
      .help = "do not send requests that match FILTER" },
    { .name = "include-destructive",
      .type = OPTION_FLAG,
      .offset = offsetof(struct verify_args, include_destructive),
      .help = "on a server that is not on this machine, also call tools that it does not mark "
              "as read-only" },
    { .name = "dry-run",
      .type = OPTION_FLAG,
      .offset = offsetof(struct verify_args, dry_run),
      .help = "list the requests that would be sent, and what cannot be sent; contact no "
              "server" },
    { .name = "report",
      .arg = "[FORMAT=]FILE",
      .type = OPTION_LIST,
      .paths = true,
      .offset = offsetof(struct verify_args, report),
      .help = "write a report at the end; FORMAT: json (if not given), junit, github, "
              "markdown or sarif; '-' is standard output" },
    { .name = "force",
      .type = OPTION_FLAG,
      .offset = offsetof(struct verify_args, force),
      .help = "replace reports that exist" },
    { .name = "update",
      .arg = "CALLS",
      .type = OPTION_LIST,
      .split = true,
      .implied = "all",
      .offset = offsetof(struct verify_args, update),
      .help = "accept the live responses of failed calls, or of these only (--update=3,7), and "
              "write them to FILE" },
    { .name = "cassette",
      .arg = "FILE",
      .type = OPTION_PATH,
      .offset = offsetof(struct verify_args, cassette),
      .help = "the recording, compared as mcp-recorder does; every request is sent" },
    { .name = "target-stdio",
      .aliases = { "upstream" },
      .arg = "COMMAND",
      .type = OPTION_STRING,
      .offset = offsetof(struct verify_args, target_stdio),
      .help = "the server's command line as one word, in place of '-- COMMAND'" },
    { .name = "target-env",
      .arg = "NAME=VALUE",
      .type = OPTION_LIST,
      .offset = offsetof(struct verify_args, target_env),
      .help = "the server has this in its environment" },
    RULES_OPTIONS(struct verify_args, rules, COMPARISON_GROUP, "$.result..etag"),
    { .name = "volatile",
      .arg = "on|off|PATH",
      .type = OPTION_LIST,
      .group = COMPARISON_GROUP,
      .offset = offsetof(struct verify_args, volatile_paths),
      .help = "off: times, ids and other values that change from run to run must be equal; "
              "PATH: the value there may differ, too" },
    { .name = "rebind",
      .arg = "PATH",
      .type = OPTION_LIST,
      .group = COMPARISON_GROUP,
      .offset = offsetof(struct verify_args, rebind),
      .help = "send the live value at PATH in later requests, also if it is short or a "
              "number" },
    { .name = "strict",
      .type = OPTION_FLAG,
      .group = COMPARISON_GROUP,
      .offset = offsetof(struct verify_args, strict),
      .help = "the number of notifications must be equal, too" },
    REMOTE_OPTIONS_URL(struct verify_args, remote,
                       "the server is at URL; /mcp if it has no path"),
    REMOTE_OPTIONS_TARGET(struct verify_args, remote,
                          "the same; /mcp is appended unless it ends with it"),
    REMOTE_OPTIONS(struct verify_args, remote),
    REDACTION_OPTIONS(struct verify_args, redaction),
    { 0 },
};

/* State of one run of the command. */
struct verify_command {
    const struct app *app;
    const struct verify_args *args;
    struct compare_rules rules;
    struct call_filter filter;
    struct peer_target target;
    struct verify_redaction_config redaction;
    bool read_only;      /* only read-only tools are called */
    uint64_t run_errors; /* errors that belong to no call */
    struct call_verdict_totals totals;
    struct buf text; /* output that is not written yet */
    struct verdict_text verdict_text;
    struct verdict_json verdict_json;
    struct verdict_mcp_recorder verdict_mcp_recorder; /* with --cassette */
    struct report_files reports;   /* the files of --report, and the output on stdout */
    struct verdict_report *report; /* gives everything to `reports` */
    bool reported;                 /* a recording is complete in the reports */
    bool several;                  /* recordings are named: an unusable one is reported, too */
    bool waited;                   /* for the server, as --wait-ready says */
    bool spoke;        /* the server responded to a request; until then the text waits */
    struct buf failed; /* numbers of failed calls, for --update */
    struct err output_error;
    struct arena arena;
};

/* State of one recording. */
struct verify_file {
    struct verify_command *command;
    const char *path;
    struct verify_recording recording;
    struct verdict_report_run run;
    bool begun, ended; /* report->begin(), report->end() was called */
    bool has_others;   /* it has requests beside the handshake */
    bool verified;     /* one of them was sent */
    struct map failed; /* numbers of failed calls that --update names */
    struct verify_redaction redaction;
    struct recording_update update; /* with --update */
    bool updating;                  /* it has to be released */
};

/* Writes what the report has composed. A failure is reported at the end. */
static void flush_text(struct verify_command *c)
{
    if (c->args->cassette && !c->app->json) /* mcp-recorder writes to standard error */
        c->app->log->write(c->app->log->arg, buf_str(&c->text));
    else if (c->text.len && c->output_error.kind == ERR_OK &&
             !app_write(c->app, buf_str(&c->text), &c->output_error))
        log_printf(c->app->log, LOG_DEBUG, "the output is lost from here on");
    buf_clear(&c->text);
}

/* Writes much output at once: one step may compose the verdicts of all calls that are blocked.
 */
static void write_long_text(struct verify_command *c)
{
    if (c->spoke && c->text.len >= VERIFY_TEXT_WRITE)
        flush_text(c);
}

static void read_server_info(struct verify_file *f, const struct call_verdict *first,
                             struct str live)
{
    struct verify_redaction *r = &f->redaction;
    struct verdict_report_run *run = &f->run;

    verdict_report_read_server(run, first->method, live, &r->arena);
    run->server_name = verify_redaction_text(r, run->server_name);
    run->server_version = verify_redaction_text(r, run->server_version);
    run->protocol = verify_redaction_text(r, run->protocol);
    if (!str_eq(first->method, STR("initialize")) &&
        index_is_stateless(&f->recording.index, first->session - 1))
        run->protocol = mcp_version_text(MCP_VERSION_LATEST);
}

static void begin_report(struct verify_file *f, const struct call_verdict *first,
                         struct str live)
{
    if (f->begun)
        return;
    f->begun = true;
    if (first)
        read_server_info(f, first, live);
    f->command->report->begin(f->command->report, &f->run);
}

static void count_findings(struct verify_command *c, const struct finding *findings,
                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        c->totals.findings[findings[i].severity]++;
}

static bool is_update_of(const struct verify_args *args, uint32_t number)
{
    uint64_t n;

    for (size_t i = 0; i < args->update.count; i++)
        if (str_eq(str_z(args->update.at[i]), STR("all")) ||
            (str_parse_u64(str_z(args->update.at[i]), &n) && n == number))
            return true;
    return false;
}

static struct message_ref response_ref(const struct index *index, uint32_t call)
{
    uint32_t step = index_first_step(index, call);

    while (step && index->steps[step].kind != STEP_RESPONSE)
        step = index_next_step(index, call, step);
    BUG_IF(!step); /* a call without a recorded response cannot fail with a live one */
    return (struct message_ref){ .at = index->steps[step].offset_low |
                                       (uint64_t)index->steps[step].offset_high << 32,
                                 .len = index->steps[step].len };
}

/* Accepts the live response of a failed call, if the user wants that. */
static bool accept(struct verify_file *f, const struct call_verdict *v, uint32_t call,
                   struct str live)
{
    struct verify_command *c = f->command;

    if (v->kind != VERDICT_FAILED || v->obstacle.len || !is_update_of(c->args, v->number) ||
        c->output_error.kind != ERR_OK)
        return false;
    return recording_update_add(&f->update, response_ref(&f->recording.index, call), live,
                                &c->output_error);
}

/* A session needs its handshake, whatever the filters say. */
static bool is_handshake(struct str method)
{
    return str_eq(method, STR("initialize")) || str_eq(method, STR("server/discover"));
}

/* Notes whether anything was verified beyond the handshake, and the calls of --update. */
static void note_verified(struct verify_file *f, const struct call_verdict *v, uint32_t call)
{
    bool sent = v->kind != VERDICT_SKIPPED && v->kind != VERDICT_BLOCKED;

    f->has_others = f->has_others || (call && !is_handshake(v->method));
    f->verified = f->verified || (sent && call && !is_handshake(v->method));
    if (v->kind == VERDICT_FAILED && is_update_of(f->command->args, v->number))
        map_put(&f->failed, map_number_key(&(uint64_t){ v->number }), f);
}

/* Adds a finding if the user wants to accept a response that cannot be accepted. */
static void explain_refusal(struct verify_file *f, struct call_verdict *v)
{
    struct arena *a = &f->redaction.arena;
    struct finding *findings;

    if (v->kind != VERDICT_FAILED || !v->obstacle.len ||
        !is_update_of(f->command->args, v->number))
        return;
    findings = arena_alloc(a, (v->finding_count + 1) * sizeof *findings);
    if (v->finding_count)
        memcpy(findings, v->findings, v->finding_count * sizeof *findings);
    findings[v->finding_count++] = (struct finding){
        .rule = STR("not-updated"),
        .severity = FINDING_WARNING,
        .line = v->line,
        .seq = v->seq,
        .message = arena_printf(a, "--update did not accept the live response: %.*s",
                                STR_ARG(v->obstacle)),
    };
    v->findings = findings;
}

static void on_verdict(void *to, const struct call_verdict *given, uint32_t call,
                       struct str live)
{
    struct verify_file *f = to;
    struct verify_command *c = f->command;
    struct call_verdict verdict = *given, *v = &verdict;

    begin_report(f, v, live);
    v->updated = accept(f, v, call, live);
    explain_refusal(f, v);
    note_verified(f, v, call);
    c->totals.updated += v->updated;
    c->totals.not_read_only += v->not_read_only;
    c->totals.count[v->kind]++;
    count_findings(c, v->findings, v->finding_count);
    if (v->kind == VERDICT_FAILED && !v->obstacle.len)
        buf_printf(&c->failed, "%s%u", c->failed.len ? "," : "", v->number);
    c->spoke = c->spoke || v->duration_us >= 0;
    verdict = redact_verdict_call(&f->redaction.verdicts, v);
    c->report->verdict(c->report, &verdict);
    write_long_text(c);
}

static void on_finding(void *to, const struct finding *given)
{
    struct verify_file *f = to;
    struct verify_command *c = f->command;
    struct finding finding = redact_verdict_finding(&f->redaction.verdicts, given);

    begin_report(f, NULL, STR_NONE);
    count_findings(c, &finding, 1);
    c->run_errors += finding.severity == FINDING_ERROR;
    c->report->finding(c->report, &finding);
    write_long_text(c);
}

static const struct verify_events events = { on_verdict, on_finding };

/* The server has its next request: it does not wait until the terminal has the results. */
static void on_stepped(void *to)
{
    struct verify_command *c = ((struct verify_file *)to)->command;

    if (c->spoke)
        flush_text(c);
}

static bool is_selected(void *arg, uint32_t call, struct json_val request, struct str *why)
{
    const struct verify_file *f = arg;

    return is_handshake(index_method(&f->recording.index, call)->name) ||
           call_filter_selects(&f->command->filter, &f->recording.index, call, request, why);
}

static struct verify_config make_config(struct verify_file *f)
{
    struct verify_command *c = f->command;

    return (struct verify_config){ .index = &f->recording.index,
                                   .order = &f->recording.order,
                                   .rules = &c->rules,
                                   .timeout_us = c->args->timeout_us,
                                   .strict = c->args->strict,
                                   .read_only = c->read_only,
                                   .notifications = c->args->cassette != NULL,
                                   .secret = verify_redaction_find_secret,
                                   .secret_arg = &f->redaction,
                                   .selected =
                                       call_filter_is_given(&c->filter) ? is_selected : NULL,
                                   .selected_arg = f };
}

/* --dry-run: one line for a request, with its number in the report. */
static void list_request(struct verify_file *f, uint32_t call, uint32_t number,
                         struct json_val root, struct arena *a)
{
    struct buf *to = &f->command->text;
    struct verify_config config = make_config(f);
    struct str method = index_method(&f->recording.index, call)->name;
    struct str subject = json_text(mcp_subject(method, json_get(root, STR("params"))), a);
    struct str why = verify_obstacle(&config, call, root, a);

    buf_printf(to, "%3u  #%u ", number, f->recording.index.calls[call].seq);
    term_escape(to, verify_redaction_text(&f->redaction, method), TERM_ONE_LINE);
    if (subject.len)
        buf_add_ch(to, ' ');
    term_escape(to, verify_redaction_text(&f->redaction, subject), TERM_ONE_LINE);
    if (why.len)
        buf_add(to, STR("  skipped: "));
    term_escape(to, verify_redaction_text(&f->redaction, why), TERM_ONE_LINE);
    buf_add_ch(to, '\n');
    flush_text(f->command);
}

/* Lists the selected requests of a session. `*number` is that of the last one before it. */
static bool list_session(struct verify_file *f, uint32_t session, uint32_t *number,
                         struct err *e)
{
    const struct index_order *order = &f->recording.order;
    struct index_message message;
    struct json_val root;
    struct str why;
    bool ok = true;

    index_message_init(&message);
    for (uint32_t i = index_order_first(order, session); i && ok; i = order->items[i].next) {
        uint32_t call = order->items[i].number;

        if (order->items[i].kind != ORDER_REQUEST)
            continue;
        ++*number;
        ok = index_read_call(&f->recording.index, call, &message, &root, e);
        if (ok && is_selected(f, call, root, &why))
            list_request(f, call, *number, root, &message.arena);
    }
    index_message_release(&message);
    return ok;
}

static bool list_requests(struct verify_file *f, struct err *e)
{
    struct buf *to = &f->command->text;
    uint32_t number = 0;

    if (f->command->several) {
        term_escape(to, str_z(f->path), TERM_ONE_LINE);
        buf_add_ch(to, '\n');
        flush_text(f->command);
    }
    for (uint32_t i = 0; i < f->recording.index.session_count; i++)
        if (!list_session(f, i, &number, e))
            return false;
    return true;
}

static bool run_sessions(struct verify_file *f, struct err *e)
{
    struct verify_command *c = f->command;
    struct run_verify run = { .app = &f->redaction.app,
                              .config = make_config(f),
                              .target = c->target,
                              .before = c->args->before,
                              .wait_ready_us = c->waited ? 0 : c->args->wait_ready_us,
                              .events = &events,
                              .stepped = on_stepped,
                              .to = f };
    bool ok = run_verify_run(&run, e);

    c->waited = true;
    if (ok && run.interrupted)
        return err_set(e, ERR_IO, "interrupted by signal %d", run.interrupted);
    return ok;
}

static void report_run_error(struct verify_file *f, const char *rule, struct str message,
                             struct str hint)
{
    on_finding(f, &(struct finding){ .rule = str_z(rule),
                                     .severity = FINDING_ERROR,
                                     .message = message,
                                     .hint = hint });
}

/* A run in which only the handshake was sent says nothing about the server. */
static void report_nothing_verified(struct verify_file *f)
{
    const struct call_verdict_totals *totals = &f->command->totals;

    if (!f->has_others || f->verified || totals->count[VERDICT_FAILED] ||
        totals->count[VERDICT_BLOCKED])
        return;
    report_run_error(f, "nothing-verified",
                     STR("no request was verified: all except the handshake were skipped"),
                     call_filter_is_given(&f->command->filter)
                         ? STR("--dry-run lists the requests that --only and --skip select")
                         : STR_NONE);
}

/* --update=N must name a call that failed. */
static void report_unused_updates(struct verify_file *f)
{
    const struct str_list *update = &f->command->args->update;
    uint64_t n;

    for (size_t i = 0; i < update->count; i++)
        if (str_parse_u64(str_z(update->at[i]), &n) && !map_get(&f->failed, map_number_key(&n)))
            report_run_error(
                f, "not-updated",
                arena_printf(&f->redaction.arena,
                             "--update=%s: there is no failed call with this number",
                             update->at[i]),
                STR_NONE);
}

static bool all_passed(const struct verify_command *c)
{
    const uint64_t *count = c->totals.count;

    return count[VERDICT_FAILED] == c->totals.updated && !count[VERDICT_BLOCKED] &&
           !c->run_errors &&
           (count[VERDICT_PASSED] || count[VERDICT_VOLATILE] || c->totals.updated);
}

static bool write_stdout(const void *app, struct str text, struct err *e)
{
    return app_write(app, text, e);
}

static struct report_files_target report_target(const struct verify_command *c)
{
    return (struct report_files_target){ .sys = c->app->sys,
                                         .replace = c->args->force,
                                         .write_stdout = write_stdout,
                                         .arg = c->app };
}

/* Tells how to accept the live responses of the failed calls. The command itself is not
 * repeated: it may contain secrets. */
static void add_next_step(struct verify_command *c, struct verdict_report_result *result,
                          struct verdict_report_step *step)
{
    if (!c->failed.len || c->args->update.count)
        return;
    *step = (struct verdict_report_step){ .label = STR("accept") };
    step->command =
        arena_printf(&c->arena, "add --update=%s to the command", buf_z(&c->failed));
    result->steps = step;
    result->step_count = 1;
}

/* Writes the accepted responses. Warns if a text of them matches any text from now on. */
static bool write_update(struct verify_file *f)
{
    struct verify_command *c = f->command;
    struct buf text;
    uint64_t hidden;

    if (!recording_update_write(&f->update, &c->output_error))
        return false;
    hidden = recording_update_hidden(&f->update);
    if (!hidden)
        return true;
    buf_init(&text, 256);
    units_write_count(&text, hidden, "text was accepted", "texts were accepted");
    log_printf(c->app->log, LOG_WARN,
               "%s as a placeholder alone, which any text matches: the recorded text had a "
               "secret, and the server returned another text",
               buf_z(&text));
    buf_release(&text);
    return true;
}

/* Returns the exit code for the recording. If the server never responded nothing was verified,
 * and the error says all. */
static int end_report(struct verify_file *f, int64_t start_us, bool ok, const struct err *e)
{
    struct verify_command *c = f->command;
    struct verdict_report_result result = { .totals = &c->totals };
    struct verdict_report_step step;

    if (!ok && !c->spoke) {
        buf_clear(&c->text);
        return app_exit_code(e);
    }
    begin_report(f, NULL, STR_NONE);
    if (ok) {
        report_nothing_verified(f);
        report_unused_updates(f);
    } else { /* the calls that passed must not look like all */
        report_run_error(f, "not-verified", str_z(e->msg), str_z(e->hint));
    }
    c->totals.duration_us = clock_mono_us() - start_us;
    result.exit_code = !ok ? app_exit_code(e) : all_passed(c) ? EXIT_OK : EXIT_FINDINGS;
    if (ok && c->totals.updated && c->output_error.kind == ERR_OK && !write_update(f))
        result.exit_code = app_exit_code(&c->output_error);
    add_next_step(c, &result, &step);
    c->report->end(c->report, &result);
    f->ended = c->reported = true;
    flush_text(c);
    return result.exit_code;
}

/* Reports a recording that could not be verified, if there may be a report of others: it must
 * not look as if it had passed. */
static void report_error(struct verify_file *f, const struct err *e)
{
    struct verify_command *c = f->command;
    const struct finding finding = { .rule = STR("not-verified"),
                                     .severity = FINDING_ERROR,
                                     .message = str_z(e->msg),
                                     .hint = str_z(e->hint) };

    if (e->kind == ERR_OK || f->ended || !(c->reported || c->several))
        return;
    begin_report(f, NULL, STR_NONE);
    c->report->finding(c->report, &finding);
    count_findings(c, &finding, 1);
    c->report->end(c->report, &(struct verdict_report_result){ .totals = &c->totals,
                                                               .exit_code = app_exit_code(e) });
    if (c->app->json && c->several)
        flush_text(c);
    else
        buf_clear(&c->text); /* the user sees the error itself */
}

/* "a, b" */
static struct str join(const struct str_list *list, struct arena *a)
{
    struct str text = STR_NONE;

    for (size_t i = 0; i < list->count; i++)
        text = arena_printf(a, "%.*s%s%s", STR_ARG(text), i ? ", " : "", list->at[i]);
    return text;
}

static void init_outputs(struct verify_command *c)
{
    struct verdict_text_options look = { .width = c->app->columns,
                                         .color = c->app->color,
                                         .verbose = c->app->verbose > 0 };
    struct verdict_mcp_recorder_options seed = {
        .is_command = !c->args->remote.url && !c->args->remote.target,
        .ignored_fields = join(&c->args->rules.ignore_fields, &c->arena),
        .ignored_paths = join(&c->args->rules.ignore_paths, &c->arena),
    };

    verdict_json_init(&c->verdict_json, &c->text);
    verdict_text_init(&c->verdict_text, &c->text, &look);
    verdict_mcp_recorder_init(&c->verdict_mcp_recorder, &c->text, &seed);
    report_files_init(&c->reports, c->app->json        ? &c->verdict_json.report
                                   : c->args->cassette ? &c->verdict_mcp_recorder.report
                                                       : &c->verdict_text.report);
}

static void begin_file(struct verify_command *c)
{
    c->totals = (struct call_verdict_totals){ .duration_us = 0 };
    c->spoke = false;
    c->run_errors = 0;
    buf_clear(&c->failed);
}

/* Loads and verifies one recording. Returns its exit code. */
static int load_and_verify(struct verify_file *f, struct err *e)
{
    struct verify_command *c = f->command;
    int64_t start_us = clock_mono_us();
    bool ok;

    if (!verify_recording_load(&f->recording, &f->redaction.names.sink, e))
        return app_exit_code(e);
    f->run.call_count = verify_recording_count(&f->recording, ORDER_REQUEST);
    if (!f->run.call_count) {
        err_set(e, ERR_INPUT, "'%s' has no requests to verify", f->path);
        err_hint(e, "'mcpreel show %s' lists what it has", f->path);
        return app_exit_code(e);
    }
    if (!verify_redaction_start(&f->redaction, message_file_format(&f->recording.file), e))
        return app_exit_code(e);
    f->run.target = verify_redaction_target(&f->redaction);
    f->run.shown_target = f->redaction.shown_target;
    if (c->args->dry_run)
        return list_requests(f, e) ? EXIT_OK : app_exit_code(e);
    if (c->args->cassette)
        f->run.call_count += verify_recording_count(&f->recording, ORDER_NOTIFICATION) +
                             verify_recording_count(&f->recording, ORDER_HTTP_REQUEST);
    ok = run_sessions(f, e);
    return end_report(f, start_us, ok, e);
}

/* Checks before anything is sent that the recording can be updated. */
static bool begin_update(struct verify_file *f, struct err *e)
{
    if (!f->command->args->update.count)
        return true;
    f->updating = true;
    return recording_update_init(&f->update, &f->recording.file, f->path,
                                 &f->redaction.redaction, e);
}

/* Verifies an open recording. */
static int verify_open_file(struct verify_file *f, struct err *e)
{
    struct verify_command *c = f->command;
    int code;

    map_init(&f->failed);
    verify_redaction_init(&f->redaction, &c->redaction, &f->recording.index.sink);
    code = begin_update(f, e) ? load_and_verify(f, e) : app_exit_code(e);
    verify_redaction_redact_err(&f->redaction, e);
    verify_redaction_redact_err(&f->redaction, &c->output_error);
    report_error(f, e);
    if (f->updating)
        recording_update_release(&f->update);
    verify_redaction_release(&f->redaction);
    map_release(&f->failed);
    return code;
}

static int verify_file(struct verify_command *c, const char *path, struct err *e)
{
    struct verify_file f = { .command = c,
                             .path = path,
                             .run = { .command = STR("verify"), .file = str_z(path) } };
    int code;

    if (c->read_only)
        f.run.notice = STR("the server is not on this machine: only tools that it marks as "
                           "read-only are called (--include-destructive calls all)");
    begin_file(c);
    if (verify_recording_open(&f.recording, c->app, path, e)) {
        code = verify_open_file(&f, e);
    } else {
        code = app_exit_code(e);
        report_error(&f, e);
    }
    verify_recording_close(&f.recording);
    return code;
}

/* Options. */

static bool read_rules(struct verify_command *c, struct err *e)
{
    const struct verify_args *args = c->args;

    c->rules.like_mcp_recorder = args->cassette != NULL;
    if (!rules_options_read(&c->rules, c->app, &args->rules, e))
        return false;
    for (size_t i = 0; i < args->volatile_paths.count; i++)
        if (!compare_rules_set_volatile(&c->rules, str_z(args->volatile_paths.at[i]), e))
            return err_wrap(e, "option '--volatile'");
    return rules_options_add_paths(&c->rules, &args->rebind, COMPARE_PATH_REBIND, "--rebind",
                                   e);
}

static bool is_remote_machine(const struct remote_config *remote)
{
    struct url url;
    struct err e = ERR_NONE;

    return !url_parse(&url, str_z(remote->url), &e) || !url_is_loopback(&url.authority);
}

static bool find_command(struct verify_command *c, const struct operands *in, struct err *e)
{
    char **words;
    size_t count = in->server_count;

    c->target.argv = in->server;
    if (c->args->target_stdio) {
        if (!shell_split(&words, &count, str_z(c->args->target_stdio), &c->arena, e))
            return err_wrap(e, "cannot read the command of '--target-stdio'");
        c->target.argv = words;
    }
    if (!count) {
        err_set(e, ERR_USAGE, "no server to verify");
        return err_hint(e, "say how to start it: mcpreel verify session.jsonl -- COMMAND "
                           "ARGS…\nor where it is: --url URL");
    }
    c->redaction.argv = c->target.argv;
    return true;
}

/* Chooses the server: a command or a URL. */
static bool choose_target(struct verify_command *c, const struct operands *in,
                          const struct remote_config *remote, const struct server_env *env,
                          struct err *e)
{
    const struct option_unused rows[] = {
        REMOTE_OPTIONS_UNUSED(remote),
        { "wait-ready", "'--url'", !remote->url },
        { "include-destructive", "'--url'", !remote->url },
        { "target-env", "a command", remote->url != NULL },
        { 0 },
    };

    if (!!in->server + !!c->args->target_stdio + !!remote->url > 1) {
        err_set(e, ERR_USAGE, "two servers to verify");
        return err_hint(e, "give one: '-- COMMAND', '--target-stdio', '--url' or '--target'");
    }
    if (!option_reject_unused(in, rows, e))
        return false;
    c->target.env = env->env;
    c->redaction.env = env;
    if (!remote->url)
        return c->args->dry_run || find_command(c, in, e);
    c->target.remote = c->redaction.remote = remote;
    c->read_only =
        is_remote_machine(remote) && !c->args->include_destructive && !c->args->cassette;
    return true;
}

/* Checks before anything is sent that the reports can be written. */
static bool open_reports(struct verify_command *c, const struct operands *in, struct err *e)
{
    const struct report_files_target target = report_target(c);

    c->report = &c->reports.report;
    if (!report_files_parse(&c->reports, &c->args->report, e))
        return false;
    for (size_t i = 0; i < in->count; i++)
        if (!report_files_check(&c->reports, &target, in->at[i], e))
            return false;
    return !c->args->cassette || report_files_check(&c->reports, &target, c->args->cassette, e);
}

/* Completes the reports of all recordings. */
static void write_reports(struct verify_command *c)
{
    const struct report_files_target target = report_target(c);

    if (!c->reported || c->output_error.kind != ERR_OK)
        return;
    if (!report_files_write(&c->reports, &target, &c->output_error))
        log_printf(c->app->log, LOG_DEBUG, "a report could not be written");
}

/* Tells the error of one recording of several, so that the others are verified. Other errors
 * than of the recording or of the server end the run. */
static void tell_and_go_on(const struct verify_command *c, struct err *e)
{
    if (!c->several || (e->kind != ERR_INPUT && e->kind != ERR_PEER))
        return;
    log_err(c->app->log, e);
    *e = (struct err)ERR_NONE;
}

/* Verifies all recordings. Returns the highest exit code. */
static int verify_files(struct verify_command *c, const struct operands *in, struct err *e)
{
    int code = EXIT_OK, worst = EXIT_OK;

    c->several = in->count > 1;
    if (c->args->cassette)
        worst = verify_file(c, c->args->cassette, e);
    for (size_t i = 0; i < in->count && e->kind == ERR_OK; i++) {
        code = verify_file(c, in->at[i], e);
        worst = code > worst ? code : worst;
        tell_and_go_on(c, e);
    }
    write_reports(c);
    if (e->kind == ERR_OK && c->output_error.kind != ERR_OK) {
        *e = c->output_error;
        return app_exit_code(e);
    }
    return worst;
}

/* With --update a recording that cannot be opened is an error before anything is sent. A number
 * in its place was meant for the option. */
static bool check_updated_files(const struct sys *sys, const struct operands *in, struct err *e)
{
    uint64_t n;

    for (size_t i = 0; i < in->count; i++) {
        struct file f;
        struct err ignored = ERR_NONE;

        if (!file_open(&f, sys, in->at[i], e)) {
            if (str_parse_u64(str_z(in->at[i]), &n))
                err_hint(e, "to update call %s only: --update=%s", in->at[i], in->at[i]);
            return false;
        }
        file_close(&f, &ignored);
    }
    return true;
}

static bool check_update(const struct verify_args *args, const struct operands *in,
                         struct err *e)
{
    uint64_t n;

    for (size_t i = 0; i < args->update.count; i++) {
        const char *value = args->update.at[i];

        if (str_eq(str_z(value), STR("all")))
            continue;
        if (!str_parse_u64(str_z(value), &n) || !n)
            return err_set(e, ERR_USAGE, "option '--update': '%s' is not the number of a call",
                           value);
        if (in->count > 1)
            return err_set(e, ERR_USAGE, "'--update=%s' takes one recording, not %zu", value,
                           in->count);
    }
    return true;
}

static bool check_inputs(const struct app *app, const struct verify_args *args,
                         const struct operands *in, struct err *e)
{
    if (app->json && args->dry_run)
        return err_set(e, ERR_USAGE, "'--dry-run' cannot be combined with '--json'");
    if (args->report.count && args->dry_run)
        return err_set(e, ERR_USAGE, "'--dry-run' cannot be combined with '--report'");
    if (!in->count && !args->cassette) {
        err_set(e, ERR_USAGE, "no recording to verify");
        return err_hint(e, "name one: mcpreel verify session.jsonl -- COMMAND");
    }
    if (in->count && args->cassette)
        return err_set(e, ERR_USAGE, "two recordings to verify: '%s' and '--cassette %s'",
                       in->at[0], args->cassette);
    if (!check_update(args, in, e))
        return false;
    for (size_t i = 0; i < in->count; i++)
        if (file_is_stdio(in->at[i]))
            return err_set(e, ERR_USAGE, "cannot read the recording from standard input");
    return !args->update.count || check_updated_files(app->sys, in, e);
}

static int verify_run(const struct app *app, const void *options, const struct operands *in,
                      struct err *e)
{
    const struct verify_args *args = options;
    struct verify_command c = { .app = app,
                                .args = args,
                                .redaction = { .app = app,
                                               .args = &args->redaction,
                                               .wants_defaults = redact_options_wants_defaults(
                                                   app, &args->redaction, in),
                                               .like_mcp_recorder = args->cassette } };
    struct remote_config_args remote_args = args->remote;
    struct remote_config remote = { 0 };
    struct server_env env = { .env = NULL };
    int code = EXIT_USAGE;

    compare_rules_init(&c.rules);
    buf_init(&c.text, VERIFY_TEXT_MAX);
    buf_init(&c.failed, VERIFY_TEXT_MAX);
    if (args->remote.target) {
        remote_args.target = NULL;
        remote_args.url = remote_config_mcp_recorder_url(args->remote.target, &c.arena);
    }
    init_outputs(&c);
    if (check_inputs(app, args, in, e) && open_reports(&c, in, e) && read_rules(&c, e) &&
        call_filter_read(&c.filter, args->only, args->skip, e) &&
        remote_config_read(&remote, app, &remote_args, e) &&
        server_env_read(&env, app, &args->target_env, e) &&
        choose_target(&c, in, &remote, &env, e))
        code = verify_files(&c, in, e);
    else
        code = app_exit_code(e);
    report_files_release(&c.reports);
    verdict_json_release(&c.verdict_json);
    call_filter_release(&c.filter);
    server_env_release(&env);
    remote_config_release(&remote);
    compare_rules_release(&c.rules);
    buf_release(&c.text);
    buf_release(&c.failed);
    arena_release(&c.arena);
    return code;
}

static const char *const verify_usage[] = { "[options] FILE… -- COMMAND [ARGS…]",
                                            "[options] --url URL FILE…",
                                            "[options] --cassette FILE --target URL", NULL };

static const struct command_example verify_examples[] = {
    { "mcpreel verify session.jsonl -- node server.js",
      "start the server and compare its responses with the recorded ones" },
    { "mcpreel verify --dry-run session.jsonl",
      "list the requests that would be sent, and contact no server" },
    { "mcpreel verify --ignore-paths '$.result..etag' a.jsonl -- node server.js",
      "differences of these values do not count" },
    { "mcpreel verify --before 'rm -rf data' session.jsonl -- node server.js",
      "reset the server's data before each recorded session" },
    { 0 },
};

const struct command cmd_verify = {
    .name = "verify",
    .summary = "compare a server's responses with the recorded ones",
    .usage = verify_usage,
    .about =
        "Sends the requests of a recording to a server, in recorded order, and compares its "
        "responses with the recorded ones. Each recorded session gets its own process or HTTP "
        "session. Values that the server generates (ids, cursors, handles) are carried into "
        "later requests, server requests get the recorded responses, and values that change "
        "from run to run (times, ids) do not count as differences.\n\n"
        "On a server that is not on this machine only tools that it marks as read-only are "
        "called. Redacted values come from the environment variables that they are named "
        "after.\n\n"
        "Exit code 0: all requests that were sent passed; 1: a difference, or nothing was "
        "sent; 3: a recording cannot be used; 4: the server could not be started, reached or "
        "spoken to, or --before failed; 5: interrupted, or a file could not be written.",
    .examples = verify_examples,
    .options = verify_options,
    .args_size = sizeof(struct verify_args),
    .operand = "FILE",
    .max = COMMAND_ANY,
    .server = true,
    .run = verify_run,
};
