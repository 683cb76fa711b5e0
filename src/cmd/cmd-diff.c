/* cmd/cmd-diff.c - the diff command: compares the calls and the servers of two recordings, or a
 * server with a recording. */
#include "base/term.h"
#include "cmd/call-filter.h"
#include "cmd/command.h"
#include "cmd/contract-options.h"
#include "cmd/remote-options.h"
#include "cmd/rules-options.h"
#include "cmd/server-env.h"
#include "cmd/verify-redaction.h"
#include "diff/call-diff.h"
#include "diff/recorded-surface.h"
#include "format/message-file.h"
#include "report/contract-json.h"
#include "report/contract-text.h"
#include "report/diff-json.h"
#include "report/diff-text.h"
#include "report/report-files.h"
#include "runtime/fetch-surface.h"
#include "runtime/git-file.h"
#include "runtime/pager.h"

enum { TEXT_MAX = 512 << 20, FLUSH = 1 << 20, US_PER_MS = 1000 };

struct diff_args {
    const char *git, *only, *skip;
    struct rules_args rules;
    struct str_list volatile_paths, report, target_env;
    int64_t latency_us, latency_percent, timeout_us, wait_ready_us;
    int fail_on, profile;
    bool exit_code, force, no_pager;
    struct remote_config_args remote;
    struct redaction_args redaction;
};

#define COMPARISON_GROUP "Comparison"
#define SERVER_GROUP "A live server"

static const struct option diff_options[] = {
    { .name = "exit-code",
      .type = OPTION_FLAG,
      .offset = offsetof(struct diff_args, exit_code),
      .help = "exit with 1 if anything differs but latencies" },
    { .name = "fail-on",
      .arg = "SEVERITY",
      .type = OPTION_CHOICE,
      .preset = "never",
      .choices = contract_options_fail_on,
      .offset = offsetof(struct diff_args, fail_on),
      .help = "exit with 1 if there are changes of this severity and above; breaking-used: "
              "breaking changes of the contract that recorded calls are affected by, and calls "
              "that break" },
    { .name = "profile",
      .arg = "PROFILE",
      .type = OPTION_CHOICE,
      .preset = "contract",
      .choices = contract_options_profiles,
      .offset = offsetof(struct diff_args, profile),
      .help = "wire: only breaking and risky changes; surface: what a model sees counts more" },
    { .name = "git",
      .arg = "REVISION",
      .type = OPTION_STRING,
      .no_env = true,
      .offset = offsetof(struct diff_args, git),
      .help = "compare FILE with its version in this git revision" },
    { .name = "only",
      .arg = "FILTER",
      .type = OPTION_STRING,
      .offset = offsetof(struct diff_args, only),
      .help = "compare only calls that match FILTER (mcpreel help filters)" },
    { .name = "skip",
      .arg = "FILTER",
      .type = OPTION_STRING,
      .offset = offsetof(struct diff_args, skip),
      .help = "do not compare calls that match FILTER" },
    { .name = "report",
      .arg = "[FORMAT=]FILE",
      .type = OPTION_LIST,
      .paths = true,
      .offset = offsetof(struct diff_args, report),
      .help = "write a report; FORMAT: json (if not given), junit, github, markdown or sarif; "
              "'-' is standard output" },
    { .name = "force",
      .type = OPTION_FLAG,
      .offset = offsetof(struct diff_args, force),
      .help = "replace reports that exist" },
    { .name = "no-pager",
      .type = OPTION_FLAG,
      .offset = offsetof(struct diff_args, no_pager),
      .help = "do not show long text with a pager ($MCPREEL_PAGER, $PAGER, less)" },
    RULES_OPTIONS(struct diff_args, rules, COMPARISON_GROUP, "$.result..etag"),
    { .name = "volatile",
      .arg = "on|off|PATH",
      .type = OPTION_LIST,
      .group = COMPARISON_GROUP,
      .offset = offsetof(struct diff_args, volatile_paths),
      .help = "off: times, ids and other values that change from run to run must be equal; "
              "PATH: the value there may differ, too" },
    { .name = "latency",
      .arg = "TIME",
      .type = OPTION_DURATION,
      .preset = "100ms",
      .group = COMPARISON_GROUP,
      .offset = offsetof(struct diff_args, latency_us),
      .help = "show a latency that differs by at least TIME and --latency-percent" },
    { .name = "latency-percent",
      .arg = "N",
      .type = OPTION_INT,
      .min = 1,
      .max = 1000000,
      .preset = "100",
      .group = COMPARISON_GROUP,
      .offset = offsetof(struct diff_args, latency_percent),
      .help = "the same as a percentage of the smaller latency; 100: twice as long" },
    { .name = "timeout",
      .arg = "TIME",
      .type = OPTION_DURATION,
      .preset = "30s",
      .group = SERVER_GROUP,
      .offset = offsetof(struct diff_args, timeout_us),
      .help = "maximum wait for each response" },
    { .name = "wait-ready",
      .arg = "TIME",
      .type = OPTION_DURATION,
      .preset = "0",
      .group = SERVER_GROUP,
      .offset = offsetof(struct diff_args, wait_ready_us),
      .help = "wait this long until a server at a URL can be reached" },
    { .name = "target-env",
      .arg = "NAME=VALUE",
      .type = OPTION_LIST,
      .group = SERVER_GROUP,
      .offset = offsetof(struct diff_args, target_env),
      .help = "the server has this in its environment" },
    REMOTE_OPTIONS_URL(struct diff_args, remote,
                       "the server is at URL; /mcp if it has no path"),
    REMOTE_OPTIONS(struct diff_args, remote),
    REDACTION_OPTIONS(struct diff_args, redaction),
    { 0 },
};

