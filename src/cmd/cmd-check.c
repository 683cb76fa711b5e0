/* cmd/cmd-check.c - is a recording whole, and what is odd about it. */
#include <stdlib.h>

#include "base/amount.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "base/term.h"
#include "cmd/check-secrets.h"
#include "cmd/commands.h"
#include "cmd/inspect-odd.h"
#include "cmd/journal.h"
#include "cmd/repair.h"

enum { CHECK_FILE = 1 << 20, CHECK_ALL = 256 << 20 };

struct check_args {
    const char *output;
    struct option_list ignore;
    bool fix, force, secrets;
    struct redaction_args redaction;
};

static const struct option check_options[] = {
    { .name = "fix",
      .type = OPTION_FLAG,
      .at = offsetof(struct check_args, fix),
      .help = "write a repaired copy to FILE.fixed" },
    { .key = 'o',
      .name = "output",
      .arg = "OUT",
      .type = OPTION_PATH,
      .at = offsetof(struct check_args, output),
      .line_only = true,
      .help = "write the repaired copy to OUT" },
    { .name = "force",
      .type = OPTION_FLAG,
      .at = offsetof(struct check_args, force),
      .help = "replace the copy if it exists" },
    { .name = "ignore",
      .arg = "IDS",
      .type = OPTION_LIST,
      .split = true,
      .at = offsetof(struct check_args, ignore),
      .help = "pass over these findings, by the ids that --json shows" },
    { .name = "secrets",
      .type = OPTION_FLAG,
      .at = offsetof(struct check_args, secrets),
      .help = "look for secrets instead" },
    REDACTION_OPTIONS(struct check_args, redaction),
    { 0 },
};

/* Oddities of the file, not of what was said. */
static const bool of_the_file[STATS_ODDS] = {
    [STATS_NO_HEADER] = true,    [STATS_EXTRA_HEADER] = true,   [STATS_NO_FOOTER] = true,
    [STATS_AFTER_FOOTER] = true, [STATS_FOOTER_DIFFERS] = true, [STATS_DAMAGED_END] = true,
    [STATS_GAP] = true,          [STATS_SEQ_ORDER] = true,
};

enum verdict { VERDICT_WHOLE, VERDICT_ODD, VERDICT_DAMAGED, VERDICT_UNUSABLE };

static const char *const verdict_names[] = { "whole", "odd", "damaged", "unusable" };

struct check {
    const struct app *app;
    const struct check_args *args;
    bool ignored[STATS_ODDS];
    struct buf all; /* --json: the report so far */
    struct json_out json;
    int worst; /* exit code */
};

/* One file. */
struct checked {
    struct inspect_file file;
    struct stats stats;
    struct repair repair;
    const char *copy; /* NULL: none is made */
    bool unfinished;  /* it is the journal of a document; the copy is that document */
    struct err trouble;
    bool usable;
};

static bool is_found(const struct check *c, const struct stats *s, enum stats_odd what)
{
    return s->odd[what].count && !c->ignored[what];
}

static bool any_found(const struct check *c, const struct stats *s)
{
    bool any = false;

    for (enum stats_odd what = 0; what < STATS_ODDS; what++)
        any |= is_found(c, s, what);
    return any;
}

/* Some remarks of the readers are about what leaves no other trace. */
static bool only_remarks(const struct checked *f)
{
    bool odd = false;

    for (enum stats_odd what = 0; what < STATS_ODDS; what++)
        odd |= f->stats.odd[what].count > 0;
    return f->file.remarks && !odd;
}

/* Only a part of it could be read. */
static bool is_part(const struct checked *f)
{
    return f->file.damage.lines || f->file.damage.packed;
}

static enum verdict judge(const struct check *c, const struct checked *f)
{
    if (!f->usable)
        return VERDICT_UNUSABLE;
    if (is_part(f))
        return VERDICT_DAMAGED;
    for (enum stats_odd what = 0; what < STATS_ODDS; what++)
        if (of_the_file[what] && is_found(c, &f->stats, what))
            return VERDICT_DAMAGED;
    return any_found(c, &f->stats) || only_remarks(f) ? VERDICT_ODD : VERDICT_WHOLE;
}

/* With a copy it is the copy that counts. */
static int exit_code(const struct check *c, const struct checked *f)
{
    if (!f->usable)
        return app_exit_code(&f->trouble);
    if (f->copy)
        return any_found(c, &f->repair.left) || is_part(f) ||
                       (loss_any(&f->repair.loss) && !f->unfinished)
                   ? EXIT_FINDINGS
                   : EXIT_OK;
    return judge(c, f) == VERDICT_WHOLE ? EXIT_OK : EXIT_FINDINGS;
}

