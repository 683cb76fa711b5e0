/* report/verdict-report.h - interface of the outputs of a command that judges calls, such as
 * verify.
 *
 * Calls come in this order: begin(), verdict() for each call as it is judged, finding() for
 * each finding that belongs to no call, end(); once in the life of a report. It composes bytes
 * in the buffer of its owner and does no I/O: a caller that shows results at once drains the
 * buffer after each call. Reports whose first bytes depend on the totals compose everything in
 * end(). */
#ifndef REPORT_VERDICT_REPORT_H
#define REPORT_VERDICT_REPORT_H

#include "base/buf.h"
#include "trace/call-verdict.h"

/* Borrowed from begin() to end(); each text may be empty. */
struct verdict_report_run {
    struct str command; /* of mcpreel: "verify" */
    struct str file;    /* the recording, as the user named it */
    struct str target;  /* command line or URL of the server, without secrets */
    struct str server_name, server_version, protocol; /* of the live server */
    uint64_t call_count; /* calls that will get a verdict; 0: unknown */
    struct str notice;   /* what the user must know before the first verdict */
};

/* A command line that the user may want next. */
struct verdict_report_step {
    struct str label; /* "accept" */
    struct str command;
};

struct verdict_report_result {
    const struct call_verdict_totals *totals;
    int exit_code;
    const struct verdict_report_step *steps;
    size_t step_count;
};

struct verdict_report {
    void (*begin)(struct verdict_report *self, const struct verdict_report_run *run);
    void (*verdict)(struct verdict_report *self, const struct call_verdict *v);
    void (*finding)(struct verdict_report *self, const struct finding *f);
    void (*end)(struct verdict_report *self, const struct verdict_report_result *result);
};

/* Return the words of --json and JUnit: "passed", "content", "warning". */
struct str verdict_report_kind(enum verdict_kind kind);
struct str verdict_report_failure(enum verdict_failure failure);
struct str verdict_report_severity(enum finding_severity severity);

/* Appends "tools/call search #7", escaped to one line; a very long name is cut. */
void verdict_report_write_name(struct buf *to, const struct call_verdict *v);

/* Appends why a call failed or was not sent, escaped to one line: "skipped: REASON", "no
 * response: REASON". Appends nothing if there is nothing to say beyond the findings. */
void verdict_report_write_reason(struct buf *to, const struct call_verdict *v);

/* Returns whether a finding needs its message to be understood. One of the rule
 * "content-changed" with its path and both values needs none, unless it is a note: then the
 * message says why it does not count. */
bool verdict_report_needs_message(const struct finding *f);

/* Returns the number of passed calls, those with volatile differences included. */
uint64_t verdict_report_passed(const struct call_verdict_totals *totals);

#endif
