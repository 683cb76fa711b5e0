/* cmd/cmd-convert.c - the convert command, which is import and export, too: writes recordings
 * in another format, several as one. */
#include "base/file.h"
#include "cmd/check-secrets.h"
#include "cmd/command.h"
#include "cmd/format-option.h"
#include "cmd/option.h"
#include "cmd/redact-options.h"
#include "cmd/writer-options.h"
#include "format/merge.h"
#include "format/writer.h"
#include "record/transcript-secrets.h"
#include "report/progress.h"
#include "runtime/otlp-export.h"
#include "trace/combine.h"
#include "trace/limits.h"
#include "trace/loss.h"

enum { CONVERT_TEXT_MAX = 4096, CONVERT_JSON_MAX = 1 << 20 };

struct convert_args {
    const char *output, *out_trace, *recording, *otlp;
    const struct format *to, *from;
    int rules;
    bool lossless, force;
    struct format_options writer;
    struct redaction_args redaction;
};

static const struct option_choice styles[] = {
    { "simple", FORMAT_STYLE_SIMPLE, false },
    { "phased", FORMAT_STYLE_PHASED, false },
    { 0 },
};

static const struct option_choice rules_choices[] = {
    { "documented", FORMAT_RULES_DOCUMENTED, false },
    { "head", FORMAT_RULES_HEAD, false },
    { "none", FORMAT_RULES_NONE, false },
    { 0 },
};

/* Rows of both tables below. */
#define OUT_TRACE_OPTION                                                                       \
    {                                                                                          \
        .name = "out-trace", .arg = "OUT", .type = OPTION_PATH,                                \
        .offset = offsetof(struct convert_args, out_trace),                                    \
        .help = "write Assay's trace to OUT, as -o OUT --to assay-trace does"                  \
    }
#define FORMAT_OPTION                                                                          \
    {                                                                                          \
        .name = "format", .arg = "FORMAT", .type = OPTION_CUSTOM,                              \
        .parse = format_option_parse_input, .offset = offsetof(struct convert_args, from),     \
        .no_env = true, /* that of record names a format to write */                           \
            .help = "reject a FILE that has another format"                                    \
    }
#define RULES_OPTION                                                                           \
    {                                                                                          \
        .name = "rules", .arg = "RULES", .type = OPTION_CHOICE, .choices = rules_choices,      \
        .preset = "documented", .no_env = true,                                                \
        .offset = offsetof(struct convert_args, rules),                                        \
        .help = "rules for the ids of a transcript: as Assay documents them, as its "          \
                "current version (head) has them, or none"                                     \
    }
#define FORCE_OPTION                                                                           \
    {                                                                                          \
        .name = "force", .type = OPTION_FLAG, .offset = offsetof(struct convert_args, force),  \
        .help = "replace OUT if it exists"                                                     \
    }
#define EPISODE_OPTIONS                                                                        \
    { .name = "episode-id",                                                                    \
      .arg = "ID",                                                                             \
      .type = OPTION_STRING,                                                                   \
      .group = WRITER_GROUP,                                                                   \
      .offset = offsetof(struct convert_args, writer.episode_id),                              \
      .help = "the episode of an Assay trace; else the name of FILE" },                        \
        { .name = "test-id",                                                                   \
          .arg = "ID",                                                                         \
          .type = OPTION_STRING,                                                               \
          .group = WRITER_GROUP,                                                               \
          .offset = offsetof(struct convert_args, writer.test_id),                             \
          .help = "the test of an Assay trace" },                                              \
    {                                                                                          \
        .name = "prompt", .arg = "TEXT", .type = OPTION_STRING, .group = WRITER_GROUP,         \
        .offset = offsetof(struct convert_args, writer.prompt),                                \
        .help = "the prompt of an Assay trace"                                                 \
    }

