/* cmd/cmd-replay.c - the replay command: serves a recording in place of its server. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/random.h"
#include "base/shell-split.h"
#include "cmd/command.h"
#include "cmd/listen-options.h"
#include "cmd/match-options.h"
#include "cmd/option.h"
#include "cmd/record-mode.h"
#include "cmd/remote-options.h"
#include "cmd/session-report.h"
#include "format/message-file.h"
#include "replay/http-replay.h"
#include "replay/replay-findings.h"
#include "runtime/run-server.h"

enum { REPORT_MAX = 1 << 24 };

enum order { ORDER_ANY, ORDER_TOTAL };

struct replay_args {
    const char *recording, *cassette, *upstream;
    struct str_list report;
    int on_unmatched, on_exhausted, order;
    double time_scale;
    bool strict_unused, fail_at_end, force, stdio;
    struct match_args match;
    struct record_mode_args record;
    struct listen_config listening;
    struct remote_config_args remote;
};

static const struct option_choice on_unmatched_choices[] = {
    { .name = "error", .value = ON_MISS_ERROR },
    { .name = "warn", .value = ON_MISS_WARN },
    { .name = "passthrough", .value = ON_MISS_PASSTHROUGH },
    { 0 },
};

static const struct option_choice on_exhausted_choices[] = {
    { .name = "error", .value = EXHAUSTED_ERROR },
    { .name = "last", .value = EXHAUSTED_LAST },
    { .name = "cycle", .value = EXHAUSTED_CYCLE },
    { 0 },
};

static const struct option_choice order_choices[] = {
    { .name = "any", .value = ORDER_ANY },
    { .name = "total", .value = ORDER_TOTAL },
    { 0 },
};

static const struct option_choice timing_choices[] = {
    { .name = "instant" },
    { .name = "realistic" },
    { .name = "scaled:" },
    { 0 },
};

/* Parses digits and a point; rejects the other forms that strtod() accepts. */
static bool parse_factor(const char *text, double *out)
{
    char *end;

    if (!*text || text[strspn(text, "0123456789.")])
        return false;
    errno = 0;
    *out = strtod(text, &end);
    return !*end && !errno && isfinite(*out);
}

static bool parse_timing(void *field, const char *text, struct err *e)
{
    struct str word = str_z(text);
    double *pace = field;

    *pace = 0;
    if (str_eq(word, STR("instant")))
        return true;
    if (str_eq(word, STR("realistic"))) {
        *pace = 1;
        return true;
    }
    if (str_starts(word, STR("scaled:")) && parse_factor(text + strlen("scaled:"), pace))
        return true;
    return err_set(e, ERR_USAGE,
                   "'%s' is not instant, realistic or scaled:N with a number N such as 0.5",
                   text);
}