enum diff_source {
    DIFF_RECORDING,
    DIFF_LOCK, /* a lock file: no calls */
    DIFF_LIVE, /* a server: no calls */
};

/* One of the two sides. */
struct diff_side {
    struct str name; /* for people */
    enum diff_source source;
    const char *path;       /* as it can be opened; NULL for DIFF_LIVE */
    struct surface surface; /* empty: it has no contract */
    struct message_file file;
    struct index index;
    struct call_list calls;
    bool is_open;      /* `file`, `index` and `calls` have to be released */
    struct str reason; /* why there is no contract; empty: no lists */
};

enum { BEFORE, AFTER };

/* State of one run of the command. */
struct diff_command {
    const struct app *app;
    const struct diff_args *args;
    struct compare_rules rules;
    struct call_filter filter;
    struct diff_side sides[2];
    struct git_file git;       /* with --git: the content of the first side */
    struct peer_target target; /* of DIFF_LIVE */
    struct verify_redaction_config redaction_config;
    struct verify_redaction redaction; /* of DIFF_LIVE */
    struct contract_changes changes;
    struct contract_traffic traffic;
    struct contract_report contract; /* `before` is NULL: no contract was compared */
    bool contract_failed;            /* by --fail-on */
    bool compares_calls;             /* both sides are recordings */
    struct call_diff_totals totals;
    struct pager pager;
    struct buf text;      /* output that is not written yet */
    struct buf json_text; /* with --json, and for reports */
    struct json_out json;
    struct report_files reports;
    uint32_t reported;                   /* calls given to the reports */
    struct call_verdict_totals verdicts; /* of these */
    struct arena arena;
};

/* Reading. */

static const char *tmp_dir(const struct app *app)
{
    const char *dir = app_env(app, "TMPDIR");

    return dir ? dir : "/tmp";
}

/* Sessions with different lists have no common contract; their calls are still compared. */
static void read_surface(struct diff_command *c, struct diff_side *s)
{
    struct err e = ERR_NONE;

    if (recorded_surface_read(&s->surface, &s->index, 0, &e))
        return;
    s->reason = arena_str(&c->arena, str_z(e.msg));
    surface_release(&s->surface);
    surface_init(&s->surface);
}

static bool read_recording(struct diff_command *c, struct diff_side *s, struct err *e)
{
    const struct params_rules rules = { .include_meta = c->rules.include_meta,
                                        .ignore = &c->rules };

    if (!message_file_open(&s->file, c->app->sys, s->path, tmp_dir(c->app), c->app->log, e)) {
        message_file_close(&s->file);
        return false;
    }
    s->is_open = true;
    call_list_init(&s->calls, &s->index);
    index_init(&s->index, &s->file.store, &rules, &s->calls.observer);
    s->file.keep_lines = s->index.keeps_lines = true;
    if (!message_file_read_all(&s->file, &s->index.sink, e))
        return false;
    index_finish(&s->index);
    read_surface(c, s);
    return true;
}

static void release_side(struct diff_side *s)
{
    surface_release(&s->surface);
    if (!s->is_open)
        return;
    call_list_release(&s->calls);
    index_release(&s->index);
    message_file_close(&s->file);
}

