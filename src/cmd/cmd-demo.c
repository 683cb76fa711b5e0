/* cmd/cmd-demo.c - the demo command: records, replays and verifies a session of built-in
 * peers. */
#include "base/clock.h"
#include "cmd/command.h"
#include "cmd/demo-steps.h"
#include "demo/demo-client.h"
#include "demo/demo-server.h"
#include "loop/process-self.h"
#include "runtime/run-client.h"
#include "runtime/run-server.h"

enum {
    SESSION_MS = 10000, /* limit of each session; they take a fraction of a second */
    PATH_LIMIT = 64 << 10,
    STEPS_TEXT_MAX = 4 << 20,
    REPORT_MAX = 1 << 20,
};

struct demo_args {
    const char *output;
    bool force, changed;
};

static const struct option demo_options[] = {
    { .key = 'o',
      .name = "output",
      .arg = "FILE",
      .type = OPTION_PATH,
      .preset = "mcpreel-demo.jsonl",
      .offset = offsetof(struct demo_args, output),
      .help = "write the recording to FILE" },
    { .name = "force",
      .type = OPTION_FLAG,
      .offset = offsetof(struct demo_args, force),
      .help = "replace FILE if it exists" },
    { .name = "changed",
      .type = OPTION_FLAG,
      .offset = offsetof(struct demo_args, changed),
      .help = "demo server: one response differs, so that 'verify' finds it" },
    { 0 },
};

/* The servers that the recording is verified against. */
enum demo_server_kind { SAME_SERVER, CHANGED_SERVER, SERVER_KINDS };

/* The same client twice: with the server, and with its recording. */
struct demo {
    const struct app *app;
    const struct demo_args *args;
    struct buf program; /* path of this program */
    struct buf text;    /* not yet written */
    struct demo_steps steps;
    struct demo_client recorded, replayed;
    struct buf reports[SERVER_KINDS]; /* of verify, as JSON */
};

static void step_client(void *engine, const struct event *ev)
{
    demo_client_step(engine, ev);
}

static void step_server(void *engine, const struct event *ev)
{
    demo_server_step(engine, ev);
}

/* Keeps the JSON document that `mcpreel --json verify` writes. */
static void step_report(void *report, const struct event *ev)
{
    if (ev->kind != EVENT_RECORD || ev->record->kind != RECORD_RAW)
        return;
    buf_clear(report);
    buf_add(report, ev->record->bytes.bytes);
}

static int run_server(const struct app *app, bool changed, struct err *e)
{
    struct demo_server engine;
    struct run_server server;
    int code;

    run_server_init(&server, app, step_server, &engine, NULL, NULL);
    demo_server_init(&engine, &server.driver.actions);
    engine.tools.changed = changed;
    code = run_server_run(&server, e);
    demo_server_release(&engine);
    return code;
}

/* Returns the kind of error that an exit code of mcpreel stands for. */
static enum err_kind err_kind_of(int code)
{
    switch (code) {
    case EXIT_USAGE:
        return ERR_USAGE;
    case EXIT_INPUT:
        return ERR_INPUT;
    case EXIT_IO:
        return ERR_IO;
    default:
        return ERR_PEER;
    }
}

/* Sets the error of a failed session: the one that the other mcpreel wrote as JSON in its
 * last line, else `what`. */
static bool explain_failure(const struct peer_outcome *how, struct str what, struct err *e)
{
    struct str last = buf_str(&how->last_stderr), message, hint;
    struct json_val error = JSON_VAL_NONE;
    struct json_fault fault;
    struct arena a = { 0 };
    struct json j;

    json_init(&j);
    if (json_scan(&j, last, &fault))
        error = json_get(json_root(&j), STR("error"));
    message = json_text(json_get(error, STR("message")), &a);
    hint = json_text(json_get(error, STR("hint")), &a);
    if (message.len) {
        err_set(e, err_kind_of(how->exit_code), "%.*s", STR_ARG(message));
        err_hint(e, "%.*s", STR_ARG(hint));
    } else {
        err_set(e, ERR_PEER, "%.*s (%s %d)", STR_ARG(what),
                how->signum ? "signal" : "exit code",
                how->signum ? how->signum : how->exit_code);
        if (last.len)
            err_hint(e, "its last line on standard error: %.*s", STR_ARG(last));
    }
    json_release(&j);
    arena_release(&a);
    return false;
}

/* A replay without a matching call exits with EXIT_FINDINGS; the received messages show
 * which. */
