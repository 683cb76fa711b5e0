/* cmd/cmd-record.c - the record command: options of the four kinds of recording sessions. */
#include "base/shell-split.h"
#include "cmd/command.h"
#include "cmd/format-option.h"
#include "cmd/listen-options.h"
#include "cmd/redact-options.h"
#include "cmd/remote-options.h"
#include "cmd/server-env.h"
#include "cmd/session-report.h"
#include "loop/process-self.h"
#include "runtime/record-kinds.h"
#include "trace/limits.h"

enum { REPORT_MAX = 1 << 20 };

struct record_args {
    const char *output, *name, *upstream, *target_stdio;
    const struct format *format;
    struct str_list tags, target_env, report;
    uint64_t rotate, max_message;
    int64_t max_servers;
    int64_t flush_us;
    bool force, plain, strict, keep_host;
    struct redaction_args redaction;
    struct remote_config_args remote;
    struct listen_config listening;
};

static const struct option record_options[] = {
    { .key = 'o',
      .name = "output",
      .arg = "FILE",
      .type = OPTION_PATH,
      .thoughtjack_env = true,
      .offset = offsetof(struct record_args, output),
      .help = "write the recording to FILE; if it is a folder, to a new file in it" },
    { .name = "force",
      .type = OPTION_FLAG,
      .offset = offsetof(struct record_args, force),
      .help = "replace FILE and the report if they exist" },
    { .name = "report",
      .arg = "[json=]FILE",
      .type = OPTION_LIST,
      .paths = true,
      .offset = offsetof(struct record_args, report),
      .help = "write a report at the end, as JSON: the file, and what is missing in it" },
    { .name = "format",
      .arg = "FORMAT",
      .type = OPTION_CUSTOM,
      .parse = format_option_parse,
      .offset = offsetof(struct record_args, format),
      .help = "write FORMAT instead of the format that FILE's name selects" },
    { .name = "name",
      .aliases = { "label" },
      .arg = "NAME",
      .type = OPTION_STRING,
      .thoughtjack_env = true,
      .offset = offsetof(struct record_args, name),
      .help = "name of the recording, written to its header" },
    { .name = "tags",
      .arg = "TAGS",
      .type = OPTION_LIST,
      .split = true,
      .thoughtjack_env = true,
      .offset = offsetof(struct record_args, tags),
      .help = "comma-separated tags, written to its header" },
    { .name = "upstream",
      .arg = "COMMAND",
      .type = OPTION_STRING,
      .thoughtjack_env = true,
      .offset = offsetof(struct record_args, upstream),
      .help = "the server's command line as one string, instead of '-- COMMAND'" },
    { .name = "target-stdio",
      .arg = "COMMAND",
      .type = OPTION_STRING,
      .offset = offsetof(struct record_args, target_stdio),
      .help = "as --upstream, with the defaults --port 5555 and --force -o recording.json" },
    { .name = "target-env",
      .arg = "NAME=VALUE",
      .type = OPTION_LIST,
      .offset = offsetof(struct record_args, target_env),
      .help = "set a variable in the server's environment" },
    { .name = "max-servers",
      .arg = "N",
      .type = OPTION_INT,
      .min = 1,
      .max = 4096,
      .preset = "16",
      .offset = offsetof(struct record_args, max_servers),
      .help = "maximum number of server processes (one per HTTP session)" },
    { .name = "rotate",
      .arg = "SIZE",
      .type = OPTION_SIZE,
      .preset = "0",
      .offset = offsetof(struct record_args, rotate),
      .help = "continue in another file when one has this size; 0: never" },
    { .name = "flush-interval",
      .arg = "TIME",
      .type = OPTION_DURATION,
      .preset = "1s",
      .thoughtjack_env = true,
      .offset = offsetof(struct record_args, flush_us),
      .help = "sync to the disk at this interval, and after 100 lines" },
    { .name = "max-message",
      .arg = "SIZE",
      .type = OPTION_SIZE,
      .preset = "64MiB",
      .env = "THOUGHTJACK_MAX_MESSAGE_SIZE",
      .offset = offsetof(struct record_args, max_message),
      .help = "forward longer messages, but do not record them" },
    { .name = "plain",
      .type = OPTION_FLAG,
      .offset = offsetof(struct record_args, plain),
      .help = "write only headers, messages and footers, as ThoughtJack does" },
    { .name = "strict",
      .type = OPTION_FLAG,
      .offset = offsetof(struct record_args, strict),
      .help = "end with exit code 125 if anything is missing in the recording" },
    REMOTE_OPTIONS_URL(struct record_args, remote,
                       "URL of the server, instead of '-- COMMAND'; /mcp if it has no path"),
    REMOTE_OPTIONS_TARGET(
        struct record_args, remote,
        "as --url, with the defaults --port 5555 and --force -o recording.json"),
    REMOTE_OPTIONS(struct record_args, remote),
    { .name = "keep-host",
      .type = OPTION_FLAG,
      .group = REMOTE_OPTIONS_GROUP,
      .offset = offsetof(struct record_args, keep_host),
      .help = "send the server the client's Host header instead of the host in URL" },
    LISTEN_OPTIONS(struct record_args, listening),
    REDACTION_OPTIONS(struct record_args, redaction),
    { 0 },
};

