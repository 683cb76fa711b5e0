/* cmd/cmd-lock.c - the lock command: writes a server's surface to a file, and compares a server
 * with it. */
#include "base/atomic-file.h"
#include "base/term.h"
#include "cmd/command.h"
#include "cmd/contract-options.h"
#include "cmd/remote-options.h"
#include "cmd/server-env.h"
#include "cmd/verify-redaction.h"
#include "diff/lock-file.h"
#include "diff/recorded-surface.h"
#include "format/message-file.h"
#include "report/contract-json.h"
#include "report/contract-text.h"
#include "report/report-files.h"
#include "runtime/fetch-surface.h"

enum { TEXT_MAX = 512 << 20, RULES_MAX = 1 << 20 };

struct lock_args {
    bool check, force;
    int fail_on, profile;
    int64_t session, timeout_us, wait_ready_us;
    const char *calls, *protocol_version;
    struct str_list target_env, rules, report;
    struct remote_config_args remote;
    struct redaction_args redaction;
};

#define COMPARISON_GROUP "With --check"

static const struct option lock_options[] = {
    { .name = "check",
      .type = OPTION_FLAG,
      .no_env = true,
      .offset = offsetof(struct lock_args, check),
      .help = "compare the server with FILE, and write nothing" },
    { .name = "session",
      .arg = "N",
      .type = OPTION_INT,
      .min = 1,
      .max = UINT32_MAX,
      .offset = offsetof(struct lock_args, session),
      .help = "of a recording, use session N only" },
    { .name = "protocol-version",
      .arg = "VERSION",
      .type = OPTION_STRING,
      .offset = offsetof(struct lock_args, protocol_version),
      .help = "the protocol version to request, such as 2025-06-18" },
    { .name = "timeout",
      .arg = "TIME",
      .type = OPTION_DURATION,
      .preset = "30s",
      .offset = offsetof(struct lock_args, timeout_us),
      .help = "maximum wait for each response" },
    { .name = "wait-ready",
      .arg = "TIME",
      .type = OPTION_DURATION,
      .preset = "0",
      .offset = offsetof(struct lock_args, wait_ready_us),
      .help = "wait this long until a server at a URL can be reached" },
    { .name = "target-env",
      .arg = "NAME=VALUE",
      .type = OPTION_LIST,
      .offset = offsetof(struct lock_args, target_env),
      .help = "the server has this in its environment" },
    { .name = "force",
      .type = OPTION_FLAG,
      .offset = offsetof(struct lock_args, force),
      .help = "replace a FILE that is no lock file, and reports that exist" },
    { .name = "fail-on",
      .arg = "SEVERITY",
      .type = OPTION_CHOICE,
      .preset = "breaking",
      .choices = contract_options_fail_on,
      .group = COMPARISON_GROUP,
      .offset = offsetof(struct lock_args, fail_on),
      .help = "exit with 1 for changes of this severity and above; breaking-used: for breaking "
              "changes that recorded calls are affected by" },
    { .name = "profile",
      .arg = "PROFILE",
      .type = OPTION_CHOICE,
      .preset = "contract",
      .choices = contract_options_profiles,
      .group = COMPARISON_GROUP,
      .offset = offsetof(struct lock_args, profile),
      .help = "wire: only breaking and risky changes; surface: what a model sees counts more" },
    { .name = "calls",
      .arg = "RECORDING",
      .type = OPTION_PATH,
      .group = COMPARISON_GROUP,
      .offset = offsetof(struct lock_args, calls),
      .help = "count the recorded calls that each change affects" },
    { .name = "rules",
      .arg = "FILE",
      .type = OPTION_LIST,
      .paths = true,
      .group = COMPARISON_GROUP,
      .offset = offsetof(struct lock_args, rules),
      .help = "read the changes that are allowed from a JSON file" },
    { .name = "report",
      .arg = "[FORMAT=]FILE",
      .type = OPTION_LIST,
      .paths = true,
      .group = COMPARISON_GROUP,
      .offset = offsetof(struct lock_args, report),
      .help = "write a report; FORMAT: json (if not given), junit, github, markdown or sarif; "
              "'-' is standard output" },
    REMOTE_OPTIONS_URL(struct lock_args, remote,
                       "the server is at URL; /mcp if it has no path"),
    REMOTE_OPTIONS(struct lock_args, remote),
    REDACTION_OPTIONS(struct lock_args, redaction),
    { 0 },
};