static const struct option replay_options[] = {
    MATCH_OPTIONS(struct replay_args, match),
    { .name = "order",
      .arg = "ORDER",
      .type = OPTION_CHOICE,
      .choices = order_choices,
      .preset = "any",
      .offset = offsetof(struct replay_args, order),
      .help = "total: requests must come exactly in recorded order; implies --match "
              "sequential" },
    { .name = "timing",
      .arg = "TIMING",
      .type = OPTION_CUSTOM,
      .parse = parse_timing,
      .choices = timing_choices,
      .preset = "instant",
      .thoughtjack_env = true,
      .offset = offsetof(struct replay_args, time_scale),
      .help = "respond at once, with the recorded delays, or with N times these: scaled:N" },
    { .name = "on-unmatched",
      .arg = "ACTION",
      .type = OPTION_CHOICE,
      .choices = on_unmatched_choices,
      .thoughtjack_env = true,
      .offset = offsetof(struct replay_args, on_unmatched),
      .help = "for a request without a match: end with exit code 1, continue, or forward it to "
              "the server; default error" },
    { .name = "on-exhausted",
      .arg = "ACTION",
      .type = OPTION_CHOICE,
      .choices = on_exhausted_choices,
      .offset = offsetof(struct replay_args, on_exhausted),
      .help =
          "when all equal recorded requests are used: a miss (lists, reads and polls repeat "
          "their last response), the last response again, or start again with the first; "
          "default error, cycle without sessions (MCP 2026-07-28, or HTTP without session "
          "ids)" },
    { .name = "upstream",
      .arg = "COMMAND",
      .type = OPTION_STRING,
      .thoughtjack_env = true,
      .offset = offsetof(struct replay_args, upstream),
      .help = "the server's command line as one string, instead of '-- COMMAND'" },
    { .name = "fail-at-end",
      .type = OPTION_FLAG,
      .offset = offsetof(struct replay_args, fail_at_end),
      .help = "continue after an unmatched request, and end with exit code 1" },
    { .name = "strict-unused",
      .type = OPTION_FLAG,
      .offset = offsetof(struct replay_args, strict_unused),
      .help = "end with exit code 1 if a recorded request was not used" },
    { .name = "report",
      .arg = "[FORMAT=]FILE",
      .type = OPTION_LIST,
      .paths = true,
      .offset = offsetof(struct replay_args, report),
      .help = "write a report at the end; FORMAT: json (if not given), junit, github, "
              "markdown or sarif" },
    { .name = "force",
      .type = OPTION_FLAG,
      .offset = offsetof(struct replay_args, force),
      .help = "replace reports and a pending file that exist" },
    { .key = 'r',
      .name = "recording",
      .arg = "FILE",
      .type = OPTION_PATH,
      .thoughtjack_env = true,
      .offset = offsetof(struct replay_args, recording),
      .help = "the recording, instead of FILE" },
    { .name = "cassette",
      .arg = "FILE",
      .type = OPTION_PATH,
      .offset = offsetof(struct replay_args, cassette),
      .help = "the recording, replayed like mcp-recorder: over HTTP on port 5555, with "
              "by-request, warn and its errors" },
    { .name = "stdio",
      .type = OPTION_FLAG,
      .offset = offsetof(struct replay_args, stdio),
      .help = "the client is on standard input and output, also with --cassette" },
    LISTEN_OPTIONS(struct replay_args, listening),
    REMOTE_OPTIONS_URL(
        struct replay_args, remote,
        "URL of the server for --on-unmatched passthrough and --record-mode; /mcp if it has no "
        "path"),
    REMOTE_OPTIONS_TARGET(struct replay_args, remote, "the same, in mcp-recorder's spelling"),
    REMOTE_OPTIONS(struct replay_args, remote),
    RECORD_MODE_OPTIONS(struct replay_args, record),
    { 0 },
};

static void step_replay(void *engine, const struct event *ev)
{
    replay_step(engine, ev);
}

static void step_http_replay(void *engine, const struct event *ev)
{
    http_replay_step(engine, ev);
}

/* Chooses the recording: the command line wins over the environment; two on the command line
 * are an error. */
static const char *choose_path(const struct app *app, const struct replay_args *args,
                               const struct operands *in, struct err *e)
{
    const char *option = args->recording, *operand = in->count ? in->at[0] : args->cassette;

    if (option && operand && option_env_has(app->env, "recording", option))
        option = NULL;
    if (!option == !operand || (in->count && args->cassette)) {
        err_set(e, ERR_USAGE,
                option || operand ? "two recordings to replay" : "no recording to replay");
        err_hint(e, "name one: mcpreel replay session.jsonl");
        return NULL;
    }
    if (file_is_stdio(option ? option : operand)) {
        err_set(e, ERR_USAGE, "cannot read the recording from standard input");
        err_hint(e, "the client uses it; name a file");
        return NULL;
    }
    return option ? option : operand;
}

/* Reports that there is no server. */
static bool report_no_server(const struct replay_args *args, struct err *e)
{
    if (args->record.mode > RECORD_MODE_NONE) {
        const char *mode = record_mode_name((enum record_mode)args->record.mode);

        err_set(e, ERR_USAGE, "--record-mode %s needs a server", mode);
        return err_hint(e,
                        "give its command: mcpreel replay --record-mode %s session.jsonl -- "
                        "COMMAND ARGS…\nor its URL: --url URL",
                        mode);
    }
    err_set(e, ERR_USAGE, "--on-unmatched passthrough needs a server");
    return err_hint(e, "give its command: mcpreel replay --on-unmatched passthrough "
                       "session.jsonl -- COMMAND ARGS…\nor its URL: --url URL");
}

/* Chooses the server; an error if there is one without need, or none with need. With
 * --record-mode none it is not used, but may be there. */
static bool choose_upstream(const struct replay_args *args, const struct operands *in,
                            bool needed, struct arena *a, struct peer_target *server,
                            struct err *e)
{
    size_t count = in->server_count;
    bool allowed = needed || args->record.mode == RECORD_MODE_NONE;
    char **words;

