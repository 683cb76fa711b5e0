/* cmd/cmd-redact.c - take secrets out of a recording that is there already. */
#include "base/amount.h"
#include "base/file.h"
#include "base/term.h"
#include "cmd/commands.h"
#include "cmd/inspect-file.h"
#include "cmd/leaks.h"
#include "cmd/pick-format.h"
#include "cmd/redaction.h"
#include "format/writer.h"
#include "trace/join.h"
#include "trace/loss.h"

enum { REDACT_REPORT = 16 << 20 };

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
      .at = offsetof(struct redact_args, output),
      .help = "write to OUT; '-' is standard output" },
    { .name = "to",
      .arg = "FORMAT",
      .type = OPTION_CUSTOM,
      .parse = pick_format_parse,
      .at = offsetof(struct redact_args, to),
      .help = "write FORMAT instead of that of FILE" },
    { .name = "force",
      .type = OPTION_FLAG,
      .at = offsetof(struct redact_args, force),
      .help = "replace OUT if it exists" },
    REDACTION_OPTIONS(struct redact_args, redaction),
    { 0 },
};

/* A file goes through join and the redactor into the writer, past what counts losses. */
struct redacting {
    struct sink sink;  /* what is read */
    struct sink clean; /* what comes out of the redactor */
    const struct app *app;
    const struct redact_args *args;
    struct inspect_file file;
    const struct format *format; /* what is written; known with the first record */
    struct join join;
    struct redaction redaction;
    struct leaks leaks;
    struct loss loss;
    struct writer writer;
    bool open;
};

static bool put_clean(struct sink *self, const struct record *rec, struct err *e)
{
    struct redacting *r =
        (struct redacting *)((char *)self - offsetof(struct redacting, clean));

    return r->loss.sink.put(&r->loss.sink, rec, e) &&
           r->writer.sink.put(&r->writer.sink, rec, e);
}

static bool choose_format(struct redacting *r, struct err *e)
{
    const struct format *own = format_by_name(str_z(r->file.format));

    r->format = r->args->to ? r->args->to : own;
    if (!r->format->put) {
        err_set(e, ERR_USAGE, "'%s' is only read", own->name);
        return err_hint(e, "say with --to FORMAT what to write; 'mcpreel formats' lists them");
    }
    r->loss.had = own->keeps;
    r->loss.keeps = r->format->keeps;
    r->loss.same = own == r->format;
    join_from(&r->join, 0, own->keeps);
    redaction_for(&r->redaction, r->format);
    return true;
}

static bool open_output(struct redacting *r, struct err *e)
{
    if (r->open)
        return true;
    r->open = choose_format(r, e) && writer_open_whole(&r->writer, r->app->sys, r->args->output,
                                                       r->args->force, r->format, e);
    return r->open;
}

static bool put_read(struct sink *self, const struct record *rec, struct err *e)
{
    struct redacting *r = (struct redacting *)self;

    return open_output(r, e) && r->join.sink.put(&r->join.sink, rec, e);
}

static bool pour(struct redacting *r, struct err *e)
{
    struct app app = *r->app;
    struct stats stats;
    bool ok;

    app.log = &r->redaction.log;
    stats_init(&stats);
    ok = inspect_file_read(&app, &r->file, &stats, &r->sink, e) && open_output(r, e) &&
         join_finish(&r->join, e) && redactor_finish(&r->redaction.redactor, e);
    stats_release(&stats);
    if (ok) {
        r->open = false;
        ok = writer_finish(&r->writer, e);
    } else if (r->open) {
        writer_abandon(&r->writer);
    }
    return ok;
}

static void add_json(struct buf *to, const struct redacting *r)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    json_out_key_int(&o, STR("v"), 1);
    json_out_key_str(&o, STR("command"), STR("redact"));
    json_out_key_str(&o, STR("input"), str_z(r->file.path));
    json_out_key_str(&o, STR("output"), str_z(r->args->output));
    json_out_key_str(&o, STR("format"), str_z(r->format->name));
    json_out_key_int(&o, STR("count"), (int64_t)r->leaks.count);
    json_out_key(&o, STR("secrets"));
    leaks_json(&o, &r->leaks);
    json_out_key(&o, STR("lost"));
    loss_json(&o, &r->loss);
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
}