struct selection {
    const struct diff_command *command;
    const struct index *index;
    struct index_message message;
};

static bool is_selected(void *arg, uint32_t call, bool *is, struct err *e)
{
    struct selection *s = arg;
    struct json_val request;
    struct str why;

    if (!index_read_call(s->index, call, &s->message, &request, e))
        return false;
    *is = call_filter_selects(&s->command->filter, s->index, call, request, &why);
    return true;
}

static bool select_calls(struct diff_command *c, struct diff_side *side, struct err *e)
{
    struct selection s = { .command = c, .index = &side->index };
    bool ok;

    if (!call_filter_is_given(&c->filter))
        return true;
    index_message_init(&s.message);
    ok = call_list_select(&side->calls, is_selected, &s, e);
    index_message_release(&s.message);
    return ok;
}

static bool read_side(struct diff_command *c, struct diff_side *s, struct err *e)
{
    const struct fetch_surface fetch = { .app = &c->redaction.app,
                                         .target = &c->target,
                                         .redactor = &c->redaction.redaction.redactor,
                                         .timeout_us = c->args->timeout_us,
                                         .wait_ready_us = c->args->wait_ready_us };

    if (s->source == DIFF_LIVE)
        return fetch_surface_run(&fetch, &s->surface, e);
    if (s->source == DIFF_LOCK)
        return contract_options_read_lock(c->app, s->path, &s->surface, e);
    return read_recording(c, s, e) && select_calls(c, s, e);
}

static bool read_sides(struct diff_command *c, struct err *e)
{
    if (!read_side(c, &c->sides[BEFORE], e))
        return c->args->git ? err_wrap(e, "cannot read '%.*s'", STR_ARG(c->sides[BEFORE].name))
                            : false;
    return read_side(c, &c->sides[AFTER], e);
}

/* The contract. */

static bool has_contract(const struct diff_side *s)
{
    return !surface_is_empty(&s->surface);
}

/* Counts the recorded calls of the first side that the changes affect. */
static bool judge_calls(struct diff_command *c, struct err *e)
{
    if (c->sides[BEFORE].source != DIFF_RECORDING)
        return true;
    c->contract.traffic = &c->traffic;
    if (!contract_traffic_add_index(&c->traffic, &c->sides[BEFORE].index, e))
        return false;
    contract_traffic_end(&c->traffic);
    return true;
}

/* Lines in reports are those of the file that clients rely on; with --git those of its current
 * version, which a review shows. */
static const struct diff_side *located_side(const struct diff_command *c)
{
    return &c->sides[c->args->git ? AFTER : BEFORE];
}

/* A thing that is not there any more is reported at the first line. */
static void locate_in_after(struct diff_command *c)
{
    const struct surface *after = &c->sides[AFTER].surface;

    for (size_t i = 0; i < c->changes.count; i++) {
        struct contract_change *change = &c->changes.at[i];
        const struct surface_item *item = change->kind == SURFACE_SERVER
                                              ? NULL
                                              : surface_find(after, change->kind, change->name);

        change->finding.line = item                             ? item->line
                               : change->kind == SURFACE_SERVER ? after->server_line
                                                                : 1;
        change->finding.file = c->changes.file;
    }
}

/* A side without its lists cannot pass --fail-on: a change of them is not known. */
static bool check_contracts(const struct diff_command *c, struct err *e)
{
    const struct diff_side *before = &c->sides[BEFORE], *after = &c->sides[AFTER];

    if (c->args->fail_on == FAIL_ON_NEVER)
        return true;
    for (int side = BEFORE; side <= AFTER; side++) {
        const struct diff_side *s = &c->sides[side];

        if (!s->reason.len)
            continue;
        err_set(e, ERR_INPUT, "cannot use '%.*s' with '--fail-on': %.*s", STR_ARG(s->name),
                STR_ARG(s->reason));
        return err_hint(e, "record each server in its own file, or leave out '--fail-on'");
    }
    return contract_options_check_lists(&before->surface, &after->surface, after->name,
                                        after->source == DIFF_LIVE, e);
}