static uint64_t messages_of(const struct checked *f)
{
    return f->stats.lines[RECORD_MESSAGE];
}

static void add_verdict(struct buf *to, const struct check *c, const struct checked *f)
{
    static const enum term_style styles[] = { TERM_GREEN, TERM_YELLOW, TERM_RED, TERM_RED };
    enum verdict verdict = judge(c, f);

    term_escape(to, str_z(f->file.path), TERM_ONE_LINE);
    buf_add(to, STR(": "));
    term_style(to, c->app->color, styles[verdict]);
    buf_add(to, str_z(verdict_names[verdict]));
    term_style(to, c->app->color, TERM_PLAIN);
    if (f->usable) {
        buf_add(to, STR(", "));
        amount_of(to, messages_of(f), "message", "messages");
    }
    buf_add_ch(to, '\n');
}

static void add_found(struct buf *to, const struct check *c, const struct checked *f)
{
    struct buf text;

    buf_init(&text, CHECK_FILE);
    for (enum stats_odd what = 0; what < STATS_ODDS; what++) {
        if (!is_found(c, &f->stats, what))
            continue;
        buf_clear(&text);
        inspect_odd_add(&text, &f->stats, what);
        buf_add(to, STR("  "));
        term_escape(to, buf_str(&text), TERM_ONE_LINE);
        buf_add_ch(to, '\n');
    }
    if (only_remarks(f)) {
        buf_add(to, STR("  "));
        amount_of(to, f->file.remarks, "warning", "warnings");
        buf_add(to, STR(" while it was read\n"));
    }
    buf_release(&text);
}

/* "left out: line 4, lines 7 to 9" */
static void add_left_out(struct buf *to, const struct reader_damage *d)
{
    if (d->packed)
        buf_add(to, STR("  left out: what cannot be unpacked\n"));
    if (!d->lines)
        return;
    buf_add(to, STR("  left out: "));
    for (size_t i = 0; i < d->count && i < READER_PLACES; i++) {
        buf_printf(to, i ? ", line" : "line");
        if (d->at[i].first < d->at[i].last)
            buf_printf(to, "s %llu to", (unsigned long long)d->at[i].first);
        buf_printf(to, " %llu", (unsigned long long)d->at[i].last);
    }
    if (d->count > READER_PLACES)
        buf_printf(to, " and others, %llu lines in all", (unsigned long long)d->lines);
    buf_add_ch(to, '\n');
}

static void left_out_json(struct json_out *o, const struct reader_damage *d)
{
    json_out_key(o, STR("left_out"));
    json_out_object(o);
    json_out_key_int(o, STR("lines"), (int64_t)d->lines);
    json_out_key_bool(o, STR("packed"), d->packed);
    json_out_key(o, STR("at"));
    json_out_array(o);
    for (size_t i = 0; i < d->count && i < READER_PLACES; i++) {
        json_out_array(o);
        json_out_int(o, (int64_t)d->at[i].first);
        json_out_int(o, (int64_t)d->at[i].last);
        json_out_end_array(o);
    }
    json_out_end_array(o);
    json_out_end_object(o);
}

static void add_copy(struct buf *to, const struct check *c, const struct checked *f)
{
    const char *before = "; still odd: ";

    buf_add(to, f->unfinished ? STR("  finished: ") : STR("  repaired copy: "));
    term_escape(to, str_z(f->copy), TERM_ONE_LINE);
    for (enum stats_odd what = 0; what < STATS_ODDS; what++)
        if (is_found(c, &f->repair.left, what)) {
            buf_printf(to, "%s%s", before, inspect_odd_id(what));
            before = ", ";
        }
    if (loss_any(&f->repair.loss)) {
        buf_add(to, STR("; left out: "));
        loss_add(to, &f->repair.loss);
    }
    buf_add_ch(to, '\n');
}

static bool tell(struct check *c, const struct checked *f, struct err *e)
{
    struct buf out;
    bool ok;

    buf_init(&out, CHECK_FILE);
    add_verdict(&out, c, f);
    if (f->usable)
        add_found(&out, c, f);
    if (f->usable && f->copy) {
        add_left_out(&out, &f->file.damage);
        add_copy(&out, c, f);
    }
    ok = buf_ok(&out, e) && app_write(c->app, buf_str(&out), e);
    buf_release(&out);
    if (!f->usable)
        log_err(c->app->log, &f->trouble);
    return ok;
}