    server->argv = in->server;
    if (in->server && args->upstream)
        return err_set(e, ERR_USAGE, "two servers: '--upstream' and the command after '--'");
    if ((in->server || args->upstream) && server->remote)
        return err_set(e, ERR_USAGE, "two servers: a URL and a command");
    if (args->upstream) {
        if (!shell_split(&words, &count, str_z(args->upstream), a, e))
            return err_wrap(e, "cannot parse the command of '--upstream'");
        server->argv = words;
    }
    if (((server->argv && count) || server->remote) && !allowed) {
        err_set(e, ERR_USAGE, "a server was given, but passthrough is off");
        return err_hint(e, "add --on-unmatched passthrough or --record-mode, or leave out the "
                           "server");
    }
    if (needed && (!server->argv || !count) && !server->remote)
        return report_no_server(args, e);
    return true;
}

struct replay_command {
    const struct app *app;      /* its log does not block */
    const struct app *sync_app; /* its log blocks: for the result, which must not be lost */
    const struct replay_args *args;
    const char *path; /* of the recording */
    struct report_files reports;
    struct match_config match;
    struct replay_options options;
    struct peer_target upstream;
    struct message_file message_file;
    struct index index;
    struct http_index http_index;
    struct fuzzy fuzzy;
    struct run_server_listen listen;
    bool over_http;
    enum record_mode record_mode;             /* none, append, or rewrite: record anew */
    struct recording_append *append;          /* NULL: nothing is appended */
    struct replay_report_recording recording; /* for the report */
};

static bool is_sequential(const struct match_options *o)
{
    size_t i = 0;

    while (i < o->tool_count && o->tools[i].mode == MATCH_SEQUENTIAL)
        i++;
    return o->mode == MATCH_SEQUENTIAL && i == o->tool_count;
}

/* `seed`: the recording was given with --recording, as in ThoughtJack, which implies its
 * default mode. */
static bool choose_match(struct replay_command *r, bool seed, struct err *e)
{
    const struct replay_args *args = r->args;
    struct match_options *o = &r->options.match;
    bool recorder = args->cassette != NULL, total = args->order == ORDER_TOTAL;

    if (!match_config_read(&r->match, r->app, &args->match,
                           seed || total ? MATCH_SEQUENTIAL : MATCH_BY_REQUEST, recorder, o, e))
        return false;
    o->total_order = total;
    o->any_method = recorder && o->mode == MATCH_SEQUENTIAL;
    if (total && !is_sequential(o))
        return err_set(e, ERR_USAGE, "--order total needs --match sequential");
    if (o->any_method && o->tool_count)
        return err_set(e, ERR_USAGE,
                       "a mode for a tool cannot be combined with --cassette and --match "
                       "sequential, which does not look at requests");
    if (args->on_exhausted >= 0)
        o->exhausted = (enum match_exhausted)args->on_exhausted;
    return true;
}

static bool choose_options(struct replay_command *r, bool seed, struct err *e)
{
    const struct replay_args *args = r->args;
    bool recorder = args->cassette != NULL;
    int on_miss = args->on_unmatched;

    if (args->record.mode == RECORD_MODE_APPEND && on_miss >= 0 &&
        on_miss != ON_MISS_PASSTHROUGH) {
        err_set(e, ERR_USAGE, "--record-mode append cannot be combined with --on-unmatched");
        return err_hint(e, "with append, the server responds to unmatched requests");
    }
    if (args->record.mode == RECORD_MODE_APPEND)
        on_miss = ON_MISS_PASSTHROUGH;
    if (on_miss < 0)
        on_miss = recorder ? ON_MISS_WARN : ON_MISS_ERROR;
    if (args->fail_at_end && on_miss == ON_MISS_PASSTHROUGH) {
        err_set(e, ERR_USAGE, "--fail-at-end cannot be combined with --%s",
                args->record.mode == RECORD_MODE_APPEND ? "record-mode append"
                                                        : "on-unmatched passthrough");
        return err_hint(e, "with passthrough, the server responds to unmatched requests");
    }
    if (args->record.mode == RECORD_MODE_APPEND && args->order == ORDER_TOTAL) {
        err_set(e, ERR_USAGE, "--record-mode append cannot be combined with --order total");
        return err_hint(e, "new calls have no place in the recorded order");
    }
    r->options = (struct replay_options){
        .on_miss = (enum session_on_miss)on_miss,
        .fail_at_end = args->fail_at_end,
        .pace = args->time_scale,
        .strict_unused = args->strict_unused,
        .mcp_recorder_errors = recorder,
        .hide_details = r->app->log->level < LOG_DEBUG,
        .exhausted_given = args->on_exhausted >= 0 || recorder,
    };
    return choose_match(r, seed, e);
}

