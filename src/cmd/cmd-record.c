/* cmd/cmd-record.c - stand between a client and its server and write down what passes. */
#include "base/amount.h"
#include "base/words.h"
#include "cmd/commands.h"
#include "cmd/pick-format.h"
#include "cmd/record-bridge.h"
#include "cmd/record-front.h"
#include "cmd/record-http.h"
#include "cmd/record-session.h"
#include "cmd/server-env.h"
#include "loop/dumps.h"
#include "trace/limits.h"

struct record_args {
    const char *output, *name, *upstream, *target_stdio;
    const struct format *format;
    struct option_list tags, target_env;
    uint64_t rotate, max_message;
    int64_t max_servers;
    int64_t flush_us;
    bool force, plain, strict, keep_host;
    struct redaction_args redaction;
    struct remote_args remote;
    struct listening_args listening;
};

static const struct option record_options[] = {
    { .key = 'o',
      .name = "output",
      .arg = "FILE",
      .type = OPTION_PATH,
      .seed = true,
      .at = offsetof(struct record_args, output),
      .help = "write the recording to FILE; in a folder, to a new file there" },
    { .name = "force",
      .type = OPTION_FLAG,
      .at = offsetof(struct record_args, force),
      .help = "replace FILE if it exists" },
    { .name = "format",
      .arg = "FORMAT",
      .type = OPTION_CUSTOM,
      .parse = pick_format_parse,
      .at = offsetof(struct record_args, format),
      .help = "write FORMAT, whatever the name of FILE says" },
    { .name = "name",
      .also = { "label" },
      .arg = "NAME",
      .type = OPTION_STRING,
      .seed = true,
      .at = offsetof(struct record_args, name),
      .help = "a name for the recording, kept in its header" },
    { .name = "tags",
      .arg = "TAGS",
      .type = OPTION_LIST,
      .split = true,
      .seed = true,
      .at = offsetof(struct record_args, tags),
      .help = "comma-separated tags, kept in its header" },
    { .name = "upstream",
      .arg = "COMMAND",
      .type = OPTION_STRING,
      .seed = true,
      .at = offsetof(struct record_args, upstream),
      .help = "the server's command line as one word, in place of '-- COMMAND'" },
    { .name = "target-stdio",
      .arg = "COMMAND",
      .type = OPTION_STRING,
      .at = offsetof(struct record_args, target_stdio),
      .help = "the same; with --port 5555 and --force -o recording.json if not given" },
    { .name = "target-env",
      .arg = "NAME=VALUE",
      .type = OPTION_LIST,
      .at = offsetof(struct record_args, target_env),
      .help = "the server has this in its environment" },
    { .name = "max-servers",
      .arg = "N",
      .type = OPTION_INT,
      .min = 1,
      .max = 4096,
      .preset = "16",
      .at = offsetof(struct record_args, max_servers),
      .help = "start so many at a time, one for each session of clients on HTTP" },
    { .name = "rotate",
      .arg = "SIZE",
      .type = OPTION_SIZE,
      .preset = "0",
      .at = offsetof(struct record_args, rotate),
      .help = "go on in another file when one has this size; 0: never" },
    { .name = "flush-interval",
      .arg = "TIME",
      .type = OPTION_DURATION,
      .preset = "1s",
      .seed = true,
      .at = offsetof(struct record_args, flush_us),
      .help = "sync to the disk this often, and after 100 lines" },
    { .name = "max-message",
      .arg = "SIZE",
      .type = OPTION_SIZE,
      .preset = "64MiB",
      .env = "THOUGHTJACK_MAX_MESSAGE_SIZE",
      .at = offsetof(struct record_args, max_message),
      .help = "longer messages pass, but are not kept" },
    { .name = "plain",
      .type = OPTION_FLAG,
      .at = offsetof(struct record_args, plain),
      .help = "only headers, messages and footers, as ThoughtJack has them" },
    { .name = "strict",
      .type = OPTION_FLAG,
      .at = offsetof(struct record_args, strict),
      .help = "end with 125 if anything is missing in the recording" },
    REMOTE_URL_OPTION(struct record_args, remote,
                      "the server is there, in place of '-- COMMAND'; /mcp if it has no path"),
    REMOTE_TARGET_OPTION(
        struct record_args, remote,
        "the same; with --port 5555 and --force -o recording.json if not given"),
    REMOTE_OPTIONS(struct record_args, remote),
    { .name = "keep-host",
      .type = OPTION_FLAG,
      .group = REMOTE_GROUP,
      .at = offsetof(struct record_args, keep_host),
      .help = "send the server the client's Host header instead of the host in URL" },
    LISTENING_OPTIONS(struct record_args, listening),
    REDACTION_OPTIONS(struct record_args, redaction),
    { 0 },
};

