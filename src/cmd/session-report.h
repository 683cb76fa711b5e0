/* cmd/session-report.h - writes the JSON report of a command that serves a client.
 *
 * With --json it goes to standard output, or to standard error if a client is on standard
 * output; with --report to files. */
#ifndef CMD_SESSION_REPORT_H
#define CMD_SESSION_REPORT_H

#include "report/report-files.h"
#include "runtime/app.h"

struct session_report {
    const struct app *app; /* its log blocks: the report must not be lost */
    bool over_http;        /* the clients are on HTTP, so standard output is free */
    bool replace;          /* existing files */
    struct report_files *files;
};

/* Returns where the files go. Borrows `r`. */
struct report_files_target session_report_target(const struct session_report *r);

/* Returns whether the report has a destination. */
bool session_report_is_wanted(const struct session_report *r);

/* Writes `json` to its destinations, and the files of other formats. */
bool session_report_write(const struct session_report *r, struct str json,
                          struct err *e) MUST_CHECK;

#endif
