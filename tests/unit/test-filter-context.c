#include "filter/filter-context.h"

#include "terse.h"
#include "test.h"

/* Notes every record, builds the operations, and applies the context to an empty view. */
struct noter {
    struct sink sink;
    struct operation_sink events;
    struct filter_context context;
    struct op_builder builder;
    uint64_t drift_seq; /* of the latest record with a changed definition */
};

static bool ignore_event(struct operation_sink *self, const struct operation_event *ev,
                         struct err *e)
{
    (void)self, (void)ev, (void)e;
    return true;
}

static bool note(struct sink *self, const struct record *r, struct err *e)
{
    struct noter *n = (struct noter *)self;

    filter_context_note(&n->context, r);
    if (n->context.has_drift)
        n->drift_seq = r->message.seq;
    return n->builder.sink.put(&n->builder.sink, r, e);
}

static int set_up(void **state)
{
    static struct noter n;

    n = (struct noter){ .sink = { note }, .events = { ignore_event } };
    filter_context_init(&n.context, "dir/a.jsonl");
    op_builder_init(&n.builder, &n.events);
    *state = &n;
    return 0;
}

static int tear_down(void **state)
{
    struct noter *n = *state;

    op_builder_release(&n->builder);
    filter_context_release(&n->context);
    return 0;
}

static void put_header(struct noter *n, const char *name, int64_t wall_us)
{
    const struct record r = { .kind = RECORD_HEADER,
                              .has = wall_us ? HAS_WALL : 0,
                              .wall_us = wall_us,
                              .header.name = str_z(name) };
    struct err e = ERR_NONE;

    assert_true(n->sink.put(&n->sink, &r, &e));
}

static struct filter_view applied(struct noter *n, unsigned has, uint64_t session)
{
    struct filter_view v = { .has = FILTER_HAS_T, .t = 5 };

    filter_context_apply(&n->context, &v, has, session, &n->builder);
    return v;
}

static void a_recording_without_a_name_has_that_of_its_file(void **state)
{
    struct noter *n = *state;

    put_header(n, "", 0);
    assert_str(applied(n, 0, 0).trace, STR("dir/a.jsonl"));
    put_header(n, "nightly", 0);
    assert_str(applied(n, 0, 0).trace, STR("nightly"));
}

static void the_latest_name_of_the_server_counts(void **state)
{
    struct noter *n = *state;

    assert_int_equal(applied(n, 0, 0).server.len, 0);
    terse_feed(&n->sink, "s2c {'id':1,'result':{'serverInfo':{'name':'first'}}}\n"
                         "c2s {'id':1,'result':{'serverInfo':{'name':'client'}}}\n"
                         "s2c {'id':2,'result':{'serverInfo':{'name':7}}}\n");
    assert_str(applied(n, 0, 0).server, STR("first"));
    terse_feed(&n->sink, "s2c {'id':3,'result':{'serverInfo':{'name':'s`u0065cond'}}}\n");
    assert_str(applied(n, 0, 0).server, STR("second"));
}

static void a_view_has_a_session_only_if_its_record_has_one(void **state)
{
    struct noter *n = *state;

    assert_int_equal(applied(n, 0, 12).session.len, 0);
    assert_str(applied(n, HAS_SESSION, 12).session, STR("12"));
}

static void the_wall_time_needs_the_start_of_the_recording(void **state)
{
    struct noter *n = *state;
    struct filter_view v = applied(n, 0, 0);

    assert_false(v.has & FILTER_HAS_WALL);
    put_header(n, "", 1000000);
    v = applied(n, 0, 0);
    assert_true(v.has & FILTER_HAS_WALL);
    assert_int_equal(v.wall, 1000005);
    v = (struct filter_view){ .has = 0 };
    filter_context_apply(&n->context, &v, 0, 0, &n->builder);
    assert_false(v.has & FILTER_HAS_WALL);
}

static void a_changed_definition_marks_only_its_record(void **state)
{
    struct noter *n = *state;

    terse_feed(&n->sink, "s2c {'id':1,'result':{'tools':[{'name':'a','x':1}]}}\n"
                         "s2c {'id':2,'result':{'tools':[{'name':'a','x':2}]}}\n"
                         "s2c {'id':3,'result':{}}\n");
    assert_int_equal(n->drift_seq, 2);
    assert_false(n->context.has_drift);
}

#define WITH_NOTER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_NOTER(a_recording_without_a_name_has_that_of_its_file),
        WITH_NOTER(the_latest_name_of_the_server_counts),
        WITH_NOTER(a_view_has_a_session_only_if_its_record_has_one),
        WITH_NOTER(the_wall_time_needs_the_start_of_the_recording),
        WITH_NOTER(a_changed_definition_marks_only_its_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
