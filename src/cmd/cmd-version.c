/* cmd/cmd-version.c - prints the version and the build. */
#include "base/buf.h"
#include "cmd/command.h"
#include "json/write.h"

enum { VERSION_MAX = 4096 };

static void add_json(struct buf *to)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    json_out_key_int(&o, STR("v"), JSON_OUTPUT_VERSION);
    json_out_key_str(&o, STR("name"), STR("mcpreel"));
    json_out_key_str(&o, STR("version"), STR(MCPREEL_VERSION));
    json_out_key_str(&o, STR("date"), STR(MCPREEL_DATE));
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
}

static int run(const struct app *app, const void *args, const struct operands *in,
               struct err *e)
{
    struct buf out;
    bool ok;

    (void)args;
    (void)in;
    buf_init(&out, VERSION_MAX);
    if (app->json)
        add_json(&out);
    else
        buf_add(&out, STR("mcpreel " MCPREEL_VERSION "\n"));
    ok = buf_ok(&out, e) && app_write(app, buf_str(&out), e);
    buf_release(&out);
    return ok ? EXIT_OK : app_exit_code(e);
}

const struct command cmd_version = {
    .name = "version",
    .summary = "show the version of mcpreel",
    .usage = (const char *const[]){ "[--json]", NULL },
    .about = "Shows the version of mcpreel; with --json as an object with the members \"name\","
             " \"version\" and \"date\".",
    .run = run,
};
