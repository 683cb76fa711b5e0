/* cmd/cmd-run.c - the run command, which is record-scenarios, too: records or verifies the
 * scenarios of a YAML file. */
#include "base/clock.h"
#include "base/dir.h"
#include "base/file.h"
#include "cmd/command.h"
#include "cmd/redact-options.h"
#include "cmd/remote-options.h"
#include "cmd/server-env.h"
#include "cmd/verify-redaction.h"
#include "loop/process-self.h"
#include "mcp/version.h"
#include "report/report-files.h"
#include "report/scenario-lines.h"
#include "report/verdict-json.h"
#include "report/verdict-text.h"
#include "runtime/run-scenario.h"
#include "runtime/run-verify.h"
#include "runtime/scenario-recorded.h"
#include "runtime/verify-recording.h"
#include "runtime/wait-ready.h"

enum { OUTPUT_MAX = 64 << 20 };

struct run_args {
    const char *output_dir;
    struct str_list scenarios, report;
    int64_t timeout_us, wait_ready_us;
    bool verify, force;
    struct remote_config_args remote;
};

static const struct option run_options[] = {
    { .name = "output-dir",
      .arg = "DIR",
      .type = OPTION_PATH,
      .offset = offsetof(struct run_args, output_dir),
      .help = "folder of the recordings; 'cassettes' beside FILE if not given" },
    { .name = "scenario",
      .arg = "NAME",
      .type = OPTION_LIST,
      .offset = offsetof(struct run_args, scenarios),
      .help = "run only this scenario; may be repeated" },
    { .name = "verify",
      .type = OPTION_FLAG,
      .offset = offsetof(struct run_args, verify),
      .help = "compare the server's responses with the recordings, and write none" },
    { .name = "timeout",
      .arg = "TIME",
      .type = OPTION_DURATION,
      .preset = "2min",
      .offset = offsetof(struct run_args, timeout_us),
      .help = "maximum wait for each response" },
    { .name = "wait-ready",
      .arg = "TIME",
      .type = OPTION_DURATION,
      .preset = "0",
      .offset = offsetof(struct run_args, wait_ready_us),
      .help = "wait this long until a server at a URL can be reached" },
    { .name = "report",
      .arg = "[FORMAT=]FILE",
      .type = OPTION_LIST,
      .paths = true,
      .offset = offsetof(struct run_args, report),
      .help = "write a report at the end; FORMAT: json (if not given), junit, github, "
              "markdown or sarif; '-' is standard output" },
    { .name = "force",
      .type = OPTION_FLAG,
      .offset = offsetof(struct run_args, force),
      .help = "replace reports that exist" },
    REMOTE_OPTIONS(struct run_args, remote),
    { 0 },
};

/* State of one run of the command. */
struct run_command {
    const struct app *app;
    const struct run_args *args;
    const char *path; /* of the scenarios file */
    struct scenario_file file;
    const struct scenario_plan **plans; /* the chosen ones */
    size_t plan_count;
    const char *folder; /* of the recordings */
    const struct format *format;
    struct server_env env;
    struct str target_text;  /* ends with a NUL */
    struct str target_shown; /* the same without secrets, for the lines of mcp-recorder */
    struct str target;       /* for reports: also without those of a URL */

    struct verdict_report_run run;
    struct call_verdict_totals totals;
    uint64_t run_errors; /* errors that belong to no call */
    bool begun;          /* report->begin() was called */
    uint32_t number;     /* of the last verdict */
    uint64_t failed;     /* scenarios */
    bool ready;          /* the server was waited for */
    bool not_written;    /* a recording could not be written */
    bool spoke;          /* the server responded to a request of any scenario */
    struct err silence;  /* why it did not respond to the first that failed */

    struct buf text; /* output that is not written yet */
    struct scenario_lines lines;
    struct verdict_text verdict_text;
    struct verdict_json verdict_json;
    struct report_files reports;
    struct verdict_report *report; /* gives everything to `reports` */
    struct err output_error;
    struct arena arena;
};

/* The scenario that is run. */
struct run_one {
    struct run_command *command;
    const struct scenario_plan *plan;
    uint32_t ordinal;
    const char *path; /* of its recording */
    struct str file;  /* the same without the folder */
    struct remote_config remote;
    struct redaction redaction;
    struct redact_verdict verdicts; /* by `redaction` */
    struct verify_redaction verify; /* --verify: also knows the placeholders of the recording */
    struct scenario_answers_used used_answers; /* --verify */
    struct app app;                            /* with a log that is redacted */
    bool failed;                               /* set by the first failed verdict or error */
};

