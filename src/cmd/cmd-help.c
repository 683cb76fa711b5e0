#include "base/buf.h"
#include "cmd/commands.h"
#include "cmd/usage.h"

static bool compose(struct buf *to, const struct app *app, const struct operands *in,
                    struct err *e)
{
    const struct command *c;

    if (!in->count) {
        usage_program(to, app);
        return buf_ok(to, e);
    }
    c = command_find(app->commands, in->at[0], e);
    if (!c)
        return false;
    usage_command(to, app, c);
    return buf_ok(to, e);
}

static int run(const struct app *app, const void *args, const struct operands *in,
               struct err *e)
{
    struct buf out;
    bool ok;

    (void)args;
    buf_init(&out, USAGE_MAX);
    ok = compose(&out, app, in, e) && app_write(app, buf_str(&out), e);
    buf_release(&out);
    return ok ? EXIT_OK : (int)app_exit_code(e);
}

const struct command cmd_help = {
    .name = "help",
    .summary = "explain a command or a topic",
    .usage = (const char *const[]){ "[COMMAND|TOPIC]", NULL },
    .about = "Explains a command or a topic.",
    .operand = "COMMAND|TOPIC",
    .max = 1,
    .run = run,
};