static const struct option convert_options[] = {
    { .key = 'o',
      .name = "output",
      .arg = "OUT",
      .type = OPTION_PATH,
      .thoughtjack_env = true,
      .offset = offsetof(struct convert_args, output),
      .help = "write to OUT; '-' is standard output" },
    { .name = "to",
      .arg = "FORMAT",
      .type = OPTION_CUSTOM,
      .parse = format_option_parse,
      .offset = offsetof(struct convert_args, to),
      .help = "write FORMAT instead of the format that OUT's name selects" },
    OUT_TRACE_OPTION,
    FORMAT_OPTION,
    RULES_OPTION,
    { .name = "otlp",
      .arg = "URL",
      .type = OPTION_STRING,
      .offset = offsetof(struct convert_args, otlp),
      .help = "send spans to the OpenTelemetry collector at URL, such as "
              "http://localhost:4318, and write no file" },
    { .name = "lossless",
      .type = OPTION_FLAG,
      .offset = offsetof(struct convert_args, lossless),
      .help = "write nothing if FORMAT cannot keep everything" },
    FORCE_OPTION,
    { .key = 'r',
      .name = "recording",
      .arg = "FILE",
      .type = OPTION_PATH,
      .thoughtjack_env = true,
      .offset = offsetof(struct convert_args, recording),
      .help = "a file to convert, before the others" },
    { .name = "style",
      .arg = "STYLE",
      .group = WRITER_GROUP,
      .type = OPTION_CHOICE,
      .choices = styles,
      .preset = "simple",
      .thoughtjack_env = true,
      .offset = offsetof(struct convert_args, writer.style),
      .help =
          "of an attack configuration: 'simple', or 'phased' with an attack after some calls" },
    { .name = "phase-after",
      .arg = "N",
      .group = WRITER_GROUP,
      .type = OPTION_INT,
      .min = 1,
      .max = INT32_MAX,
      .preset = "3",
      .thoughtjack_env = true,
      .offset = offsetof(struct convert_args, writer.phase_after),
      .help = "of the phased style: the attack begins after N tool calls" },
    EPISODE_OPTIONS,
    WRITER_TRACE_OPTIONS(struct convert_args, writer),
    REDACTION_OPTIONS(struct convert_args, redaction),
    { 0 },
};

/* As Assay spells an import. */
static const struct option trace_options[] = {
    { .name = "input",
      .arg = "FILE",
      .type = OPTION_PATH,
      .offset = offsetof(struct convert_args, recording),
      .help = "the file to import" },
    OUT_TRACE_OPTION,
    FORMAT_OPTION,
    RULES_OPTION,
    FORCE_OPTION,
    EPISODE_OPTIONS,
    REDACTION_OPTIONS(struct convert_args, redaction),
    { 0 },
};

/* Records pass from merge through combine, the search for secrets of transcripts and the
 * redactor to the loss counter and the writer. */
struct conversion {
    struct sink sink; /* receives the output of the redactor */
    const struct app *app;
    const struct log *log; /* for messages during the conversion */
    const char **paths;
    const struct format **formats; /* of the files, once they are open */
    bool *warned_no_time;          /* of the files: set when the warning was printed */
    size_t count;
    const char *output;
    struct reader_import import; /* `format`: that all files must have; NULL: any */
    const struct format *format;
    struct sink *to; /* writes; NULL: only count losses */
    const struct redaction_args *redaction_args;
    struct combine combine;
    struct transcript_secrets secrets;
    struct redaction redaction; /* of one pass */
    struct secret_findings findings;
    struct loss loss;
};

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    struct conversion *c = (struct conversion *)self;

    return c->loss.sink.put(&c->loss.sink, r, e) && (!c->to || c->to->put(c->to, r, e));
}

/* Warns once per file that its messages have no time to be merged by. */
static void warn_no_time(struct conversion *c, const struct record *r, size_t from)
{
    if (c->count < 2 || c->warned_no_time[from] || r->kind != RECORD_MESSAGE ||
        r->has & (HAS_WALL | HAS_US))
        return;
    c->warned_no_time[from] = true;
    log_printf(c->log, LOG_WARN, "'%s' has messages without a time; they stay together",
               c->paths[from]);
}