/* Output. */

/* The lines of mcp-recorder go to standard error. */
static void flush_lines(struct run_command *c)
{
    const struct log *log = c->app->log;

    if (!c->app->json && !c->app->quiet && c->text.len)
        log->write(log->arg, buf_str(&c->text));
    buf_clear(&c->text);
}

/* Verdicts of --verify, and all of --json, go to standard output. */
static void flush_data(struct run_command *c)
{
    if (c->text.len && c->output_error.kind == ERR_OK &&
        !app_write(c->app, buf_str(&c->text), &c->output_error))
        log_printf(c->app->log, LOG_DEBUG, "the output is lost from here on");
    buf_clear(&c->text);
}

static bool write_stdout(const void *app, struct str text, struct err *e)
{
    return app_write(app, text, e);
}

static struct report_files_target report_target(const struct run_command *c)
{
    return (struct report_files_target){ .sys = c->app->sys,
                                         .replace = c->args->force,
                                         .write_stdout = write_stdout,
                                         .arg = c->app };
}

/* Begins the reports, with the server if its first response has come. */
static void begin_report(struct run_command *c)
{
    if (!c->begun)
        c->report->begin(c->report, &c->run);
    c->begun = true;
}

/* Reads name and versions of the server from its response to the handshake. */
static void begin_with_server(struct run_command *c, struct redactor *r, struct str method,
                              struct str response)
{
    struct str *const texts[] = { &c->run.server_name, &c->run.server_version,
                                  &c->run.protocol };
    struct buf clean;

    if (c->begun)
        return;
    verdict_report_read_server(&c->run, method, response, &c->arena);
    if (str_eq(method, STR("server/discover")))
        c->run.protocol = mcp_version_text(MCP_VERSION_LATEST);
    buf_init(&clean, OUTPUT_MAX);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        buf_clear(&clean);
        redactor_redact_text(r, *texts[i], &clean);
        *texts[i] = arena_str(&c->arena, buf_str(&clean));
    }
    buf_release(&clean);
    begin_report(c);
}

static void count_findings(struct run_command *c, const struct finding *f, size_t count)
{
    for (size_t i = 0; i < count; i++)
        c->totals.findings[f[i].severity]++;
}

static void add_verdict(struct run_command *c, const struct call_verdict *v)
{
    begin_report(c);
    c->number = v->number;
    c->totals.count[v->kind]++;
    count_findings(c, v->findings, v->finding_count);
    c->report->verdict(c->report, v);
}

/* Reports something that belongs to no request, and that fails the run. */
static void add_error(struct run_one *o, struct str rule, struct str message, struct str hint)
{
    struct run_command *c = o->command;
    struct finding f = { .rule = rule,
                         .severity = FINDING_ERROR,
                         .message = message,
                         .file = str_z(c->path),
                         .line = o->plan->line,
                         .hint = hint };

    begin_report(c);
    o->failed = true;
    c->run_errors++;
    count_findings(c, &f, 1);
    c->report->finding(c->report, &f);
}

/* Recording. */

static void on_server(void *to, struct str method, struct str response)
{
    struct run_one *o = to;

    begin_with_server(o->command, &o->redaction.redactor, method, response);
}

static void on_scenario_verdict(void *to, const struct call_verdict *given)
{
    struct run_one *o = to;
    struct run_command *c = o->command;
    struct call_verdict v = redact_verdict_call(&o->verdicts, given);

    add_verdict(c, &v);
    if (v.kind != VERDICT_FAILED || o->failed)
        return;
    o->failed = true;
    if (!c->app->json)
        scenario_lines_failed(&c->lines, o->plan->name, str_z(c->path), &v);
}

static const struct scenario_events scenario_events = { on_server, on_scenario_verdict };

static void show_result(struct run_one *o, const struct run_scenario *run)
{
    struct run_command *c = o->command;

    if (c->app->json)
        return;
    if (run->written)
        scenario_lines_recorded(&c->lines, o->plan->name, o->file, run->interactions);
    else if (run->why.kind != ERR_OK)
        scenario_lines_add_reason(&c->lines, str_z(run->why.msg));
    flush_lines(c);
}

/* mcp-recorder never redacts requests; warns about it. */
static void warn_kept_requests(struct run_one *o)
{
    redact_options_warn_kept_requests(
        &o->redaction,
        arena_printf(&o->command->arena, "scenario '%.*s': ", STR_ARG(o->plan->name)).at,
        "requests are recorded unchanged, as with mcp-recorder ('mcpreel redact' redacts "
        "them)");
}