static bool compare_contracts(struct diff_command *c, struct err *e)
{
    const struct surface *before = &c->sides[BEFORE].surface, *after = &c->sides[AFTER].surface;
    enum contract_fail_on fail_on = (enum contract_fail_on)c->args->fail_on;

    if (!has_contract(&c->sides[BEFORE]) || !has_contract(&c->sides[AFTER]))
        return true;
    c->contract = (struct contract_report){ .before_name = c->sides[BEFORE].name,
                                            .after_name = c->sides[AFTER].name,
                                            .before = before,
                                            .after = after,
                                            .changes = &c->changes,
                                            .fail_on = fail_on,
                                            .breaking_is_error = true };
    c->changes.file = located_side(c)->name;
    contract_options_warn(c->app, before, c->sides[BEFORE].name);
    contract_options_warn(c->app, after, c->sides[AFTER].name);
    contract_compare(&c->changes, before, after);
    if (c->args->git)
        locate_in_after(c);
    contract_traffic_init(&c->traffic, &c->changes, before, after);
    if (!judge_calls(c, e))
        return false;
    contract_options_allow(c->app, &c->changes, &c->rules);
    c->contract_failed =
        contract_decide(&c->changes, fail_on) || contract_traffic_fails(&c->traffic, fail_on);
    return true;
}

/* Whether the contract has a change that is not allowed. */
static bool contract_differs(const struct diff_command *c)
{
    for (size_t i = 0; i < c->changes.count; i++)
        if (!c->changes.at[i].allowed)
            return true;
    return false;
}

/* Output. */

static struct diff_text_options text_options(const struct diff_command *c)
{
    return (struct diff_text_options){ .width = c->app->columns,
                                       .color = c->app->color,
                                       .verbose = c->app->verbose > 0 };
}

static bool flush(struct diff_command *c, struct err *e)
{
    bool ok = buf_ok(&c->text, e) && pager_write(&c->pager, buf_str(&c->text), e);

    buf_clear(&c->text);
    return ok;
}

static bool needs_json(const struct diff_command *c)
{
    return c->app->json || c->reports.count;
}

/* Says why no contract was compared. */
static void add_missing_contract(struct diff_command *c, const char *letter,
                                 const struct diff_side *s)
{
    if (has_contract(s))
        return;
    buf_printf(&c->text, "no contract on side %s: ", letter);
    term_escape(&c->text, s->reason.len ? s->reason : s->name, TERM_ONE_LINE);
    buf_add(&c->text, s->reason.len ? STR("\n") : STR(" has no lists\n"));
}

static void add_missing_contracts(struct diff_command *c)
{
    const struct diff_side *before = &c->sides[BEFORE], *after = &c->sides[AFTER];

    if (!has_contract(before) && !has_contract(after) && !before->reason.len &&
        !after->reason.len) {
        buf_add(&c->text, STR("no contract on either side: there are no lists\n"));
        return;
    }
    add_missing_contract(c, "A", before);
    add_missing_contract(c, "B", after);
}

/* How many calls are affected is worth a line if a change is breaking, or rejects some. */
static bool shows_traffic(const struct diff_command *c)
{
    uint64_t counts[CONTRACT_SEVERITIES];

    contract_report_count(&c->contract, counts);
    return counts[CONTRACT_BREAKING] || c->traffic.affected || c->traffic.unattributed_results;
}

static void add_contract(struct diff_command *c)
{
    struct contract_report shown = c->contract;
    const struct contract_text_options options = { .color = c->app->color,
                                                   .width = c->app->columns };

    if (!c->contract.before) {
        add_missing_contracts(c);
        return;
    }
    if (!shows_traffic(c))
        shown.traffic = NULL;
    buf_add(&c->text, STR("contract: "));
    contract_report_write_counts(&c->text, &shown);
    buf_add_ch(&c->text, '\n');
    contract_text_write_changes(&c->text, &shown, &options);
}

static void begin_text(struct diff_command *c)
{
    term_escape(&c->text, c->sides[BEFORE].name, TERM_ONE_LINE);
    buf_add(&c->text, STR(" → "));
    term_escape(&c->text, c->sides[AFTER].name, TERM_ONE_LINE);
    buf_add(&c->text, STR("\n\n"));
    add_contract(c);
    if (c->compares_calls)
        buf_add_ch(&c->text, '\n');
}

