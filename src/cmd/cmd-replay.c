/* cmd/cmd-replay.c - serve a recording as if the server were there. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/random.h"
#include "base/words.h"
#include "cmd/as-server.h"
#include "cmd/commands.h"
#include "engine/http-mock.h"
#include "format/shelf-file.h"

enum { REPORT_MAX = 1 << 24 };

enum order { ORDER_ANY, ORDER_TOTAL };

struct replay_args {
    const char *recording, *cassette, *upstream, *report;
    int match, on_unmatched, on_exhausted, order;
    double pace;
    bool strict_unused, fail_at_end, force, stdio;
    struct listening_args listening;
    struct remote_args remote;
};

static const struct option_choice match_choices[] = {
    { .name = "by-request", .value = MATCH_BY_REQUEST },
    { .name = "sequential", .value = MATCH_SEQUENTIAL },
    { .name = "fuzzy", .value = MATCH_FUZZY },
    { .name = "strict", .value = MATCH_STRICT },
    { .name = "method_params", .value = MATCH_BY_REQUEST, .also = true },
    { 0 },
};

static const struct option_choice on_unmatched_choices[] = {
    { .name = "error", .value = ON_MISS_ERROR },
    { .name = "warn", .value = ON_MISS_WARN },
    { .name = "passthrough", .value = ON_MISS_PASS },
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

/* A number as people write it: digits and a point, nothing else strtod() knows. */
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
                   "'%s' is none of instant, realistic or scaled:N, N being a number like 0.5",
                   text);
}

static const struct option replay_options[] = {
    { .name = "match",
      .also = { "match-mode" },
      .arg = "MODE",
      .type = OPTION_CHOICE,
      .choices = match_choices,
      .seed = true,
      .at = offsetof(struct replay_args, match),
      .help = "what a request without an equal recorded one gets; by-request if not given, "
              "sequential with -r" },
    { .name = "order",
      .arg = "ORDER",
      .type = OPTION_CHOICE,
      .choices = order_choices,
      .preset = "any",
      .at = offsetof(struct replay_args, order),
      .help = "total: requests must come exactly in recorded order; implies --match "
              "sequential" },
    { .name = "timing",
      .arg = "TIMING",
      .type = OPTION_CUSTOM,
      .parse = parse_timing,
      .choices = timing_choices,
      .preset = "instant",
      .seed = true,
      .at = offsetof(struct replay_args, pace),
      .help = "answer at once, as slowly as recorded, or in N times that: scaled:N" },
    { .name = "on-unmatched",
      .arg = "ACTION",
      .type = OPTION_CHOICE,
      .choices = on_unmatched_choices,
      .seed = true,
      .at = offsetof(struct replay_args, on_unmatched),
      .help = "a request that was not recorded: end with exit code 1, go on, or ask the real "
              "server; error if not given" },
    { .name = "on-exhausted",
      .arg = "ACTION",
      .type = OPTION_CHOICE,
      .choices = on_exhausted_choices,
      .at = offsetof(struct replay_args, on_exhausted),
      .help = "a call made more often than recorded: unmatched, the last answer again, or from "
              "the first again; error if not given, cycle where there are no sessions: in "
              "recordings of 2026-07-28, and over HTTP of servers that gave none out" },
    { .name = "upstream",
      .arg = "COMMAND",
      .type = OPTION_STRING,
      .seed = true,
      .at = offsetof(struct replay_args, upstream),
      .help = "the server for --on-unmatched passthrough, instead of -- COMMAND" },
    { .name = "fail-at-end",
      .type = OPTION_FLAG,
      .at = offsetof(struct replay_args, fail_at_end),
      .help = "go on after a request that was not recorded, and end with exit code 1" },
    { .name = "strict-unused",
      .type = OPTION_FLAG,
      .at = offsetof(struct replay_args, strict_unused),
      .help = "exit code 1 if a recorded request was never asked for" },
    { .name = "report",
      .arg = "FILE",
      .type = OPTION_PATH,
      .at = offsetof(struct replay_args, report),
      .help = "write how it went to FILE as JSON at the end" },
    { .name = "force",
      .type = OPTION_FLAG,
      .at = offsetof(struct replay_args, force),
      .help = "replace the report if it exists" },
    { .key = 'r',
      .name = "recording",
      .arg = "FILE",
      .type = OPTION_PATH,
      .seed = true,
      .at = offsetof(struct replay_args, recording),
      .help = "the recording, instead of FILE" },
    { .name = "cassette",
      .arg = "FILE",
      .type = OPTION_PATH,
      .at = offsetof(struct replay_args, cassette),
      .help = "the recording, served as mcp-recorder does: over HTTP on port 5555, "
              "by-request, warn, its errors" },
    { .name = "stdio",
      .type = OPTION_FLAG,
      .at = offsetof(struct replay_args, stdio),
      .help = "the client is on standard input and output, also with --cassette" },
    LISTENING_OPTIONS(struct replay_args, listening),
    REMOTE_URL_OPTION(struct replay_args, remote,
                      "the server for --on-unmatched passthrough is there; /mcp if it has no "
                      "path"),
    REMOTE_TARGET_OPTION(struct replay_args, remote, "the same, as mcp-recorder spells it"),
    REMOTE_OPTIONS(struct replay_args, remote),
    { 0 },
};