/* A recording that cannot be written fails its scenario only. */
static void report_not_written(struct run_one *o, struct err *why)
{
    struct run_command *c = o->command;

    redaction_redact_err(&o->redaction, why);
    c->not_written = true;
    if (!c->app->json) {
        scenario_lines_not_written(&c->lines, o->plan->name, str_z(why->msg));
        flush_lines(c);
    }
    add_error(o, STR("not-written"),
              arena_printf(&c->arena, "scenario '%.*s': %s", STR_ARG(o->plan->name), why->msg),
              str_z(why->hint));
}

static bool record_one(struct run_one *o, const struct peer_target *target, struct err *e)
{
    struct run_command *c = o->command;
    struct err not_written = ERR_NONE;
    struct record_settings settings = {
        .name = arena_z(&c->arena, o->plan->name),
        .server_argv = target->argv,
        .server_argc = c->file.argc,
        .server_url = c->file.url ? c->target_text.at : NULL,
        .redaction = &o->redaction,
        .log_http = c->app->verbose > 0,
    };
    struct run_scenario run = { .app = &o->app,
                                .target = *target,
                                .plan = o->plan,
                                .ordinal = o->ordinal,
                                .first_number = c->number + 1,
                                .timeout_us = c->args->timeout_us,
                                .settings = &settings,
                                .path = o->path,
                                .format = c->format,
                                .events = &scenario_events,
                                .to = o };
    bool ok;

    ok = run_scenario_run(&run, &not_written);
    redaction_redact_err(&o->redaction, &run.why);
    if (ok)
        show_result(o, &run);
    else
        report_not_written(o, &not_written);
    if (run.written)
        warn_kept_requests(o);
    c->spoke = c->spoke || run.spoke;
    if (!run.spoke && c->silence.kind == ERR_OK)
        c->silence = run.why;
    return !run.interrupted || err_set(e, ERR_IO, "interrupted by signal %d", run.interrupted);
}

/* Verification. */

static void on_live_verdict(void *to, const struct call_verdict *given, uint32_t call,
                            struct str live)
{
    struct run_one *o = to;
    struct call_verdict v = redact_verdict_call(&o->verify.verdicts, given);

    (void)call;
    begin_with_server(o->command, &o->verify.redaction.redactor, v.method, live);
    v.scenario = o->plan->name;
    v.session = o->ordinal;
    o->failed = o->failed || v.kind == VERDICT_FAILED || v.kind == VERDICT_BLOCKED;
    add_verdict(o->command, &v);
}

static void on_live_finding(void *to, const struct finding *given)
{
    struct run_one *o = to;
    struct run_command *c = o->command;
    struct finding f = redact_verdict_finding(&o->verify.verdicts, given);

    begin_report(c);
    count_findings(c, &f, 1);
    c->run_errors += f.severity == FINDING_ERROR;
    o->failed = o->failed || f.severity == FINDING_ERROR;
    c->report->finding(c->report, &f);
}

static const struct verify_events verify_events = { on_live_verdict, on_live_finding };

static struct str find_answer(void *arg, struct str method)
{
    struct run_one *o = arg;

    return scenario_answers_take(&o->plan->answers, &o->used_answers, method);
}

/* Sends the recorded requests. A server that does not respond fails this scenario only. */
static bool verify_loaded(struct run_one *o, struct verify_recording *recording,
                          const struct peer_target *target, struct err *e)
{
    struct run_command *c = o->command;
    struct compare_rules rules;
    struct run_verify run = { .app = &o->verify.app,
                              .config = { .index = &recording->index,
                                          .order = &recording->order,
                                          .rules = &rules,
                                          .timeout_us = c->args->timeout_us,
                                          .secret = verify_redaction_find_secret,
                                          .secret_arg = &o->verify,
                                          .answer = find_answer,
                                          .answer_arg = o },
                              .target = *target,
                              .events = &verify_events,
                              .to = o,
                              .last_number = c->number };
    struct err why = ERR_NONE;
    bool ok;

    compare_rules_init(&rules);
    ok = run_verify_run(&run, &why);
    compare_rules_release(&rules);
    verify_redaction_redact_err(&o->verify, &why);
    if (ok && run.interrupted)
        return err_set(e, ERR_IO, "interrupted by signal %d", run.interrupted);
    c->spoke = c->spoke || ok;
    if (ok)
        return true;
    if (why.kind != ERR_PEER) {
        *e = why;
        return false;
    }
    if (c->silence.kind == ERR_OK)
        c->silence = why;
    add_error(o, STR("no-server"), str_z(why.msg), str_z(why.hint));
    return true;
}