static void begin_json(struct diff_command *c)
{
    c->json = json_out_to(&c->json_text);
    json_out_object(&c->json);
    json_out_key_int(&c->json, STR("v"), JSON_OUTPUT_VERSION);
    json_out_key_str(&c->json, STR("command"), STR("diff"));
    json_out_key_str(&c->json, STR("before"), c->sides[BEFORE].name);
    json_out_key_str(&c->json, STR("after"), c->sides[AFTER].name);
    json_out_key(&c->json, STR("contract"));
    if (c->contract.before) {
        json_out_object(&c->json);
        contract_json_write_members(&c->json, &c->contract);
        json_out_end_object(&c->json);
    } else {
        json_out_null(&c->json);
    }
    json_out_key(&c->json, STR("calls"));
    json_out_array(&c->json);
}

static void end_json(struct diff_command *c, int code)
{
    json_out_end_array(&c->json);
    json_out_key(&c->json, STR("totals"));
    if (c->compares_calls)
        diff_json_write_totals(&c->json, &c->totals);
    else
        json_out_null(&c->json);
    json_out_key_int(&c->json, STR("exit_code"), code);
    json_out_end_object(&c->json);
    buf_add_ch(&c->json_text, '\n');
}

static void begin_output(struct diff_command *c)
{
    if (!c->app->json)
        begin_text(c);
    if (needs_json(c))
        begin_json(c);
}

static bool end_output(struct diff_command *c, int code, struct err *e)
{
    if (needs_json(c))
        end_json(c, code);
    if (c->app->json)
        return buf_ok(&c->json_text, e) && app_write(c->app, buf_str(&c->json_text), e);
    if (c->compares_calls) {
        if (call_diff_is_different(&c->totals) || c->totals.slower || c->totals.faster)
            buf_add_ch(&c->text, '\n');
        diff_text_write_totals(&c->text, &c->totals);
    }
    return flush(c, e);
}

static struct finding single_finding(const struct call_diff_entry *entry)
{
    bool added = entry->status == CALL_DIFF_ADDED;

    return (struct finding){ .rule = added ? STR("call-added") : STR("call-removed"),
                             .severity = FINDING_ERROR,
                             .message = added ? STR("the call is only in the second recording")
                                              : STR("the call is only in the first recording"),
                             .seq = added ? 0 : entry->before.seq };
}

/* Gives an entry to the files of --report, as a verdict. */
static void report_entry(struct diff_command *c, const struct call_diff_entry *entry)
{
    bool single = !entry->before.seq || !entry->after.seq;
    struct finding only = single_finding(entry);
    struct call_verdict v = { .number = ++c->reported,
                              .session = 1,
                              .seq = entry->before.seq ? entry->before.seq : entry->after.seq,
                              .line = c->args->git ? entry->after.line : entry->before.line,
                              .method = entry->method,
                              .subject = entry->subject,
                              .duration_us = entry->after.latency_ms >= 0
                                                 ? entry->after.latency_ms * US_PER_MS
                                                 : -1,
                              .findings = single ? &only : entry->findings,
                              .finding_count = single ? 1 : entry->finding_count,
                              .volatile_count = entry->volatile_count,
                              .ignored_count = entry->ignored_count };

    v.kind = entry->status != CALL_DIFF_SAME ? VERDICT_FAILED
             : entry->volatile_count         ? VERDICT_VOLATILE
                                             : VERDICT_PASSED;
    v.failure = v.kind == VERDICT_FAILED ? FAILURE_CONTENT : FAILURE_NONE;
    c->verdicts.count[v.kind]++;
    c->verdicts.findings[FINDING_ERROR] += v.finding_count;
    c->reports.report.verdict(&c->reports.report, &v);
}

static bool on_entry(void *arg, const struct call_diff_entry *entry, struct err *e)
{
    const struct diff_text_options options = text_options(arg);
    struct diff_command *c = arg;

    if (!c->app->json)
        diff_text_write_entry(&c->text, entry, &options);
    if (needs_json(c))
        diff_json_write_entry(&c->json, entry);
    if (c->reports.count)
        report_entry(c, entry);
    return c->text.len < FLUSH || flush(c, e);
}

/* Reports. */

static bool write_stdout(const void *app, struct str text, struct err *e)
{
    return app_write(app, text, e);
}

static struct report_files_target report_target(const struct diff_command *c)
{
    return (struct report_files_target){ .sys = c->app->sys,
                                         .replace = c->args->force,
                                         .write_stdout = write_stdout,
                                         .arg = c->app };
}

static bool open_reports(struct diff_command *c, struct err *e)
{
    const struct report_files_target target = report_target(c);

    return report_files_parse(&c->reports, &c->args->report, e) &&
           report_files_check(&c->reports, &target, c->sides[BEFORE].path, e) &&
           report_files_check(&c->reports, &target, c->sides[AFTER].path, e);
}