static bool copy_records(struct conversion *c, struct merge *m, struct progress *progress,
                         struct err *e)
{
    struct record r;
    enum next_result next;
    size_t from;

    if (c->count > 1)
        c->combine.start_known = merge_start(m, &c->combine.start_us);
    while ((next = merge_next(m, &r, &from, e)) == NEXT_RECORD) {
        c->loss.source_keeps = c->formats[from]->keeps;
        c->loss.same_format = c->formats[from] == c->format;
        combine_select_input(&c->combine, from, c->loss.source_keeps);
        warn_no_time(c, &r, from);
        if (!c->combine.sink.put(&c->combine.sink, &r, e))
            return false;
        progress_update(progress, merge_offset(m));
    }
    if (next == NEXT_ERROR)
        return false;
    for (size_t i = 0; i < c->count; i++) {
        c->loss.source_keeps |= c->formats[i]->keeps;
        c->loss.same_format &= c->formats[i] == c->format;
    }
    return combine_finish(&c->combine, e) && redactor_finish(&c->redaction.redactor, e);
}

/* The content of a file decides its format; the option only says what the user expects. */
static bool check_format(const struct conversion *c, size_t i, struct err *e)
{
    if (!c->import.format || c->formats[i] == c->import.format)
        return true;
    err_set(e, ERR_INPUT, "'%s' has the format '%s', not '%s'", c->paths[i],
            c->formats[i]->name, c->import.format->name);
    return err_hint(e, "without --format it is read as '%s'", c->formats[i]->name);
}

static bool check_formats(struct conversion *c, const struct merge *m, struct err *e)
{
    bool ok = true;

    for (size_t i = 0; ok && i < c->count; i++) {
        c->formats[i] = merge_format(m, i);
        ok = check_format(c, i, e);
    }
    return ok;
}

/* Prepares to read the files once. The caller calls end_pass() if this returns true. */
static bool begin_pass(struct conversion *c, struct err *e)
{
    if (!redact_options_init(&c->redaction, c->app, c->redaction_args, NULL, e))
        return false;
    redact_options_set_format(&c->redaction, c->format);
    secret_findings_init(&c->findings);
    c->redaction.redactor.observer = &c->findings.observer;
    loss_init(&c->loss, c->format->keeps);
    c->loss.name = str_z(c->format->name);
    transcript_secrets_init(&c->secrets, redaction_seen_secrets(&c->redaction),
                            c->redaction_args->server_url,
                            redaction_sink(&c->redaction, &c->sink));
    combine_init(&c->combine, c->count, &c->secrets.sink);
    return true;
}

/* Redacts the error, too, if there was one. */
static void end_pass(struct conversion *c, struct err *e)
{
    redaction_redact_err(&c->redaction, e);
    combine_release(&c->combine);
    transcript_secrets_release(&c->secrets);
    loss_release(&c->loss);
    secret_findings_release(&c->findings);
    redaction_release(&c->redaction);
}

/* Reads everything, and writes it if there is a writer. */
static bool convert(struct conversion *c, struct err *e)
{
    struct progress progress;
    struct merge *m;
    bool ok;

    progress_init(&progress, &c->redaction.log, app_shows_progress(c->app),
                  c->to ? "converting" : "reading", c->paths[0]);
    if (!c->to)
        progress.log.level = LOG_ERROR; /* warnings are printed in the second pass */
    c->log = progress_log(&progress);
    memset(c->warned_no_time, 0, c->count * sizeof *c->warned_no_time);
    if (!merge_open(&m, c->app->sys, c->paths, c->count, &c->import, c->log, e))
        return false;
    progress.total = merge_size(m);
    ok = check_formats(c, m, e) && copy_records(c, m, &progress, e);
    progress_end(&progress);
    merge_close(m);
    return ok;
}

