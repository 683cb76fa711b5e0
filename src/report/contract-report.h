/* report/contract-report.h - the result of a comparison of two surfaces, for its outputs. */
#ifndef REPORT_CONTRACT_REPORT_H
#define REPORT_CONTRACT_REPORT_H

#include "diff/contract-traffic.h"
#include "diff/contract.h"
#include "report/verdict-report.h"

/* Borrowed. */
struct contract_report {
    struct str before_name, after_name; /* files, command line or URL, without secrets */
    const struct surface *before, *after;
    const struct contract_changes *changes; /* decided: contract_decide() */
    enum contract_fail_on fail_on;
    const struct contract_traffic *traffic; /* NULL: no recorded calls were judged */
    int exit_code;
    /* In reports, breaking changes are errors although they do not make the command fail: calls
     * that differ are errors there, too, and must not hide them. */
    bool breaking_is_error;
};

/* Counts the changes of each severity that are not allowed; returns the number of allowed
 * ones. */
size_t contract_report_count(const struct contract_report *r,
                             uint64_t counts[CONTRACT_SEVERITIES]);

/* Appends "2 breaking, 1 routing, 3 allowed", or "no changes". */
void contract_report_write_counts(struct buf *to, const struct contract_report *r);

/* Appends how many calls and results the new schema rejects without a change that explains it;
 * returns false if there are none. */
bool contract_report_write_rejected(struct buf *to, const struct contract_traffic *t);

/* Returns the name of a list, or "server". */
struct str contract_report_list(enum surface_kind kind);

/* Return the words of options: "wire", "breaking-used". */
struct str contract_report_profile(enum contract_profile profile);
struct str contract_report_fail_on(enum contract_fail_on fail_on);

/* Gives the changes as findings to an output that has begun, and counts them. */
void contract_report_give_changes(const struct contract_report *r,
                                  struct call_verdict_totals *totals,
                                  struct verdict_report *to);

/* Gives all changes as findings to an output. A message begins with the severity. `run` is
 * borrowed during the call; its `command` is set by the caller. */
void contract_report_give(const struct contract_report *r, const struct verdict_report_run *run,
                          const struct verdict_report_step *steps, size_t step_count,
                          struct verdict_report *to);

#endif