/* There is one server, wherever its clients are. */
static bool check_one(const struct record_args *args, const struct remote *server,
                      bool has_command, struct err *e)
{
    if (!server->url || !has_command)
        return true;
    if (args->remote.target && args->target_stdio)
        return err_set(e, ERR_USAGE, "'--target' and '--target-stdio' are mutually exclusive");
    return err_set(e, ERR_USAGE, "two servers to record: a URL and a command");
}

/* A URL where a command is expected is a mistake with an easy remedy. */
static bool check_command(const struct operands *in, struct err *e)
{
    struct str word = str_z(in->server[0]);

    if (!str_starts(word, STR("http://")) && !str_starts(word, STR("https://")))
        return true;
    err_set(e, ERR_USAGE, "'%s' is a URL, not a command", in->server[0]);
    return err_hint(e, "for a server on HTTP: --url %s", in->server[0]);
}

/* The server's command: the operands, or in one string. */
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
        how->server = in->server;
        how->server_count = in->server_count;
        return true;
    }
    if (line) {
        if (!words_split(&words, &how->server_count, str_z(line), a, e))
            return err_wrap(e, "cannot read the command of '%s'",
                            args->upstream ? "--upstream" : "--target-stdio");
        how->server = words;
    }
    if (how->server_count)
        return true;
    err_set(e, ERR_USAGE, "no server to record");
    if (args->listening.port || args->target_env.count)
        return err_hint(e, "Provide either '--target URL' or '--target-stdio COMMAND'");
    return err_hint(e, "say how to start it: mcpreel record -o session.jsonl [--] COMMAND "
                       "ARGS…\nor where it is: --url URL");
}

static bool check_sizes(const struct record_args *args, struct err *e)
{
    if (args->max_message == 0 || args->max_message > LIMIT_MESSAGE)
        return err_set(e, ERR_USAGE, "'--max-message' must be from 1 byte to 64 MiB");
    return true;
}

/* What was said of a server, or of clients, that there are none of. */
static bool check_sides(const struct operands *in, const struct record_http_settings *http,
                        struct err *e)
{
    bool command = !http->server->url;
    const struct option_idle rows[] = {
        { "max-servers", "'--listen' and a command", !command || !http->listens },
        { "target-env", "a command", !command },
        { "keep-host", "'--url' and '--listen'", command || !http->listens },
        REMOTE_IDLE(http->server),
        LISTENING_IDLE(http->listens, &http->at),
        { 0 },
    };

    return option_refuse_idle(in, rows, e);
}

static bool check_place(const struct operands *in, const struct record_place *place,
                        struct err *e)
{
    const struct option_idle rows[] = {
        { "force", "the name of a file, in '-o FILE'", place->folder != NULL },
        { "plain", "the format 'recording'", place->format != &recording_format },
        { 0 },
    };

    return option_refuse_idle(in, rows, e);
}

/* A file may be named after the recording or its server. */
static void name_without_secrets(struct record_wish *wish, struct redaction *r, struct arena *a)
{
    size_t count = 0;
    char **words;

    if (wish->name)
        wish->name = redaction_word(r, wish->name, a);
    while (wish->server[count])
        count++;
    words = arena_alloc(a, (count + 1) * sizeof *words);
    for (size_t i = 0; i < count; i++)
        words[i] = redaction_word(r, wish->server[i], a);
    wish->server = words;
}

static bool is_as_mcp_recorder(const struct record_args *args)
{
    return args->remote.target || args->target_stdio;
}

/* With mcp-recorder's spelling comes what it does: a cassette of that name, which replaces an
 * older one. */
static struct record_wish wish_of(const struct record_args *args)
{
    struct record_wish wish = { .output = args->output,
                                .name = args->name,
                                .format = args->format,
                                .force = args->force,
                                .rotate = args->rotate > 0 };

