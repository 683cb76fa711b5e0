/* cmd/cmd-inspect.c - what is in a recording, and what is odd about it. */
#include "cmd/commands.h"
#include "cmd/inspect-json.h"
#include "cmd/inspect-text.h"
#include "cmd/progress.h"
#include "engine/stats.h"
#include "format/reader.h"

/* More than the fullest tables and the longest names can make. */
enum { INSPECT_MAX = 8 << 20 };

/* A remark that comes with the end is about the end: what follows the last record is
 * damaged. */
static bool pour(struct reader *r, struct stats *s, struct progress *progress, struct err *e)
{
    struct record rec;

    for (;;) {
        uint64_t remarks = reader_notes(r), offset = reader_offset(r);

        switch (reader_next(r, &rec, e)) {
        case NEXT_RECORD:
            if (!s->sink.put(&s->sink, &rec, e))
                return false;
            progress_at(progress, reader_offset(r));
            break;
        case NEXT_END:
            if (reader_notes(r) > remarks)
                stats_damaged_end(s, reader_offset(r) - offset);
            return true;
        default:
            return false;
        }
    }
}

static bool gather(const struct app *app, struct stats *s, struct inspect_file *file,
                   struct err *e)
{
    struct progress progress;
    struct reader *r;
    bool ok;

    progress_init(&progress, app, "reading", file->path);
    if (!reader_open(&r, app->sys, file->path, progress_log(&progress), e))
        return false;
    progress.total = reader_size(r);
    s->parts = reader_format(r)->keeps;
    ok = pour(r, s, &progress, e);
    progress_end(&progress);
    file->format = reader_format(r)->name;
    file->bytes = reader_offset(r);
    file->remarks = reader_notes(r);
    reader_close(r);
    return ok;
}

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
    ok = gather(app, &s, &file, e);
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
