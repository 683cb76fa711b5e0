/* cmd/cmd-redact.c - the redact command: removes secrets from an existing recording. */
#include "base/file.h"
#include "base/term.h"
#include "cmd/check-secrets.h"
#include "cmd/command.h"
#include "cmd/format-option.h"
#include "cmd/redact-options.h"
#include "format/writer.h"
#include "record/transcript-secrets.h"
#include "report/inspect-file.h"
#include "trace/combine.h"
#include "trace/loss.h"

enum { REDACT_REPORT_MAX = 16 << 20 };

struct redact_args {
    const char *output;
    const struct format *to;
    bool force;
    struct redaction_args redaction;
};

static const struct option redact_options[] = {
    { .key = 'o',
      .name = "output",
      .arg = "OUT",
      .type = OPTION_PATH,
      .offset = offsetof(struct redact_args, output),
      .help = "write to OUT; '-' is standard output" },
    { .name = "to",
      .arg = "FORMAT",
      .type = OPTION_CUSTOM,
      .parse = format_option_parse,
      .offset = offsetof(struct redact_args, to),
      .help = "write FORMAT instead of the format of FILE" },
    { .name = "force",
      .type = OPTION_FLAG,
      .offset = offsetof(struct redact_args, force),
      .help = "replace OUT if it exists" },
    REDACTION_OPTIONS(struct redact_args, redaction),
    { 0 },
};

/* Records pass from the file through combine, the search for secrets of transcripts and the
 * redactor to the loss counter and the writer. */
struct redact_job {
    struct sink sink;          /* receives the records of the file */
    struct sink redacted_sink; /* receives the output of the redactor */
    const struct app *app;
    const struct redact_args *args;
    struct inspect_file file;
    const struct format *format; /* of the output; set with the first record */
    struct combine combine;
    struct transcript_secrets secrets;
    struct redaction redaction;
    struct secret_findings findings;
    struct loss loss;
    struct writer writer;
    bool output_open;
};

static bool write_redacted(struct sink *self, const struct record *rec, struct err *e)
{
    struct redact_job *r =
        (struct redact_job *)((char *)self - offsetof(struct redact_job, redacted_sink));

    return r->loss.sink.put(&r->loss.sink, rec, e) &&
           r->writer.sink.put(&r->writer.sink, rec, e);
}

static bool choose_format(struct redact_job *r, struct err *e)
{
    const struct format *own = format_by_name(str_z(r->file.format));

    r->format = r->args->to ? r->args->to : own;
    if (!r->format->put) {
        err_set(e, ERR_USAGE, "the format '%s' can only be read", own->name);
        return err_hint(
            e, "choose a format to write with --to FORMAT; 'mcpreel formats' lists them");
    }
    r->loss.source_keeps = own->keeps;
    r->loss.keeps = r->format->keeps;
    r->loss.same_format = own == r->format;
    combine_select_input(&r->combine, 0, own->keeps);
    redact_options_set_format(&r->redaction, r->format);
    return true;
}

static bool open_output(struct redact_job *r, struct err *e)
{
    if (r->output_open)
        return true;
    r->output_open =
        choose_format(r, e) && writer_open(&r->writer, r->app->sys, r->args->output,
                                           r->args->force, r->format, NULL, e);
    return r->output_open;
}

static bool redact_record(struct sink *self, const struct record *rec, struct err *e)
{
    struct redact_job *r = (struct redact_job *)self;

    return open_output(r, e) && r->combine.sink.put(&r->combine.sink, rec, e);
}

static bool redact_file(struct redact_job *r, struct err *e)
{
    struct stats stats;
    bool ok;

    r->file.show_progress = app_shows_progress(r->app);
    stats_init(&stats);
    ok = inspect_file_read(&r->file, r->app->sys, &r->redaction.log, &stats, &r->sink, e) &&
         open_output(r, e) && combine_finish(&r->combine, e) &&
         redactor_finish(&r->redaction.redactor, e);
    stats_release(&stats);
    if (ok) {
        r->output_open = false;
        ok = writer_finish(&r->writer, e);
    } else if (r->output_open) {
        writer_abort(&r->writer);
    }
    return ok;
}

