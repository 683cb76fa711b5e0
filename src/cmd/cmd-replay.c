/* cmd/cmd-replay.c - serve a recording as if the server were there. */
#include <string.h>

#include "cmd/as-server.h"
#include "cmd/commands.h"
#include "engine/mock.h"
#include "format/reader.h"

enum on_unmatched { ON_UNMATCHED_ERROR, ON_UNMATCHED_WARN };

struct replay_args {
    const char *recording;
    int match, on_unmatched;
};

static const struct option_choice match_choices[] = {
    { .name = "sequential", .value = MATCH_SEQUENTIAL },
    { .name = "by-request", .value = MATCH_BY_REQUEST },
    { .name = "method_params", .value = MATCH_BY_REQUEST, .also = true },
    { 0 },
};

static const struct option_choice on_unmatched_choices[] = {
    { .name = "error", .value = ON_UNMATCHED_ERROR },
    { .name = "warn", .value = ON_UNMATCHED_WARN },
    { 0 },
};

static const struct option replay_options[] = {
    { .name = "match",
      .also = { "match-mode" },
      .arg = "MODE",
      .type = OPTION_CHOICE,
      .choices = match_choices,
      .preset = "sequential",
      .seed = true,
      .at = offsetof(struct replay_args, match),
      .help = "how a live request finds its recorded one" },
    { .name = "on-unmatched",
      .arg = "ACTION",
      .type = OPTION_CHOICE,
      .choices = on_unmatched_choices,
      .preset = "error",
      .seed = true,
      .at = offsetof(struct replay_args, on_unmatched),
      .help = "after a request that was not recorded: end with exit code 1, or go on" },
    { .key = 'r',
      .name = "recording",
      .arg = "FILE",
      .type = OPTION_PATH,
      .seed = true,
      .at = offsetof(struct replay_args, recording),
      .help = "the recording, instead of FILE" },
    { 0 },
};

static void step(void *engine, const struct event *ev)
{
    mock_step(engine, ev);
}

static bool is_env(const struct app *app, const char *name, const char *value)
{
    const char *set = app_env(app, name);

    return set && strcmp(set, value) == 0;
}

/* What the command line names wins over the environment; twice is once too often. */
static const char *choose_path(const struct app *app, const struct replay_args *args,
                               const struct operands *in, struct err *e)
{
    const char *option = args->recording, *operand = in->count ? in->at[0] : NULL;

    if (option && operand &&
        (is_env(app, "MCPREEL_RECORDING", option) ||
         is_env(app, "THOUGHTJACK_RECORDING", option)))
        option = NULL;
    if (!option == !operand) {
        err_set(e, ERR_USAGE, option ? "two recordings to replay" : "no recording to replay");
        err_hint(e, "name one: mcpreel replay session.jsonl");
        return NULL;
    }
    if (str_eq(str_z(option ? option : operand), STR("-"))) {
        err_set(e, ERR_USAGE, "cannot read the recording from standard input");
        err_hint(e, "the client speaks there; name a file");
        return NULL;
    }
    return option ? option : operand;
}

static int replay_run(const struct app *app, const void *options, const struct operands *in,
                      struct err *e)
{
    const struct replay_args *args = options;
    const char *path = choose_path(app, args, in, e);
    struct mock_options how = { .match = (enum match_mode)args->match,
                                .finish_on_miss = args->on_unmatched == ON_UNMATCHED_ERROR };
    struct as_server server;
    struct script script;
    struct mock mock;
    int code;

    if (!path)
        return EXIT_USAGE;
    script_init(&script);
    if (reader_pour(app->sys, path, app->log, &script.sink, e)) {
        script_finish(&script);
        as_server_init(&server, app, step, &mock);
        mock_init(&mock, &script, &how, &server.actions);
        code = as_server_run(&server, e);
        mock_release(&mock);
    } else {
        code = app_exit_code(e);
    }
    script_release(&script);
    return code;
}

static const char *const replay_usage[] = { "[options] FILE", NULL };

static const struct command_example replay_examples[] = {
    { "mcpreel replay session.jsonl", "a stdio server that gives the recorded answers" },
    { "mcpreel replay --match by-request session.jsonl",
      "answer by what is asked, in any order" },
    { 0 },
};

const struct command cmd_replay = {
    .name = "replay",
    .summary = "serve a recording as a mock server",
    .usage = replay_usage,
    .about =
        "Speaks MCP on standard input and output and answers every request as the recorded "
        "server did. Ids and progress tokens are the live client's; notifications and requests "
        "of the server's come at their place. Contacts nothing and starts nothing.\n\n"
        "A request that was not recorded is answered with an error that names the nearest "
        "recorded one and what differs.",
    .examples = replay_examples,
    .options = replay_options,
    .args_size = sizeof(struct replay_args),
    .operand = "FILE",
    .min = 0,
    .max = 1,
    .run = replay_run,
};