static bool has_succeeded(const struct demo *d, const struct demo_client *client,
                          const struct peer_outcome *how)
{
    if (how->signum)
        return false;
    if (how->exit_code == EXIT_FINDINGS)
        return client == &d->replayed;
    return how->exit_code == EXIT_OK && !client->failure.len;
}

/* Runs the client once, with the server that `argv` starts. */
static bool run_session(struct demo *d, struct demo_client *client, enum demo_id_style names,
                        const char *const *argv, struct err *e)
{
    const struct run_client_options options = { .limit_ms = SESSION_MS };
    const struct peer_target server = { .argv = (char *const *)(uintptr_t)argv };
    struct run_client session;
    bool ok;

    run_client_init(&session, d->app, step_client, client, LOG_DEBUG);
    demo_client_init(client, names, &session.driver.actions);
    ok = run_client_run(&session, &server, &options, e);
    if (ok && !has_succeeded(d, client, run_client_outcome(&session)))
        ok = explain_failure(run_client_outcome(&session),
                             client->failure.len ? client->failure : STR("the server failed"),
                             e);
    run_client_release(&session);
    return ok;
}

/* Writes the text so far, so that it is seen before the next step. */
static bool flush_text(struct demo *d, struct err *e)
{
    bool ok = buf_ok(&d->text, e) && app_write(d->app, buf_str(&d->text), e);

    buf_clear(&d->text);
    return ok;
}

static bool record_session(struct demo *d, struct err *e)
{
    const char *self = d->steps.program, *file = d->steps.file;
    const char *const plain[] = { self, "--json", "record", "-o",     file,
                                  "--", self,     "demo",   "server", NULL };
    const char *const forced[] = { self, "--json", "record", "--force", "-o", file,
                                   "--", self,     "demo",   "server",  NULL };

    if (!run_session(d, &d->recorded, DEMO_ID_NUMBERS, d->args->force ? forced : plain, e))
        return false;
    if (d->app->json)
        return true;
    demo_steps_add_recorded(&d->steps, &d->recorded);
    return flush_text(d, e);
}

/* Runs `mcpreel verify` once, and keeps its report. */
static bool verify_server(struct demo *d, enum demo_server_kind kind, struct err *e)
{
    const char *self = d->steps.program;
    const char *const argv[] = {
        self,          "--json", "verify",
        d->steps.file, "--",     self,
        "demo",        "server", kind == CHANGED_SERVER ? "--changed" : NULL,
        NULL
    };
    const struct run_client_options options = { .limit_ms = SESSION_MS };
    const struct peer_target verify = { .argv = (char *const *)(uintptr_t)argv };
    struct run_client session;
    bool ok;

    run_client_init(&session, d->app, step_report, &d->reports[kind], LOG_DEBUG);
    ok = run_client_run(&session, &verify, &options, e);
    if (ok && !d->reports[kind].len)
        ok = explain_failure(run_client_outcome(&session), STR("verify failed"), e);
    run_client_release(&session);
    return ok;
}

/* Returns whether the report of a run of verify has that exit code. */
static bool has_exit_code(struct json_val report, int code)
{
    int64_t n;

    return json_int(json_get(report, STR("exit_code")), &n) && n == code;
}

/* Returns EXIT_FINDINGS if the same server does not pass, or the changed one passes. */
static int verify_recording(struct demo *d, struct err *e)
{
    struct json same, changed;
    struct json_fault fault;
    int code = EXIT_FINDINGS;

    if (!verify_server(d, SAME_SERVER, e) || !verify_server(d, CHANGED_SERVER, e))
        return app_exit_code(e);
    json_init(&same);
    json_init(&changed);
    if (!json_scan(&same, buf_str(&d->reports[SAME_SERVER]), &fault) ||
        !json_scan(&changed, buf_str(&d->reports[CHANGED_SERVER]), &fault)) {
        err_set(e, ERR_PEER, "the report of verify is no JSON");
        code = app_exit_code(e);
    } else {
        if (!d->app->json)
            demo_steps_add_verified(&d->steps, json_root(&same), json_root(&changed));
        if (has_exit_code(json_root(&same), EXIT_OK) &&
            has_exit_code(json_root(&changed), EXIT_FINDINGS))
            code = EXIT_OK;
    }
    json_release(&same);
    json_release(&changed);
    return code;
}

/* Writes everything as JSON; `where` NULL: the replay is equal to the recording. */
static void add_json(struct demo *d, const struct demo_difference *where)
{
    const struct str reports[] = { buf_str(&d->reports[SAME_SERVER]),
                                   buf_str(&d->reports[CHANGED_SERVER]) };

    demo_steps_add_json(&d->steps, &d->recorded, where, where ? NULL : reports);
}

