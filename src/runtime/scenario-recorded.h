/* runtime/scenario-recorded.h - compares a scenario with its recording: was the file changed
 * since? */
#ifndef RUNTIME_SCENARIO_RECORDED_H
#define RUNTIME_SCENARIO_RECORDED_H

#include "runtime/verify-recording.h"
#include "scenario/scenario-file.h"

struct scenario_change {
    const struct scenario_action *action; /* the first that differs; NULL: there is none */
    bool params_differ; /* it was recorded with other params; else it was not recorded */
};

/* Looks for the requests of the actions in the recording, in their order. Other recorded
 * requests are allowed: those for further pages of a list, and with required input. Params that
 * refer to saved values are not compared. ERR_INPUT or ERR_IO if the recording cannot be read.
 */
bool scenario_recorded_find_change(const struct verify_recording *r,
                                   const struct scenario_plan *plan,
                                   struct scenario_change *out, struct err *e) MUST_CHECK;

#endif