static void add_odd(struct json_out *o, const struct check *c, const struct stats *s)
{
    json_out_key(o, STR("odd"));
    json_out_array(o);
    for (enum stats_odd what = 0; what < STATS_ODDS; what++)
        if (is_found(c, s, what))
            inspect_odd_json(o, s, what);
    json_out_end_array(o);
}

static void add_usable(struct json_out *o, const struct check *c, const struct checked *f)
{
    json_out_key_str(o, STR("format"), str_z(f->file.format));
    json_out_key_int(o, STR("bytes"), (int64_t)f->file.bytes);
    json_out_key_int(o, STR("messages"), (int64_t)messages_of(f));
    json_out_key_int(o, STR("remarks"), (int64_t)f->file.remarks);
    add_odd(o, c, &f->stats);
    if (!f->copy)
        return;
    json_out_key(o, STR("copy"));
    json_out_object(o);
    json_out_key_str(o, STR("path"), str_z(f->copy));
    add_odd(o, c, &f->repair.left);
    json_out_key(o, STR("lost"));
    loss_json(o, &f->repair.loss);
    left_out_json(o, &f->file.damage);
    json_out_end_object(o);
}

static void add_json(struct check *c, const struct checked *f)
{
    struct json_out *o = &c->json;

    json_out_object(o);
    json_out_key_str(o, STR("path"), str_z(f->file.path));
    json_out_key_str(o, STR("verdict"), str_z(verdict_names[judge(c, f)]));
    if (f->usable)
        add_usable(o, c, f);
    else
        json_out_key_str(o, STR("error"), str_z(f->trouble.msg));
    json_out_end_object(o);
}

/* The copy that is to be made, if any: of a journal it is what that was to become. */
static void plan_copy(const struct check *c, struct checked *f, struct arena *a)
{
    const struct format *as = NULL;
    const char *target = NULL;

    if (c->args->fix) {
        f->unfinished = journal_is(f->file.path, a, &target, &as);
        if (!f->unfinished)
            target = arena_printf(a, "%s.fixed", f->file.path).at;
        f->copy = c->args->output ? c->args->output : target;
    }
    repair_init(&f->repair, c->app, &f->file, f->copy, c->args->force);
    f->repair.as = as;
}

/* The document is there, under its name: what it was made of would only be in the way of the
 * next one, unless lines had to be left out or somebody still writes it. */
static void remove_journal(const struct check *c, const struct checked *f)
{
    const struct sys *sys = c->app->sys;

    if (f->unfinished && !c->args->output && !is_part(f) && !lock_is_held(sys, f->file.path))
        sys->unlink(sys, f->file.path);
}

/* Reads the file. False if it is not the file's fault that it cannot be judged. */
static bool read_file(const struct check *c, struct checked *f, struct err *e)
{
    struct sink *also = f->copy ? &f->repair.sink : NULL;

    f->usable = inspect_file_read(c->app, &f->file, &f->stats, also, &f->trouble);
    if (!f->usable && f->trouble.kind != ERR_INPUT && f->trouble.kind != ERR_LIMIT) {
        *e = f->trouble;
        return false;
    }
    stats_finish(&f->stats);
    if (!f->copy || !f->usable)
        return true;
    if (!repair_finish(&f->repair, e))
        return false;
    remove_journal(c, f);
    return true;
}

static bool check_file(struct check *c, const char *path, struct err *e)
{
    struct checked *f = mem_new(struct checked);
    struct arena a = { 0 };
    bool ok;
    int code;

    f->file.path = path;
    plan_copy(c, f, &a);
    f->file.salvage = f->copy;
    stats_init(&f->stats);
    f->stats.thorough = true;
    ok = read_file(c, f, e);
    if (ok && c->app->json)
        add_json(c, f);
    else if (ok)
        ok = tell(c, f, e);
    code = exit_code(c, f);
    c->worst = code > c->worst ? code : c->worst;
    repair_release(&f->repair);
    stats_release(&f->stats);
    arena_release(&a);
    free(f);
    return ok;
}

static bool read_ignored(struct check *c, struct err *e)
{
    for (size_t i = 0; i < c->args->ignore.count; i++) {
        const char *id = c->args->ignore.at[i];
        enum stats_odd what = inspect_odd_find(str_z(id));
        struct nearest near = nearest_to(str_z(id));

        if (what < STATS_ODDS) {
            c->ignored[what] = true;
            continue;
        }
        err_set(e, ERR_USAGE, "no finding is called '%s'", id);
        for (what = 0; what < STATS_ODDS; what++)
            nearest_try(&near, inspect_odd_id(what));
        if (near.best)
            err_hint(e, "did you mean '%s'?", near.best);
        return option_point_to_help(e, "check");
    }
    return true;
}

