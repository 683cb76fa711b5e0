/* runtime/scenario-recorded.h - compares a scenario with its recording: was the file changed
 * since? */
#ifndef RUNTIME_SCENARIO_RECORDED_H
#define RUNTIME_SCENARIO_RECORDED_H

#include "runtime/verify-recording.h"
#include "scenario/scenario-file.h"

enum scenario_change_kind {
    SCENARIO_NOT_RECORDED,      /* the request of an action is not in the recording */
    SCENARIO_OTHER_PARAMS,      /* it is there with other params */
    SCENARIO_OTHER_EXPECTATION, /* its recorded response is not as expected */
    SCENARIO_NO_ACTION,         /* the recording has a request that no action sends */
};

/* Borrowed for one call. */
struct scenario_change {
    enum scenario_change_kind kind;
    const struct scenario_action *action; /* NULL: SCENARIO_NO_ACTION */
    struct str method, subject;           /* of the request; the subject may be empty */
    const struct finding *expected;       /* SCENARIO_OTHER_EXPECTATION; else NULL */
};

typedef void scenario_changed_fn(void *to, const struct scenario_change *change);

/* Looks for the requests of the actions in the recording, in their order, up to the first that
 * was not recorded, and calls `changed` for each change. Recorded requests for further pages of
 * a list, and with required input, need no action. Params that refer to saved values are not
 * compared; neither are expectations of a list with all its pages, of a request with other
 * params, of a response that requires input, and of a redacted value. ERR_INPUT or ERR_IO if
 * the recording cannot be read. */
bool scenario_recorded_find_changes(const struct verify_recording *r,
                                    const struct scenario_plan *plan,
                                    scenario_changed_fn *changed, void *to,
                                    struct err *e) MUST_CHECK;

#endif