/* The rules of the file: mcp-recorder redacts nothing else, and no request. */
static struct redaction_args redaction_args(const struct scenario_file *f)
{
    return (struct redaction_args){ .env = f->redact_env,
                                    .patterns = f->redact_patterns,
                                    .members = f->redact_members,
                                    .server_url = f->redact_server_url,
                                    .defaults = f->redact_defaults };
}

static void describe_change(const struct run_one *o, const struct scenario_change *change,
                            struct buf *to)
{
    static const char *const texts[] = {
        [SCENARIO_NOT_RECORDED] = "is not in the recording",
        [SCENARIO_OTHER_PARAMS] = "has other params in the recording",
        [SCENARIO_OTHER_EXPECTATION] = "in the recording",
        [SCENARIO_NO_ACTION] = "is in the recording, and no action sends it",
    };

    buf_printf(to, "scenario '%.*s'", STR_ARG(o->plan->name));
    if (change->action)
        buf_printf(to, ", line %u", change->action->line);
    buf_printf(to, ": %.*s%s%.*s %s", STR_ARG(change->method), change->subject.len ? " " : "",
               STR_ARG(change->subject), texts[change->kind]);
    if (change->expected)
        buf_printf(to, ": %.*s", STR_ARG(change->expected->message));
}

/* Reports that the scenario was changed since it was recorded. Other params may also come from
 * a variable, and the responses to further requests are compared, so these are warnings. */
static void on_change(void *to, const struct scenario_change *change)
{
    struct run_one *o = to;
    struct run_command *c = o->command;
    bool warns = change->kind == SCENARIO_OTHER_PARAMS || change->kind == SCENARIO_NO_ACTION;
    struct finding f = { .rule = STR("scenario-changed"),
                         .severity = warns ? FINDING_WARNING : FINDING_ERROR,
                         .file = str_z(c->path),
                         .line = change->action ? change->action->line : o->plan->line,
                         .subject = change->subject };
    struct buf message;

    buf_init(&message, OUTPUT_MAX);
    describe_change(o, change, &message);
    f.message = buf_str(&message);
    f.hint = arena_printf(&c->arena, "record it again: mcpreel run --scenario %.*s %s",
                          STR_ARG(o->plan->name), c->path);
    on_live_finding(o, &f);
    buf_release(&message);
}

static bool load_and_verify(struct run_one *o, struct verify_recording *recording,
                            const struct peer_target *target, struct err *e)
{
    struct run_command *c = o->command;
    struct err why = ERR_NONE;

    if (verify_recording_open(recording, c->app, o->path, &why) &&
        verify_recording_load(recording, &o->verify.names.sink, &why))
        return verify_redaction_start(&o->verify, message_file_format(&recording->file), e) &&
               scenario_recorded_find_changes(recording, o->plan, on_change, o, e) &&
               verify_loaded(o, recording, target, e);
    add_error(o, STR("no-recording"),
              arena_printf(&c->arena, "scenario '%.*s': %s", STR_ARG(o->plan->name), why.msg),
              arena_printf(&c->arena, "record it: mcpreel run %s", c->path));
    return true;
}

static bool verify_one(struct run_one *o, const struct peer_target *target, struct err *e)
{
    struct run_command *c = o->command;
    struct redaction_args args = redaction_args(&c->file);
    struct verify_redaction_config config = { .app = c->app,
                                              .args = &args,
                                              .wants_defaults = c->file.redact_defaults,
                                              .argv = c->file.argv,
                                              .remote = target->remote,
                                              .env = &c->env,
                                              .like_mcp_recorder = true };
    struct verify_recording recording;
    bool ok;

    verify_redaction_init(&o->verify, &config, &recording.index.sink);
    ok = load_and_verify(o, &recording, target, e);
    verify_redaction_redact_err(&o->verify, e);
    verify_redaction_release(&o->verify);
    verify_recording_close(&recording);
    flush_data(c);
    return ok;
}

/* One scenario. */

static bool open_remote(struct run_one *o, struct err *e)
{
    struct run_command *c = o->command;
    struct remote_config_args args = c->args->remote;
    const struct str_list *own = &o->plan->headers;
    const char **headers =
        arena_alloc(&c->arena, (own->count + args.headers.count + 1) * sizeof *headers);

    if (!c->file.url)
        return true;
    if (own->count)
        memcpy(headers, own->at, own->count * sizeof *headers);
    if (args.headers.count)
        memcpy(headers + own->count, args.headers.at, args.headers.count * sizeof *headers);
    args.headers = (struct str_list){ headers, own->count + args.headers.count };
    args.url = remote_config_mcp_recorder_url(c->file.url, &c->arena);
    return remote_config_read(&o->remote, c->app, &args, e) || err_wrap(e, "%s", c->path);
}

