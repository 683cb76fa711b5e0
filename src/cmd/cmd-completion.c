/* cmd/cmd-completion.c - prints completions for bash, zsh or fish. */
#include "cmd/command.h"
#include "cmd/complete.h"
#include "cmd/help-text.h"
#include "cmd/option-value.h"

enum shell { SHELL_BASH, SHELL_ZSH, SHELL_FISH };

static const struct option_choice shells[] = {
    { "bash", SHELL_BASH, false },
    { "zsh", SHELL_ZSH, false },
    { "fish", SHELL_FISH, false },
    { 0 },
};

static void (*const scripts[])(struct buf *to, const struct app *app) = {
    [SHELL_BASH] = complete_bash,
    [SHELL_ZSH] = complete_zsh,
    [SHELL_FISH] = complete_fish,
};

static int run(const struct app *app, const void *args, const struct operands *in,
               struct err *e)
{
    struct buf out;
    int shell;
    bool ok;

    (void)args;
    if (!option_value_choose(shells, in->at[0], &shell, e))
        return app_exit_code(e);
    buf_init(&out, HELP_TEXT_MAX);
    scripts[shell](&out, app);
    ok = buf_ok(&out, e) && app_write(app, buf_str(&out), e);
    buf_release(&out);
    return ok ? EXIT_OK : app_exit_code(e);
}

const struct command cmd_completion = {
    .name = "completion",
    .summary = "write a completion script for a shell",
    .usage = (const char *const[]){ "bash|zsh|fish", NULL },
    .about =
        "Writes a script to standard output with which the shell completes mcpreel's commands, "
        "options and values. 'make install' installs these scripts, too.",
    .examples =
        (const struct command_example[]){
            { "source <(mcpreel completion bash)", "for the current bash" },
            { "mcpreel completion zsh >~/.zfunc/_mcpreel",
              "for zsh, in a directory that is in its fpath" },
            { "mcpreel completion fish >~/.config/fish/completions/mcpreel.fish", "for fish" },
            { 0 },
        },
    .operand = "SHELL",
    .takes = COMMAND_WORDS,
    .words = shells,
    .min = 1,
    .max = 1,
    .run = run,
};