/* Passes records on to the index; notes what the user should know about the file. */
struct loading {
    struct sink sink;
    struct sink *to;
    uint64_t messages;
    bool has_header, has_footer;
};

static bool load_record(struct sink *self, const struct record *r, struct err *e)
{
    struct loading *l = (struct loading *)self;

    l->messages += r->kind == RECORD_MESSAGE;
    l->has_header = l->has_header || r->kind == RECORD_HEADER;
    l->has_footer = l->has_footer || r->kind == RECORD_FOOTER;
    return l->to->put(l->to, r, e);
}

static bool load_recording(struct replay_command *r, const char *path, struct err *e)
{
    struct loading l = { .sink = { load_record }, .to = &r->http_index.sink };
    const struct app *app = r->app;

    if (!message_file_read_all(&r->message_file, &l.sink, e))
        return false;
    index_finish(&r->index);
    http_index_finish(&r->http_index);
    if (!l.messages)
        log_printf(app->log, LOG_WARN, "'%s' has no messages; no request can match", path);
    if (l.has_header && !l.has_footer &&
        message_file_format(&r->message_file) == &recording_format)
        log_printf(app->log, LOG_INFO, "'%s' has no footer; its recorder did not end properly",
                   path);
    log_printf(app->log, LOG_DEBUG, "'%s': %llu message%s, %zu session%s", path,
               (unsigned long long)l.messages, l.messages == 1 ? "" : "s",
               r->index.session_count, r->index.session_count == 1 ? "" : "s");
    return true;
}

/* Returns where the report goes. Standard output is the client's unless clients come over
 * HTTP. */
static struct session_report session_report_of(struct replay_command *r)
{
    return (struct session_report){ .app = r->sync_app,
                                    .over_http = r->over_http,
                                    .replace = r->args->force,
                                    .files = &r->reports };
}

/* Checks that the files of --report can be written. */
static bool check_report_files(struct replay_command *r, struct err *e)
{
    const struct session_report out = session_report_of(r);
    const struct report_files_target target = session_report_target(&out);

    return report_files_check(&r->reports, &target, r->path, e) &&
           (!r->args->record.pending ||
            report_files_check(&r->reports, &target, r->args->record.pending, e));
}

static void put_verdict(void *report, const struct call_verdict *v)
{
    struct verdict_report *to = report;

    to->verdict(to, v);
}

static void put_finding(void *report, const struct finding *f)
{
    struct verdict_report *to = report;

    to->finding(to, f);
}

/* Gives the result to the reports that are not JSON. `replay` is NULL if nothing was
 * replayed. */
static void give_findings(struct replay_command *r, const struct replay *replay, int code)
{
    const struct verdict_report_run run = { .command = STR("replay"), .file = str_z(r->path) };
    struct verdict_report *to = &r->reports.report;
    const struct replay_findings_sink sink = { put_verdict, put_finding, to };
    struct call_verdict_totals totals = { 0 };

    to->begin(to, &run);
    if (replay)
        totals = replay_findings_give(replay, &sink);
    to->end(to, &(struct verdict_report_result){ .totals = &totals, .exit_code = code });
}

/* Writes the report: to the files of --report, and with --json to the user. `replay` is NULL if
 * nothing was replayed. */
static int write_reports(struct replay_command *r, const struct replay_report *report,
                         const struct replay *replay, int code, struct err *e)
{
    const struct session_report out = session_report_of(r);
    struct buf text;

    if (!session_report_is_wanted(&out))
        return code;
    buf_init(&text, REPORT_MAX);
    replay_report_write(report, &text, code);
    buf_add_ch(&text, '\n');
    if (report_files_need_verdicts(&r->reports))
        give_findings(r, replay, code);
    if (!session_report_write(&out, buf_str(&text), e))
        code = app_exit_code(e);
    buf_release(&text);
    return code;
}