static void step(void *engine, const struct event *ev)
{
    mock_step(engine, ev);
}

static void step_http(void *engine, const struct event *ev)
{
    http_mock_step(engine, ev);
}

/* What the command line names wins over the environment; twice is once too often. */
static const char *choose_path(const struct app *app, const struct replay_args *args,
                               const struct operands *in, struct err *e)
{
    const char *option = args->recording, *operand = in->count ? in->at[0] : args->cassette;

    if (option && operand && app_env_has(app, "recording", option))
        option = NULL;
    if (!option == !operand || (in->count && args->cassette)) {
        err_set(e, ERR_USAGE,
                option || operand ? "two recordings to replay" : "no recording to replay");
        err_hint(e, "name one: mcpreel replay session.jsonl");
        return NULL;
    }
    if (file_is_standard(option ? option : operand)) {
        err_set(e, ERR_USAGE, "cannot read the recording from standard input");
        err_hint(e, "the client speaks there; name a file");
        return NULL;
    }
    return option ? option : operand;
}

/* The server behind the recording; there is one exactly if it can be needed. */
static bool choose_server(const struct replay_args *args, const struct operands *in,
                          bool needed, struct arena *a, struct as_server_upstream *server,
                          struct err *e)
{
    size_t count = in->server_count;
    char **words;

    server->argv = in->server;
    if (in->server && args->upstream)
        return err_set(e, ERR_USAGE, "two servers: '--upstream' and what follows '--'");
    if ((in->server || args->upstream) && server->where)
        return err_set(e, ERR_USAGE, "two servers: a URL and a command");
    if (args->upstream) {
        if (!words_split(&words, &count, str_z(args->upstream), a, e))
            return err_wrap(e, "cannot read the command of '--upstream'");
        server->argv = words;
    }
    if (((server->argv && count) || server->where) && !needed) {
        err_set(e, ERR_USAGE, "a server is given that nothing would be asked of");
        return err_hint(e, "add --on-unmatched passthrough, or leave it out");
    }
    if (needed && (!server->argv || !count) && !server->where) {
        err_set(e, ERR_USAGE, "--on-unmatched passthrough needs a server to pass to");
        return err_hint(e, "say how to start it: mcpreel replay --on-unmatched passthrough "
                           "session.jsonl -- COMMAND ARGS…\nor where it is: --url URL");
    }
    return true;
}

/* `seed`: the recording is named as ThoughtJack does, which brings its default mode. */
static bool choose_how(const struct replay_args *args, bool seed, struct mock_options *how,
                       struct err *e)
{
    bool recorder = args->cassette != NULL;
    int match = args->match, on_miss = args->on_unmatched;

