/* cmd/cmd-demo.c - the demo command: records and replays a session of built-in peers. */
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
};

struct demo_args {
    const char *output;
    bool force;
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
    { 0 },
};

/* The same client twice: with the server, and with its recording. */
struct demo {
    const struct app *app;
    const struct demo_args *args;
    struct buf program; /* path of this program */
    struct buf text;    /* not yet written */
    struct demo_steps steps;
    struct demo_client recorded, replayed;
};

static void step_client(void *engine, const struct event *ev)
{
    demo_client_step(engine, ev);
}

static void step_server(void *engine, const struct event *ev)
{
    demo_server_step(engine, ev);
}

static int run_server(const struct app *app, struct err *e)
{
    struct demo_server engine;
    struct run_server server;
    int code;

    run_server_init(&server, app, step_server, &engine, NULL, NULL);
    demo_server_init(&engine, &server.driver.actions);
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
 * last line, else the one that the client saw. */
static bool explain_failure(const struct peer_outcome *how, const struct demo_client *client,
                            struct err *e)
{
    struct str what = client->failure.len ? client->failure : STR("the server failed");
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
        ok = explain_failure(run_client_outcome(&session), client, e);
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

/* Returns EXIT_FINDINGS if the replay differs from the recording. */
static int replay_session(struct demo *d, struct err *e)
{
    const char *const argv[] = {
        d->steps.program, "--json", "replay", "-r", d->steps.file, NULL
    };
    struct demo_difference where;
    int64_t start = clock_mono_us();
    bool differs;

    if (!run_session(d, &d->replayed, DEMO_ID_STRINGS, argv, e))
        return app_exit_code(e);
    differs = demo_client_find_difference(&d->recorded, &d->replayed, &where);
    if (d->app->json) {
        demo_steps_add_json(&d->steps, &d->recorded, differs ? &where : NULL);
    } else if (differs) {
        demo_steps_add_difference(&d->steps, &where);
    } else {
        demo_steps_add_replayed(&d->steps, &d->replayed, clock_mono_us() - start);
        demo_steps_add_next(&d->steps);
    }
    if (!flush_text(d, e))
        return app_exit_code(e);
    return differs ? EXIT_FINDINGS : EXIT_OK;
}

static int run_demo(const struct app *app, const struct demo_args *args, struct err *e)
{
    const char *home = app_env(app, "HOME");
    struct demo d = { .app = app, .args = args };
    int code;

    buf_init(&d.program, PATH_LIMIT);
    buf_init(&d.text, STEPS_TEXT_MAX);
    if (process_self_path(&d.program, e)) {
        d.steps = (struct demo_steps){
            .to = &d.text,
            .color = app->color,
            .self = app->argv0,
            .program = buf_z(&d.program),
            .file = args->output,
            .home = home ? home : "/tmp",
        };
        code = record_session(&d, e) ? replay_session(&d, e) : app_exit_code(e);
    } else {
        code = app_exit_code(e);
    }
    demo_client_release(&d.recorded);
    demo_client_release(&d.replayed);
    buf_release(&d.program);
    buf_release(&d.text);
    return code;
}

static int demo_run(const struct app *app, const void *options, const struct operands *in,
                    struct err *e)
{
    struct app_queued_log unheld;
    int code;

    if (!in->count)
        return run_demo(app, options, e);
    code = run_server(app_queued_log_begin(&unheld, app), e);
    app_queued_log_end(&unheld);
    return code;
}

static const struct option_choice demo_words[] = { { .name = "server" }, { 0 } };

static const char *const demo_usage[] = { "[options]", "server", NULL };

static const struct command_example demo_examples[] = {
    { "mcpreel demo", "record, replay and compare" },
    { "mcpreel demo server", "only the server, for your own client" },
    { 0 },
};

const struct command cmd_demo = {
    .name = "demo",
    .summary = "record and replay a session of a built-in server",
    .usage = demo_usage,
    .about =
        "Records a session between a small MCP server and a client that are both part of "
        "mcpreel, replays it without the server, and compares the messages that the client "
        "received. Then prints commands to try. Needs no network and no other program.\n\n"
        "'mcpreel demo server' runs that server on standard input and output, for your own "
        "clients: it has tools, a resource, a prompt, progress, logging and sampling. 'mcpreel "
        "record -o my.jsonl -- mcpreel demo server' records a session with it.\n\n"
        "Ends with 1 if the replay differs from the recording.",
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