/* Whether the options make sense together. */
static bool check_options_fit(const struct check_args *args, const struct operands *in,
                              struct err *e)
{
    if (args->secrets && args->fix) {
        err_set(e, ERR_USAGE, "'--secrets' only looks, it mends nothing");
        return err_hint(e, "take them out: mcpreel redact FILE -o OUT");
    }
    if (args->output && !args->fix)
        return err_set(e, ERR_USAGE, "'--output' without '--fix': there is nothing to write");
    if (args->output && in->count > 1)
        return err_set(e, ERR_USAGE, "one OUT for %zu files", in->count);
    if (args->output && file_is_standard(args->output))
        return err_set(e, ERR_USAGE, "the copy cannot go to standard output: the verdict does");
    for (size_t i = 0; args->fix && !args->output && i < in->count; i++)
        if (file_is_standard(in->at[i])) {
            err_set(e, ERR_USAGE, "no name for the copy of standard input");
            return err_hint(e, "name one: mcpreel check --fix -o OUT -");
        }
    return true;
}

static bool check_all(struct check *c, const struct operands *in, struct err *e)
{
    bool ok = true;

    if (c->app->json) {
        json_out_object(&c->json);
        json_out_key_int(&c->json, STR("v"), 1);
        json_out_key_str(&c->json, STR("command"), STR("check"));
        json_out_key(&c->json, STR("files"));
        json_out_array(&c->json);
    }
    for (size_t i = 0; ok && i < in->count; i++)
        ok = check_file(c, in->at[i], e);
    if (!ok || !c->app->json)
        return ok;
    json_out_end_array(&c->json);
    json_out_end_object(&c->json);
    buf_add_ch(&c->all, '\n');
    return buf_ok(&c->all, e) && app_write(c->app, buf_str(&c->all), e);
}

static int check_run(const struct app *app, const void *options, const struct operands *in,
                     struct err *e)
{
    struct check c = { .app = app, .args = options };
    bool ok;

    if (!check_options_fit(c.args, in, e) || !read_ignored(&c, e))
        return EXIT_USAGE;
    if (c.args->secrets)
        return check_secrets(app, &c.args->redaction, in, e);
    buf_init(&c.all, CHECK_ALL);
    c.json = json_out_to(&c.all);
    ok = check_all(&c, in, e);
    buf_release(&c.all);
    return ok ? c.worst : app_exit_code(e);
}

static const struct command_example check_examples[] = {
    { "mcpreel check recordings/*.jsonl", "one verdict for each; 0 if nothing was found" },
    { "mcpreel check --fix -o good.jsonl crashed.jsonl",
      "a copy with everything that is left" },
    { "mcpreel check --ignore unanswered,server-exit session.jsonl", "what is known" },
    { "mcpreel check --secrets --redact-env API_KEY recordings/*", "a gate before a commit" },
    { 0 },
};

const struct command cmd_check = {
    .name = "check",
    .summary = "say whether recordings are whole, and repair them",
    .usage = (const char *const[]){ "[options] FILE…", "--fix [-o OUT] FILE", "--secrets FILE…",
                                    NULL },
    .about =
        "Gives every file a verdict, and the reasons for it. A file is damaged if it is not "
        "as its recorder should have left it: cut off, without header or footer, with gaps, "
        "or with numbers out of order. A file that is whole may still be odd: answers nobody "
        "asked for, requests without an answer, lines that are no messages, messages that jq "
        "does not take. A file that cannot be read is unusable.\n\n"
        "Ends with 0 if every file is whole and nothing about it is odd, with 1 if anything "
        "was "
        "found, be it damage or only odd (what is known is passed over with --ignore), with 3 "
        "if a file is unusable.\n\n"
        "--fix writes a copy in the same format: without the torn end, with a header and a "
        "footer whose totals are right, with numbers that rise. What was said stays as it "
        "is. Lines that are damaged are left out and named; a gap stands in their place. Of "
        "a packed file that is cut off all is saved that can be unpacked. The exit code is "
        "then that of the copy, and 1 if lines were left out. The journal of a document that a "
        "recorder could not finish (NAME.FORMAT.journal) is made into that document, and "
        "removed if nothing of it had to be left out.\n\n"
        "--secrets says where secrets stand, not what they are, and ends with 1 if there are "
        "any. 'mcpreel redact' takes them out.",
    .examples = check_examples,
    .options = check_options,
    .args_size = sizeof(struct check_args),
    .operand = "FILE",
    .min = 1,
    .max = COMMAND_ANY,
    .run = check_run,
};
