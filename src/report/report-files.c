#include "report/report-files.h"

#include <stdlib.h>

#include "base/atomic-file.h"
#include "base/mem.h"
#include "base/work-tree.h"
#include "report/verdict-github.h"
#include "report/verdict-json.h"
#include "report/verdict-junit.h"
#include "report/verdict-markdown.h"
#include "report/verdict-sarif.h"

enum { TEXT_MAX = 1 << 29 }; /* bytes of a file */

struct report_file {
    enum report_format format;
    const char *path;
    struct buf text;
    union {
        struct verdict_json json;
        struct verdict_junit junit;
        struct verdict_github github;
        struct verdict_markdown markdown;
        struct verdict_sarif sarif;
    } output;
    struct verdict_report *report; /* that of `output` */
};

static void begin_all(struct verdict_report *self, const struct verdict_report_run *run)
{
    struct report_files *r = (struct report_files *)self;

    if (r->other)
        r->other->begin(r->other, run);
    for (size_t i = 0; i < r->count; i++)
        r->files[i].report->begin(r->files[i].report, run);
}

static void add_verdict(struct verdict_report *self, const struct call_verdict *v)
{
    struct report_files *r = (struct report_files *)self;

    if (r->other)
        r->other->verdict(r->other, v);
    for (size_t i = 0; i < r->count; i++)
        r->files[i].report->verdict(r->files[i].report, v);
}

static void add_finding(struct verdict_report *self, const struct finding *f)
{
    struct report_files *r = (struct report_files *)self;

    if (r->other)
        r->other->finding(r->other, f);
    for (size_t i = 0; i < r->count; i++)
        r->files[i].report->finding(r->files[i].report, f);
}

static void end_all(struct verdict_report *self, const struct verdict_report_result *result)
{
    struct report_files *r = (struct report_files *)self;

    if (r->other)
        r->other->end(r->other, result);
    for (size_t i = 0; i < r->count; i++)
        r->files[i].report->end(r->files[i].report, result);
}

void report_files_init(struct report_files *r, struct verdict_report *other)
{
    *r = (struct report_files){ .report = { begin_all, add_verdict, add_finding, end_all,
                                            verdict_report_finish_nothing },
                                .other = other };
}

static void open_output(struct report_file *f)
{
    buf_init(&f->text, TEXT_MAX);
    switch (f->format) {
    case REPORT_JSON:
        verdict_json_init(&f->output.json, &f->text);
        f->report = &f->output.json.report;
        break;
    case REPORT_JUNIT:
        verdict_junit_init(&f->output.junit, &f->text);
        f->report = &f->output.junit.report;
        break;
    case REPORT_GITHUB:
        verdict_github_init(&f->output.github, &f->text);
        f->report = &f->output.github.report;
        break;
    case REPORT_MARKDOWN:
        verdict_markdown_init(&f->output.markdown, &f->text);
        f->report = &f->output.markdown.report;
        break;
    case REPORT_SARIF:
        verdict_sarif_init(&f->output.sarif, &f->text);
        f->output.sarif.folder = work_tree_folder(&f->output.sarif.arena);
        f->report = &f->output.sarif.report;
        break;
    }
}

static void close_output(struct report_file *f)
{
    if (f->format == REPORT_JSON)
        verdict_json_release(&f->output.json);
    else if (f->format == REPORT_JUNIT)
        verdict_junit_release(&f->output.junit);
    else if (f->format == REPORT_GITHUB)
        verdict_github_release(&f->output.github);
    else if (f->format == REPORT_MARKDOWN)
        verdict_markdown_release(&f->output.markdown);
    else if (f->format == REPORT_SARIF)
        verdict_sarif_release(&f->output.sarif);
    buf_release(&f->text);
}

void report_files_release(struct report_files *r)
{
    for (size_t i = 0; i < r->count; i++)
        close_output(&r->files[i]);
    free(r->files);
    *r = (struct report_files){ 0 };
}