    if (match < 0)
        match = seed || args->order == ORDER_TOTAL ? MATCH_SEQUENTIAL : MATCH_BY_REQUEST;
    if (on_miss < 0)
        on_miss = recorder ? ON_MISS_WARN : ON_MISS_ERROR;
    if (args->fail_at_end && on_miss == ON_MISS_PASS) {
        err_set(e, ERR_USAGE, "--fail-at-end does not go with --on-unmatched passthrough");
        return err_hint(e, "with passthrough the server answers what was not recorded");
    }
    if (args->order == ORDER_TOTAL && match != MATCH_SEQUENTIAL)
        return err_set(e, ERR_USAGE, "--order total goes with --match sequential only");
    *how = (struct mock_options){
        .match = { .mode = (enum match_mode)match,
                   .total = args->order == ORDER_TOTAL,
                   .any_method = recorder && match == MATCH_SEQUENTIAL,
                   .rules = matcher_rules((enum match_mode)match, recorder) },
        .on_miss = (enum session_on_miss)on_miss,
        .fail_at_end = args->fail_at_end,
        .pace = args->pace,
        .strict_unused = args->strict_unused,
        .recorder = recorder,
        .exhausted_given = args->on_exhausted >= 0 || recorder,
    };
    if (args->on_exhausted >= 0)
        how->match.exhausted = (enum match_exhausted)args->on_exhausted;
    return true;
}

struct replay {
    const struct app *app; /* unheld */
    const struct app *own; /* ours: the result is not talk, and is waited for */
    const struct replay_args *args;
    struct mock_options how;
    struct as_server_upstream server;
    struct shelf_file shelf;
    struct script script;
    struct http_script http;
    struct fuzzy fuzzy;
    struct as_server_listen listen;
    bool over_http;
};

/* A recording on its way into the script, looked at for what the user should know. */
struct loading {
    struct sink sink;
    struct sink *to;
    uint64_t messages;
    bool headed, closed;
};

static bool load_record(struct sink *self, const struct record *r, struct err *e)
{
    struct loading *l = (struct loading *)self;

    l->messages += r->kind == RECORD_MESSAGE;
    l->headed = l->headed || r->kind == RECORD_HEADER;
    l->closed = l->closed || r->kind == RECORD_FOOTER;
    return l->to->put(l->to, r, e);
}

static bool load(struct replay *r, const char *path, struct err *e)
{
    struct loading l = { .sink = { load_record }, .to = &r->http.sink };
    const struct app *app = r->app;

    if (!shelf_file_pour(&r->shelf, &l.sink, e))
        return false;
    script_finish(&r->script);
    http_script_finish(&r->http);
    if (!l.messages)
        log_say(app->log, LOG_WARN, "'%s' has no messages; no request can be answered", path);
    if (l.headed && !l.closed && reader_format(r->shelf.reader) == &recording_format)
        log_say(app->log, LOG_INFO, "'%s' has no footer; its recorder did not end properly",
                path);
    log_say(app->log, LOG_DEBUG, "'%s': %llu message%s, %zu session%s", path,
            (unsigned long long)l.messages, l.messages == 1 ? "" : "s", r->script.session_count,
            r->script.session_count == 1 ? "" : "s");
    return true;
}

static bool write_report(const struct app *app, const struct replay_args *args, struct str text,
                         struct err *e)
{
    struct file f = FILE_CLOSED;
    size_t done;
    bool ok;

    if (!file_create(&f, app->sys, args->report, args->force, e))
        return false;
    ok = file_write(&f, text, &done, e);
    return file_close(&f, e) && ok;
}

/* Standard output is data, but for a client that is there. */
static bool show_result(const struct replay *r, struct str text, struct err *e)
{
    if (r->over_http)
        return app_write(r->own, text, e);
    r->own->log->put(r->own->log->to, text);
    return true;
}

/* To the file if one is named, and said if data is to be JSON. */
static int tell_result(const struct replay *r, const struct mock *mock, int code, struct err *e)
{
    struct buf text;

    if (!r->own->json && !r->args->report)
        return code;
    buf_init(&text, REPORT_MAX);
    mock_report(mock, &text);
    buf_add_ch(&text, '\n');
    if ((r->own->json && !show_result(r, buf_str(&text), e)) ||
        (r->args->report && !write_report(r->own, r->args, buf_str(&text), e)))
        code = app_exit_code(e);
    buf_release(&text);
    return code;
}