/* The changes of the contract come before the calls. */
static void begin_reports(struct diff_command *c, struct verdict_report_run *run)
{
    struct buf verdict;

    *run = (struct verdict_report_run){ .command = STR("diff"),
                                        .file = c->sides[BEFORE].name,
                                        .lines_of = located_side(c)->name,
                                        .target = c->sides[AFTER].name,
                                        .no_calls = !c->compares_calls };
    if (!c->reports.count)
        return;
    if (c->contract.before) {
        buf_init(&verdict, 256);
        contract_report_write_counts(&verdict, &c->contract);
        run->verdict = arena_printf(&c->arena, "%.*s", STR_ARG(buf_str(&verdict)));
        buf_release(&verdict);
    }
    c->reports.report.begin(&c->reports.report, run);
    if (c->contract.before)
        contract_report_give_changes(&c->contract, &c->verdicts, &c->reports.report);
}

/* Returns the command that accepts the changes of a lock file; empty: there is none. The
 * current version of a file that git has needs none. */
static struct str accept_command(struct diff_command *c)
{
    const struct diff_side *before = &c->sides[BEFORE], *after = &c->sides[AFTER];
    const struct contract_options_accept accept = { .app = c->app,
                                                    .lock = before->path,
                                                    .file = after->path,
                                                    .target = &c->target,
                                                    .source = after->name };

    if (before->source != DIFF_LOCK || c->args->git || !c->changes.count)
        return STR_NONE;
    return contract_options_accept(&accept, &c->arena);
}

static bool end_reports(struct diff_command *c, int code, struct err *e)
{
    const struct report_files_target target = report_target(c);
    const struct verdict_report_step accept = { STR("accept"), accept_command(c) };
    struct verdict_report_result result = { .totals = &c->verdicts,
                                            .exit_code = code,
                                            .steps = &accept,
                                            .step_count = accept.command.len != 0 };

    if (!c->reports.count)
        return true;
    c->verdicts.duration_us = -1;
    c->reports.report.end(&c->reports.report, &result);
    report_files_set_json(&c->reports, buf_str(&c->json_text));
    return report_files_write(&c->reports, &target, e);
}

/* Whether the contract compared a list. */
static bool compares_list(const struct diff_command *c, enum surface_kind kind)
{
    return c->contract.before && c->contract.before->lists[kind].known &&
           c->contract.after->lists[kind].known;
}

static bool compare_calls(struct diff_command *c, struct err *e)
{
    struct call_diff diff = { .before = &c->sides[BEFORE].calls,
                              .after = &c->sides[AFTER].calls,
                              .rules = &c->rules,
                              .latency_ms = c->args->latency_us / US_PER_MS,
                              .latency_percent = (uint64_t)c->args->latency_percent,
                              .all_subjects = report_files_need_verdicts(&c->reports),
                              .found = on_entry,
                              .arg = c };

    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++)
        diff.skip_lists[k] = compares_list(c, k);
    return !c->compares_calls || call_diff_run(&diff, &c->totals, e);
}

static int exit_code_of(const struct diff_command *c)
{
    bool differs = call_diff_is_different(&c->totals) || contract_differs(c);
    bool breaks = c->totals.breaking && c->args->fail_on != FAIL_ON_NEVER;

    return c->contract_failed || breaks || (c->args->exit_code && differs) ? EXIT_FINDINGS
                                                                           : EXIT_OK;
}

/* Compares and writes the result. */
static int compare(struct diff_command *c, struct err *e)
{
    struct verdict_report_run run;
    int code = EXIT_OK;
    bool ok;

    if (!check_contracts(c, e) || !compare_contracts(c, e))
        return app_exit_code(e);
    pager_begin(&c->pager, c->app, !c->args->no_pager);
    begin_reports(c, &run);
    begin_output(c);
    ok = compare_calls(c, e);
    code = exit_code_of(c);
    ok = ok && end_output(c, code, e);
    pager_end(&c->pager);
    ok = ok && end_reports(c, code, e);
    return ok ? code : app_exit_code(e);
}

/* Options. */

static bool read_rules(struct diff_command *c, struct err *e)
{
    const struct str_list *paths = &c->args->volatile_paths;

    if (!rules_options_read(&c->rules, c->app, &c->args->rules, e))
        return false;
    for (size_t i = 0; i < paths->count; i++)
        if (!compare_rules_set_volatile(&c->rules, str_z(paths->at[i]), e))
            return err_wrap(e, "option '--volatile'");
    return contract_check_allow(&c->rules, e);
}

