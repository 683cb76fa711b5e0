/* diff/contract-traffic.h - judges changes of a surface by recorded calls.
 *
 * Each recorded tools/call is validated against the input schemas before and after
 * (json/schema.h), each structured result against both output schemas. A call is affected by a
 * change if it was valid before and is not any more because of the value that the change is
 * about; or if it uses a tool, prompt, resource or property that was removed or renamed, reads
 * a URI of a template that was removed, or uses a capability that was. A value that was
 * redacted, and a keyword that is not evaluated, leave a call undecided.
 *
 *     contract_traffic_init()      after contract_compare()
 *     contract_traffic_add_…()     recorded calls of the contract `before`
 *     contract_traffic_end()       adds the counts to the messages of the findings */
#ifndef DIFF_CONTRACT_TRAFFIC_H
#define DIFF_CONTRACT_TRAFFIC_H

#include "diff/contract.h"
#include "index/index.h"

struct contract_traffic {
    struct contract_changes *changes; /* borrowed; not added to or sorted meanwhile */
    const struct surface *before, *after;
    struct map by_subject;                           /* "kind name" to struct traffic_subject */
    struct traffic_change *templates, *capabilities; /* removed ones */
    uint64_t
        calls; /* recorded calls of tools, prompts and resources, and of such capabilities */
    uint64_t affected;     /* of these, by a change that is breaking */
    uint64_t unattributed; /* of these: rejected by the new schema, but by no change found */
    uint64_t unattributed_results; /* structured results, in the same way */
    struct json empty;             /* {} */
    struct arena arena;
};

void contract_traffic_init(struct contract_traffic *t, struct contract_changes *changes,
                           const struct surface *before, const struct surface *after);
void contract_traffic_release(struct contract_traffic *t);

/* Adds one call. `result` may be absent. */
void contract_traffic_add_call(struct contract_traffic *t, uint32_t seq, struct str method,
                               struct json_val params, struct json_val result);

/* Adds all calls of a recording. */
bool contract_traffic_add_index(struct contract_traffic *t, const struct index *index,
                                struct err *e) MUST_CHECK;

void contract_traffic_end(struct contract_traffic *t);

/* Returns whether a comparison fails because the new schema rejects a call, which is as good as
 * a breaking change, or with FAIL_ON_BREAKING_USED a result, and no change explains it. */
bool contract_traffic_fails(const struct contract_traffic *t, enum contract_fail_on fail_on);

#endif