static struct fuzzy *fuzzy_of(struct replay *r)
{
    return r->how.match.mode == MATCH_FUZZY ? &r->fuzzy : NULL;
}

/* Runs the server; what it says of how it went is the mock's. */
static int run(struct replay *r, struct as_server *server, struct mock *mock, struct err *e)
{
    int code = as_server_run(server, e);

    mock->exit_code = code; /* which need not be the engine's */
    if (mock->finished)
        code = tell_result(r, mock, code, e);
    return code;
}

static int serve_stdio(struct replay *r, struct err *e)
{
    struct as_server server;
    struct mock mock;
    int code;

    as_server_init(&server, r->app, step, &mock, &r->server, NULL);
    mock_init(&mock, &r->script, fuzzy_of(r), &r->how, &server.drive.actions);
    code = run(r, &server, &mock, e);
    mock_release(&mock);
    return code;
}

static int serve_http(struct replay *r, struct err *e)
{
    struct http_mock_options how = { .mock = r->how, .random = random_bytes };
    struct as_server server;
    struct http_mock mock;
    int code;

    r->listen.path = http_script_path(&r->http);
    as_server_init(&server, r->app, step_http, &mock, &r->server, &r->listen);
    http_mock_init(&mock, &r->script, &r->http, fuzzy_of(r), &how, &server.drive.actions);
    code = run(r, &server, &mock.mock, e);
    if (mock.mock.host.over) /* which nobody expects of a server */
        log_say(r->app->log, LOG_INFO,
                "stopped at the first unmatched request; --fail-at-end or --on-unmatched warn "
                "go on");
    http_mock_release(&mock);
    return code;
}

static int load_and_serve(struct replay *r, const char *path, struct err *e)
{
    const char *tmp = app_env(r->app, "TMPDIR");
    int code;

    if (!shelf_file_open(&r->shelf, r->app->sys, path, tmp ? tmp : "/tmp", r->app->log, e)) {
        shelf_file_close(&r->shelf);
        return app_exit_code(e);
    }
    fuzzy_init(&r->fuzzy, &r->script);
    script_init(&r->script, &r->shelf.shelf, &r->how.match.rules,
                fuzzy_of(r) ? &r->fuzzy.reader : NULL);
    http_script_init(&r->http, &r->script.sink, &r->shelf.shelf);
    if (!load(r, path, e))
        code = app_exit_code(e);
    else
        code = r->over_http ? serve_http(r, e) : serve_stdio(r, e);
    http_script_release(&r->http);
    script_release(&r->script);
    fuzzy_release(&r->fuzzy);
    shelf_file_close(&r->shelf);
    return code;
}

/* Before anything is answered: a session whose report has no place is not begun, and a
 * recording is not what a report replaces. */
static bool check_report(const struct app *app, const struct replay_args *args,
                         const char *path, struct err *e)
{
    if (!args->report)
        return true;
    if (str_eq(str_z(args->report), str_z(path)))
        return err_set(e, ERR_USAGE, "the report cannot go to '%s': it is the recording", path);
    return file_may_create(app->sys, args->report, args->force, e);
}

/* On HTTP or not. With mcp-recorder's spelling comes its port. */
static bool choose_side(struct replay *r, struct err *e)
{
    const struct replay_args *args = r->args;
    int usual = args->cassette && !args->stdio ? LISTENING_SEED_PORT : 0;

    if (!listening_choose(&args->listening, usual, &r->listen.at, &r->over_http, e))
        return false;
    if (r->over_http && args->stdio)
        return err_set(e, ERR_USAGE, "the client is either on '--stdio' or on '--listen'");
    return true;
}

/* What was said of a report, clients or a server that there are none of. */
static bool check_idle(const struct replay *r, const struct operands *in,
                       const struct remote *remote, struct err *e)
{
    const struct option_idle rows[] = {
        { "force", "'--report'", !r->args->report },
        REMOTE_IDLE(remote),
        LISTENING_IDLE(r->over_http, &r->listen.at),
        { 0 },
    };

    return option_refuse_idle(in, rows, e);
}