/* Rejects a URL together with a command: there is one server. */
static bool check_one_server(const struct record_args *args, const struct remote_config *server,
                             bool has_command, struct err *e)
{
    if (!server->url || !has_command)
        return true;
    if (args->remote.target && args->target_stdio)
        return err_set(e, ERR_USAGE, "'--target' and '--target-stdio' are mutually exclusive");
    return err_set(e, ERR_USAGE, "two servers to record: a URL and a command");
}

/* Rejects a URL in place of the command, with a hint. */
static bool check_command(const struct operands *in, struct err *e)
{
    struct str word = str_z(in->server[0]);

    if (!str_starts(word, STR("http://")) && !str_starts(word, STR("https://")))
        return true;
    err_set(e, ERR_USAGE, "'%s' is a URL, not a command", in->server[0]);
    return err_hint(e, "to record an HTTP server: --url %s", in->server[0]);
}

/* Finds the server's command: the operands, or one string to split. */
static bool find_server(struct record_settings *how, const struct record_args *args,
                        const struct operands *in, struct arena *a, struct err *e)
{
    const char *line = args->upstream ? args->upstream : args->target_stdio;
    char **words;

    if (!!in->server + !!args->upstream + !!args->target_stdio > 1)
        return err_set(e, ERR_USAGE, "two servers to record: '%s' and %s'%s'",
                       args->upstream ? "--upstream" : "--target-stdio",
                       in->server ? "the command " : "",
                       in->server ? in->server[0] : "--target-stdio");
    if (in->server && !check_command(in, e))
        return false;
    if (in->server) {
        how->server_argv = in->server;
        how->server_argc = in->server_count;
        return true;
    }
    if (line) {
        if (!shell_split(&words, &how->server_argc, str_z(line), a, e))
            return err_wrap(e, "cannot parse the command of '%s'",
                            args->upstream ? "--upstream" : "--target-stdio");
        how->server_argv = words;
    }
    if (how->server_argc)
        return true;
    err_set(e, ERR_USAGE, "no server to record");
    if (args->listening.port || args->target_env.count)
        return err_hint(e, "Provide either '--target URL' or '--target-stdio COMMAND'");
    return err_hint(e, "give its command: mcpreel record -o session.jsonl [--] COMMAND "
                       "ARGS…\nor its URL: --url URL");
}

static bool check_sizes(const struct record_args *args, struct err *e)
{
    if (args->max_message == 0 || args->max_message > LIMIT_MESSAGE)
        return err_set(e, ERR_USAGE, "'--max-message' must be from 1 byte to 64 MiB");
    return true;
}

/* Rejects options about a server or about clients that this session does not have. */
static bool check_unused_options(const struct operands *in,
                                 const struct record_http_settings *http, struct err *e)
{
    bool command = !http->server->url;
    const struct option_unused rows[] = {
        { "max-servers", "'--listen' and a command", !command || !http->listens },
        { "target-env", "a command", !command },
        { "keep-host", "'--url' and '--listen'", command || !http->listens },
        REMOTE_OPTIONS_UNUSED(http->server),
        LISTEN_OPTIONS_UNUSED(http->listens, &http->address),
        { 0 },
    };

    return option_reject_unused(in, rows, e);
}

static bool check_path_options(const struct operands *in, const struct record_args *args,
                               const struct record_path *place, struct err *e)
{
    const struct option_unused rows[] = {
        { "force", "the name of a file, in '-o FILE'",
          place->folder != NULL && !args->report.count },
        { "plain", "the format 'recording'", place->format != &recording_format },
        { 0 },
    };

    return option_reject_unused(in, rows, e);
}

/* Redacts the name and the command: the file may be named after them. */
static void redact_names(struct record_path_options *wish, struct redaction *r, struct arena *a)
{
    size_t count = 0;
    char **words;

    if (wish->name)
        wish->name = redaction_redact_word(r, wish->name, a);
    while (wish->server_argv[count])
        count++;
    words = arena_alloc(a, (count + 1) * sizeof *words);
    for (size_t i = 0; i < count; i++)
        words[i] = redaction_redact_word(r, wish->server_argv[i], a);
    wish->server_argv = words;
}

static bool is_mcp_recorder_style(const struct record_args *args)
{
    return args->remote.target || args->target_stdio;
}