static struct fuzzy *fuzzy_of(struct replay_command *r)
{
    return matcher_needs_fuzzy(&r->options.match) ? &r->fuzzy : NULL;
}

/* Appends the calls that the server answered. Returns the exit code of the replay. */
static int finish_append(struct replay_command *r, int code, struct err *e)
{
    struct err why = ERR_NONE;

    if (!recording_append_finish(r->append, code, &why)) {
        *e = why;
        return app_exit_code(e);
    }
    r->recording.appended = r->append->appended;
    if (r->recording.appended)
        r->recording.written = r->args->record.pending ? r->args->record.pending : r->path;
    return code;
}

/* Runs the server, then reports the result. */
static int run_server(struct replay_command *r, struct run_server *server,
                      struct replay *replay, struct err *e)
{
    int code;

    if (r->append) {
        server->upstream.recorder = &r->append->session.recorder;
        server->upstream.conn = 1;
    }
    code = run_server_run(server, e);
    if (r->append)
        code = finish_append(r, code, e);
    replay->report.recording = r->recording;
    replay_set_exit_code(replay, code);
    if (replay_has_finished(replay))
        code = write_reports(r, &replay->report, replay, code, e);
    return code;
}

static int serve_stdio(struct replay_command *r, struct err *e)
{
    struct run_server server;
    struct replay replay;
    int code;

    run_server_init(&server, r->app, step_replay, &replay, &r->upstream, NULL);
    replay_init(&replay, &r->index, fuzzy_of(r), &r->options, &server.driver.actions);
    code = run_server(r, &server, &replay, e);
    replay_release(&replay);
    return code;
}

static int serve_http(struct replay_command *r, struct err *e)
{
    struct http_replay_options how = { .replay = r->options, .random = random_bytes };
    struct run_server server;
    struct http_replay http_replay;
    int code;

    r->listen.path = http_index_sse_path(&r->http_index);
    run_server_init(&server, r->app, step_http_replay, &http_replay, &r->upstream, &r->listen);
    http_replay_init(&http_replay, &r->index, &r->http_index, fuzzy_of(r), &how,
                     &server.driver.actions);
    code = run_server(r, &server, &http_replay.replay, e);
    if (replay_was_stopped(&http_replay.replay)) /* a user does not expect a server to stop */
        log_printf(r->app->log, LOG_INFO,
                   "stopped at the first unmatched request; use --fail-at-end or "
                   "--on-unmatched warn to continue");
    http_replay_release(&http_replay);
    return code;
}

static int load_and_serve(struct replay_command *r, const char *path, struct err *e)
{
    const char *tmp = app_env(r->app, "TMPDIR");
    int code;

    r->path = path;
    if (!check_report_files(r, e))
        return app_exit_code(e);
    if (!message_file_open(&r->message_file, r->app->sys, path, tmp ? tmp : "/tmp", r->app->log,
                           e)) {
        message_file_close(&r->message_file);
        return app_exit_code(e);
    }
    fuzzy_init(&r->fuzzy, &r->index);
    index_init(&r->index, &r->message_file.store, &r->options.match.rules,
               fuzzy_of(r) ? &r->fuzzy.observer : NULL);
    http_index_init(&r->http_index, &r->index.sink, &r->message_file.store);
    if (!load_recording(r, path, e))
        code = app_exit_code(e);
    else
        code = r->over_http ? serve_http(r, e) : serve_stdio(r, e);
    http_index_release(&r->http_index);
    index_release(&r->index);
    fuzzy_release(&r->fuzzy);
    message_file_close(&r->message_file);
    return code;
}

/* Chooses stdio or HTTP; with --cassette HTTP on mcp-recorder's port. */
static bool choose_transport(struct replay_command *r, struct err *e)
{
    const struct replay_args *args = r->args;
    int usual = args->cassette && !args->stdio ? LISTEN_CONFIG_MCP_RECORDER_PORT : 0;

    if (!listen_config_resolve(&args->listening, usual, &r->listen.address, &r->over_http, e))
        return false;
    if (r->over_http && args->stdio)
        return err_set(e, ERR_USAGE, "'--stdio' and '--listen' cannot be combined");
    return true;
}

