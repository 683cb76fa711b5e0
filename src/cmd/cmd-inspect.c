/* cmd/cmd-inspect.c - the inspect command: statistics and findings of a recording. */
#include "cmd/command.h"
#include "report/inspect-cassette.h"
#include "report/inspect-json.h"
#include "report/inspect-text.h"

/* More than the fullest tables with the longest names need. */
enum { INSPECT_MAX = 8 << 20 };

/* Statistics of any file, and the contents of a cassette as mcp-recorder shows them. */
struct inspection {
    struct sink sink; /* for the cassette */
    struct inspect_file file;
    struct stats stats;
    struct inspect_cassette cassette;
    bool json;
};

static bool is_cassette_text(const struct inspection *in)
{
    return !in->json && strcmp(in->file.format, cassette_format.name) == 0;
}

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    struct inspection *in = (struct inspection *)self;

    return !is_cassette_text(in) || in->cassette.sink.put(&in->cassette.sink, r, e);
}

static bool write_report(const struct app *app, struct inspection *in, struct err *e)
{
    struct buf out;
    bool ok;

    buf_init(&out, INSPECT_MAX + in->cassette.lines.text.len);
    if (app->json)
        inspect_json_write(&out, &in->stats, &in->file);
    else if (is_cassette_text(in))
        inspect_cassette_write(&out, &in->cassette, in->file.path);
    else
        inspect_text_write(&out, &in->stats, &in->file, app->color);
    ok = buf_ok(&out, e) && app_write(app, buf_str(&out), e);
    buf_release(&out);
    return ok;
}

static int inspect_run(const struct app *app, const void *args, const struct operands *operands,
                       struct err *e)
{
    struct inspection in = { .sink = { put_record },
                             .file = { .path = operands->at[0],
                                       .show_progress = app_shows_progress(app) },
                             .json = app->json };
    bool ok;

    (void)args;
    stats_init(&in.stats);
    inspect_cassette_init(&in.cassette);
    ok = inspect_file_read(&in.file, app->sys, app->log, &in.stats, &in.sink, e);
    stats_finish(&in.stats);
    ok = ok && write_report(app, &in, e);
    inspect_cassette_release(&in.cassette);
    stats_release(&in.stats);
    return ok ? EXIT_OK : (int)app_exit_code(e);
}

static const struct command_example inspect_examples[] = {
    { "mcpreel inspect session.jsonl", "client, server, calls, latencies and errors" },
    { "mcpreel inspect --json session.jsonl | jq '.findings[].rule'", "as JSON" },
    { 0 },
};

const struct command cmd_inspect = {
    .name = "inspect",
    .summary = "show totals, latencies, errors and findings",
    .usage = (const char *const[]){ "[--json] FILE", NULL },
    .about =
        "Shows the recorder and the date, client, server and protocol; for each tool, prompt, "
        "resource and method the number of requests, errors and latencies; tools that were "
        "never called; the sizes of definitions and results, which a model reads; all kinds of "
        "errors; and findings: lines that are not messages, responses without a request, a "
        "recording that is cut off. Bytes are exact; tokens are an estimate, one for four "
        "bytes.\n\n"
        "'mcpreel show' lists operations one by one; inspect adds them up. A call is a request "
        "with its retries, the polls of its task and its further pages, and has their total "
        "duration. If the server waited for the client meanwhile, inspect shows both parts of "
        "the time.\n\n"
        "Reads the file once and keeps only counts, however long it is; p50 and p95 have an "
        "error of up to 3 percent. With many different names only the first 512 have their own "
        "row.\n\n"
        "A cassette of mcp-recorder is shown as its own inspect shows it; with --json like any "
        "other file.\n\n"
        "Ends with 0 even if there are findings, with 3 if the file cannot be read.",
    .examples = inspect_examples,
    .operand = "FILE",
    .min = 1,
    .max = 1,
    .run = inspect_run,
};