/* With mcp-recorder's options the output is a cassette of its default name, which replaces an
 * older one. */
static struct record_path_options requested_output(const struct record_args *args)
{
    struct record_path_options wish = { .output = args->output,
                                        .name = args->name,
                                        .format = args->format,
                                        .force = args->force,
                                        .rotate = args->rotate > 0 };

    if (!is_mcp_recorder_style(args))
        return wish;
    wish.force = wish.make_folder = true;
    if (!wish.output)
        wish.output = "recording.json";
    if (!wish.format && !format_by_path(str_z(wish.output)))
        wish.format = &cassette_format;
    return wish;
}

/* Records. Everything logged or written from here on passes the redaction. */
static int record_with_redaction(const struct app *app, const struct record_args *args,
                                 const struct operands *in, struct record_settings *how,
                                 const struct record_http_settings *http,
                                 const struct server_env *env, struct err *e)
{
    char *on_host[] = { (char *)(uintptr_t)http->server->host, NULL };
    struct record_path_options wish = requested_output(args);
    struct redaction_known known = {
        .values = how->server_argv ? &env->secrets : &http->server->secrets,
        .explicit_rules = is_mcp_recorder_style(args),
        .defaults = redact_options_wants_defaults(app, &args->redaction, in)
    };
    const struct record_kinds_settings kinds = {
        .http = *http,
        .max_servers = (size_t)args->max_servers,
        .mcp_recorder_compat = args->target_stdio != NULL,
    };
    struct record_path place = { 0 };
    struct redaction redaction;
    struct app redacted = *app;
    struct arena a = { 0 };
    int code;

    wish.server_argv = how->server_argv ? how->server_argv : on_host;
    known.words = server_env_words(env, how->server_argv, how->server_url, &a);
    if (!redact_options_init(&redaction, app, &args->redaction, &known, e)) {
        arena_release(&a);
        return app_exit_code(e);
    }
    process_self_disable_dumps();
    redacted.log = &redaction.log;
    redaction.redactor.stderr_in_pieces = true;
    how->redaction = &redaction;
    redact_names(&wish, &redaction, &a);
    if (record_path_resolve(&place, &redacted, &wish, e) &&
        check_path_options(in, args, &place, e)) {
        redact_options_set_format(&redaction, place.format);
        code = record_kinds_run(&redacted, &place, how, &kinds, e);
        redact_options_warn_kept_requests(&redaction, "",
                                          "with --target they are not redacted (use --url or "
                                          "'--' to redact them, or 'mcpreel redact')");
    } else {
        code = app_exit_code(e);
    }
    redaction_redact_err(&redaction, e);
    record_path_release(&place);
    redaction_release(&redaction);
    arena_release(&a);
    return code;
}

/* There are no verdicts, so the report is JSON. */
static bool parse_report(struct report_files *files, const struct str_list *values,
                         struct err *e)
{
    if (!report_files_parse(files, values, e))
        return false;
    if (!report_files_need_verdicts(files))
        return true;
    err_set(e, ERR_USAGE, "record writes its report as JSON only");
    return err_hint(
        e,
        "use --report FILE; for JUnit and others: 'mcpreel check --report' with the recording");
}

/* Records, then writes the report, if there was a session. */
static int record_and_report(const struct app *app, const struct record_args *args,
                             const struct operands *in, struct record_settings *how,
                             const struct record_http_settings *http,
                             const struct server_env *env, struct report_files *files,
                             struct err *e)
{
    const struct session_report out = {
        .app = app, .over_http = http->listens, .replace = args->force, .files = files
    };
    const struct report_files_target target = session_report_target(&out);
    struct app_queued_log unheld;
    struct buf report;
    int code;

    if (!report_files_check(files, &target, args->output, e))
        return app_exit_code(e);
    buf_init(&report, REPORT_MAX);
    how->report = &report;
    code =
        record_with_redaction(app_queued_log_begin(&unheld, app), args, in, how, http, env, e);
    app_queued_log_end(&unheld);
    if (report.len && session_report_is_wanted(&out)) {
        struct err why = ERR_NONE;

        if (!session_report_write(&out, buf_str(&report), &why)) {
            code = app_exit_code(&why);
            *e = why;
        }
    }
    buf_release(&report);
    return code;
}

