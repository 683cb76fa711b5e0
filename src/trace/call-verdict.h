/* trace/call-verdict.h - the verdict on one recorded call that was sent to a live server, or
 * that should have been. */
#ifndef TRACE_CALL_VERDICT_H
#define TRACE_CALL_VERDICT_H

#include "trace/finding.h"

enum verdict_kind {
    VERDICT_PASSED,
    VERDICT_VOLATILE, /* passed; only values that change from run to run differ */
    VERDICT_FAILED,
    VERDICT_BLOCKED, /* not sent: it needs a value of a call that failed, or the run ended */
    VERDICT_SKIPPED, /* not sent, for another reason; never counts as passed */
};

enum { VERDICT_KINDS = VERDICT_SKIPPED + 1 };

/* Why a call failed. */
enum verdict_failure {
    FAILURE_NONE,
    FAILURE_CONTENT, /* the response differs */
    FAILURE_ERROR,   /* an error in place of a result, a result in place of an error, or another
                        error code */
    FAILURE_MISSING, /* no response: time limit, lost connection, exit of the server */
    FAILURE_PROTOCOL, /* the server broke the protocol */
};

/* One judged call. Borrows all its texts. */
struct call_verdict {
    uint32_t number;     /* of the call in the report, from 1, as --update takes it */
    uint32_t session;    /* recorded session, from 1 */
    struct str scenario; /* that it belongs to; empty: to none */
    uint32_t seq;        /* of the recorded request */
    uint64_t line;       /* of the request in the file; 0: unknown */
    struct str method;
    struct str subject; /* tool, prompt or URI; may be empty */
    enum verdict_kind kind;
    enum verdict_failure failure; /* VERDICT_FAILED */
    bool not_read_only;           /* VERDICT_SKIPPED: the server is not on this machine and
                                     does not mark the tool as read-only */
    struct str reason;            /* of BLOCKED and SKIPPED, and of FAILURE_MISSING */
    int64_t duration_us;          /* until the response; -1: none came */
    const struct finding *findings;
    size_t finding_count;
    uint64_t volatile_count; /* differences that are volatile */
    uint64_t ignored_count;  /* differences that a rule of the user ignores */
    struct str obstacle;     /* VERDICT_FAILED: why the live response must not replace the
                                recorded one, as a clause; empty: it may */
    bool updated;            /* --update accepted the live response */
};

/* Totals of a run. */
struct call_verdict_totals {
    uint64_t count[VERDICT_KINDS];
    uint64_t updated;
    uint64_t not_read_only;              /* skipped for this reason */
    uint64_t findings[FINDING_NOTE + 1]; /* all of them, also those of no call */
    int64_t duration_us;
};

#endif