/* State of one run of the command. */
struct lock_command {
    const struct app *app;
    const struct lock_args *args;
    const char *path;      /* of the lock file */
    const char *recording; /* NULL: the server is live */
    enum mcp_version version;
    struct peer_target target;
    struct verify_redaction_config redaction_config;
    struct verify_redaction redaction; /* of a live server */
    struct str source;                 /* recording, command line or URL, for people */
    struct compare_rules rules;
    struct report_files reports;
    struct surface locked, current;
    struct buf text; /* of the lock file, or of the output */
    struct arena arena;
};

/* Reading. */

/* A recording that is open, with its index. */
struct open_recording {
    struct message_file file;
    struct index index;
};

static bool open_recording(struct open_recording *r, const struct lock_command *c,
                           const char *path, struct err *e)
{
    const struct params_rules rules = { .include_meta = false };
    const char *tmp = app_env(c->app, "TMPDIR");

    *r = (struct open_recording){ .index = { .store = NULL } };
    if (!message_file_open(&r->file, c->app->sys, path, tmp ? tmp : "/tmp", c->app->log, e))
        return false;
    index_init(&r->index, &r->file.store, &rules, NULL);
    if (!message_file_read_all(&r->file, &r->index.sink, e))
        return false;
    index_finish(&r->index);
    return true;
}

static void close_recording(struct open_recording *r)
{
    if (r->index.store)
        index_release(&r->index);
    message_file_close(&r->file);
}

static bool read_recording(struct lock_command *c, const char *path, struct surface *to,
                           struct err *e)
{
    struct open_recording r;
    bool ok = open_recording(&r, c, path, e) &&
              (recorded_surface_read(to, &r.index, (uint32_t)c->args->session, e) ||
               err_wrap(e, "cannot use '%s'", path));

    close_recording(&r);
    if (ok && surface_is_empty(to)) {
        err_set(e, ERR_INPUT, "'%s' has no result of initialize or of a list", path);
        return err_hint(e, "record a session in which the client lists the tools");
    }
    return ok;
}

static bool read_current(struct lock_command *c, struct err *e)
{
    const struct fetch_surface fetch = { .app = &c->redaction.app,
                                         .target = &c->target,
                                         .redactor = &c->redaction.redaction.redactor,
                                         .version = c->version,
                                         .timeout_us = c->args->timeout_us,
                                         .wait_ready_us = c->args->wait_ready_us };

    if (!c->recording)
        return fetch_surface_run(&fetch, &c->current, e);
    if (c->args->check && contract_options_is_lock(c->app, c->recording))
        return contract_options_read_lock(c->app, c->recording, &c->current, e);
    return read_recording(c, c->recording, &c->current, e);
}

/* Comparing. */

static bool judge_calls(struct lock_command *c, struct contract_traffic *t, struct err *e)
{
    struct open_recording r;
    bool ok =
        open_recording(&r, c, c->args->calls, e) && contract_traffic_add_index(t, &r.index, e);

    close_recording(&r);
    if (ok)
        contract_traffic_end(t);
    return ok;
}

static bool write_stdout(const void *app, struct str text, struct err *e)
{
    return app_write(app, text, e);
}

static struct report_files_target report_target(const struct lock_command *c)
{
    return (struct report_files_target){ .sys = c->app->sys,
                                         .replace = c->args->force,
                                         .write_stdout = write_stdout,
                                         .arg = c->app };
}

static struct str accept_command(struct lock_command *c)
{
    const struct contract_options_accept accept = { .app = c->app,
                                                    .lock = c->path,
                                                    .file = c->recording,
                                                    .target = &c->target,
                                                    .source = c->source,
                                                    .protocol_version =
                                                        c->args->protocol_version,
                                                    .session = c->args->session };

    return contract_options_accept(&accept, &c->arena);
}

static bool write_reports(struct lock_command *c, const struct contract_report *r,
                          struct err *e)
{
    const struct report_files_target target = report_target(c);
    struct verdict_report_run run = { .command = STR("lock"),
                                      .file = r->before_name,
                                      .target = r->after_name,
                                      .protocol = r->after->protocol_version,
                                      .no_calls = true };
    struct verdict_report_step accept = { STR("accept"), accept_command(c) };
    struct json_val info = r->after->server_info;
    struct buf json, verdict;

    if (!c->reports.count)
        return true;
    run.server_name = json_text(json_get(info, STR("name")), &c->arena);
    run.server_version = json_text(json_get(info, STR("version")), &c->arena);
    buf_init(&json, TEXT_MAX);
    buf_init(&verdict, 256);
    contract_report_write_counts(&verdict, r);
    run.verdict = buf_str(&verdict);
    contract_report_give(r, &run, &accept, r->changes->count != 0, &c->reports.report);
    contract_json_write(&json, STR("lock"), r);
    report_files_set_json(&c->reports, buf_str(&json));
    buf_release(&json);
    buf_release(&verdict);
    return report_files_write(&c->reports, &target, e);
}