static bool open_redaction(struct run_one *o, struct err *e)
{
    struct run_command *c = o->command;
    const struct scenario_file *f = &c->file;
    struct redaction_args args = redaction_args(f);
    struct redaction_known known = {
        .words = server_env_words(&c->env, f->argv, f->url, &c->arena),
        .values = f->url ? &o->remote.secrets : &c->env.secrets,
        .explicit_rules = true,
        .defaults = f->redact_defaults,
    };

    if (!redact_options_init(&o->redaction, c->app, &args, &known, e))
        return err_wrap(e, "%s: 'redact'", c->path);
    redact_options_set_format(&o->redaction, c->format);
    redact_verdict_init(&o->verdicts, &o->redaction.redactor);
    return true;
}

static void close_redaction(struct run_one *o)
{
    redact_verdict_release(&o->verdicts);
    redaction_release(&o->redaction);
}

/* --wait-ready: waits once, before the first scenario. */
static bool wait_until_ready(struct run_one *o, const struct peer_target *target, struct err *e)
{
    struct run_command *c = o->command;
    struct wait_ready ready = { .app = &o->app,
                                .target = target,
                                .limit_us = c->ready ? 0 : c->args->wait_ready_us };

    c->ready = true;
    return wait_ready_run(&ready, e) &&
           (!ready.interrupted ||
            err_set(e, ERR_IO, "interrupted by signal %d", ready.interrupted));
}

static bool run_with_redaction(struct run_one *o, struct err *e)
{
    struct run_command *c = o->command;
    struct peer_target target = { .argv = c->file.argv,
                                  .env = c->env.env,
                                  .cwd = c->file.cwd,
                                  .remote = c->file.url ? &o->remote : NULL };
    bool ok;

    o->app = *c->app;
    o->app.log = &o->redaction.log;
    ok = wait_until_ready(o, &target, e) &&
         (c->args->verify ? verify_one(o, &target, e) : record_one(o, &target, e));
    redaction_redact_err(&o->redaction, e);
    return ok;
}

static const char *recording_path(struct run_command *c, const struct scenario_plan *plan)
{
    return arena_printf(&c->arena, "%s/%.*s%s", c->folder, STR_ARG(plan->name),
                        c->format->ext[0])
        .at;
}

/* Runs a scenario. A scenario that fails is no error. */
static bool run_plan(struct run_command *c, const struct scenario_plan *plan, struct err *e)
{
    struct run_one o = { .command = c,
                         .plan = plan,
                         .ordinal = (uint32_t)(plan - c->file.plans) + 1 };
    bool ok;

    o.file = arena_printf(&c->arena, "%.*s%s", STR_ARG(plan->name), c->format->ext[0]);
    o.path = recording_path(c, plan);
    ok = open_remote(&o, e) && open_redaction(&o, e);
    if (ok) {
        ok = run_with_redaction(&o, e);
        close_redaction(&o);
    }
    remote_config_release(&o.remote);
    c->failed += o.failed;
    return ok;
}

/* Gives a verdict to the handshake and the actions of a scenario that is not run. */
static void skip_verdicts(struct run_one *o, struct str why)
{
    const struct scenario_plan *plan = o->plan;
    struct run_command *c = o->command;

    for (size_t i = 0; i <= plan->action_count; i++) {
        const struct scenario_action *a = i ? &plan->actions[i - 1] : NULL;
        struct call_verdict v = { .number = c->number + 1,
                                  .session = o->ordinal,
                                  .scenario = plan->name,
                                  .method = a ? a->method : STR("initialize"),
                                  .subject = a ? a->subject : STR_NONE,
                                  .kind = VERDICT_SKIPPED,
                                  .reason = why,
                                  .duration_us = -1 };

        if (!c->args->verify) /* otherwise lines are those of the recording */
            v.line = a ? a->line : plan->line;
        v = redact_verdict_call(&o->verdicts, &v);
        add_verdict(c, &v);
    }
}

/* Reports a scenario that is not run. */
static void skip_plan(struct run_command *c, const struct scenario_plan *plan, struct str why)
{
    struct run_one o = { .command = c,
                         .plan = plan,
                         .ordinal = (uint32_t)(plan - c->file.plans) + 1 };
    struct err ignored = ERR_NONE;

    if (open_remote(&o, &ignored) && open_redaction(&o, &ignored)) { /* as check_plan() */
        skip_verdicts(&o, why);
        close_redaction(&o);
    }
    remote_config_release(&o.remote);
    if (c->args->verify || c->app->json)
        return;
    scenario_lines_skipped(&c->lines, plan->name, why);
    flush_lines(c);
}