/* Checks that there are exactly two sides, one of them at least a file. */
static bool check_count(const struct diff_command *c, const struct operands *in,
                        const struct remote_config *remote, struct err *e)
{
    size_t sides =
        in->count + (c->args->git != NULL) + (in->server != NULL) + (remote->url != NULL);

    if (sides == 2 && in->count)
        return true;
    if (!in->count)
        err_set(e, ERR_USAGE, "no recording or lock file to compare");
    else if (sides < 2)
        err_set(e, ERR_USAGE, "nothing to compare '%s' with", in->at[0]);
    else
        err_set(e, ERR_USAGE, "'%s' and more than one other side", in->at[0]);
    return err_hint(e, "mcpreel diff before.jsonl after.jsonl\n"
                       "mcpreel diff --git HEAD session.jsonl\n"
                       "mcpreel diff session.jsonl -- COMMAND\n"
                       "mcpreel diff --url URL session.jsonl");
}

static void set_file(struct diff_command *c, struct diff_side *s, const char *path,
                     struct str name)
{
    s->path = path;
    s->name = name;
    s->source = contract_options_is_lock(c->app, path) ? DIFF_LOCK : DIFF_RECORDING;
}

static bool set_server(struct diff_command *c, const struct operands *in,
                       const struct remote_config *remote, const struct server_env *env,
                       struct err *e)
{
    struct diff_side *s = &c->sides[AFTER];

    s->source = DIFF_LIVE;
    c->target = (struct peer_target){ .argv = in->server, .env = env->env };
    if (remote->url)
        c->target.remote = remote;
    c->redaction_config = (struct verify_redaction_config){ .app = c->app,
                                                            .args = &c->args->redaction,
                                                            .argv = in->server,
                                                            .remote = c->target.remote,
                                                            .env = env };
    verify_redaction_init(&c->redaction, &c->redaction_config, NULL);
    if (!verify_redaction_start(&c->redaction, NULL, e))
        return false;
    s->name = verify_redaction_target(&c->redaction);
    return true;
}

/* Rejects options that have no effect on these sides. */
static bool check_options(struct diff_command *c, const struct operands *in,
                          const struct remote_config *remote, struct err *e)
{
    bool live = c->sides[AFTER].source == DIFF_LIVE;
    const struct option_unused rows[] = {
        REMOTE_OPTIONS_UNUSED(remote),
        { "wait-ready", "'--url'", !remote->url },
        { "target-env", "a command", !in->server },
        { "timeout", "a command or '--url'", !live },
        { "redact-env", "a command or '--url'", !live },
        { "redact-patterns", "a command or '--url'", !live },
        { "redact-members", "a command or '--url'", !live },
        { "redact-server-url", "a command or '--url'", !live },
        { "redact-defaults", "a command or '--url'", !live },
        { "only", "two recordings", !c->compares_calls },
        { "skip", "two recordings", !c->compares_calls },
        { "latency", "two recordings", !c->compares_calls },
        { "latency-percent", "two recordings", !c->compares_calls },
        { 0 },
    };

    if (c->args->fail_on == FAIL_ON_BREAKING_USED && c->sides[BEFORE].source != DIFF_RECORDING)
        return err_set(
            e, ERR_USAGE,
            "'--fail-on breaking-used' needs a recording with calls, not a lock file");
    return option_reject_unused(in, rows, e);
}

/* Sets the sources of both sides. */
static bool choose_sides(struct diff_command *c, const struct operands *in,
                         const struct remote_config *remote, const struct server_env *env,
                         struct err *e)
{
    const char *git = c->args->git, *last;

    if (!check_count(c, in, remote, e))
        return false;
    last = in->at[in->count - 1];
    for (size_t i = 0; i < in->count; i++)
        if (file_is_stdio(in->at[i]))
            return err_set(e, ERR_USAGE, "cannot read a recording from standard input");
    if (git) {
        if (!git_file_open(&c->git, c->app, git, last, tmp_dir(c->app), e))
            return false;
        set_file(c, &c->sides[BEFORE], c->git.path, c->git.name);
    } else {
        set_file(c, &c->sides[BEFORE], in->at[0], str_z(in->at[0]));
    }
    if (in->server || remote->url) {
        if (!set_server(c, in, remote, env, e))
            return false;
    } else {
        set_file(c, &c->sides[AFTER], last, str_z(last));
    }
    c->compares_calls =
        c->sides[BEFORE].source == DIFF_RECORDING && c->sides[AFTER].source == DIFF_RECORDING;
    return check_options(c, in, remote, e);
}

