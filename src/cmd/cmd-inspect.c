/* cmd/cmd-inspect.c - what is in a recording, and what is odd about it. */
#include "cmd/commands.h"
#include "cmd/inspect-json.h"
#include "cmd/inspect-text.h"

/* More than the fullest tables and the longest names can make. */
enum { INSPECT_MAX = 8 << 20 };

static bool show(const struct app *app, const struct stats *s, const struct inspect_file *file,
                 struct err *e)
{
    struct buf out;
    bool ok;

    buf_init(&out, INSPECT_MAX);
    if (app->json)
        inspect_json_add(&out, s, file);
    else
        inspect_text_add(&out, s, file, app->color);
    ok = buf_ok(&out, e) && app_write(app, buf_str(&out), e);
    buf_release(&out);
    return ok;
}

static int inspect_run(const struct app *app, const void *args, const struct operands *in,
                       struct err *e)
{
    struct inspect_file file = { .path = in->at[0] };
    struct stats s;
    bool ok;

    (void)args;
    stats_init(&s);
    ok = inspect_file_read(app, &file, &s, NULL, e);
    stats_finish(&s);
    ok = ok && show(app, &s, &file, e);
    stats_release(&s);
    return ok ? EXIT_OK : (int)app_exit_code(e);
}

static const struct command_example inspect_examples[] = {
    { "mcpreel inspect session.jsonl", "who talked to whom, what was called, what went wrong" },
    { "mcpreel inspect --json session.jsonl | jq '.odd[].id'", "for programs" },
    { 0 },
};

const struct command cmd_inspect = {
    .name = "inspect",
    .summary = "show what is in a recording, and what is odd about it",
    .usage = (const char *const[]){ "[--json] FILE", NULL },
    .about =
        "Shows who recorded the file and when, client, server and protocol, how often each "
        "tool, prompt, resource and method was asked for, how often that failed and how long "
        "it took, which tools were never called, all kinds of errors, and whatever is odd: "
        "lines that are no messages, answers nobody asked for, a recording that is cut off.\n\n"
        "Reads the file once and keeps only counts, however long it is. Latencies are those "
        "from a request to its answer; p50 and p95 may be off by 3 percent. With many "
        "different names only the first 512 operations have a row of their own.\n\n"
        "Ends with 0 also when the file is odd, with 3 when it cannot be used.",
    .examples = inspect_examples,
    .operand = "FILE",
    .min = 1,
    .max = 1,
    .run = inspect_run,
};
