#include "scenario/scenario-answers.h"

static struct str take(const struct str *results, size_t count, size_t *used)
{
    return results[(*used)++ < count ? *used - 1 : count - 1];
}

struct str scenario_answers_take(const struct scenario_answers *a,
                                 struct scenario_answers_used *used, struct str method)
{
    if (str_eq(method, STR("sampling/createMessage")) && a->sampling_count)
        return take(a->sampling, a->sampling_count, &used->sampling);
    if (str_eq(method, STR("elicitation/create")) && a->elicitation_count)
        return take(a->elicitation, a->elicitation_count, &used->elicitation);
    return str_eq(method, STR("roots/list")) ? a->roots : STR_NONE;
}
