#include "format/attack-model.h"

#include "ops/op-builder.h"
#include "terse.h"
#include "test.h"
#include "trace/limits.h"

/* The model of a story: every record and operation passes through it. */
struct rig {
    struct sink sink;
    struct operation_sink events;
    struct op_builder builder;
    struct attack_model model;
};

static bool put_event(struct operation_sink *self, const struct operation_event *ev,
                      struct err *e)
{
    struct rig *g = (struct rig *)((char *)self - offsetof(struct rig, events));
    struct format_operation o = { .event = ev };

    (void)e;
    o.start_known = op_builder_start_wall_us(&g->builder, &o.start_wall_us);
    attack_model_put_operation(&g->model, &o);
    return true;
}

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    struct rig *g = (struct rig *)self;

    if (!g->builder.sink.put(&g->builder.sink, r, e))
        return false;
    attack_model_put(&g->model, r);
    return true;
}

static void rig_init(struct rig *g, const char *story)
{
    struct err e = ERR_NONE;

    *g = (struct rig){ .sink = { put_record }, .events = { put_event } };
    op_builder_init(&g->builder, &g->events);
    attack_model_init(&g->model);
    terse_feed(&g->sink, story);
    assert_true(op_builder_finish(&g->builder, &e));
    attack_model_finish(&g->model);
}

static void rig_release(struct rig *g)
{
    op_builder_release(&g->builder);
    attack_model_release(&g->model);
}

/* Items as "key(number of calls with a response)", inferred ones with a '*'. */
static void assert_items(const struct rig *g, enum surface_kind kind, const char *want)
{
    const struct attack_items *items = &g->model.items[kind];
    struct buf text;

    buf_init(&text, 4096);
    for (size_t i = 0; i < items->count; i++)
        buf_printf(&text, "%s%.*s%s(%zu)", i ? " " : "", STR_ARG(items->at[i].key),
                   items->at[i].is_inferred ? "*" : "", items->at[i].answered);
    assert_str(buf_str(&text), str_z(want));
    buf_release(&text);
}

static void assert_responses(const struct attack_item *item, const char *const *want)
{
    const struct attack_call *c = attack_model_answered(item->calls);
    struct arena a = { 0 };

    for (; *want; want++, c = attack_model_answered(c->next_same)) {
        assert_non_null(c);
        assert_str(c->response, terse_json(&a, *want));
    }
    assert_null(c);
    arena_release(&a);
}

static void definitions_come_from_all_pages(void **state)
{
    struct rig g;

    (void)state;
    rig_init(&g,
             "c2s {'id':1,'method':'tools/list'}\n"
             "s2c {'id':1,'result':{'tools':[{'name':'b'},{'name':'a'}],'nextCursor':'2'}}\n"
             "c2s {'id':2,'method':'tools/list','params':{'cursor':'2'}}\n"
             "s2c {'id':2,'result':{'tools':[{'name':'c'}]}}\n"
             "c2s {'id':3,'method':'resources/list'}\n"
             "s2c {'id':3,'result':{'resources':[{'uri':'x:1','name':'one'}]}}\n"
             "c2s {'id':4,'method':'prompts/list'}\n"
             "s2c {'id':4,'result':{'prompts':[{'name':'p'}]}}\n"
             "c2s {'id':5,'method':'tools/list'}\n"
             "s2c {'id':5,'result':{'tools':[{'name':'a','title':'new'}]}}\n");
    assert_items(&g, SURFACE_TOOL, "b(0) a(0) c(0)");
    assert_items(&g, SURFACE_RESOURCE, "x:1(0)");
    assert_items(&g, SURFACE_PROMPT, "p(0)");
    assert_true(
        json_is(json_get(g.model.items[SURFACE_TOOL].at[1].def, STR("title")), STR("new")));
    rig_release(&g);
}

static void responses_are_in_the_order_of_the_requests(void **state)
{
    static const char *const a[] = { "{'n':1}", "{'n':3}", NULL };
    static const char *const b[] = { "{'code':-1}", NULL };
    struct rig g;

    (void)state;
    rig_init(&g, "c2s {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
                 "c2s {'id':2,'method':'tools/call','params':{'name':'b'}}\n"
                 "c2s {'id':3,'method':'tools/call','params':{'name':'a'}}\n"
                 "c2s {'id':4,'method':'tools/call','params':{'name':'a'}}\n"
                 "s2c {'id':3,'result':{'n':3}}\n"
                 "s2c {'id':2,'error':{'code':-1}}\n"
                 "s2c {'id':1,'result':{'n':1}}\n");
    assert_items(&g, SURFACE_TOOL, "a*(2) b*(1)");
    assert_responses(&g.model.items[SURFACE_TOOL].at[0], a);
    assert_responses(&g.model.items[SURFACE_TOOL].at[1], b);
    assert_int_equal(g.model.answered_tool_calls, 3);
    assert_int_equal(g.model.items[SURFACE_TOOL].at[1].calls->number, 2);
    rig_release(&g);
}