    if (!is_as_mcp_recorder(args))
        return wish;
    wish.force = wish.make_folder = true;
    if (!wish.output)
        wish.output = "recording.json";
    if (!wish.format && !format_by_path(str_z(wish.output)))
        wish.format = &cassette_format;
    return wish;
}

/* Where secrets may stand: the server's address, or its command and environment. */
static char *const *telling_words(const struct record_settings *how,
                                  const struct server_env *env, struct arena *a)
{
    size_t count = 0, more = 0;
    char **words;

    while (env->plain[more])
        more++;
    words = arena_alloc(a, (how->server_count + more + 2) * sizeof *words);
    if (!how->server)
        words[count++] = (char *)(uintptr_t)how->url;
    for (size_t i = 0; i < how->server_count; i++)
        words[count++] = how->server[i];
    for (size_t i = 0; i < more; i++)
        words[count++] = env->plain[i];
    words[count] = NULL;
    return words;
}

static int record_at(const struct app *app, struct record_place *place,
                     const struct record_args *args, const struct record_settings *how,
                     const struct record_http_settings *http, struct err *e)
{
    struct record_front_settings front = { .at = http->at,
                                           .listening = http->listening,
                                           .max_servers = (size_t)args->max_servers,
                                           .seed = args->target_stdio != NULL };

    if (how->server)
        return http->listens ? record_front_run(app, place, how, &front, e)
                             : record_session_run(app, place, how, e);
    return http->listens ? record_http_run(app, place, how, http, e)
                         : record_bridge_run(app, place, how, http->server, e);
}

/* Whether --redact-defaults was asked for, on the command line or in the environment. */
static bool wants_defaults(const struct app *app, const struct record_args *args,
                           const struct operands *in)
{
    return args->redaction.defaults &&
           (option_given(in, "redact-defaults") || app_env(app, "MCPREEL_REDACT_DEFAULTS"));
}

/* mcp-recorder never changes requests, and says so. */
static void warn_of_requests(const struct redaction *r)
{
    uint64_t n = r->redactor.requests_kept;
    struct buf text;

    if (!n)
        return;
    buf_init(&text, 128);
    amount_of(&text, n, "message of the client contains", "messages of the client contain");
    log_say(&r->log, LOG_WARN,
            "%s something to redact: with --target they are recorded unchanged (use --url or "
            "'--' to redact them, or 'mcpreel redact')",
            buf_z(&text));
    buf_release(&text);
}

/* From here on nothing is said or written but through the redaction. */
static int record_redacted(const struct app *app, const struct record_args *args,
                           const struct operands *in, struct record_settings *how,
                           const struct record_http_settings *http,
                           const struct server_env *env, struct err *e)
{
    char *on_host[] = { (char *)(uintptr_t)http->server->host, NULL };
    struct record_wish wish = wish_of(args);
    struct redaction_known known = { .values =
                                         how->server ? &env->secrets : &http->server->secrets,
                                     .explicit_rules = is_as_mcp_recorder(args),
                                     .defaults = wants_defaults(app, args, in) };
    struct record_place place = { 0 };
    struct redaction redaction;
    struct app redacted = *app;
    struct arena a = { 0 };
    int code;

    wish.server = how->server ? how->server : on_host;
    known.server = telling_words(how, env, &a);
    if (!redaction_init(&redaction, app, &args->redaction, &known, e)) {
        arena_release(&a);
        return app_exit_code(e);
    }
    dumps_off();
    redacted.log = &redaction.log;
    redaction.redactor.live = true;
    how->redaction = &redaction;
    name_without_secrets(&wish, &redaction, &a);
    if (record_place_find(&place, &redacted, &wish, e) && check_place(in, &place, e)) {
        redaction_for(&redaction, place.format);
        code = record_at(&redacted, &place, args, how, http, e);
        warn_of_requests(&redaction);
    } else {
        code = app_exit_code(e);
    }
    redaction_err(&redaction, e);
    record_place_release(&place);
    redaction_release(&redaction);
    arena_release(&a);
    return code;
}