static int reject_loss(const struct conversion *c, struct err *e)
{
    struct buf text;

    buf_init(&text, CONVERT_TEXT_MAX);
    loss_add_text(&text, &c->loss);
    err_set(e, ERR_INPUT, "'%s' cannot keep %.*s", c->format->name, STR_ARG(buf_str(&text)));
    err_hint(e, "nothing was written; without --lossless convert drops this");
    buf_release(&text);
    return EXIT_FINDINGS;
}

/* Counts losses in a first pass: bytes written to standard output cannot be taken back. */
static int check_lossless(struct conversion *c, struct err *e)
{
    int code = EXIT_OK;

    for (size_t i = 0; i < c->count; i++)
        if (file_is_stdio(c->paths[i])) {
            err_set(e, ERR_USAGE,
                    "'--lossless' cannot convert standard input to standard output");
            err_hint(e, "it would have to read the input twice: give OUT a name");
            return EXIT_USAGE;
        }
    if (!begin_pass(c, e))
        return app_exit_code(e);
    if (!convert(c, e))
        code = app_exit_code(e);
    else if (loss_is_any(&c->loss))
        code = reject_loss(c, e);
    end_pass(c, e);
    return code;
}

static void add_json(struct buf *to, const struct conversion *c, bool written)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    json_out_key_int(&o, STR("v"), JSON_OUTPUT_VERSION);
    json_out_key_str(&o, STR("command"), STR("convert"));
    json_out_key(&o, STR("inputs"));
    json_out_array(&o);
    for (size_t i = 0; i < c->count; i++) {
        json_out_object(&o);
        json_out_key_str(&o, STR("path"), str_z(c->paths[i]));
        json_out_key_str(&o, STR("format"), str_z(c->formats[i]->name));
        json_out_end_object(&o);
    }
    json_out_end_array(&o);
    json_out_key(&o, STR("output"));
    if (written)
        json_out_str(&o, str_z(c->output));
    else
        json_out_null(&o);
    json_out_key_str(&o, STR("format"), str_z(c->format->name));
    json_out_key_int(&o, STR("records"), (int64_t)c->combine.records);
    json_out_key_int(&o, STR("messages"), (int64_t)combine_message_count(&c->combine));
    json_out_key(&o, STR("lost"));
    loss_write_json(&o, &c->loss);
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
}

static void log_redacted(const struct conversion *c)
{
    struct buf text;

    if (!c->findings.total)
        return;
    buf_init(&text, CONVERT_TEXT_MAX);
    secret_findings_add_count(&text, &c->findings);
    log_printf(&c->redaction.log, LOG_INFO, "%s", buf_z(&text));
    buf_release(&text);
}

static void log_result(const struct conversion *c)
{
    unsigned long long messages = combine_message_count(&c->combine);
    struct buf text;

    if (!file_is_stdio(c->output))
        log_printf(&c->redaction.log, LOG_INFO, "wrote '%s' (%s) from %llu message%s",
                   c->output, c->format->name, messages, messages == 1 ? "" : "s");
    if (!loss_is_any(&c->loss))
        return;
    buf_init(&text, CONVERT_TEXT_MAX);
    loss_add_text(&text, &c->loss);
    log_printf(&c->redaction.log, LOG_INFO, "lost in '%s': %.*s", c->format->name,
               STR_ARG(buf_str(&text)));
    buf_release(&text);
}

/* Programs other than this one may read such a document. */
static void warn_of_size(const struct conversion *c, const struct writer *w)
{
    if (writer_made_unreadable(w))
        log_printf(&c->redaction.log, LOG_WARN,
                   "'%s' has more than %d MB: mcpreel itself cannot read a document of this "
                   "size; keep the recording",
                   c->output, (int)(LIMIT_LINE >> 20));
}

