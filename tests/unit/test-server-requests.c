#include "verify/server-requests.h"

#include "loaded-index.h"
#include "test.h"

/* Two calls; each had a server request with equal method. */
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
    "s2c {'id':2,'result':{}}\n"

struct rig {
    struct loaded_index loaded;
    struct index_order order;
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
    server_requests_init(&r->requests, &r->loaded.index, &r->order, 0);
    r->open_call = 0;
}

static void end(struct rig *r)
{
    server_requests_release(&r->requests);
    index_release(&r->loaded.index);
    message_store_memory_release(&r->loaded.store);
    index_order_release(&r->order);
}

static bool is_open(void *arg, uint32_t call)
{
    const struct rig *r = arg;

    return call == r->open_call;
}

/* `want` is the text of the response with "differs" in front of it, or "none". */
static void check(struct rig *r, const char *method, const char *params, const char *want)
{
    struct arena a = { 0 };
    struct json j;
    struct json_fault fault;
    struct server_request_reply reply;
    struct mcp_message live = { .kind = MCP_REQUEST, .method = str_z(method) };

    json_init(&j);
    assert_true(json_scan(&j, terse_json(&a, params), &fault));
    live.params = json_root(&j);
    if (!server_requests_find(&r->requests, &live, is_open, r, &reply)) {
        assert_string_equal(want, "none");
    } else {
        struct json_val of = json_get(reply.response, STR("result"));

        if (!json_exists(of))
            of = json_get(reply.response, STR("error"));
        assert_str(arena_printf(&a, "%s%.*s", reply.differs ? "differs " : "",
                                STR_ARG(json_unquoted(json_get(of, STR("is"))))),
                   str_z(want));
    }
    json_release(&j);
    arena_release(&a);
}

static void the_open_call_comes_first_then_any_then_a_used_one(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    r.open_call = 2;
    check(&r, "sampling/createMessage", "{'p':1}", "three");
    check(&r, "sampling/createMessage", "{'p':1}", "one");
    check(&r, "sampling/createMessage", "{'p':1}", "one");
    end(&r);
}

static void other_params_are_answered_in_an_open_call_only_and_differ(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    check(&r, "sampling/createMessage", "{'p':9}", "none");
    r.open_call = 2;
    check(&r, "sampling/createMessage", "{'p':9}", "differs two");
    check(&r, "roots/list", "{}", "none");
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_open_call_comes_first_then_any_then_a_used_one),
        cmocka_unit_test(other_params_are_answered_in_an_open_call_only_and_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