static int record_from(const struct app *app, const struct record_args *args,
                       const struct operands *in, struct record_http_settings *http,
                       const struct server_env *env, struct err *e)
{
    struct record_settings how = {
        .name = args->name,
        .tags = args->tags,
        .rotate = args->rotate,
        .max_message = (size_t)args->max_message,
        .url = http->server->shown,
        .env = env->all,
        .flush_us = args->flush_us,
        .plain = args->plain,
        .strict = args->strict,
        .log_http = app->verbose && (args->remote.target || args->target_stdio),
    };
    int usual = is_as_mcp_recorder(args) ? LISTENING_SEED_PORT : 0;
    bool has_command = in->server || args->upstream || args->target_stdio;
    struct arena a = { 0 };
    int code = EXIT_USAGE;

    if (listening_choose(&args->listening, usual, &http->at, &http->listens, e) &&
        check_one(args, http->server, has_command, e) && check_sides(in, http, e) &&
        remote_may_lend(http->server, listening_is_open(http->listening, &http->at), e) &&
        (how.url || find_server(&how, args, in, &a, e))) {
        struct app_unheld unheld;

        code = record_redacted(app_unheld_begin(&unheld, app), args, in, &how, http, env, e);
        app_unheld_end(&unheld);
    }
    arena_release(&a);
    return code;
}

static int record_run(const struct app *app, const void *options, const struct operands *in,
                      struct err *e)
{
    const struct record_args *args = options;
    struct remote server = { 0 };
    struct server_env env = { .all = NULL };
    struct record_http_settings http = { .listening = &args->listening,
                                         .server = &server,
                                         .keep_host = args->keep_host };
    int code;

    if (check_sizes(args, e) && remote_read(&server, app, &args->remote, e) &&
        server_env_read(&env, app, &args->target_env, e))
        code = record_from(app, args, in, &http, &env, e);
    else
        code = app_exit_code(e);
    server_env_release(&env);
    remote_release(&server);
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
      "put this where your client's configuration starts the server: a new file each time" },
    { "mcpreel record -o a.jsonl --name nightly --tags ci -- python server.py",
      "label the recording" },
    { "mcpreel record --rotate 100MB -- python server.py",
      "in your own folder for recordings, in parts" },
    { "mcpreel record --url https://mcp.example.com -o a.jsonl",
      "a server on HTTP for a client that only knows commands" },
    { "mcpreel record --url https://mcp.example.com --listen 8080 -o a.jsonl",
      "a server on HTTP: clients go to http://127.0.0.1:8080/mcp instead" },
    { "mcpreel record --listen 8080 -o a.jsonl -- python server.py",
      "clients on HTTP, a server on standard input and output" },
    { 0 },
};

const struct command cmd_record = {
    .name = "record",
    .summary = "record the traffic between a client and a server",
    .usage = record_usage,
    .about =
        "Starts the server and stands between it and the client on standard input and "
        "output. Every byte passes unchanged in both directions; a copy of every message, "
        "of what is no message and of the server's standard error goes to FILE. A message "
        "is in the file before its receiver has all of it.\n\n"
        "COMMAND begins with the first word that is no option; all that follows belongs to it, "
        "also what looks like an option. '--' in front of it makes that plain, and some "
        "clients "
        "remove it. If COMMAND itself has a '--', one in front of it is needed, or "
        "--upstream.\n\n"
        "Without FILE the recording is a new file in $MCPREEL_DIR, or else in "
        "$XDG_STATE_HOME/mcpreel/traces or ~/.local/state/mcpreel/traces.\n\n"
        "Trouble with the disk never stops the session: what cannot be written waits in "
        "memory (up to 64 MB), and what is lost after all stands in the recording as a "
        "gap.\n\n"
        "Ends when the server ends, with the server's own exit code (128 and the signal's "
        "number if a signal ended it). A server that cannot be found is 127, one that "
        "cannot be executed 126.\n\n"
        "With --url the server is on HTTP. Without --listen its client is on standard input "
        "and output all the same: what it says goes to the server over Streamable HTTP, or "
        "over "
        "HTTP+SSE if the server is of old. Ends when the client does, with 0, or with 4 if the "
        "server never answered or is no MCP endpoint.\n\n"
        "With --url and --listen the clients are on HTTP, too: any number "
        "of them, until Ctrl-C, which ends it with 0. The address they are to use is "
        "written to standard output.\n\n"
        "With --listen and a command the clients are on HTTP and the server is not: each that "
        "initializes gets a server of its own, which ends with its session; those without "
        "a session share one.",
    .examples = record_examples,
    .options = record_options,
    .args_size = sizeof(struct record_args),
    .server = true,
    .run = record_run,
};