/* Rejects options about a report, HTTP clients or a server that this session does not have. */
static bool check_unused_options(const struct replay_command *r, const struct operands *in,
                                 const struct remote_config *remote, struct err *e)
{
    const struct option_unused rows[] = {
        { "force", "'--report' or '--pending'",
          !r->args->report.count && !r->args->record.pending },
        RECORD_MODE_UNUSED(&r->args->record),
        MATCH_OPTIONS_UNUSED(r->options.match.any_method),
        REMOTE_OPTIONS_UNUSED(remote),
        LISTEN_OPTIONS_UNUSED(r->over_http, &r->listen.address),
        { 0 },
    };

    return option_reject_unused(in, rows, e);
}

/* Writes the report of a new recording: nothing was replayed. */
static int report_new_recording(struct replay_command *r, int code, struct err *e)
{
    struct index nothing = { .call_count = 0 };
    struct replay_report report;

    replay_report_init(&report, &nothing, &r->options.match);
    report.recording = r->recording;
    code = write_reports(r, &report, NULL, code, e);
    replay_report_release(&report);
    return code;
}

/* Records anew in place of replaying. */
static int record_anew(struct replay_command *r, struct record_mode_run *mode, struct err *e)
{
    int code;

    if (!check_report_files(r, e))
        return app_exit_code(e);
    mode->kinds.http = (struct record_http_settings){ .listens = r->over_http,
                                                      .address = r->listen.address,
                                                      .listening = r->listen.args,
                                                      .server = r->upstream.remote };
    code = record_mode_record(mode, &r->recording.written, e);
    r->recording.rewritten = r->recording.written ? mode->calls.count : 0;
    return report_new_recording(r, code, e);
}

static int append(struct replay_command *r, struct record_mode_run *mode, struct err *e)
{
    struct recording_append append;
    int code;

    if (record_mode_open_append(mode, &append, e)) {
        r->append = &append;
        code = load_and_serve(r, r->path, e);
        r->append = NULL;
    } else {
        code = app_exit_code(e);
    }
    recording_append_close(&append);
    return code;
}

/* Replays, records or both, as the mode says. Everything that is logged while a server is
 * recorded passes the redaction. */
static int run_mode(struct replay_command *r, const char *path, struct err *e)
{
    struct record_mode_run mode = { .args = &r->args->record,
                                    .path = path,
                                    .format = r->args->cassette ? &cassette_format : NULL,
                                    .replace_pending = r->args->force,
                                    .server = &r->upstream };
    const struct app *app = r->app;
    int code;

    r->path = path;
    if (r->record_mode == RECORD_MODE_NONE)
        return load_and_serve(r, path, e);
    if (!record_mode_open(&mode, app, e))
        return app_exit_code(e);
    r->app = &mode.app;
    code =
        r->record_mode == RECORD_MODE_APPEND ? append(r, &mode, e) : record_anew(r, &mode, e);
    r->app = app;
    record_mode_close(&mode);
    return code;
}

/* Checks the options about the server, then replays. */
static int check_and_replay(struct replay_command *r, const char *path,
                            const struct operands *in, struct err *e)
{
    bool needed =
        r->options.on_miss == ON_MISS_PASSTHROUGH || r->args->record.mode > RECORD_MODE_NONE;
    struct remote_config remote = { 0 };
    struct arena a = { 0 };
    int code = EXIT_USAGE;

    if (!remote_config_read(&remote, r->app, &r->args->remote, e)) {
        code = app_exit_code(e);
    } else {
        r->upstream.remote = remote.url ? &remote : NULL;
        r->options.is_remote = remote.url != NULL;
        if (check_unused_options(r, in, &remote, e) &&
            choose_upstream(r->args, in, needed, &a, &r->upstream, e) &&
            (!r->over_http ||
             remote_config_check_credentials(
                 &remote, listen_config_is_public(&r->args->listening, &r->listen.address), e)))
            code = run_mode(r, path, e);
    }
    remote_config_release(&remote);
    arena_release(&a);
    return code;
}

static int replay_run(const struct app *app, const void *options, const struct operands *in,
                      struct err *e)
{
    const struct replay_args *args = options;
    struct app_queued_log unheld;
    struct replay_command r = { .app = app_queued_log_begin(&unheld, app),
                                .sync_app = app,
                                .args = args,
                                .listen = { .args = &args->listening } };
    const char *path = choose_path(app, args, in, e);
    int code = EXIT_USAGE;

