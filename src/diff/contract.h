/* diff/contract.h - compares the surfaces of two servers, or of two versions of one.
 *
 * `before` is the contract that clients rely on, `after` is judged. Each change is a finding
 * with a rule (diff/contract-rules.h). A tool, prompt or template that has another name and the
 * same definition is one change. A list that only one side knows is not compared; an item that
 * is missing in a list with further pages is not reported as removed.
 *
 *     contract_compare()                changes, sorted
 *     contract_traffic_*()              how recorded calls are affected; not needed
 *     contract_allow()                  changes that the user accepts
 *     contract_decide()                 the severity of each finding, and the exit code */
#ifndef DIFF_CONTRACT_H
#define DIFF_CONTRACT_H

#include "diff/contract-changes.h"
#include "mcp/compare-rules.h"

/* Compares; adds to `c`, which is new. */
void contract_compare(struct contract_changes *c, const struct surface *before,
                      const struct surface *after);

/* Why a list was not compared, or not completely. */
enum contract_gap {
    CONTRACT_GAP_NONE,
    CONTRACT_GAP_BEFORE, /* `before` does not know it */
    CONTRACT_GAP_AFTER,  /* `after` does not know it */
    CONTRACT_GAP_PAGES,  /* a side has not all of its pages */
};

/* `kind` is a list, or SURFACE_SERVER. */
enum contract_gap contract_gap(const struct surface *before, const struct surface *after,
                               enum surface_kind kind);

/* Checks that the entries name rules that exist; ERR_USAGE names the first that does not. */
bool contract_check_allow(const struct compare_rules *rules, struct err *e) MUST_CHECK;

/* Marks the changes that an entry allows on the day `today` ("2026-11-18"); `rules` is borrowed
 * by the changes. Returns the number of entries that have ended and would have matched. */
size_t contract_allow(struct contract_changes *c, const struct compare_rules *rules,
                      struct str today);

/* From which changes on a comparison fails. A risky change by which recorded calls or results
 * are rejected counts as breaking. */
enum contract_fail_on {
    FAIL_ON_BREAKING = CONTRACT_BREAKING, /* the same numbers as the severities */
    FAIL_ON_COSMETIC = CONTRACT_COSMETIC,
    /* breaking changes that recorded calls are affected by, and others by which the new schema
     * rejects a recorded call or result */
    FAIL_ON_BREAKING_USED,
    FAIL_ON_NEVER,
};

/* Sets the severity of all findings: an error if it makes the comparison fail, a warning if it
 * is breaking, security, risky or routing, else a note. A change that is allowed is a note.
 * Returns whether the comparison fails. */
bool contract_decide(struct contract_changes *c, enum contract_fail_on fail_on);

#endif
