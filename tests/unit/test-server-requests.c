#include "verify/server-requests.h"

#include "loaded-index.h"
#include "test.h"

/* Three calls; each had a server request with equal method. */
#define RECORDING                                                                              \
    "c2s {'id':1,'method':'tools/call','params':{'name':'a'}}\n"                               \
    "s2c {'id':'q1','method':'sampling/createMessage','params':{'p':1}}\n"                     \
    "c2s {'id':'q1','result':{'is':'one'}}\n"                                                  \
    "s2c {'id':1,'result':{}}\n"                                                               \
    "c2s {'id':2,'method':'tools/call','params':{'name':'b'}}\n"                               \
    "s2c {'id':'q2','method':'sampling/createMessage','params':{'p':2}}\n"                     \
    "c2s {'id':'q2','result':{'is':'two'}}\n"                                                  \
    "s2c {'id':'q3','method':'sampling/createMessage','params':{'p':1}}\n"                     \
    "c2s {'id':'q3','error':{'is':'three'}}\n"                                                 \
    "s2c {'id':2,'result':{}}\n"                                                               \
    "c2s {'id':3,'method':'tools/call','params':{'name':'c'}}\n"                               \
    "s2c {'id':'q4','method':'roots/list'}\n"                                                  \
    "c2s {'id':'q4','result':{'is':'roots'}}\n"                                                \
    "s2c {'id':'q5','method':'sampling/createMessage','params':"                               \
    "{'at':'2026-01-02T03:04:05Z'}}\n"                                                         \
    "c2s {'id':'q5','result':{'is':'sooner'}}\n"                                               \
    "s2c {'id':'q6','method':'sampling/createMessage','params':"                               \
    "{'at':'2026-01-02T03:04:07Z'}}\n"                                                         \
    "c2s {'id':'q6','result':{'is':'later'}}\n"                                                \
    "s2c {'id':3,'result':{}}\n"

struct rig {
    struct loaded_index loaded;
    struct index_order order;
    struct compare_rules rules;
    struct judge judge;
    struct server_requests requests;
    uint32_t open_call;
};

static void begin(struct rig *r)
{
    struct params_rules rules =
        matcher_rules(&(struct match_options){ .mode = MATCH_BY_REQUEST }, false);

    index_order_init(&r->order);
    message_store_memory_init(&r->loaded.store);
    index_init(&r->loaded.index, &r->loaded.store.store, &rules, NULL);
    r->loaded.index.order = &r->order;
    terse_feed(&r->loaded.index.sink, RECORDING);
    index_finish(&r->loaded.index);
    compare_rules_init(&r->rules);
    judge_init(&r->judge, &r->rules, NULL);
    server_requests_init(&r->requests, &r->loaded.index, &r->order, 0, &r->judge);
    r->open_call = 0;
}

static void end(struct rig *r)
{
    server_requests_release(&r->requests);
    judge_release(&r->judge);
    compare_rules_release(&r->rules);
    index_release(&r->loaded.index);
    message_store_memory_release(&r->loaded.store);
    index_order_release(&r->order);
}

static bool is_open(void *arg, uint32_t call)
{
    const struct rig *r = arg;

    return call == r->open_call;
}

/* `want` is the text of the response; "none": no recorded request fits, and "none, near" with
 * the first difference if one of an open call has the method. */
static void check(struct rig *r, const char *message, const char *want)
{
    struct arena a = { 0 };
    struct json j;
    struct json_fault fault;
    struct server_request_reply reply;
    struct mcp_message live;
    struct str got = STR("none");

    json_init(&j);
    assert_true(json_scan(&j, terse_json(&a, message), &fault));
    live = mcp_classify(json_root(&j), &a);
    if (server_requests_find(&r->requests, &live, is_open, r, &reply)) {
        struct json_fault f;

        assert_true(json_scan(&j, reply.result.len ? reply.result : reply.error, &f));
        got = arena_str(&a, json_unquoted(json_get(json_root(&j), STR("is"))));
    } else if (reply.changed) {
        got = arena_printf(&a, "none, near %.*s %.*s %.*s", STR_ARG(reply.difference.path),
                           STR_ARG(reply.difference.recorded), STR_ARG(reply.difference.live));
    }
    assert_str(got, str_z(want));
    json_release(&j);
    arena_release(&a);
}

#define SAMPLING(params) "{'id':1,'method':'sampling/createMessage','params':" params "}"

static void the_open_call_comes_first_then_any_then_a_used_one(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    r.open_call = 2;
    check(&r, SAMPLING("{'p':1}"), "three");
    check(&r, SAMPLING("{'p':1.0}"), "one");
    check(&r, SAMPLING("{'p':1}"), "one");
    end(&r);
}

static void other_params_get_no_response(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    check(&r, SAMPLING("{'p':9}"), "none");
    r.open_call = 2;
    check(&r, SAMPLING("{'p':9}"), "none, near $.params.p 2 9");
    check(&r, "{'id':1,'method':'sampling/createMessage'}", "none, near $.params {\"p\":2} ");
    check(&r, "{'id':1,'method':'elicitation/create'}", "none");
    check(&r, SAMPLING("{'p':2}"), "two");
    end(&r);
}

static void params_without_content_are_none(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    check(&r, "{'id':1,'method':'roots/list'}", "roots");
    check(&r, "{'id':1,'method':'roots/list','params':{}}", "roots");
    check(&r, "{'id':1,'method':'roots/list','params':{'_meta':{'progressToken':1}}}", "roots");
    check(&r, "{'id':1,'method':'roots/list','params':{'all':true}}", "none");
    end(&r);
}

static void an_equal_request_is_preferred_to_one_with_other_volatile_values(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    check(&r, SAMPLING("{'at':'2026-01-02T03:04:07Z'}"), "later");
    check(&r, SAMPLING("{'at':'2028-01-02T03:04:07Z'}"), "sooner");
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_open_call_comes_first_then_any_then_a_used_one),
        cmocka_unit_test(other_params_get_no_response),
        cmocka_unit_test(params_without_content_are_none),
        cmocka_unit_test(an_equal_request_is_preferred_to_one_with_other_volatile_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
