#include "filter/filter-operation.h"

#include "terse.h"
#include "test.h"

/* Evaluates a query on the first operation of some records. */
struct one_operation {
    struct operation_sink events;
    struct op_builder builder;
    struct filter_context context;
    struct filter_operation state;
    struct filter *filter;
    int64_t gap_us; /* of each message */
    bool ended, matches;
};

static bool put_event(struct operation_sink *self, const struct operation_event *ev,
                      struct err *e)
{
    struct one_operation *o = (struct one_operation *)self;

    (void)e;
    if (ev->op->number != 1)
        return true;
    if (ev->message) {
        filter_operation_add(&o->state, o->filter, &o->context, ev, o->gap_us);
    } else {
        o->ended = true;
        o->matches =
            filter_operation_matches(&o->state, o->filter, &o->context, ev->op, &o->builder);
    }
    return true;
}

static bool matches(const char *query, const char *input, int64_t gap_us, bool drift)
{
    struct one_operation o = { .events = { put_event },
                               .state = FILTER_OPERATION_INIT,
                               .gap_us = gap_us };
    struct filter_fault fault;
    struct err e = ERR_NONE;

    assert_true(filter_new(&o.filter, str_z(query), &fault, &e));
    filter_context_init(&o.context, "a.jsonl");
    o.context.has_drift = drift;
    op_builder_init(&o.builder, &o.events);
    terse_feed(&o.builder.sink, input);
    assert_true(op_builder_finish(&o.builder, &e));
    assert_true(o.ended);
    op_builder_release(&o.builder);
    filter_context_release(&o.context);
    filter_free(o.filter);
    return o.matches;
}

#define CALL                                                                                   \
    "c2s {'id':1,'method':'tools/call','params':{'name':'a','arguments':{'q':'x'}}}\n"         \
    "s2c {'id':1,'result':{'content':'found'}}\n"

static void terms_of_all_messages_and_of_the_operation_are_combined(void **state)
{
    (void)state;
    assert_true(
        matches("arg.q:x result.content:found is:ok tool:a trace:a.jsonl", CALL, -1, false));
    assert_false(matches("arg.q:x is:error", CALL, -1, false));
    assert_false(matches("arg.q:y", CALL, -1, false));
}

static void the_gap_is_that_of_the_first_message(void **state)
{
    (void)state;
    assert_true(matches("gap:>1ms", CALL, 1001, false));
    assert_false(matches("gap:>1ms", CALL, 1000, false));
    assert_false(matches("gap:>=0", CALL, -1, false));
}

static void a_changed_definition_is_a_trait_of_the_operation(void **state)
{
    (void)state;
    assert_true(matches("is:drift", CALL, -1, true));
    assert_false(matches("is:drift", CALL, -1, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_of_all_messages_and_of_the_operation_are_combined),
        cmocka_unit_test(the_gap_is_that_of_the_first_message),
        cmocka_unit_test(a_changed_definition_is_a_trait_of_the_operation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
