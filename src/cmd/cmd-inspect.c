/* cmd/cmd-inspect.c - what is in a recording, and what is odd about it. */
#include "cmd/commands.h"
#include "cmd/inspect-cassette.h"
#include "cmd/inspect-json.h"
#include "cmd/inspect-text.h"
#include "cmd/progress.h"
#include "engine/stats.h"
#include "format/reader.h"

/* More than the fullest tables and the longest names can make. */
enum { INSPECT_MAX = 8 << 20 };

/* What is gathered: figures about any file, or a cassette as its own tool shows it. */
struct inspection {
    struct inspect_file file;
    struct stats stats;
    struct inspect_cassette cassette;
    bool as_cassette;
};

/* A remark that comes with the end is about the end: what follows the last record is
 * damaged. */
static bool pour(struct reader *r, struct inspection *in, struct progress *progress,
                 struct err *e)
{
    struct sink *to = in->as_cassette ? &in->cassette.sink : &in->stats.sink;
    struct record rec;

    for (;;) {
        uint64_t remarks = reader_notes(r), offset = reader_offset(r);

        switch (reader_next(r, &rec, e)) {
        case NEXT_RECORD:
            if (!to->put(to, &rec, e))
                return false;
            progress_at(progress, reader_offset(r));
            break;
        case NEXT_END:
            if (reader_notes(r) > remarks)
                stats_damaged_end(&in->stats, reader_offset(r) - offset);
            return true;
        default:
            return false;
        }
    }
}

static bool gather(const struct app *app, struct inspection *in, struct err *e)
{
    struct inspect_file *file = &in->file;
    struct progress progress;
    struct reader *r;
    bool ok;

    progress_init(&progress, app, "reading", file->path);
    if (!reader_open(&r, app->sys, file->path, progress_log(&progress), e))
        return false;
    progress.total = reader_size(r);
    in->stats.parts = reader_format(r)->keeps;
    in->as_cassette = reader_format(r) == &cassette_format && !app->json;
    ok = pour(r, in, &progress, e);
    progress_end(&progress);
    file->format = reader_format(r)->name;
    file->bytes = reader_offset(r);
    file->remarks = reader_notes(r);
    reader_close(r);
    return ok;
}

static bool show(const struct app *app, struct inspection *in, struct err *e)
{
    struct buf out;
    bool ok;

    buf_init(&out, INSPECT_MAX + in->cassette.lines.text.len);
    if (app->json)
        inspect_json_add(&out, &in->stats, &in->file);
    else if (in->as_cassette)
        inspect_cassette_add(&out, &in->cassette, in->file.path);
    else
        inspect_text_add(&out, &in->stats, &in->file, app->color);
    ok = buf_ok(&out, e) && app_write(app, buf_str(&out), e);
    buf_release(&out);
    return ok;
}

static int inspect_run(const struct app *app, const void *args, const struct operands *operands,
                       struct err *e)
{
    struct inspection in = { .file = { .path = operands->at[0] } };
    bool ok;

    (void)args;
    stats_init(&in.stats);
    inspect_cassette_init(&in.cassette);
    ok = gather(app, &in, e);
    stats_finish(&in.stats);
    ok = ok && show(app, &in, e);
    inspect_cassette_release(&in.cassette);
    stats_release(&in.stats);
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
        "A cassette of mcp-recorder is shown as its own inspect shows it; with --json like any "
        "other file.\n\n"
        "Ends with 0 also when the file is odd, with 3 when it cannot be used.",
    .examples = inspect_examples,
    .operand = "FILE",
    .min = 1,
    .max = 1,
    .run = inspect_run,
};