static void add_json(struct buf *to, const struct redact_job *r)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    json_out_key_int(&o, STR("v"), JSON_OUTPUT_VERSION);
    json_out_key_str(&o, STR("command"), STR("redact"));
    json_out_key_str(&o, STR("input"), str_z(r->file.path));
    json_out_key_str(&o, STR("output"), str_z(r->args->output));
    json_out_key_str(&o, STR("format"), str_z(r->format->name));
    json_out_key_int(&o, STR("count"), (int64_t)r->findings.total);
    json_out_key(&o, STR("secrets"));
    secret_findings_add_json(&o, &r->findings);
    json_out_key(&o, STR("lost"));
    loss_write_json(&o, &r->loss);
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
}

static void log_result(const struct redact_job *r)
{
    struct buf text;

    buf_init(&text, REDACT_REPORT_MAX);
    secret_findings_add_count(&text, &r->findings);
    log_printf(&r->redaction.log, LOG_INFO, "%s; wrote '%s' (%s)", buf_z(&text),
               r->args->output, r->format->name);
    buf_clear(&text);
    if (loss_is_any(&r->loss)) {
        loss_add_text(&text, &r->loss);
        log_printf(&r->redaction.log, LOG_INFO, "lost in '%s': %s", r->format->name,
                   buf_z(&text));
    }
    buf_release(&text);
}

/* Writes the findings to standard output, unless the recording goes there. */
static bool write_report(const struct redact_job *r, struct err *e)
{
    struct buf out;
    bool ok;

    if (file_is_stdio(r->args->output) || !r->app->json)
        log_result(r);
    if (file_is_stdio(r->args->output))
        return true;
    buf_init(&out, REDACT_REPORT_MAX);
    if (r->app->json)
        add_json(&out, r);
    else
        secret_findings_add_text(&out, &r->findings);
    ok = buf_ok(&out, e) && app_write(r->app, buf_str(&out), e);
    buf_release(&out);
    return ok;
}

static int redact_run(const struct app *app, const void *options, const struct operands *in,
                      struct err *e)
{
    struct redact_job r = { .sink = { redact_record },
                            .redacted_sink = { write_redacted },
                            .app = app,
                            .args = options,
                            .file = { .path = in->at[0] } };
    bool ok;

    if (!r.args->output) {
        err_set(e, ERR_USAGE, "no file to write");
        err_hint(e, "name one: mcpreel redact FILE -o OUT");
        return EXIT_USAGE;
    }
    if (!redact_options_init(&r.redaction, app, &r.args->redaction, NULL, e))
        return EXIT_USAGE;
    secret_findings_init(&r.findings);
    r.redaction.redactor.observer = &r.findings.observer;
    loss_init(&r.loss, 0);
    transcript_secrets_init(&r.secrets, redaction_seen_secrets(&r.redaction),
                            r.args->redaction.server_url,
                            redaction_sink(&r.redaction, &r.redacted_sink));
    combine_init(&r.combine, 1, &r.secrets.sink);
    ok = redact_file(&r, e) && write_report(&r, e);
    if (!ok)
        redaction_redact_err(&r.redaction, e);
    combine_release(&r.combine);
    transcript_secrets_release(&r.secrets);
    loss_release(&r.loss);
    secret_findings_release(&r.findings);
    redaction_release(&r.redaction);
    return ok ? EXIT_OK : app_exit_code(e);
}

static const struct command_example redact_examples[] = {
    { "mcpreel redact session.jsonl -o clean.jsonl", "well-known credentials, named secrets" },
    { "mcpreel redact --redact-members email,iban a.jsonl -o b.jsonl",
      "and members with these names" },
    { "mcpreel redact --redact-env API_KEY old.json -o new.json", "and the value of API_KEY" },
    { "mcpreel redact --redact-patterns 'cust-[0-9]+' a.jsonl -o b.jsonl", "and a pattern" },
    { 0 },
};

const struct command cmd_redact = {
    .name = "redact",
    .summary = "redact secrets in a recording",
    .usage = (const char *const[]){ "[options] FILE -o OUT", NULL },
    .about =
        "Writes a copy of FILE in which placeholders replace the secrets; all other bytes stay "
        "unchanged. Lists where secrets were found, but not their values. 'mcpreel record' "
        "does the same while it records.\n\n"
        "Ids, methods, progress tokens, cursors and schemas are not changed, except that the "
        "value of a variable named by --redact-env is replaced everywhere.\n\n"
        "OUT is created when it is complete. Ends with 3 if FILE cannot be read.",
    .examples = redact_examples,
    .options = redact_options,
    .args_size = sizeof(struct redact_args),
    .operand = "FILE",
    .min = 1,
    .max = 1,
    .run = redact_run,
};