static bool write_result(struct lock_command *c, const struct contract_report *r, struct err *e)
{
    const struct contract_text_options options = { .color = c->app->color,
                                                   .width = c->app->columns };

    if (c->app->json)
        contract_json_write(&c->text, STR("lock"), r);
    else
        contract_text_write(&c->text, r, &options);
    return buf_ok(&c->text, e) && app_write(c->app, buf_str(&c->text), e) &&
           write_reports(c, r, e);
}

static bool check_lists(const struct lock_command *c, struct err *e)
{
    return c->args->fail_on == FAIL_ON_NEVER ||
           contract_options_check_lists(&c->locked, &c->current, c->source, !c->recording, e);
}

/* Compares both surfaces and writes the result. `*failed`: by --fail-on. */
static bool compare(struct lock_command *c, struct contract_changes *changes, bool *failed,
                    struct err *e)
{
    struct contract_traffic traffic;
    struct contract_report report = { .before_name = str_z(c->path),
                                      .after_name = c->source,
                                      .before = &c->locked,
                                      .after = &c->current,
                                      .changes = changes,
                                      .fail_on = (enum contract_fail_on)c->args->fail_on };
    bool ok = true;

    contract_options_warn(c->app, &c->current, c->source);
    contract_compare(changes, &c->locked, &c->current);
    contract_traffic_init(&traffic, changes, &c->locked, &c->current);
    if (c->args->calls) {
        report.traffic = &traffic;
        ok = judge_calls(c, &traffic, e);
    }
    contract_options_allow(c->app, changes, &c->rules);
    *failed = contract_decide(changes, report.fail_on) ||
              contract_traffic_fails(&traffic, report.fail_on);
    report.exit_code = *failed ? EXIT_FINDINGS : EXIT_OK;
    ok = ok && write_result(c, &report, e);
    contract_traffic_release(&traffic);
    return ok;
}

static int check_lock(struct lock_command *c, struct err *e)
{
    struct contract_changes changes;
    bool failed = false, ok;

    contract_changes_init(&changes, (enum contract_profile)c->args->profile, str_z(c->path));
    ok = contract_options_read_lock(c->app, c->path, &c->locked, e) && read_current(c, e) &&
         check_lists(c, e) && compare(c, &changes, &failed, e);
    contract_changes_release(&changes);
    if (!ok)
        return app_exit_code(e);
    return failed ? EXIT_FINDINGS : EXIT_OK;
}

/* Writing. */

/* A list without all its pages looks like one with fewer tools. */
static bool check_complete(const struct lock_command *c, struct err *e)
{
    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++) {
        if (!c->current.lists[k].has_more)
            continue;
        err_set(e, ERR_INPUT, "'%s' has not all pages of %.*s", c->recording,
                STR_ARG(surface_list_method(k)));
        return err_hint(e, "lock the server itself: mcpreel lock %s -- COMMAND", c->path);
    }
    return true;
}

static bool write_file(struct lock_command *c, bool replace, struct err *e)
{
    struct file f = FILE_CLOSED;
    struct atomic_file temp;
    size_t done;

    if (!atomic_file_open(&temp, &f, c->app->sys, c->path, replace, e))
        return false;
    if (file_write(&f, buf_str(&c->text), &done, e))
        return atomic_file_commit(&temp, &f, e);
    atomic_file_abort(&temp, &f);
    return false;
}

static void write_counts_json(struct buf *to, const struct lock_command *c)
{
    static const char *const names[SURFACE_LISTS] = { [SURFACE_TOOL] = "tools",
                                                      [SURFACE_RESOURCE] = "resources",
                                                      [SURFACE_TEMPLATE] = "resource_templates",
                                                      [SURFACE_PROMPT] = "prompts" };
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    json_out_key_int(&o, STR("v"), JSON_OUTPUT_VERSION);
    json_out_key_str(&o, STR("command"), STR("lock"));
    json_out_key_str(&o, STR("file"), str_z(c->path));
    json_out_key_str(&o, STR("source"), c->source);
    json_out_key_str_or_null(&o, STR("protocol_version"), c->current.protocol_version);
    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++) {
        json_out_key(&o, str_z(names[k]));
        if (c->current.lists[k].known)
            json_out_int(&o, (int64_t)c->current.lists[k].count);
        else
            json_out_null(&o);
    }
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
}