static bool write_report(const struct conversion *c, bool written, struct err *e)
{
    struct buf out;
    bool ok;

    if (!c->app->json || file_is_stdio(c->output)) {
        if (written)
            log_result(c);
        return true;
    }
    buf_init(&out, CONVERT_JSON_MAX);
    add_json(&out, c, written);
    ok = buf_ok(&out, e) && app_write(c->app, buf_str(&out), e);
    buf_release(&out);
    return ok;
}

static int write_pass(struct conversion *c, const struct convert_args *args, struct err *e)
{
    struct format_options options = args->writer;
    struct writer w;
    bool ok, keep;

    options.source = str_z(c->paths[0]);
    options.log = &c->redaction.log;
    options.rules = c->import.rules;
    if (!writer_open(&w, c->app->sys, c->output, args->force, c->format, &options, e))
        return app_exit_code(e);
    c->to = &w.sink;
    ok = convert(c, e);
    keep = ok && !(args->lossless && loss_is_any(&c->loss));
    if (keep)
        ok = writer_finish(&w, e);
    else
        writer_abort(&w);
    ok = ok && write_report(c, keep, e);
    if (!ok)
        return app_exit_code(e);
    if (!keep)
        return reject_loss(c, e);
    warn_of_size(c, &w);
    log_redacted(c);
    return EXIT_OK;
}

static int write_output(struct conversion *c, const struct convert_args *args, struct err *e)
{
    int code;

    if (!begin_pass(c, e))
        return app_exit_code(e);
    code = write_pass(c, args, e);
    end_pass(c, e);
    return code;
}

static void log_sent(const struct conversion *c, const struct otlp_export *x)
{
    unsigned long long batches = otlp_export_batches(x);

    if (!c->app->json)
        log_printf(c->app->log, LOG_INFO, "sent spans of %llu messages to '%s' in %llu batch%s",
                   (unsigned long long)combine_message_count(&c->combine), c->output, batches,
                   batches == 1 ? "" : "es");
}

static int send_spans(struct conversion *c, const struct otlp_config *config,
                      const struct format_options *options, struct err *e)
{
    struct otlp_export *x;
    bool ok;

    if (!begin_pass(c, e))
        return app_exit_code(e);
    if (!otlp_export_open(&x, c->app, config, options, e)) {
        end_pass(c, e);
        return app_exit_code(e);
    }
    c->output = config->display_url;
    c->to = otlp_export_sink(x);
    ok = convert(c, e) && otlp_export_finish(x, e);
    if (ok) {
        log_sent(c, x);
        log_redacted(c);
        ok = !c->app->json || write_report(c, true, e);
    }
    end_pass(c, e);
    otlp_export_close(x);
    return ok ? EXIT_OK : app_exit_code(e);
}

/* Sends spans to a collector, when no output file is named. */
static int send_output(struct conversion *c, const struct convert_args *args, struct err *e)
{
    struct format_options options = args->writer;
    struct otlp_config config;
    int code;

    options.source = str_z(c->paths[0]);
    options.log = c->app->log;
    if (otlp_config_read(&config, c->app, args->otlp, e))
        code = send_spans(c, &config, &options, e);
    else
        code = app_exit_code(e);
    otlp_config_release(&config);
    return code;
}

/* Whether the output goes to a collector; not if the name of a file is given, too: --otlp may
 * come from the environment. */
static bool is_sent(const struct app *app, const struct convert_args *args)
{
    return !args->output && !args->out_trace &&
           (args->otlp || (args->to == &otlp_format && otlp_config_is_in_env(app)));
}

static bool check_sent(const struct convert_args *args, struct err *e)
{
    if (args->to && args->to != &otlp_format)
        return err_set(e, ERR_USAGE, "'--otlp' sends the format 'otlp', not '%s'",
                       args->to->name);
    if (args->lossless)
        return err_set(e, ERR_USAGE,
                       "'--lossless' cannot be combined with '--otlp': spans "
                       "do not keep everything");
    return true;
}

