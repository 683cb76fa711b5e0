/* cmd/cmd-stats.c - the stats command: numbers of calls over many recordings. */
#include "cmd/command.h"
#include "cmd/redact-options.h"
#include "report/server-stats-json.h"
#include "report/server-stats-text.h"

/* More than the fullest tables with the longest names need. */
enum { STATS_MAX = 32 << 20 };

struct stats_args {
    int64_t rows;
    struct redaction_args redaction;
};

/* Removes secrets from the names of servers, tools and resources. */
struct name_cleaner {
    struct op_stats_cleaner cleaner;
    struct redaction redaction;
    struct buf clean;
};

static struct str clean_name(struct op_stats_cleaner *self, struct str name)
{
    struct name_cleaner *c = (struct name_cleaner *)self;

    buf_clear(&c->clean);
    redactor_redact_text(&c->redaction.redactor, name, &c->clean);
    return buf_str(&c->clean);
}

static bool write_report(const struct app *app, const struct server_stats_files *files,
                         size_t rows, struct err *e)
{
    struct buf out;
    bool ok;

    buf_init(&out, STATS_MAX);
    if (app->json)
        server_stats_json_write(&out, files);
    else
        server_stats_text_write(&out, files, rows, app->color);
    ok = buf_ok(&out, e) && app_write(app, buf_str(&out), e);
    buf_release(&out);
    return ok;
}

/* Returns the exit code. Files that cannot be read were reported one by one. */
static int run_stats(const struct app *app, size_t rows, const struct operands *in,
                     struct op_stats_cleaner *cleaner, struct err *e)
{
    struct server_stats stats;
    struct server_stats_files files = { .sys = app->sys,
                                        .log = app->log,
                                        .log_failures = !app->json,
                                        .stats = &stats,
                                        .show_progress = app_shows_progress(app) };
    struct err failure = ERR_NONE;
    bool ok;

    server_stats_init(&stats);
    stats.cleaner = cleaner;
    for (size_t i = 0; i < in->count; i++)
        server_stats_files_add(&files, in->at[i]);
    server_stats_finish(&stats);
    ok = write_report(app, &files, rows, e);
    failure.kind = files.failure;
    server_stats_files_release(&files);
    server_stats_release(&stats);
    return app_exit_code(ok ? &failure : e);
}

static int stats_run(const struct app *app, const void *args, const struct operands *in,
                     struct err *e)
{
    const struct stats_args *a = args;
    struct name_cleaner c = { .cleaner = { clean_name } };
    int code;

    if (!redact_options_init(&c.redaction, app, &a->redaction, NULL, e))
        return app_exit_code(e);
    buf_init(&c.clean, 1 << 20);
    code = run_stats(app, (size_t)a->rows, in, &c.cleaner, e);
    buf_release(&c.clean);
    redaction_release(&c.redaction);
    return code;
}

static const struct option stats_options[] = {
    { .key = 'n',
      .name = "count",
      .arg = "COUNT",
      .type = OPTION_INT,
      .min = 0,
      .max = INT32_MAX,
      .preset = "20",
      .offset = offsetof(struct stats_args, rows),
      .no_env = true,
      .help = "show at most COUNT rows of a table; 0: all" },
    REDACTION_OPTIONS(struct stats_args, redaction),
    { 0 },
};

static const struct command_example stats_examples[] = {
    { "mcpreel stats recordings/", "all recordings in a folder" },
    { "mcpreel stats a.jsonl b.jsonl", "two recordings together" },
    { "mcpreel stats --json recordings/ | jq '.servers[].errors'", "as JSON" },
    { 0 },
};

const struct command cmd_stats = {
    .name = "stats",
    .summary = "add up calls, errors and times of many recordings",
    .usage = (const char *const[]){ "[--json] [-n COUNT] FILE|FOLDER…", NULL },
    .about =
        "Reads all files, and all recordings in each FOLDER (without its subfolders), in any "
        "format. For each server (name and version) it shows each tool, prompt, resource and "
        "method: calls, errors by kind, p50, p95 and maximum of the time in which the server "
        "worked and of the time in which it waited for the client, and the bytes of all "
        "messages. 'mcpreel inspect' shows one file, with findings.\n\n"
        "The last table has what a model reads: the size of the definition of each tool, "
        "called "
        "or not, and of the results. Bytes are exact; tokens are an estimate, one for four "
        "bytes.\n\n"
        "A call is a request with its retries, the polls of its task and its further pages. "
        "Only counts are kept, however many files there are: p50 and p95 have an error of up "
        "to "
        "3 percent; 256 servers, 4096 rows in total and 512 of one recording have names. "
        "Secrets in names are redacted, as 'record' does.\n\n"
        "A file that cannot be read is reported, and the others are added up. A damaged file "
        "counts up to the damage. Ends with 0, or with 3 if a file could not be read. Files of "
        "a "
        "folder that are no recordings are not read.",
    .examples = stats_examples,
    .options = stats_options,
    .args_size = sizeof(struct stats_args),
    .operand = "FILE",
    .min = 1,
    .max = COMMAND_ANY,
    .run = stats_run,
};