static void write_counts_text(struct buf *to, const struct lock_command *c)
{
    static const char *const words[SURFACE_LISTS] = { [SURFACE_TOOL] = "tool",
                                                      [SURFACE_RESOURCE] = "resource",
                                                      [SURFACE_TEMPLATE] = "resource template",
                                                      [SURFACE_PROMPT] = "prompt" };
    bool any = false;

    buf_add(to, STR("wrote "));
    term_escape(to, str_z(c->path), TERM_ONE_LINE);
    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++) {
        if (!c->current.lists[k].known)
            continue;
        buf_printf(to, "%s%zu %s%s", any ? ", " : ": ", c->current.lists[k].count, words[k],
                   c->current.lists[k].count == 1 ? "" : "s");
        any = true;
    }
    buf_add_ch(to, '\n');
}

static bool report_written(const struct lock_command *c, struct err *e)
{
    struct buf line;
    bool ok;

    buf_init(&line, 1 << 20);
    if (c->app->json)
        write_counts_json(&line, c);
    else
        write_counts_text(&line, c);
    ok = app_write(c->app, buf_str(&line), e);
    buf_release(&line);
    return ok;
}

static int write_lock(struct lock_command *c, struct err *e)
{
    bool replace = c->args->force || contract_options_is_lock(c->app, c->path);
    bool ok = read_current(c, e) && check_complete(c, e);

    if (ok) {
        contract_options_warn(c->app, &c->current, c->source);
        lock_file_write(&c->text, &c->current);
    }
    ok = ok && buf_ok(&c->text, e);
    if (ok && file_is_stdio(c->path))
        ok = app_write(c->app, buf_str(&c->text), e);
    else
        ok = ok && write_file(c, replace, e) && report_written(c, e);
    return ok ? EXIT_OK : app_exit_code(e);
}

/* Options. */

static bool read_rules(struct lock_command *c, struct err *e)
{
    struct buf text;
    bool ok = true;

    buf_init(&text, RULES_MAX);
    for (size_t i = 0; i < c->args->rules.count && ok; i++) {
        const char *path = c->args->rules.at[i];

        buf_clear(&text);
        ok = file_read_all(&text, c->app->sys, path, e) &&
             ((compare_rules_parse(&c->rules, buf_str(&text), e) &&
               contract_check_allow(&c->rules, e)) ||
              err_wrap(e, "'%s' has no valid rules", path));
    }
    buf_release(&text);
    return ok;
}

static bool read_version(struct lock_command *c, struct err *e)
{
    if (!c->args->protocol_version)
        return true;
    c->version = mcp_version_parse(str_z(c->args->protocol_version));
    if (c->version)
        return true;
    err_set(e, ERR_USAGE, "unknown protocol version '%s'", c->args->protocol_version);
    return err_hint(e, "the latest one is %.*s", STR_ARG(mcp_version_text(MCP_VERSION_LATEST)));
}

/* Keeps secrets out of all that is written about a live server. */
static bool start_redaction(struct lock_command *c, const struct server_env *env, struct err *e)
{
    c->redaction_config = (struct verify_redaction_config){ .app = c->app,
                                                            .args = &c->args->redaction,
                                                            .argv = c->target.argv,
                                                            .remote = c->target.remote,
                                                            .env = env };
    verify_redaction_init(&c->redaction, &c->redaction_config, NULL);
    if (!verify_redaction_start(&c->redaction, NULL, e))
        return false;
    c->source = verify_redaction_target(&c->redaction);
    return true;
}

/* Chooses the other side: a command, a URL or a recording. */
static bool choose_source(struct lock_command *c, const struct operands *in,
                          const struct remote_config *remote, const struct server_env *env,
                          struct err *e)
{
    const struct option_unused rows[] = {
        REMOTE_OPTIONS_UNUSED(remote),
        { "wait-ready", "'--url'", !remote->url },
        { "target-env", "a command", !in->server },
        { "session", "a recording", !c->recording },
        { "protocol-version", "a command or '--url'", c->recording != NULL },
        { "timeout", "a command or '--url'", c->recording != NULL },
        { "redact-env", "a command or '--url'", c->recording != NULL },
        { "redact-patterns", "a command or '--url'", c->recording != NULL },
        { "redact-members", "a command or '--url'", c->recording != NULL },
        { "redact-server-url", "a command or '--url'", c->recording != NULL },
        { "redact-defaults", "a command or '--url'", c->recording != NULL },
        { "fail-on", "'--check'", !c->args->check },
        { "profile", "'--check'", !c->args->check },
        { "calls", "'--check'", !c->args->check },
        { "rules", "'--check'", !c->args->check },
        { "report", "'--check'", !c->args->check },
        { 0 },
    };
    int sources = !!in->server + !!c->recording + !!remote->url;