static void init_command(struct diff_command *c)
{
    compare_rules_init(&c->rules);
    buf_init(&c->text, TEXT_MAX);
    buf_init(&c->json_text, TEXT_MAX);
    report_files_init(&c->reports, NULL);
    surface_init(&c->sides[BEFORE].surface);
    surface_init(&c->sides[AFTER].surface);
    contract_changes_init(&c->changes, (enum contract_profile)c->args->profile, STR_NONE);
}

static void release_command(struct diff_command *c)
{
    if (c->contract.before)
        contract_traffic_release(&c->traffic);
    contract_changes_release(&c->changes);
    release_side(&c->sides[BEFORE]);
    release_side(&c->sides[AFTER]);
    git_file_release(&c->git);
    if (c->redaction_config.app)
        verify_redaction_release(&c->redaction);
    report_files_release(&c->reports);
    call_filter_release(&c->filter);
    compare_rules_release(&c->rules);
    buf_release(&c->text);
    buf_release(&c->json_text);
    arena_release(&c->arena);
}

static int diff_run(const struct app *app, const void *options, const struct operands *in,
                    struct err *e)
{
    struct diff_command c = { .app = app, .args = options, .git = { .copy = FILE_CLOSED } };
    struct remote_config remote = { 0 };
    struct server_env env = { .env = NULL };
    int code;

    init_command(&c);
    if (remote_config_read(&remote, app, &c.args->remote, e) &&
        server_env_read(&env, app, &c.args->target_env, e) &&
        call_filter_read(&c.filter, c.args->only, c.args->skip, e) && read_rules(&c, e) &&
        choose_sides(&c, in, &remote, &env, e) && open_reports(&c, e) && read_sides(&c, e))
        code = compare(&c, e);
    else
        code = app_exit_code(e);
    verify_redaction_redact_err(&c.redaction, e);
    release_command(&c);
    server_env_release(&env);
    remote_config_release(&remote);
    return code;
}

static const char *const diff_usage[] = { "[options] BEFORE AFTER",
                                          "[options] --git REVISION FILE",
                                          "[options] FILE -- COMMAND [ARGS…]",
                                          "[options] --url URL FILE", NULL };

static const struct command_example diff_examples[] = {
    { "mcpreel diff a.jsonl b.jsonl", "list the calls that differ, and how" },
    { "mcpreel diff --exit-code --only 'tool:search' a.jsonl b.jsonl",
      "compare calls of one tool; exit code 1 if they differ" },
    { "mcpreel diff --git HEAD session.jsonl",
      "compare a recording with its committed version" },
    { "mcpreel diff --fail-on breaking session.jsonl -- node server.js",
      "compare the tools of a server with the recorded ones" },
    { 0 },
};

const struct command cmd_diff = {
    .name = "diff",
    .summary = "compare two recordings",
    .usage = diff_usage,
    .about =
        "Compares two recordings, in any formats: the contract of the servers, and the calls. "
        "The contract is all that a server tells its clients: tools, prompts, resources, "
        "capabilities. Each change of it has a rule and a severity (docs/contract-rules.md), "
        "and "
        "the number of recorded calls that it affects.\n\n"
        "Calls with the same method, name and arguments belong together, in the order in which "
        "they were made: a call is added, removed, changed, moved or the same. A changed call "
        "is shown with each difference of its response and the path to it. Values that change "
        "from run to run (times, ids) do not count, as in verify. A change is breaking if the "
        "call had a result before and fails now or has no response, or if the content of a "
        "tool "
        "has other types.\n\n"
        "In place of the second recording, a server can be named: then its lists are read, no "
        "tool is called, and the contracts are compared. A file may also be a lock file.\n\n"
        "Exit code 0, also if there are differences; with --exit-code 1 if there are any, with "
        "--fail-on if there are changes of that severity; 3: a file cannot be used; 4: "
        "the server could not be started, reached or spoken to.",
    .examples = diff_examples,
    .options = diff_options,
    .args_size = sizeof(struct diff_args),
    .operand = "FILE",
    .min = 0,
    .max = 2,
    .server = true,
    .run = diff_run,
};