/* A style means an attack configuration if nothing else says what to write. */
static bool choose_format(struct conversion *c, const struct convert_args *args,
                          const struct operands *in, struct err *e)
{
    c->format = args->out_trace ? &assay_trace_format : args->to;
    if (is_sent(c->app, args))
        c->format = &otlp_format;
    if (!c->format && !file_is_stdio(c->output))
        c->format = format_by_path(str_z(c->output));
    if (!c->format && option_is_given(in, "style"))
        c->format = &thoughtjack_format;
    if (c->format)
        return true;
    err_set(e, ERR_USAGE, "the name '%s' does not say which format to write", c->output);
    return format_hint_writable(e, "--to", FORMAT_CONVERT);
}

/* Collects the files in their order; standard input may be given only once. */
static bool collect_paths(struct conversion *c, const struct convert_args *args,
                          const struct operands *in, struct arena *a, struct err *e)
{
    bool standard = false;

    c->paths = arena_alloc(a, (in->count + 1) * sizeof *c->paths);
    c->formats = arena_alloc(a, (in->count + 1) * sizeof *c->formats);
    c->warned_no_time = arena_alloc(a, (in->count + 1) * sizeof *c->warned_no_time);
    if (args->recording &&
        !(in->count && option_env_has(c->app->env, "recording", args->recording)))
        c->paths[c->count++] = args->recording;
    for (size_t i = 0; i < in->count; i++)
        c->paths[c->count++] = in->at[i];
    for (size_t i = 0; i < c->count; i++) {
        if (standard && file_is_stdio(c->paths[i]))
            return err_set(e, ERR_USAGE, "'-' may be given only once");
        standard |= file_is_stdio(c->paths[i]);
    }
    if (c->count)
        return true;
    err_set(e, ERR_USAGE, "no file to convert");
    return err_hint(e, "name one: mcpreel convert session.jsonl -o session.trace.jsonl");
}

static int write_or_send(struct conversion *c, const struct convert_args *args, struct err *e)
{
    int code = EXIT_OK;

    if (is_sent(c->app, args))
        return send_output(c, args, e);
    if (args->lossless && file_is_stdio(c->output))
        code = check_lossless(c, e);
    return code == EXIT_OK ? write_output(c, args, e) : code;
}

static bool check_output(const struct app *app, const struct convert_args *args,
                         const struct operands *in, struct err *e)
{
    if (args->out_trace && (args->output || args->to))
        return err_set(e, ERR_USAGE, "'--out-trace' cannot be combined with '%s'",
                       args->output ? "--output" : "--to");
    if ((args->output || args->out_trace) && option_is_given(in, "otlp")) {
        err_set(e, ERR_USAGE, "'--otlp' cannot be combined with '%s'",
                args->output ? "--output" : "--out-trace");
        return err_hint(e, "convert the recording once more for the other");
    }
    if (is_sent(app, args))
        return check_sent(args, e);
    if (args->output || args->out_trace)
        return true;
    err_set(e, ERR_USAGE, "no file to write");
    return err_hint(e, "name one: mcpreel convert FILE -o OUT");
}

static int run(const struct app *app, const struct convert_args *args,
               const struct option *rows, const struct operands *in, struct err *e)
{
    struct conversion c = { .sink = { put_record },
                            .app = app,
                            .redaction_args = &args->redaction };
    struct arena a = { 0 };
    int code = EXIT_USAGE;

    c.output = args->out_trace ? args->out_trace : args->output;
    c.import.format = args->from;
    c.import.rules = (enum format_rules)args->rules;
    if (check_output(app, args, in, e) && collect_paths(&c, args, in, &a, e) &&
        choose_format(&c, args, in, e) && writer_options_check(rows, in, c.format, e)) {
        if (option_is_given(in, "phase-after") && args->writer.style == FORMAT_STYLE_SIMPLE)
            log_printf(app->log, LOG_WARN, "--phase-after only goes with --style phased");
        code = write_or_send(&c, args, e);
    }
    arena_release(&a);
    return code;
}