    if (sources != 1) {
        err_set(e, ERR_USAGE, sources ? "two servers to lock" : "no server to lock");
        return err_hint(e, "give one: '-- COMMAND', '--url URL' or a recording");
    }
    if (c->args->fail_on == FAIL_ON_BREAKING_USED && !c->args->calls)
        return err_set(e, ERR_USAGE,
                       "'--fail-on breaking-used' needs recorded calls: --calls RECORDING");
    if (!option_reject_unused(in, rows, e))
        return false;
    c->target = (struct peer_target){ .argv = in->server, .env = env->env };
    if (remote->url)
        c->target.remote = remote;
    c->source = str_z(c->recording);
    return c->recording || start_redaction(c, env, e);
}

static bool open_reports(struct lock_command *c, struct err *e)
{
    const struct report_files_target target = report_target(c);

    return report_files_parse(&c->reports, &c->args->report, e) &&
           report_files_check(&c->reports, &target, c->path, e) &&
           report_files_check(&c->reports, &target, c->recording, e) &&
           report_files_check(&c->reports, &target, c->args->calls, e);
}

static void release_command(struct lock_command *c)
{
    report_files_release(&c->reports);
    if (c->redaction_config.app)
        verify_redaction_release(&c->redaction);
    compare_rules_release(&c->rules);
    surface_release(&c->locked);
    surface_release(&c->current);
    buf_release(&c->text);
    arena_release(&c->arena);
}

static int lock_run(const struct app *app, const void *options, const struct operands *in,
                    struct err *e)
{
    const struct lock_args *args = options;
    struct lock_command c = { .app = app,
                              .args = args,
                              .path = in->at[0],
                              .recording = in->count > 1 ? in->at[1] : NULL };
    struct remote_config remote = { 0 };
    struct server_env env = { .env = NULL };
    int code;

    compare_rules_init(&c.rules);
    surface_init(&c.locked);
    surface_init(&c.current);
    buf_init(&c.text, TEXT_MAX);
    report_files_init(&c.reports, NULL);
    if (read_version(&c, e) && remote_config_read(&remote, app, &args->remote, e) &&
        server_env_read(&env, app, &args->target_env, e) &&
        choose_source(&c, in, &remote, &env, e) && read_rules(&c, e) && open_reports(&c, e))
        code = args->check ? check_lock(&c, e) : write_lock(&c, e);
    else
        code = app_exit_code(e);
    verify_redaction_redact_err(&c.redaction, e);
    release_command(&c);
    server_env_release(&env);
    remote_config_release(&remote);
    return code;
}

static const char *const lock_usage[] = { "[options] FILE -- COMMAND [ARGS…]",
                                          "[options] --url URL FILE",
                                          "[options] FILE RECORDING",
                                          "--check [options] FILE …", NULL };

static const struct command_example lock_examples[] = {
    { "mcpreel lock mcp.lock.json -- node server.js",
      "write the server's tools, prompts and resources to a file for review" },
    { "mcpreel lock --check mcp.lock.json -- node server.js",
      "compare the server with the file; exit code 1 for breaking changes" },
    { "mcpreel lock --check mcp.lock.json session.jsonl",
      "compare the lists in a recording with the file" },
    { "mcpreel lock --check --calls a.jsonl mcp.lock.json -- node server.js",
      "count the recorded calls that each change affects" },
    { 0 },
};

const struct command cmd_lock = {
    .name = "lock",
    .summary = "write a server's surface to a file, and check it",
    .usage = lock_usage,
    .about =
        "Writes all that a server tells its clients to FILE: tools, prompts, resources, "
        "resource templates, capabilities, version and instructions, with complete "
        "definitions, "
        "sorted, one line for each value. The server is started or contacted for it, or its "
        "surface is taken from a recording. All pages of all lists are read; no tool is "
        "called. "
        "An existing lock file is replaced.\n\n"
        "With --check, compares a server, a recording or another lock file with FILE. Each "
        "change has a rule and a severity: breaking, security, risky, routing (a model may "
        "choose differently), safe or cosmetic. docs/contract-rules.md lists the rules.\n\n"
        "Exit code 0: written, or no change of the severity of --fail-on; 1: there is one; 3: "
        "a file cannot be used; 4: the server could not be started, reached or spoken to.",
    .examples = lock_examples,
    .options = lock_options,
    .args_size = sizeof(struct lock_args),
    .operand = "FILE",
    .min = 1,
    .max = 2,
    .server = true,
    .run = lock_run,
};