/* Splits a value into format and path. */
static enum report_format parse_value(const char *value, const char **path)
{
    static const struct {
        struct str prefix;
        enum report_format format;
    } formats[] = {
        { STR_INIT("json="), REPORT_JSON },     { STR_INIT("junit="), REPORT_JUNIT },
        { STR_INIT("github="), REPORT_GITHUB }, { STR_INIT("markdown="), REPORT_MARKDOWN },
        { STR_INIT("sarif="), REPORT_SARIF },
    };

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (str_starts(str_z(value), formats[i].prefix)) {
            *path = value + formats[i].prefix.len;
            return formats[i].format;
        }
    *path = value;
    return REPORT_JSON;
}

bool report_files_parse(struct report_files *r, const struct str_list *values, struct err *e)
{
    if (!values->count)
        return true;
    r->files = mem_alloc(values->count * sizeof *r->files);
    for (size_t i = 0; i < values->count; i++) {
        struct report_file *f = &r->files[i];

        f->format = parse_value(values->at[i], &f->path);
        if (!*f->path)
            return err_set(e, ERR_USAGE, "'--report %s' names no file", values->at[i]);
        r->count++;
        open_output(f);
    }
    return true;
}

/* Checks one file by creating a temporary one in its directory. */
static bool check_file(const char *path, const struct report_files_target *target,
                       const char *input, struct err *e)
{
    struct file f = FILE_CLOSED;
    struct atomic_file temp;

    if (file_is_stdio(path))
        return target->write_stdout || err_set(e, ERR_USAGE,
                                               "the report cannot be written to standard "
                                               "output, which belongs to the client");
    if (input && file_is_same_place(target->sys, path, input))
        return err_set(e, ERR_USAGE,
                       "the report cannot be written to '%s': the command reads or writes "
                       "that file",
                       path);
    if (!atomic_file_open(&temp, &f, target->sys, path, target->replace, e))
        return false;
    atomic_file_abort(&temp, &f);
    return true;
}

bool report_files_check(const struct report_files *r, const struct report_files_target *target,
                        const char *input, struct err *e)
{
    for (size_t i = 0; i < r->count; i++) {
        const char *path = r->files[i].path;

        for (size_t k = 0; k < i; k++)
            if (file_is_same_place(target->sys, r->files[k].path, path))
                return err_set(e, ERR_USAGE, "two reports cannot be written to '%s'", path);
        if (!check_file(path, target, input, e))
            return false;
    }
    return true;
}

void report_files_set_json(struct report_files *r, struct str text)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->files[i].format == REPORT_JSON) {
            buf_clear(&r->files[i].text);
            buf_add(&r->files[i].text, text);
        }
}

bool report_files_need_verdicts(const struct report_files *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->files[i].format != REPORT_JSON)
            return true;
    return false;
}

static bool write_file(const struct report_file *report,
                       const struct report_files_target *target, struct err *e)
{
    struct file f = FILE_CLOSED;
    struct atomic_file temp;
    size_t done;

    if (!buf_ok(&report->text, e))
        return err_wrap(e, "cannot write '%s'", report->path);
    if (file_is_stdio(report->path))
        return target->write_stdout(target->arg, buf_str(&report->text), e);
    if (!atomic_file_open(&temp, &f, target->sys, report->path, target->replace, e))
        return false;
    if (file_write(&f, buf_str(&report->text), &done, e))
        return atomic_file_commit(&temp, &f, e);
    atomic_file_abort(&temp, &f);
    return false;
}

bool report_files_write(const struct report_files *r, const struct report_files_target *target,
                        struct err *e)
{
    bool ok = true;

    for (size_t i = 0; i < r->count; i++) {
        struct err later = ERR_NONE;

        r->files[i].report->finish(r->files[i].report);
        ok = write_file(&r->files[i], target, ok ? e : &later) && ok;
    }
    return ok;
}