/* All scenarios. */

static void init_report(struct run_command *c)
{
    struct verdict_text_options look = { .width = c->app->columns,
                                         .color = c->app->color,
                                         .verbose = c->app->verbose > 0 };
    struct scenario_lines_run run = { .target = c->target_shown,
                                      .is_command = !c->file.url,
                                      .count = c->plan_count,
                                      .folder = str_z(c->folder) };

    verdict_json_init(&c->verdict_json, &c->text);
    verdict_text_init(&c->verdict_text, &c->text, &look);
    c->run = (struct verdict_report_run){ .command = STR("run"),
                                          .file = str_z(c->path),
                                          .target = c->target };
    if (!c->args->verify && !c->app->json) {
        scenario_lines_begin(&c->lines, &run);
        flush_lines(c);
    }
}

/* Returns the exit code. If the server never responded, the error says why. */
static int end_report(struct run_command *c, int64_t start_us, struct err *e)
{
    struct verdict_report_result result = { .totals = &c->totals };
    const struct report_files_target target = report_target(c);

    if (!c->spoke && c->silence.kind != ERR_OK)
        *e = c->silence;
    c->totals.duration_us = clock_mono_us() - start_us;
    result.exit_code = e->kind != ERR_OK ? app_exit_code(e)
                       : c->not_written  ? EXIT_IO
                       : c->failed       ? EXIT_FINDINGS
                                         : EXIT_OK;
    if (!c->args->verify && !c->app->json) {
        scenario_lines_end(&c->lines);
        flush_lines(c);
    }
    begin_report(c);
    c->report->end(c->report, &result);
    flush_data(c);
    if (c->output_error.kind == ERR_OK &&
        !report_files_write(&c->reports, &target, &c->output_error))
        log_printf(c->app->log, LOG_DEBUG, "a report is not written");
    if (c->output_error.kind != ERR_OK && e->kind == ERR_OK) {
        *e = c->output_error;
        return app_exit_code(e);
    }
    return result.exit_code;
}

/* Runs the scenarios. After an error, such as a signal, the rest is reported as not run. */
static void run_each(struct run_command *c, struct err *e)
{
    size_t next = 0;
    uint32_t last;

    for (bool ok = true; ok && next < c->plan_count;) {
        last = c->number;
        ok = run_plan(c, c->plans[next], e);
        if (ok || c->number > last)
            next++;
    }
    for (; next < c->plan_count; next++)
        skip_plan(c, c->plans[next], str_z(e->msg));
}

static int run_plans(struct run_command *c, struct err *e)
{
    int64_t start_us = clock_mono_us();

    if (!c->args->verify && !dir_create(c->app->sys, c->folder, e))
        return app_exit_code(e);
    init_report(c);
    run_each(c, e);
    return end_report(c, start_us, e);
}

/* The file and the options. */

static bool read_file(struct run_command *c, struct err *e)
{
    struct buf text;
    bool ok;

    buf_init(&text, YAML_TREE_TEXT_MAX);
    ok = file_read_all(&text, c->app->sys, c->path, e) &&
         scenario_file_parse(&c->file, buf_str(&text), c->path, c->app->env, e);
    buf_release(&text);
    if (ok && c->file.unused_output)
        log_printf(c->app->log, LOG_WARN,
                   "%s:%u:%u: 'output' has no effect: each scenario has a file of its own",
                   c->path, c->file.unused_output->line, c->file.unused_output->column);
    return ok;
}

static bool check_variable(const struct app *app, const char *name, struct err *e)
{
    if (!placeholder_is_variable(str_z(name))) {
        err_set(e, ERR_USAGE, "this is not the name of a variable");
        return err_hint(e, "give the name, not the value: GITHUB_TOKEN");
    }
    if (app_env(app, name))
        return true;
    err_set(e, ERR_USAGE, "the environment variable '%s' is not set or empty", name);
    return err_hint(e, "nothing is written without the value to redact");
}

/* Adds the position of an item in a list of 'redact'. */
static bool place_error(const struct scenario_file *f, const char *list, size_t item,
                        struct err *e)
{
    const struct yaml_value *at = yaml_tree_get(f->redact_at, str_z(list))->items[item];

    return err_wrap(e, "%s:%u:%u", f->tree.name, at->line, at->column);
}

