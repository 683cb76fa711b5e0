/* verify/judge.h - judges one live response against the recorded one, and collects the findings
 * of a call.
 *
 * The comparison itself is mcp/payload-compare.h. Findings beyond JUDGE_FINDINGS_MAX are
 * counted, and the last one says how many. */
#ifndef VERIFY_JUDGE_H
#define VERIFY_JUDGE_H

#include "base/arena.h"
#include "mcp/compare-rules.h"
#include "mcp/message.h"
#include "trace/call-verdict.h"
#include "verify/rebind.h"
#include "json/json.h"

enum { JUDGE_FINDINGS_MAX = 20 };

struct judge {
    const struct compare_rules *rules; /* borrowed */
    struct rebind *rebind;             /* borrowed; NULL: no difference is explained by it */
    struct arena arena;                /* texts of the findings */
    struct finding findings[JUDGE_FINDINGS_MAX + 1];
    size_t count;
    uint64_t hidden; /* findings that have no place */
    uint64_t volatile_count, ignored_count;
    enum verdict_failure failure; /* FAILURE_NONE: no finding is an error */
    struct str obstacle;          /* as of struct call_verdict; set by judge_obstruct() */
};

void judge_init(struct judge *j, const struct compare_rules *rules, struct rebind *rebind);
void judge_release(struct judge *j);

/* Begins with a new call: forgets the findings of the last one. */
void judge_clear(struct judge *j);

/* Adds a finding, whose texts are borrowed until judge_clear(). An error makes the call fail
 * with `failure`, unless it has failed already. */
void judge_add(struct judge *j, enum verdict_failure failure, const struct finding *f);

/* Compares the responses to a request; both are whole messages. With `is_poll` the status of a
 * task may be any that a task passes through before it ends. */
void judge_response(struct judge *j, struct str method, bool is_poll, struct json_val recorded,
                    struct json_val live);

/* Returns whether a request of the live server is the recorded one: same method, and no
 * difference of params that counts. Params that are absent, empty or have only _meta are the
 * same. If it is another one and `difference` is not NULL, sets path, recorded and live value
 * of the first difference there; they are valid until judge_clear(). Adds no finding. */
bool judge_request(struct judge *j, struct json_val recorded, const struct mcp_message *live,
                   struct finding *difference);

/* Adds a finding for each violation of `schema` (JSON, the outputSchema of a tool; empty: none)
 * by the live response, a whole message, as the recorded one. A complete result without
 * structured content is a violation, too; only a warning if the recorded one had none either.
 */
void judge_output_schema(struct judge *j, struct str schema, struct json_val recorded,
                         struct json_val live);

/* Sets the reason why the live response must not be accepted, a constant; the first one counts.
 */
void judge_obstruct(struct judge *j, struct str why);

/* Adds a hint to the first error that has none. It is borrowed until judge_clear(). */
void judge_hint(struct judge *j, struct str hint);

/* Returns a text of the server, which may be anything, as JSON; valid until judge_clear(). */
struct str judge_quote(struct judge *j, struct str text);

/* Completes the findings; to be called once, before they are used. */
void judge_finish(struct judge *j);

/* Whether the response to a poll shows a task that has not ended: the poll has to be repeated
 * if the recorded task had ended. */
bool judge_task_is_open(struct json_val response);

#endif
