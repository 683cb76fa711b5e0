/* scenario/scenario-answers.h - the results that a scenarios file gives for server requests. */
#ifndef SCENARIO_SCENARIO_ANSWERS_H
#define SCENARIO_SCENARIO_ANSWERS_H

#include "base/str.h"

/* The results, as JSON. In a list each is used once, the last one again. */
struct scenario_answers {
    struct str *sampling, *elicitation;
    size_t sampling_count, elicitation_count; /* 0: the client lacks the capability */
    struct str roots;                         /* empty: the same */
};

/* How many results of each list one session has used. */
struct scenario_answers_used {
    size_t sampling, elicitation;
};

/* Returns the next result for a request of the server; empty: there is none. */
struct str scenario_answers_take(const struct scenario_answers *a,
                                 struct scenario_answers_used *used, struct str method);

#endif