static void a_retry_and_a_task_are_one_call(void **state)
{
    static const char *const want[] = { "{'n':1}", "{'n':2}", NULL };
    struct rig g;

    (void)state;
    rig_init(&g, "c2s {'id':1,'method':'tools/call','params':{'name':'a','_meta':"
                 "{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}}}\n"
                 "s2c {'id':1,'result':{'resultType':'input_required','inputRequests':{'k':{"
                 "'method':'roots/list'}},'requestState':'s'}}\n"
                 "c2s {'id':2,'method':'tools/call','params':{'name':'a','requestState':'s',"
                 "'inputResponses':{'k':{'roots':[]}},'_meta':"
                 "{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}}}\n"
                 "s2c {'id':2,'result':{'n':1}}\n"
                 "c2s {'id':3,'method':'tools/call','params':{'name':'a','task':{}}}\n"
                 "s2c {'id':3,'result':{'task':{'taskId':'t','status':'working'}}}\n"
                 "c2s {'id':4,'method':'tasks/get','params':{'taskId':'t'}}\n"
                 "s2c {'id':4,'result':{'taskId':'t','status':'completed'}}\n"
                 "c2s {'id':5,'method':'tasks/result','params':{'taskId':'t'}}\n"
                 "s2c {'id':5,'result':{'n':2}}\n");
    assert_items(&g, SURFACE_TOOL, "a*(2)");
    assert_responses(&g.model.items[SURFACE_TOOL].at[0], want);
    rig_release(&g);
}

static void names_in_no_list_are_inferred(void **state)
{
    struct rig g;
    struct arena a = { 0 };

    (void)state;
    rig_init(&g,
             "c2s {'id':1,'method':'tools/call','params':{'name':'t','arguments':"
             "{'x':1,'y':2}}}\n"
             "s2c {'id':1,'result':{}}\n"
             "c2s {'id':2,'method':'tools/call','params':{'name':'t','arguments':{'z`n':1,"
             "'x':2}}}\n"
             "c2s {'id':3,'method':'resources/read','params':{'uri':'file:///d/f.txt'}}\n"
             "c2s {'id':4,'method':'prompts/get','params':{'name':'p','arguments':{'q':''}}}"
             "\n"
             "c2s {'id':5,'method':'tools/call','params':{}}\n");
    assert_str(json_raw(g.model.items[SURFACE_TOOL].at[0].def),
               terse_json(&a, "{'name':'t','inputSchema':{'type':'object','properties':"
                              "{'x':{},'y':{},'z`n':{}}}}"));
    assert_str(json_raw(g.model.items[SURFACE_RESOURCE].at[0].def),
               terse_json(&a, "{'uri':'file:///d/f.txt','name':'f.txt'}"));
    assert_str(json_raw(g.model.items[SURFACE_PROMPT].at[0].def),
               terse_json(&a, "{'name':'p','arguments':[{'name':'q'}]}"));
    assert_items(&g, SURFACE_TOOL, "t*(1)");
    arena_release(&a);
    rig_release(&g);
}

static void a_tool_that_the_server_does_not_have_is_left_out(void **state)
{
    struct rig g;

    (void)state;
    rig_init(&g, "c2s {'id':1,'method':'tools/list'}\n"
                 "s2c {'id':1,'result':{'tools':[{'name':'a'}]}}\n"
                 "c2s {'id':2,'method':'tools/call','params':{'name':'gone'}}\n"
                 "s2c {'id':2,'error':{'code':-32602,'message':'unknown tool'}}\n"
                 "c2s {'id':3,'method':'tools/call','params':{'name':'hidden'}}\n"
                 "s2c {'id':3,'result':{}}\n");
    assert_items(&g, SURFACE_TOOL, "a(0) hidden*(1)");
    rig_release(&g);
}

static void the_header_names_the_upstream(void **state)
{
    struct rig g;

    (void)state;
    rig_init(&g, "| {'type':'header','version':'1.0','recorded_at':'2026-11-15T21:00:00.000Z',"
                 "'upstream':'python server.py','thoughtjack_version':'0.3.0'}\n"
                 "c2s {'id':1,'method':'ping'}\n");
    assert_str(buf_str(&g.model.upstream), STR("python server.py"));
    assert_true(g.model.start_known);
    rig_release(&g);
}

static void too_much_is_a_failure(void **state)
{
    struct attack_model m;
    struct operation op = { .number = 1,
                            .kind = OPERATION_REQUEST,
                            .method = STR("tools/call"),
                            .response = RESPONSE_RESULT };
    struct operation_message message = { .role = ROLE_REQUEST };
    struct record r = { .kind = RECORD_MESSAGE };
    struct operation_event ev = { &op, &message, &r };
    struct format_operation o = { .event = &ev };
    struct terse_scanned request, response;

    (void)state;
    attack_model_init(&m);
    r.message.msg = terse_scan(&request, "{'id':1,'params':{'name':'a'}}");
    attack_model_put_operation(&m, &o);
    m.bytes = LIMIT_LINE - 4;
    message.role = ROLE_RESPONSE;
    r.message.msg = terse_scan(&response, "{'id':1,'result':{'n':1}}");
    attack_model_put_operation(&m, &o);
    assert_true(m.failed);
    attack_model_finish(&m);
    attack_model_release(&m);
    terse_scanned_release(&request);
    terse_scanned_release(&response);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions_come_from_all_pages),
        cmocka_unit_test(responses_are_in_the_order_of_the_requests),
        cmocka_unit_test(a_retry_and_a_task_are_one_call),
        cmocka_unit_test(names_in_no_list_are_inferred),
        cmocka_unit_test(a_tool_that_the_server_does_not_have_is_left_out),
        cmocka_unit_test(the_header_names_the_upstream),
        cmocka_unit_test(too_much_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