static void say_result(const struct redacting *r)
{
    struct buf text;

    buf_init(&text, REDACT_REPORT);
    amount_of(&text, r->leaks.count, "secret", "secrets");
    log_say(&r->redaction.log, LOG_INFO, "took %s out; wrote '%s' (%s)", buf_z(&text),
            r->args->output, r->format->name);
    buf_clear(&text);
    if (loss_any(&r->loss)) {
        loss_add(&text, &r->loss);
        log_say(&r->redaction.log, LOG_INFO, "lost in '%s': %s", r->format->name, buf_z(&text));
    }
    buf_release(&text);
}

/* Places go where data goes, unless the recording does. */
static bool report(const struct redacting *r, struct err *e)
{
    struct buf out;
    bool ok;

    if (file_is_standard(r->args->output) || !r->app->json)
        say_result(r);
    if (file_is_standard(r->args->output))
        return true;
    buf_init(&out, REDACT_REPORT);
    if (r->app->json)
        add_json(&out, r);
    else
        leaks_add(&out, &r->leaks);
    ok = buf_ok(&out, e) && app_write(r->app, buf_str(&out), e);
    buf_release(&out);
    return ok;
}

static int redact_run(const struct app *app, const void *options, const struct operands *in,
                      struct err *e)
{
    struct redacting r = { .sink = { put_read },
                           .clean = { put_clean },
                           .app = app,
                           .args = options,
                           .file = { .path = in->at[0] } };
    bool ok;

    if (!r.args->output) {
        err_set(e, ERR_USAGE, "no file to write");
        err_hint(e, "name one: mcpreel redact FILE -o OUT");
        return EXIT_USAGE;
    }
    if (!redaction_init(&r.redaction, app, &r.args->redaction, NULL, e))
        return EXIT_USAGE;
    leaks_init(&r.leaks);
    r.redaction.redactor.watch = &r.leaks.watch;
    loss_init(&r.loss, 0);
    join_init(&r.join, 1, redaction_door(&r.redaction, &r.clean));
    ok = pour(&r, e) && report(&r, e);
    if (!ok)
        redaction_err(&r.redaction, e);
    join_release(&r.join);
    loss_release(&r.loss);
    leaks_release(&r.leaks);
    redaction_release(&r.redaction);
    return ok ? EXIT_OK : app_exit_code(e);
}

static const struct command_example redact_examples[] = {
    { "mcpreel redact session.jsonl -o clean.jsonl", "well-known credentials, named secrets" },
    { "mcpreel redact --redact-members email,iban a.jsonl -o b.jsonl", "and members so named" },
    { "mcpreel redact --redact-env API_KEY old.json -o new.json", "and the value of API_KEY" },
    { "mcpreel redact --redact-patterns 'cust-[0-9]+' a.jsonl -o b.jsonl", "and a pattern" },
    { 0 },
};

const struct command cmd_redact = {
    .name = "redact",
    .summary = "take secrets out of a recording",
    .usage = (const char *const[]){ "[options] FILE -o OUT", NULL },
    .about =
        "Writes FILE again without the secrets in it: a mark stands in their place, and "
        "everything else stays as it is, to the byte. What was found where is listed; what "
        "it was is not. 'mcpreel record' does the same while it records.\n\n"
        "Ids, methods, progress tokens, cursors and schemas are left alone, except that the "
        "value of "
        "a variable named by --redact-env is taken out wherever it stands.\n\n"
        "OUT is there when it is whole, or not at all. Ends with 3 if FILE cannot be used.",
    .examples = redact_examples,
    .options = redact_options,
    .args_size = sizeof(struct redact_args),
    .operand = "FILE",
    .min = 1,
    .max = 1,
    .run = redact_run,
};
