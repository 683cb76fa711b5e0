/* redact/redact-verdict.h - removes secrets from verdicts and findings before they are
 * reported.
 *
 * All texts and values are redacted, those of the recording, too: rules that are given now may
 * be stricter than those it was recorded with. If two values differ only in what was redacted,
 * the message says so. The rule of a finding and its hint, which are ours, stay.
 *
 * Borrows the redactor. A result borrows from the given verdict and from the module, until the
 * next call. */
#ifndef REDACT_REDACT_VERDICT_H
#define REDACT_REDACT_VERDICT_H

#include "redact/redactor.h"
#include "trace/call-verdict.h"

struct redact_verdict {
    struct redactor *redactor; /* borrowed */
    struct arena arena;        /* of the last result */
    struct buf text;
};

void redact_verdict_init(struct redact_verdict *v, struct redactor *r);
void redact_verdict_release(struct redact_verdict *v);

struct call_verdict redact_verdict_call(struct redact_verdict *v,
                                        const struct call_verdict *given);
struct finding redact_verdict_finding(struct redact_verdict *v, const struct finding *given);

#endif