static int convert_run(const struct app *app, const void *options, const struct operands *in,
                       struct err *e)
{
    return run(app, options, convert_options, in, e);
}

static int trace_run(const struct app *app, const void *options, const struct operands *in,
                     struct err *e)
{
    const struct convert_args *args = options;
    struct operands files = *in;

    if (!args->recording || !args->out_trace) {
        err_set(e, ERR_USAGE, args->recording ? "no file to write" : "no file to import");
        err_hint(e, "name one: mcpreel trace import-mcp --input FILE --out-trace OUT");
        return EXIT_USAGE;
    }
    files.count = 0; /* without "import-mcp" */
    return run(app, args, trace_options, &files, e);
}

static const struct command_example convert_examples[] = {
    { "mcpreel convert session.jsonl -o session.trace.jsonl",
      "to the format that the name selects" },
    { "mcpreel convert a.jsonl b.jsonl -o both.jsonl", "merge two recordings by time" },
    { "mcpreel convert --to jsonrpc -o - session.jsonl | jq .method", "to standard output" },
    { 0 },
};

static const char *const convert_usage[] = { "[options] FILE… -o OUT", NULL };

/* One command with three names. */
#define CONVERT_COMMAND(command_name, is_hidden, examples_shown)                               \
    {                                                                                          \
        .name = command_name,                                                                  \
        .summary = "convert recordings to another format, or merge them",                      \
        .usage = convert_usage,                                                                \
        .about =                                                                               \
            "Reads recordings in any format and writes one. The content of a file tells its "  \
            "format; the name of OUT or --to selects the format to write ('mcpreel formats' "  \
            "lists them). A name that ends in '.gz' or '.zst' compresses OUT. convert leaves " \
            "out what the format cannot keep, and reports it at the end. 'import' and "        \
            "'export' are the same command.\n\n"                                               \
            "Several files are merged by time; the order inside each file is kept. Messages "  \
            "without a time, as in a cassette, stay together, at the date in their file. The " \
            "first header is kept. Messages get new numbers, connections of different files "  \
            "get different numbers, and one footer has the totals if all files have one.\n\n"  \
            "Secrets are redacted as 'mcpreel record' does; --no-redact-defaults and "         \
            "--no-redact-server-url keep them.\n\n"                                            \
            "OUT is created when it is complete. Ends with 1 if --lossless rejected the "      \
            "conversion, with 3 if a file cannot be read, has another format than --format, "  \
            "or is too large for the format to write, with 4 if a collector (--otlp) cannot "  \
            "be reached or rejects the spans.",                                                \
        .examples = examples_shown, .options = convert_options,                                \
        .args_size = sizeof(struct convert_args), .operand = "FILE", .min = 0,                 \
        .max = COMMAND_ANY, .hidden = is_hidden, .run = convert_run                            \
    }

const struct command cmd_convert = CONVERT_COMMAND("convert", false, convert_examples);
const struct command cmd_export = CONVERT_COMMAND("export", true, NULL);
const struct command cmd_import = CONVERT_COMMAND("import", true, NULL);

static const char *const trace_usage[] = { "import-mcp --input FILE --out-trace OUT", NULL };
static const struct option_choice trace_words[] = { { "import-mcp", 0, false }, { 0 } };

const struct command cmd_trace = {
    .name = "trace",
    .summary = "import a transcript, in Assay's spelling",
    .usage = trace_usage,
    .about = "The same as 'import FILE --out-trace OUT'.",
    .options = trace_options,
    .args_size = sizeof(struct convert_args),
    .operand = "import-mcp",
    .takes = COMMAND_WORDS,
    .words = trace_words,
    .min = 1,
    .max = 1,
    .hidden = true,
    .run = trace_run,
};
