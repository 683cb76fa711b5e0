/* cmd/cmd-help.c - prints help about a command or a topic. */
#include "base/buf.h"
#include "base/suggest.h"
#include "base/text-wrap.h"
#include "cmd/command.h"
#include "cmd/help-man.h"
#include "cmd/help-text.h"
#include "cmd/help-topics.h"

struct help_args {
    bool man;
};

static const struct option help_options[] = {
    { .name = "man",
      .type = OPTION_FLAG,
      .offset = offsetof(struct help_args, man),
      .hidden = true, /* for the build, which installs the pages */
      .no_env = true,
      .help = "write the manual page" },
    { 0 },
};

static bool reject_name(const struct app *app, const char *name, struct err *e)
{
    struct suggest near = suggest_for(str_z(name));

    for (const struct command *const *c = app->commands; *c; c++)
        if (!(*c)->hidden)
            suggest_try(&near, (*c)->name);
    for (const struct help_topic *t = help_topics; t->name; t++)
        suggest_try(&near, t->name);
    err_set(e, ERR_USAGE, "no help on '%s'", name);
    if (command_alias(app->commands, name))
        near.best = command_alias(app->commands, name);
    if (near.best)
        return err_hint(e, "did you mean '%s'?\nsee 'mcpreel help'", near.best);
    return err_hint(e, "see 'mcpreel help'");
}

static bool add_manual(struct buf *to, const struct app *app, const char *name, struct err *e)
{
    const struct command *c = name ? command_find(app->commands, name, e) : NULL;

    if (name && !c)
        return false;
    if (c)
        help_man_command(to, app, c);
    else
        help_man_program(to, app);
    return true;
}

static void add_topic(struct buf *to, const struct app *app, const struct help_topic *t)
{
    struct buf text;

    buf_init(&text, HELP_TEXT_MAX);
    help_topic_add_text(&text, t, app);
    text_wrap_add(to, buf_str(&text));
    buf_release(&text);
}

static bool add_help(struct buf *to, const struct app *app, const char *name, struct err *e)
{
    struct err none = ERR_NONE;
    const struct command *c = name ? command_find(app->commands, name, &none) : NULL;
    const struct help_topic *t = name ? help_topic_find(name) : NULL;

    if (c)
        help_text_command(to, app, c);
    else if (t)
        add_topic(to, app, t);
    else if (name)
        return reject_name(app, name, e);
    else
        help_text_program(to, app);
    return true;
}

static int run(const struct app *app, const void *args, const struct operands *in,
               struct err *e)
{
    const struct help_args *a = args;
    const char *name = in->count ? in->at[0] : NULL;
    struct buf out;
    bool ok;

    buf_init(&out, HELP_TEXT_MAX);
    ok = a->man ? add_manual(&out, app, name, e) : add_help(&out, app, name, e);
    ok = ok && buf_ok(&out, e) && app_write(app, buf_str(&out), e);
    buf_release(&out);
    return ok ? EXIT_OK : app_exit_code(e);
}

const struct command cmd_help = {
    .name = "help",
    .summary = "explain a command or a topic",
    .usage = (const char *const[]){ "[COMMAND|TOPIC]", NULL },
    .about = "Explains a command or a topic. Without either, lists them all.",
    .examples =
        (const struct command_example[]){
            { "mcpreel help record", "how to record" },
            { "mcpreel help exit-codes", "what the exit codes mean" },
            { 0 },
        },
    .options = help_options,
    .args_size = sizeof(struct help_args),
    .operand = "COMMAND|TOPIC",
    .takes = COMMAND_NAMES,
    .max = 1,
    .run = run,
};
