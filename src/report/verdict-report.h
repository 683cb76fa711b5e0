/* report/verdict-report.h - interface of the outputs of a command that judges calls, such as
 * verify.
 *
 * For each recording, calls come in this order: begin(); verdict() for each call as it is
 * judged and finding() for each finding that belongs to no call, in any order; end(). After the
 * last recording comes finish(). It composes bytes in the buffer of its owner and does no I/O:
 * a caller that shows results at once drains the buffer after each call. Reports whose first
 * bytes depend on the totals compose everything in finish(). */
#ifndef REPORT_VERDICT_REPORT_H
#define REPORT_VERDICT_REPORT_H

#include "base/arena.h"
#include "base/buf.h"
#include "trace/call-verdict.h"

/* Borrowed from begin() to end(); each text may be empty. */
struct verdict_report_run {
    struct str command;      /* of mcpreel: "verify" */
    struct str file;         /* the recording, as the user named it */
    struct str lines_of;     /* the file that lines belong to; empty: `file` */
    struct str target;       /* command line or URL of the server, without secrets */
    struct str shown_target; /* for the lines of mcp-recorder, which have the whole URL; empty:
                                `target` */
    struct str server_name, server_version, protocol; /* of the live server */
    uint64_t call_count; /* calls that will get a verdict; 0: unknown */
    struct str notice;   /* what the user must know before the first verdict */
    bool no_calls;       /* the command judges no calls: there are findings only */
    struct str verdict;  /* the findings in the words of the command: "1 breaking, 2 routing" */
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
    void (*finish)(struct verdict_report *self);
};

/* Sets name, version and protocol version of the server from a response, the first one: it is
 * that to `method`. In `a`. Changes nothing without a response. */
void verdict_report_read_server(struct verdict_report_run *run, struct str method,
                                struct str response, struct arena *a);

/* Returns the file that lines belong to. */
struct str verdict_report_located_file(const struct verdict_report_run *run);

/* Return the words of --json and JUnit: "passed", "content", "warning". */
struct str verdict_report_kind(enum verdict_kind kind);
struct str verdict_report_failure(enum verdict_failure failure);
struct str verdict_report_severity(enum finding_severity severity);

/* Appends "tools/call search #7", with the name of a scenario in front, escaped to one line; a
 * very long name is cut. */
void verdict_report_write_name(struct buf *to, const struct call_verdict *v);

/* Appends why a call failed or was not sent, escaped to one line: "skipped: REASON", "no
 * response: REASON". Appends nothing if there is nothing to say beyond the findings. */
void verdict_report_write_reason(struct buf *to, const struct call_verdict *v);

/* Returns whether a finding needs its message to be understood. One of the rule
 * "content-changed" with its path and both values needs none, unless it is a note: then the
 * message says why it does not count; or both look equal, because they are redacted. */
bool verdict_report_needs_message(const struct finding *f);

/* Returns whether a finding has nothing but the reason of the verdict: a text that shows the
 * reason leaves it out. */
bool verdict_report_repeats_reason(const struct call_verdict *v, const struct finding *f);

/* A finish() for reports that are complete after end(). */
void verdict_report_finish_nothing(struct verdict_report *self);

/* Adds the totals of another recording. */
void verdict_report_add_totals(struct call_verdict_totals *to,
                               const struct call_verdict_totals *more);

/* Appends " (2 of tools that …)" behind the number of skipped calls, if there are such. */
void verdict_report_write_not_read_only(struct buf *to,
                                        const struct call_verdict_totals *totals);

/* Returns the number of passed calls, those with volatile differences included. */
uint64_t verdict_report_passed(const struct call_verdict_totals *totals);

#endif
