/* cmd/cmd-demo.c - show what mcpreel is for, with peers that need nothing else. */
#include "base/clock.h"
#include "cmd/as-client.h"
#include "cmd/as-server.h"
#include "cmd/commands.h"
#include "cmd/demo-story.h"
#include "engine/demo-client.h"
#include "engine/demo-server.h"
#include "loop/self.h"

enum {
    SESSION_MS = 10000, /* each of the two; they take a fraction of a second */
    PATH_LIMIT = 64 << 10,
    STORY_MAX = 4 << 20,
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
      .at = offsetof(struct demo_args, output),
      .help = "write the recording to FILE" },
    { .name = "force",
      .type = OPTION_FLAG,
      .at = offsetof(struct demo_args, force),
      .help = "replace FILE if it exists" },
    { 0 },
};

/* The demo under way: the same client twice, at a server and at its recording. */
struct demo {
    const struct app *app;
    const struct demo_args *args;
    struct buf program; /* where we lie */
    struct buf text;    /* of the story */
    struct demo_story story;
    struct demo_client first, second;
};

static void step_client(void *engine, const struct event *ev)
{
    demo_client_step(engine, ev);
}

static void step_server(void *engine, const struct event *ev)
{
    demo_server_step(engine, ev);
}

static int serve(const struct app *app, struct err *e)
{
    struct demo_server engine;
    struct as_server server;
    int code;

    as_server_init(&server, app, step_server, &engine, NULL, NULL);
    demo_server_init(&engine, &server.drive.actions);
    code = as_server_run(&server, e);
    demo_server_release(&engine);
    return code;
}

/* The kind of trouble an exit code of ours stands for. */
static enum err_kind kind_of(int code)
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

/* Why a session went wrong. The other mcpreel has said it as JSON in its last line, so
 * that it can be said again as if it were ours; else there is what the client saw. */
static bool explain(const struct as_client *session, const struct demo_client *client,
                    struct err *e)
{
    struct str what = client->trouble.len ? client->trouble : STR("the server failed");
    struct str last = buf_str(&session->server.last_words), message, hint;
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
        err_set(e, kind_of(session->server.code), "%.*s", STR_ARG(message));
        err_hint(e, "%.*s", STR_ARG(hint));
    } else {
        err_set(e, ERR_PEER, "%.*s (%s %d)", STR_ARG(what),
                session->server.signum ? "signal" : "exit code",
                session->server.signum ? session->server.signum : session->server.code);
        if (last.len)
            err_hint(e, "its last words: %.*s", STR_ARG(last));
    }
    json_release(&j);
    arena_release(&a);
    return false;
}

/* A replay that lacks an answer ends with findings: what was heard tells which. */
static bool went_well(const struct demo *d, const struct demo_client *client,
                      const struct as_client *session)
{
    if (session->server.signum)
        return false;
    if (session->server.code == EXIT_FINDINGS)
        return client == &d->second;
    return session->server.code == EXIT_OK && !client->trouble.len;
}

/* One walk of the client, at the server that `argv` starts. */
static bool walk(struct demo *d, struct demo_client *client, enum demo_names names,
                 const char *const *argv, struct err *e)
{
    struct as_client session;
    bool ok;

    as_client_init(&session, d->app, step_client, client);
    demo_client_init(client, names, &session.drive.actions);
    ok = as_client_run(&session, (char *const *)(uintptr_t)argv, SESSION_MS, e);
    if (ok && !went_well(d, client, &session))
        ok = explain(&session, client, e);
    as_client_release(&session);
    return ok;
}

/* What was told so far goes out, so that it is seen before what comes next. */
static bool tell(struct demo *d, struct err *e)
{
    bool ok = buf_ok(&d->text, e) && app_write(d->app, buf_str(&d->text), e);

    buf_clear(&d->text);
    return ok;
}

static bool record(struct demo *d, struct err *e)
{
    const char *self = d->story.program, *file = d->story.file;
    const char *const plain[] = { self, "--json", "record", "-o",     file,
                                  "--", self,     "demo",   "server", NULL };
    const char *const forced[] = { self, "--json", "record", "--force", "-o", file,
                                   "--", self,     "demo",   "server",  NULL };

    if (!walk(d, &d->first, DEMO_NUMBERS, d->args->force ? forced : plain, e))
        return false;
    if (d->app->json)
        return true;
    demo_story_recorded(&d->story, &d->first);
    return tell(d, e);
}

/* EXIT_FINDINGS if the replay was not what was recorded. */
static int replay(struct demo *d, struct err *e)
{
    const char *const argv[] = {
        d->story.program, "--json", "replay", "-r", d->story.file, NULL
    };
    struct demo_difference where;
    int64_t start = clock_mono_us();
    bool differs;

    if (!walk(d, &d->second, DEMO_STRINGS, argv, e))
        return app_exit_code(e);
    differs = demo_client_differ(&d->first, &d->second, &where);
    if (d->app->json) {
        demo_story_json(&d->story, &d->first, differs ? &where : NULL);
    } else if (differs) {
        demo_story_differs(&d->story, &where);
    } else {
        demo_story_replayed(&d->story, &d->second, clock_mono_us() - start);
        demo_story_next(&d->story);
    }
    if (!tell(d, e))
        return app_exit_code(e);
    return differs ? EXIT_FINDINGS : EXIT_OK;
}

static int show(const struct app *app, const struct demo_args *args, struct err *e)
{
    const char *home = app_env(app, "HOME");
    struct demo d = { .app = app, .args = args };
    int code;

    buf_init(&d.program, PATH_LIMIT);
    buf_init(&d.text, STORY_MAX);
    if (self_path(&d.program, e)) {
        d.story = (struct demo_story){
            .to = &d.text,
            .color = app->color,
            .self = app->self,
            .program = buf_z(&d.program),
            .file = args->output,
            .home = home ? home : "/tmp",
        };
        code = record(&d, e) ? replay(&d, e) : app_exit_code(e);
    } else {
        code = app_exit_code(e);
    }
    demo_client_release(&d.first);
    demo_client_release(&d.second);
    buf_release(&d.program);
    buf_release(&d.text);
    return code;
}

static int demo_run(const struct app *app, const void *options, const struct operands *in,
                    struct err *e)
{
    struct app_unheld unheld;
    int code;

    if (!in->count)
        return show(app, options, e);
    code = serve(app_unheld_begin(&unheld, app), e);
    app_unheld_end(&unheld);
    return code;
}

static const struct option_choice demo_words[] = { { .name = "server" }, { 0 } };

static const char *const demo_usage[] = { "[options]", "server", NULL };

static const struct command_example demo_examples[] = {
    { "mcpreel demo", "see it all in a second" },
    { "mcpreel demo server", "the server alone, for a client of your own" },
    { 0 },
};

const struct command cmd_demo = {
    .name = "demo",
    .summary = "record and replay a real session, and see how",
    .usage = demo_usage,
    .about =
        "Records a session between a small MCP server and a client that are both part of "
        "mcpreel, replays it without the server, and compares what the client heard. Then "
        "tells what to try next. Needs nothing and contacts nothing.\n\n"
        "'mcpreel demo server' is that server on standard input and output, for clients of "
        "your own: it has tools, a resource, a prompt, progress, logging and sampling. "
        "'mcpreel record -o my.jsonl -- mcpreel demo server' records what they say.\n\n"
        "Ends with 1 if the replay was not what was recorded.",
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