    report_files_init(&r.reports, NULL);
    match_config_init(&r.match);
    if (path && choose_options(&r, path == args->recording, e) && choose_transport(&r, e) &&
        report_files_parse(&r.reports, &args->report, e)) {
        r.record_mode = record_mode_choose(&args->record, app, path);
        if (args->record.mode >= 0)
            r.recording.mode = record_mode_name((enum record_mode)args->record.mode);
        code = check_and_replay(&r, path, in, e);
    }
    report_files_release(&r.reports);
    match_config_release(&r.match);
    app_queued_log_end(&unheld);
    return code;
}

static const char *const replay_usage[] = {
    "[options] FILE",
    "[options] --listen [HOST:]PORT FILE",
    "[options] --on-unmatched passthrough FILE -- COMMAND…",
    "[options] --on-unmatched passthrough --url URL FILE",
    "[options] --record-mode MODE FILE -- COMMAND…",
    "[options] --record-mode MODE --url URL FILE",
    NULL
};

static const struct command_example replay_examples[] = {
    { "mcpreel replay session.jsonl", "a stdio server that sends the recorded responses" },
    { "mcpreel replay --match sequential session.jsonl",
      "match in recorded order if params differ" },
    { "mcpreel replay --ignore-paths '$.params.arguments.query' session.jsonl",
      "calls match with any query" },
    { "mcpreel replay --match search=fuzzy session.jsonl",
      "calls of the tool search match the most similar call" },
    { "mcpreel replay --timing realistic --strict-unused session.jsonl",
      "with the recorded delays; exit code 1 if requests are missing" },
    { "mcpreel replay --fail-at-end --report replay.json session.jsonl",
      "for CI: continue after a miss, end with 1, report all misses" },
    { "mcpreel replay --fail-at-end --report junit=replay.xml session.jsonl",
      "the same for a CI system that reads JUnit" },
    { "mcpreel replay --listen 8080 session.jsonl",
      "the same over HTTP, at http://127.0.0.1:8080/mcp" },
    { "mcpreel replay --on-unmatched passthrough a.jsonl -- python server.py",
      "start the server only for unmatched requests" },
    { "mcpreel replay --record-mode once a.jsonl -- python server.py",
      "record the server if there is no file yet, else replay the file" },
    { 0 },
};

const struct command cmd_replay = {
    .name = "replay",
    .summary = "serve a recording as a mock server",
    .usage = replay_usage,
    .about =
        "Serves a recording as an MCP server. --match selects the recorded request whose "
        "response a live one gets:\n\n"
        "  by-request  one with equal method and params, in any order; without\n"
        "              one it is a miss (default)\n"
        "  sequential  as by-request; without one the oldest unused request of the\n"
        "              same method and name, with a warning\n"
        "  fuzzy       as by-request; without one the most similar unused request\n"
        "  strict      as by-request, and _meta must be equal, too\n\n"
        "--match TOOL=MODE sets the mode for calls of one tool. --ignore-paths and "
        "--ignore-fields leave values of params out of the comparison; a recorded request "
        "with equal values still comes first, and the report names the rule that a match "
        "needed.\n\n"
        "If weather(Lisbon) was recorded, weather(Oslo) is an error with by-request, and gets "
        "the weather of Lisbon and a warning with sequential.\n\n"
        "The client is on standard input and output. It gets the recorded responses, with the "
        "ids and progress tokens of its own requests; notifications and server requests are "
        "sent where they were recorded. replay starts or contacts a server only with "
        "--on-unmatched passthrough or --record-mode.\n\n"
        "With --listen it serves any number of clients over Streamable HTTP, and over legacy "
        "HTTP+SSE at '/sse', until Ctrl-C, whichever transport was recorded.\n\n"
        "A request without a match gets an error that names the nearest recorded one and the "
        "differences.\n\n"
        "--record-mode records the server, too:\n\n"
        "  none     never: FILE is replayed\n"
        "  once     if there is no FILE; else FILE is replayed\n"
        "  append   unmatched requests: they are forwarded to the server, and\n"
        "           these calls are appended to FILE\n"
        "  rewrite  always: the new recording replaces FILE at the end\n\n"
        "The old FILE stays until the new one is complete; with --pending it is not touched. "
        "A second writer of FILE gets an error.",
    .examples = replay_examples,
    .options = replay_options,
    .args_size = sizeof(struct replay_args),
    .operand = "FILE",
    .min = 0,
    .max = 1,
    .server = true,
    .run = replay_run,
};