/* Which server, if any, and whether it is needed. */
static int replay_with(struct replay *r, const char *path, const struct operands *in,
                       struct err *e)
{
    bool needed = r->how.on_miss == ON_MISS_PASS;
    struct remote remote = { 0 };
    struct arena a = { 0 };
    int code = EXIT_USAGE;

    if (!remote_read(&remote, r->app, &r->args->remote, e)) {
        code = app_exit_code(e);
    } else {
        r->server.where = remote.url ? &remote : NULL;
        r->how.far = remote.url != NULL;
        if (check_idle(r, in, &remote, e) &&
            choose_server(r->args, in, needed, &a, &r->server, e) &&
            (!r->over_http ||
             remote_may_lend(&remote, listening_is_open(&r->args->listening, &r->listen.at),
                             e)))
            code = load_and_serve(r, path, e);
    }
    remote_release(&remote);
    arena_release(&a);
    return code;
}

static int replay_run(const struct app *app, const void *options, const struct operands *in,
                      struct err *e)
{
    const struct replay_args *args = options;
    struct app_unheld unheld;
    struct replay r = { .app = app_unheld_begin(&unheld, app),
                        .own = app,
                        .args = args,
                        .listen = { .args = &args->listening } };
    const char *path = choose_path(app, args, in, e);
    int code = EXIT_USAGE;

    if (path && check_report(app, args, path, e) &&
        choose_how(args, path == args->recording, &r.how, e) && choose_side(&r, e))
        code = replay_with(&r, path, in, e);
    app_unheld_end(&unheld);
    return code;
}

static const char *const replay_usage[] = {
    "[options] FILE", "[options] --listen [HOST:]PORT FILE",
    "[options] --on-unmatched passthrough FILE -- COMMAND…",
    "[options] --on-unmatched passthrough --url URL FILE", NULL
};

static const struct command_example replay_examples[] = {
    { "mcpreel replay session.jsonl", "a stdio server that gives the recorded answers" },
    { "mcpreel replay --match sequential session.jsonl",
      "answer in recorded order where params are not the recorded ones" },
    { "mcpreel replay --timing realistic --strict-unused session.jsonl",
      "as slowly as the server was, and every request must come" },
    { "mcpreel replay --fail-at-end --report replay.json session.jsonl",
      "for CI: go on after a miss, exit 1, and write what was missed" },
    { "mcpreel replay --listen 8080 session.jsonl",
      "the same over HTTP, at http://127.0.0.1:8080/mcp" },
    { "mcpreel replay --on-unmatched passthrough a.jsonl -- python server.py",
      "start the server only for what was not recorded" },
    { 0 },
};

const struct command cmd_replay = {
    .name = "replay",
    .summary = "serve a recording as a mock server",
    .usage = replay_usage,
    .about =
        "Serves a recording as an MCP server. --match says which recorded request answers a "
        "live one:\n\n"
        "  by-request  one with equal method and params, in any order; without\n"
        "              one it is a miss (default)\n"
        "  sequential  the same; without one the oldest unused request of the\n"
        "              same method and name, with a warning\n"
        "  fuzzy       the same; without one the unused request most alike\n"
        "  strict      as by-request, and _meta must be equal, too\n\n"
        "If weather(Lisbon) was recorded, weather(Oslo) is an error with by-request, and gets "
        "the weather of Lisbon and a warning with sequential.\n\n"
        "Speaks MCP on standard input and output and answers every request as the recorded "
        "server did. Ids and progress tokens are the live client's; notifications and requests "
        "of the server's come at their place. Contacts nothing and starts nothing, unless "
        "--on-unmatched passthrough asks for it.\n\n"
        "With --listen it speaks Streamable HTTP, and HTTP+SSE at '/sse', to any number of "
        "clients instead, whichever way the recording was made, until Ctrl-C.\n\n"
        "A request that was not recorded is answered with an error that names the nearest "
        "recorded one and what differs.",
    .examples = replay_examples,
    .options = replay_options,
    .args_size = sizeof(struct replay_args),
    .operand = "FILE",
    .min = 0,
    .max = 1,
    .server = true,
    .run = replay_run,
};
