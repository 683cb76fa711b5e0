/* report/report-files.h - the files of --report: gives one stream of verdicts to several
 * outputs and writes each to its file.
 *
 * A value of --report is FORMAT=FILE, FORMAT being json, junit, github, markdown or sarif. A
 * value that does not start with one of these and "=" is the name of a JSON file, also if it
 * contains
 * "=". The file "-" is standard output.
 *
 *     report_files_init(), report_files_parse(), report_files_check()   before anything is run
 *     report_files_report()                                             gets the verdicts
 *     report_files_write()                                              at the end
 *
 * A file gets its name when it is complete (base/atomic-file.h). */
#ifndef REPORT_REPORT_FILES_H
#define REPORT_REPORT_FILES_H

#include "base/str-list.h"
#include "base/sys.h"
#include "report/verdict-report.h"

enum report_format { REPORT_JSON, REPORT_JUNIT, REPORT_GITHUB, REPORT_MARKDOWN, REPORT_SARIF };

/* Destination of the files. Borrowed. */
struct report_files_target {
    const struct sys *sys;
    bool replace; /* existing files */
    /* Writes to standard output; NULL: a file "-" is rejected. */
    bool (*write_stdout)(const void *arg, struct str text, struct err *e);
    const void *arg;
};

struct report_files {
    struct verdict_report report; /* gives each call to all outputs */
    struct report_file *files;    /* owned */
    size_t count;
    struct verdict_report *other; /* borrowed; NULL: none */
};

/* `other` is an output besides the files, such as that of the terminal; it comes first. May be
 * NULL. */
void report_files_init(struct report_files *r, struct verdict_report *other);
void report_files_release(struct report_files *r);

/* Adds a file for each value. The values are borrowed until the release. ERR_USAGE for a value
 * without a file name. */
bool report_files_parse(struct report_files *r, const struct str_list *values,
                        struct err *e) MUST_CHECK;

/* Checks that all files can be written, by creating temporary files. `input` is a file that the
 * command reads or writes, or NULL: a report in its place is ERR_USAGE, in any spelling of its
 * path, and so are two reports in one file. */
bool report_files_check(const struct report_files *r, const struct report_files_target *target,
                        const char *input, struct err *e) MUST_CHECK;

/* Replaces the text of all JSON files. For a command whose JSON is not that of verdicts. */
void report_files_set_json(struct report_files *r, struct str text);

/* Returns whether a file needs verdicts: one that is not JSON. */
bool report_files_need_verdicts(const struct report_files *r);

/* Completes all reports and writes the files, also if one fails; the error is the first one. */
bool report_files_write(const struct report_files *r, const struct report_files_target *target,
                        struct err *e) MUST_CHECK;

#endif