static int check_and_record(const struct app *app, const struct record_args *args,
                            const struct operands *in, struct record_http_settings *http,
                            const struct server_env *env, struct err *e)
{
    struct record_settings how = {
        .name = args->name,
        .tags = args->tags,
        .rotate_bytes = args->rotate,
        .max_message = (size_t)args->max_message,
        .server_url = http->server->display_url,
        .server_env = env->env,
        .flush_us = args->flush_us,
        .plain = args->plain,
        .strict = args->strict,
        .log_http = app->verbose && (args->remote.target || args->target_stdio),
    };
    int usual = is_mcp_recorder_style(args) ? LISTEN_CONFIG_MCP_RECORDER_PORT : 0;
    bool has_command = in->server || args->upstream || args->target_stdio;
    struct report_files files;
    struct arena a = { 0 };
    int code = EXIT_USAGE;

    report_files_init(&files, NULL);
    if (listen_config_resolve(&args->listening, usual, &http->address, &http->listens, e) &&
        check_one_server(args, http->server, has_command, e) &&
        check_unused_options(in, http, e) &&
        remote_config_check_credentials(
            http->server, listen_config_is_public(http->listening, &http->address), e) &&
        (how.server_url || find_server(&how, args, in, &a, e)) &&
        parse_report(&files, &args->report, e))
        code = record_and_report(app, args, in, &how, http, env, &files, e);
    report_files_release(&files);
    arena_release(&a);
    return code;
}

static int record_run(const struct app *app, const void *options, const struct operands *in,
                      struct err *e)
{
    const struct record_args *args = options;
    struct remote_config server = { 0 };
    struct server_env env = { .env = NULL };
    struct record_http_settings http = { .listening = &args->listening,
                                         .server = &server,
                                         .keep_host = args->keep_host };
    int code;

    if (check_sizes(args, e) && remote_config_read(&server, app, &args->remote, e) &&
        server_env_read(&env, app, &args->target_env, e))
        code = check_and_record(app, args, in, &http, &env, e);
    else
        code = app_exit_code(e);
    server_env_release(&env);
    remote_config_release(&server);
    return code;
}

static const char *const record_usage[] = { "[options] [--] COMMAND [ARGS…]",
                                            "[options] --upstream COMMAND",
                                            "[options] --url URL",
                                            "[options] --url URL --listen [HOST:]PORT",
                                            "[options] --listen [HOST:]PORT [--] COMMAND "
                                            "[ARGS…]",
                                            NULL };

static const struct command_example record_examples[] = {
    { "mcpreel record -o traces/ -- npx -y some-mcp-server --flag",
      "use this in your client's configuration: every start writes a new file" },
    { "mcpreel record -o a.jsonl --name nightly --tags ci -- python server.py",
      "label the recording" },
    { "mcpreel record --rotate 100MB -- python server.py",
      "in the default folder, in files of 100 MB" },
    { "mcpreel record --url https://mcp.example.com -o a.jsonl",
      "an HTTP server, for a client on standard input and output" },
    { "mcpreel record --url https://mcp.example.com --listen 8080 -o a.jsonl",
      "an HTTP server: clients connect to http://127.0.0.1:8080/mcp" },
    { "mcpreel record --listen 8080 -o a.jsonl -- python server.py",
      "HTTP clients, a server on standard input and output" },
    { 0 },
};

const struct command cmd_record = {
    .name = "record",
    .summary = "record the traffic between a client and a server",
    .usage = record_usage,
    .about =
        "Starts the server and forwards standard input and output between it and the client. "
        "Every byte is forwarded unchanged in both directions; every message, every line that "
        "is not a message and the server's standard error are copied to FILE. A message is in "
        "the file before its receiver has all of it.\n\n"
        "COMMAND begins with the first word that is not an option; all words after it belong "
        "to it, even if they look like options. '--' in front of COMMAND is optional, and some "
        "clients remove it. If COMMAND itself contains '--', put another '--' in front of it, "
        "or use --upstream.\n\n"
        "Without FILE the recording is a new file in $MCPREEL_DIR, or else in "
        "$XDG_STATE_HOME/mcpreel/traces or ~/.local/state/mcpreel/traces.\n\n"
        "Problems with the disk never stop the session: lines that cannot be written wait in "
        "memory (up to 64 MB), and lost messages are counted in the recording as a gap.\n\n"
        "Ends when the server ends, with the server's exit code (128 plus the number of the "
        "signal if a signal ended it). A server that cannot be found is 127, one that cannot "
        "be executed 126.\n\n"
        "With --url the server is on HTTP. Without --listen the client is on standard input "
        "and output: its messages are sent to the server over Streamable HTTP, or over legacy "
        "HTTP+SSE if the server requires it. Ends when the client does, with 0, or with 4 if "
        "the server never answered or is not an MCP endpoint.\n\n"
        "With --url and --listen the clients are on HTTP, too: any number of them, until "
        "Ctrl-C, which ends it with 0. The address for the clients is written to standard "
        "output.\n\n"
        "With --listen and a command the clients are on HTTP and the server is on standard "
        "input and output: each client that sends initialize gets its own server process, "
        "which ends with its session; clients without a session share one.",
    .examples = record_examples,
    .options = record_options,
    .args_size = sizeof(struct record_args),
    .server = true,
    .run = record_run,
};
