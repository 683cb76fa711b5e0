/* cmd/cmd-record.c - stand between a client and its server and write down what passes. */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/pack.h"
#include "cmd/commands.h"
#include "cmd/redaction.h"
#include "engine/tap.h"
#include "format/recording-line.h"
#include "format/writer.h"
#include "loop/dumps.h"
#include "loop/signals.h"
#include "trace/limits.h"
#include "transport/relay.h"
#include "json/write.h"

struct record_args {
    const char *output, *name;
    struct option_list tags;
    bool force;
    struct redaction_args redaction;
};

static const struct option record_options[] = {
    { .key = 'o',
      .name = "output",
      .arg = "FILE",
      .type = OPTION_PATH,
      .seed = true,
      .at = offsetof(struct record_args, output),
      .help = "write the recording to FILE" },
    { .name = "force",
      .type = OPTION_FLAG,
      .at = offsetof(struct record_args, force),
      .help = "replace FILE if it exists" },
    { .name = "name",
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
    REDACTION_OPTIONS(struct record_args, redaction),
    { 0 },
};

enum { EXIT_OURS = 125 }; /* we failed, not the server */

/* One recording session: the relay's events go through the tap into the file. */
struct recording_session {
    const struct app *app; /* its log is the redaction's */
    struct redaction redaction;
    struct loop *loop;
    struct relay *relay;
    struct tap tap;
    struct writer writer;
    int64_t started_us;
    uint64_t lost; /* messages that are not in the file */
    int exit_code;
    bool complained;
};

static struct tap_time now(const struct recording_session *s)
{
    return (struct tap_time){ clock_mono_us() - s->started_us, clock_wall_us() };
}

/* The session matters more than its recording: say once that something is lost,
 * and go on. */
static void check(struct recording_session *s, bool kept, const struct err *e)
{
    if (kept || s->complained)
        return;
    s->complained = true;
    log_say(s->app->log, LOG_ERROR, "the recording is incomplete: %s", e->msg);
}

static void on_line(void *to, enum record_dir dir, struct str line)
{
    struct recording_session *s = to;
    struct err e = ERR_NONE;
    uint64_t before = s->tap.seq;
    bool kept = tap_line(&s->tap, dir, line, now(s), &e);

    if (!kept)
        s->lost += s->tap.seq - before;
    check(s, kept, &e);
}

static void on_too_long(void *to, enum record_dir dir, uint64_t bytes)
{
    struct recording_session *s = to;
    struct err e = ERR_NONE;

    check(s, tap_too_long(&s->tap, dir, bytes, now(s), &e), &e);
}

static void on_stderr(void *to, struct str bytes)
{
    struct recording_session *s = to;
    struct err e = ERR_NONE;

    check(s, tap_stderr(&s->tap, bytes, now(s), &e), &e);
}

static void on_hurried(void *to)
{
    struct recording_session *s = to;

    log_say(s->app->log, LOG_WARN,
            "the client is gone and the server was silent for 0.8 s: sent it SIGTERM");
}

static void on_exited(void *to, int code, int signum)
{
    struct recording_session *s = to;
    struct err e = ERR_NONE;

    s->exit_code = signum ? 128 + signum : code;
    check(s, tap_exited(&s->tap, code, signum, now(s), &e), &e);
}

static void on_done(void *to)
{
    struct recording_session *s = to;

    loop_stop(s->loop);
}

static const struct relay_events session_events = {
    .line = on_line,
    .too_long = on_too_long,
    .stderr_text = on_stderr,
    .hurried = on_hurried,
    .exited = on_exited,
    .done = on_done,
};

static void on_signal(void *to, int signum)
{
    struct recording_session *s = to;

    relay_signal(s->relay, signum);
}

static struct str json_strings(struct arena *a, char *const *at, size_t count)
{
    struct buf b;
    struct json_out o = json_out_to(&b);
    struct str list;

    buf_init(&b, LIMIT_MESSAGE);
    json_out_array(&o);
    for (size_t i = 0; i < count; i++)
        json_out_str(&o, str_z(at[i]));
    json_out_end_array(&o);
    list = arena_str(a, buf_str(&b));
    buf_release(&b);
    return list;
}

static struct str command_line(struct arena *a, char *const *argv)
{
    struct buf b;
    struct str line;

    buf_init(&b, LIMIT_MESSAGE);
    for (; *argv; argv++)
        buf_printf(&b, "%s%s", b.len ? " " : "", *argv);
    line = arena_str(a, buf_str(&b));
    buf_release(&b);
    return line;
}

static bool begin(struct recording_session *s, const struct record_args *args,
                  const struct operands *in, struct err *e)
{
    struct arena a = { 0 };
    struct record_header header = {
        .version = STR(RECORDING_VERSION),
        .name = str_z(args->name),
        .upstream = command_line(&a, in->server),
        .made_for = STR(RECORDING_MADE_FOR),
        .producer = STR("{\"name\":\"mcpreel\",\"version\":\"" MCPREEL_VERSION "\"}"),
        .command = json_strings(&a, in->server, in->server_count),
        .transport = STR("stdio"),
    };
    bool ok;

    if (args->tags.count)
        header.tags = json_strings(&a, (char *const *)args->tags.at, args->tags.count);
    ok = tap_begin(&s->tap, &header, now(s), e) && tap_started(&s->tap, now(s), e);
    arena_release(&a);
    return ok;
}

/* As shells have it: not found, or found and not to be executed; the rest is trouble
 * of the usual kinds. */
static int start_failure(int errnum, const struct err *e)
{
    switch (errnum) {
    case 0:
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
        return app_exit_code(e);
    case ENOENT:
        return 127;
    default:
        return 126;
    }
}

static bool open_file(struct recording_session *s, const struct record_args *args,
                      struct err *e)
{
    return writer_open(&s->writer, s->app->sys, args->output, args->force, &recording_format,
                       e);
}

/* A new file is made before the server starts: there is no session if it cannot be.
 * An old one is only replaced once there is something to replace it with. */
static int start(struct recording_session *s, const struct record_args *args,
                 const struct operands *in, struct err *e)
{
    struct relay_config config = { in->server, 0, 1, 2, LIMIT_MESSAGE };
    int errnum = 0;

    if (args->force ? !file_may_create(s->app->sys, args->output, true, e)
                    : !open_file(s, args, e))
        return app_exit_code(e);
    if (!relay_start(&s->relay, s->loop, &config, &session_events, s, &errnum, e)) {
        if (!args->force)
            writer_abandon(&s->writer);
        return start_failure(errnum, e);
    }
    if (args->force && !open_file(s, args, e)) {
        relay_close(s->relay);
        return app_exit_code(e);
    }
    return 0;
}

static void say_result(const struct recording_session *s, const char *path)
{
    uint64_t seen = s->tap.seq, kept = seen - s->lost;

    if (s->lost)
        log_say(s->app->log, LOG_WARN, "recorded only %llu of %llu messages in %s",
                (unsigned long long)kept, (unsigned long long)seen, path);
    else
        log_say(s->app->log, LOG_INFO, "recorded %llu message%s in %s",
                (unsigned long long)seen, seen == 1 ? "" : "s", path);
}

/* Runs the session; the exit code is the server's, or says why it did not start. */
static int run_session(struct recording_session *s, const struct record_args *args,
                       const struct operands *in, struct err *e)
{
    struct signals *signals = signals_watch(s->loop, on_signal, s);
    struct err trouble = ERR_NONE;
    int failure = start(s, args, in, e);

    if (!failure) {
        log_say(s->app->log, LOG_INFO, "recording to %s", args->output);
        check(s, begin(s, args, in, &trouble), &trouble);
        loop_run(s->loop);
        check(s, tap_end(&s->tap, s->exit_code, now(s), &trouble), &trouble);
        check(s, writer_finish(&s->writer, &trouble), &trouble);
        say_result(s, args->output);
        relay_close(s->relay);
    }
    signals_close(signals);
    return failure ? failure : s->exit_code;
}

/* Whether the recording can go where it is to go. */
static bool check_output(const char *path, const char *server, struct err *e)
{
    struct str stem;

    if (!path) {
        err_set(e, ERR_USAGE, "no file to record into");
        return err_hint(e, "name one: mcpreel record -o session.jsonl -- %s …", server);
    }
    if (str_eq(str_z(path), STR("-"))) {
        err_set(e, ERR_USAGE, "cannot record to standard output: it belongs to the session");
        return err_hint(e, "name a file: mcpreel record -o session.jsonl -- %s …", server);
    }
    if (pack_by_name(str_z(path), &stem) != PACK_NONE) {
        err_set(e, ERR_USAGE, "cannot record to '%s': a live recording is not packed", path);
        return err_hint(e, "record to '%.*s' and pack it afterwards", STR_ARG(stem));
    }
    return true;
}

static int record_run(const struct app *app, const void *options, const struct operands *in,
                      struct err *e)
{
    const struct record_args *args = options;
    struct app quiet = *app;
    /* A server that cannot be killed is left without an exit code. */
    struct recording_session s = { .app = &quiet,
                                   .started_us = clock_mono_us(),
                                   .exit_code = EXIT_OURS };
    int code;

    if (!in->server) {
        err_set(e, ERR_USAGE, "no server to record");
        err_hint(e, "say how to start it: mcpreel record -o session.jsonl -- COMMAND ARGS…");
        return EXIT_USAGE;
    }
    if (!check_output(args->output, in->server[0], e) ||
        !redaction_init(&s.redaction, app, &args->redaction, in->server, e))
        return EXIT_USAGE;
    dumps_off();
    quiet.log = &s.redaction.log;
    s.redaction.redactor.live = true;
    tap_init(&s.tap, redaction_door(&s.redaction, &s.writer.sink));
    s.loop = loop_new();
    code = run_session(&s, args, in, e);
    loop_free(s.loop);
    tap_release(&s.tap);
    redaction_err(&s.redaction, e);
    redaction_release(&s.redaction);
    return code;
}

static const char *const record_usage[] = { "[options] -o FILE -- COMMAND [ARGS…]", NULL };

static const struct command_example record_examples[] = {
    { "mcpreel record -o session.jsonl -- npx -y some-mcp-server --flag",
      "put this where your client's configuration starts the server" },
    { "mcpreel record -o a.jsonl --name nightly --tags ci -- python server.py",
      "label the recording" },
    { 0 },
};

const struct command cmd_record = {
    .name = "record",
    .summary = "record the traffic between a client and a server",
    .usage = record_usage,
    .about = "Starts the server and stands between it and the client on standard input and "
             "output. Every byte passes unchanged in both directions; a copy of every message, "
             "of what is no message and of the server's standard error goes to FILE.\n\n"
             "Ends when the server ends, with the server's own exit code (128 and the signal's "
             "number if a signal ended it). A server that cannot be found is 127, one that "
             "cannot be executed 126.",
    .examples = record_examples,
    .options = record_options,
    .args_size = sizeof(struct record_args),
    .server = true,
    .run = record_run,
};
