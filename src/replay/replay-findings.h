/* replay/replay-findings.h - gives the result of a replay as verdicts on recorded calls and as
 * findings, for reports.
 *
 * A call that a client used has passed. An unused one is skipped, or failed with strict_unused.
 * Findings are errors if they set the exit code, else warnings: unmatched requests, clients
 * with a protocol version that is not in the recording, a failed upstream. Matches in spite of
 * other params, ambiguous matches and server requests with another response are warnings;
 * matches because of ignored or redacted values, or by the mode for a tool, are notes. */
#ifndef REPLAY_REPLAY_FINDINGS_H
#define REPLAY_REPLAY_FINDINGS_H

#include "replay/replay.h"
#include "trace/call-verdict.h"

/* Takes verdicts and findings, which are valid during the call. */
struct replay_findings_sink {
    void (*verdict)(void *to, const struct call_verdict *v);
    void (*finding)(void *to, const struct finding *f);
    void *to;
};

/* Gives all verdicts, then all findings of a finished replay. Returns their totals, without a
 * duration. Reads the recorded requests again. */
struct call_verdict_totals replay_findings_give(const struct replay *m,
                                                const struct replay_findings_sink *sink);

#endif