/* Checks the rules of 'redact' that the file alone does not show to be wrong. */
static bool check_redact(const struct run_command *c, struct err *e)
{
    const struct scenario_file *f = &c->file;

    for (size_t i = 0; i < f->redact_env.count; i++)
        if (!check_variable(c->app, f->redact_env.at[i], e))
            return place_error(f, "env", i, e);
    for (size_t i = 0; i < f->redact_patterns.count; i++)
        if (!redact_options_check_pattern(f->redact_patterns.at[i], e)) {
            e->kind = ERR_INPUT;
            return place_error(f, "patterns", i, e);
        }
    return true;
}

static bool choose_format(struct run_command *c, struct err *e)
{
    enum format_use use = c->args->verify ? FORMAT_RECORD : FORMAT_CONVERT;
    struct buf names;

    c->format = c->file.format ? format_by_name(str_z(c->file.format)) : &cassette_format;
    if (c->format && format_is_for(c->format, use))
        return true;
    yaml_tree_error(&c->file.tree, c->file.format_at, ERR_INPUT, e,
                    "there is no format '%s' to %s", c->file.format,
                    c->args->verify ? "verify" : "write");
    err_hint(e, "formats: %s", format_names_for(&names, use));
    buf_release(&names);
    return false;
}

static bool choose_plans(struct run_command *c, struct err *e)
{
    const struct str_list *names = &c->args->scenarios;

    c->plans = arena_alloc(&c->arena, (c->file.plan_count + 1) * sizeof *c->plans);
    for (size_t i = 0; i < names->count; i++)
        if (!scenario_file_find(&c->file, names->at[i], e))
            return false;
    for (size_t i = 0; i < c->file.plan_count; i++) {
        bool chosen = !names->count;

        for (size_t k = 0; k < names->count; k++)
            chosen = chosen || str_eq(c->file.plans[i].name, str_z(names->at[k]));
        if (chosen)
            c->plans[c->plan_count++] = &c->file.plans[i];
    }
    return true;
}

/* The folder "cassettes" beside the scenarios file. */
static const char *default_folder(struct run_command *c)
{
    const char *slash = strrchr(c->path, '/');

    if (!slash)
        return "cassettes";
    return arena_printf(&c->arena, "%.*s/cassettes", (int)(slash - c->path), c->path).at;
}

static const char *chosen_folder(struct run_command *c)
{
    struct str folder = str_z(c->args->output_dir);

    if (!c->args->output_dir)
        return default_folder(c);
    while (folder.len > 1 && folder.at[folder.len - 1] == '/')
        folder.len--;
    return arena_z(&c->arena, folder);
}

static bool check_options(struct run_command *c, const struct operands *in, struct err *e)
{
    const struct remote_config remote = { .url = c->file.url };
    const struct option_unused rows[] = {
        { "header", "a target that is a URL", !remote.url },
        { "wait-ready", "a target that is a URL", !remote.url },
        { "header-env", "a target that is a URL", !remote.url },
        { "cacert", "a URL that begins with https", !remote_config_is_https(&remote) },
        { 0 },
    };

    return option_reject_unused(in, rows, e) &&
           server_env_read(&c->env, c->app, &c->file.env, e);
}

static struct str redact_server(struct run_command *c, struct redactor *r, struct str target)
{
    struct str text;
    struct buf clean;

    buf_init(&clean, OUTPUT_MAX);
    redactor_redact_server(r, STR_NONE, target, &clean);
    text = arena_str(&c->arena, buf_str(&clean));
    buf_release(&clean);
    return text;
}

/* Removes secrets of a scenario from the description of the server. mcp-recorder shows the
 * whole URL; reports have it as those of 'verify', redacted once for all scenarios. */
static void redact_target(struct run_command *c, struct redactor *r)
{
    bool keep_url = r->keep_url || c->target.len;

    r->keep_url = true;
    c->target_shown = redact_server(c, r, c->target_shown);
    r->keep_url = keep_url;
    r->redact_whole_path = false;
    c->target = redact_server(c, r, c->target.len ? c->target : c->target_text);
}

/* Checks URL, headers and redaction of a scenario before anything is started or written. */
static bool check_plan(struct run_command *c, const struct scenario_plan *plan, struct err *e)
{
    struct run_one probe = { .command = c, .plan = plan };
    bool ok = open_remote(&probe, e) && open_redaction(&probe, e);

    if (ok) {
        redact_target(c, &probe.redaction.redactor);
        close_redaction(&probe);
    }
    remote_config_release(&probe.remote);
    return ok;
}