/* Ends the demo at the replay, which differs. */
static int end_with_difference(struct demo *d, const struct demo_difference *where,
                               struct err *e)
{
    if (d->app->json)
        add_json(d, where);
    else
        demo_steps_add_difference(&d->steps, where);
    return flush_text(d, e) ? EXIT_FINDINGS : app_exit_code(e);
}

/* Returns EXIT_FINDINGS if the replay differs from the recording, or verify has another result
 * than it should. */
static int replay_and_verify(struct demo *d, struct err *e)
{
    const char *const argv[] = {
        d->steps.program, "--json", "replay", "-r", d->steps.file, NULL
    };
    struct demo_difference where;
    int64_t start = clock_mono_us();
    int code;

    if (!run_session(d, &d->replayed, DEMO_ID_STRINGS, argv, e))
        return app_exit_code(e);
    if (demo_client_find_difference(&d->recorded, &d->replayed, &where))
        return end_with_difference(d, &where, e);
    if (!d->app->json) {
        demo_steps_add_replayed(&d->steps, &d->replayed, clock_mono_us() - start);
        if (!flush_text(d, e))
            return app_exit_code(e);
    }
    code = verify_recording(d, e);
    if (e->kind != ERR_OK)
        return code;
    if (d->app->json)
        add_json(d, NULL);
    else if (code == EXIT_OK)
        demo_steps_add_next(&d->steps);
    return flush_text(d, e) ? code : app_exit_code(e);
}

static int run_demo(const struct app *app, const struct demo_args *args, struct err *e)
{
    const char *home = app_env(app, "HOME");
    struct demo d = { .app = app, .args = args };
    int code;

    buf_init(&d.program, PATH_LIMIT);
    buf_init(&d.text, STEPS_TEXT_MAX);
    buf_init(&d.reports[SAME_SERVER], REPORT_MAX);
    buf_init(&d.reports[CHANGED_SERVER], REPORT_MAX);
    if (process_self_path(&d.program, e)) {
        d.steps = (struct demo_steps){
            .to = &d.text,
            .color = app->color,
            .self = app->argv0,
            .program = buf_z(&d.program),
            .file = args->output,
            .home = home ? home : "/tmp",
        };
        code = record_session(&d, e) ? replay_and_verify(&d, e) : app_exit_code(e);
    } else {
        code = app_exit_code(e);
    }
    demo_client_release(&d.recorded);
    demo_client_release(&d.replayed);
    buf_release(&d.program);
    buf_release(&d.text);
    buf_release(&d.reports[SAME_SERVER]);
    buf_release(&d.reports[CHANGED_SERVER]);
    return code;
}

static int demo_run(const struct app *app, const void *options, const struct operands *in,
                    struct err *e)
{
    const struct demo_args *args = options;
    const struct option_unused rows[] = {
        { "changed", "'demo server'", !in->count },
        { 0 },
    };
    struct app_queued_log unheld;
    int code;

    if (!option_reject_unused(in, rows, e))
        return app_exit_code(e);
    if (!in->count)
        return run_demo(app, args, e);
    code = run_server(app_queued_log_begin(&unheld, app), args->changed, e);
    app_queued_log_end(&unheld);
    return code;
}

static const struct option_choice demo_words[] = { { .name = "server" }, { 0 } };

static const char *const demo_usage[] = { "[options]", "server", NULL };

static const struct command_example demo_examples[] = {
    { "mcpreel demo", "record, replay and verify" },
    { "mcpreel demo server", "only the server, for your own client" },
    { 0 },
};

const struct command cmd_demo = {
    .name = "demo",
    .summary = "record, replay and verify a session of a built-in server",
    .usage = demo_usage,
    .about =
        "Records a session between a small MCP server and a client that are both part of "
        "mcpreel, replays it without the server, and compares the messages that the client "
        "received. Then verifies the server against the recording, and a changed version of "
        "it, and prints commands to try. Needs no network and no other program.\n\n"
        "'mcpreel demo server' runs that server on standard input and output, for your own "
        "clients: it has tools, a resource, a prompt, progress, logging and sampling. 'mcpreel "
        "record -o my.jsonl -- mcpreel demo server' records a session with it.\n\n"
        "Ends with 1 if the replay differs from the recording, the same server does not pass "
        "'verify', or the changed one does.",
    .examples = demo_examples,
    .options = demo_options,
    .args_size = sizeof(struct demo_args),
    .operand = "server",
    .takes = COMMAND_WORDS,
    .words = demo_words,
    .min = 0,
    .max = 1,
    .run = demo_run,
};
