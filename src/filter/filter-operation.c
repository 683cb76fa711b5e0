#include "filter/filter-operation.h"

#include "filter/filter-view.h"

void filter_operation_add(struct filter_operation *o, const struct filter *f,
                          const struct filter_context *c, const struct operation_event *ev,
                          int64_t gap_us)
{
    struct filter_view v;

    if (ev->op->messages.count == 1)
        o->gap_us = gap_us;
    o->has_drift |= c->has_drift;
    filter_view_payload(&v, ev->record);
    o->matched_terms |= filter_match_terms(f, &v);
}

bool filter_operation_matches(const struct filter_operation *o, const struct filter *f,
                              struct filter_context *c, const struct operation *op,
                              const struct op_builder *builder)
{
    struct filter_view v;

    filter_view_operation(&v, op);
    filter_context_apply(c, &v, op->has, op->session, builder);
    v.is |= o->has_drift ? FILTER_IS_DRIFT : 0;
    if (o->gap_us >= 0) {
        v.has |= FILTER_HAS_GAP;
        v.gap = o->gap_us;
    }
    return filter_eval(f, o->matched_terms | filter_match_terms(f, &v));
}