/* Describes the server as the file names it, without user and password. */
static bool describe_target(struct run_command *c, struct err *e)
{
    struct remote_config_args args = { .target = c->file.url };
    struct remote_config remote = { .url = NULL };
    bool ok = remote_config_read(&remote, c->app, &args, e);

    if (ok && c->file.url)
        c->target_text = arena_printf(&c->arena, "%s", remote.display_url);
    remote_config_release(&remote);
    for (size_t i = 0; i < c->file.argc; i++)
        c->target_text = arena_printf(&c->arena, "%.*s%s%s", STR_ARG(c->target_text),
                                      i ? " " : "", c->file.argv[i]);
    c->target_shown = c->target_text;
    return ok;
}

static bool check_plans(struct run_command *c, struct err *e)
{
    bool ok = describe_target(c, e);

    for (size_t i = 0; ok && i < c->plan_count; i++)
        ok = check_plan(c, c->plans[i], e);
    return ok;
}

static bool open_reports(struct run_command *c, struct err *e)
{
    const struct report_files_target target = report_target(c);

    c->report = &c->reports.report;
    if (!report_files_parse(&c->reports, &c->args->report, e) ||
        !report_files_check(&c->reports, &target, c->path, e))
        return false;
    for (size_t i = 0; i < c->plan_count; i++)
        if (!report_files_check(&c->reports, &target, recording_path(c, c->plans[i]), e))
            return false;
    return true;
}

static int run_run(const struct app *app, const void *options, const struct operands *in,
                   struct err *e)
{
    const struct run_args *args = options;
    struct run_command c = { .app = app, .args = args, .path = in->at[0] };
    int code;

    buf_init(&c.text, OUTPUT_MAX);
    scenario_lines_init(&c.lines, &c.text);
    report_files_init(&c.reports, app->json      ? &c.verdict_json.report
                                  : args->verify ? &c.verdict_text.report
                                                 : NULL);
    process_self_disable_dumps();
    c.folder = chosen_folder(&c);
    if (read_file(&c, e) && check_redact(&c, e) && choose_format(&c, e) &&
        choose_plans(&c, e) && check_options(&c, in, e) && check_plans(&c, e) &&
        open_reports(&c, e)) {
        code = run_plans(&c, e);
    } else {
        code = app_exit_code(e);
    }
    report_files_release(&c.reports);
    verdict_json_release(&c.verdict_json);
    scenario_lines_release(&c.lines);
    scenario_file_release(&c.file);
    server_env_release(&c.env);
    buf_release(&c.text);
    arena_release(&c.arena);
    return code;
}

static const char *const run_usage[] = { "[options] FILE", "--verify [options] FILE", NULL };

static const struct command_example run_examples[] = {
    { "mcpreel run scenarios.yml", "record every scenario to cassettes/NAME.json" },
    { "mcpreel run --scenario tools scenarios.yml", "record one of them" },
    { "mcpreel run --verify scenarios.yml",
      "compare the server's responses with these recordings" },
    { 0 },
};

#define RUN_COMMAND(command_name, is_hidden, examples_shown)                                   \
    {                                                                                          \
        .name = command_name, .summary = "record the scenarios of a YAML file",                \
        .usage = run_usage,                                                                    \
        .about =                                                                               \
            "Starts the server that FILE names, or connects to its URL, and sends the "        \
            "requests of each scenario, in order. The messages of each scenario are recorded " \
            "to a file of its own, by default a cassette of mcp-recorder. Each scenario gets " \
            "its own process or HTTP session; initialize is sent automatically. "              \
            "'record-scenarios' is the same command.\n\n"                                      \
            "A scenario fails if the server does not respond or a value is not as expected; "  \
            "an error response alone is recorded. A recording that exists is replaced when "   \
            "its scenario has succeeded. docs/scenarios.md describes FILE.\n\n"                \
            "With --verify the recorded requests are sent, and the responses are compared "    \
            "with the recorded ones, as 'verify' does.\n\n"                                    \
            "Exit code 0: all scenarios succeeded; 1: one failed; 3: FILE is not valid; 4: "   \
            "the server never responded; 5: a recording cannot be written, or the run was "    \
            "interrupted.",                                                                    \
        .examples = examples_shown, .options = run_options,                                    \
        .args_size = sizeof(struct run_args), .operand = "FILE", .min = 1, .max = 1,           \
        .hidden = is_hidden, .run = run_run                                                    \
    }

const struct command cmd_run = RUN_COMMAND("run", false, run_examples);
const struct command cmd_record_scenarios = RUN_COMMAND("record-scenarios", true, NULL);
