#include "base/buf.h"
#include "cmd/commands.h"

static int run(const struct app *app, const void *args, const struct operands *in,
               struct err *e)
{
    (void)args;
    (void)in;
    if (!app_write(app, STR("mcpreel " MCPREEL_VERSION "\n"), e))
        return app_exit_code(e);
    return EXIT_OK;
}

const struct command cmd_version = {
    .name = "version",
    .summary = "show which mcpreel this is",
    .usage = (const char *const[]){ "", NULL },
    .about = "Shows the version of mcpreel.",
    .run = run,
};
