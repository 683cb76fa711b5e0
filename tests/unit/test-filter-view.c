#include "filter/filter-view.h"

#include "base/buf.h"
#include "ops/op-builder.h"
#include "terse.h"
#include "test.h"

/* Applies a filter to every message and operation, and writes those that match: "m3 o1 ". */
struct asked {
    struct operation_sink sink;
    struct filter *filter;
    struct arena arena;
    struct buf text;
};

static bool evaluate(struct operation_sink *self, const struct operation_event *ev,
                     struct err *e)
{
    struct asked *a = (struct asked *)self;
    struct filter_view v;

    (void)e;
    if (ev->message)
        filter_view_message(&v, ev, &a->arena);
    else
        filter_view_operation(&v, ev->op);
    if (filter_matches(a->filter, &v))
        buf_printf(&a->text, "%c%llu ", ev->message ? 'm' : 'o',
                   (unsigned long long)(ev->message ? ev->message->seq : ev->op->number));
    return true;
}

static const char traffic[] =
    "@0 c2s {'id':1,'method':'tools/call','params':{'name':'a','_meta':{'progressToken':5}}}\n"
    "@10 s2c {'method':'notifications/progress','params':{'progressToken':5,'progress':1}}\n"
    "@2000000 s2c {'id':1,'result':{'isError':true}}\n"
    "@2000001 c2s {'id':'x','method':'prompts/get','params':{'name':'p'}}\n"
    "@2000002 s2c {'id':'x','error':{'code':-32602,'message':''}}\n"
    "@2000003 c2s {'id':3,'method':'resources/read','params':{'uri':'file:///a'}}\n"
    "@2000004 s2c {'id':9,'result':{}}\n"
    "@2000005 c2s {'id':4,'method':'ping'}\n"
    "@2000006 c2s {'method':'notifications/cancelled','params':{'requestId':4}}\n"
    "@2000007 s2c {'id':4,'result':{}}\n";

static void check(const char *query, const char *want)
{
    struct asked a = { .sink = { evaluate } };
    struct filter_fault fault;
    struct op_builder g;
    struct err e = ERR_NONE;

    assert_true(filter_new(&a.filter, str_z(query), &fault, &e));
    buf_init(&a.text, 4096);
    op_builder_init(&g, &a.sink);
    terse_feed(&g.sink, traffic);
    assert_true(op_builder_finish(&g, &e));
    if (!str_eq(buf_str(&a.text), str_z(want)))
        fail_msg("%s: '%s', want '%s'", query, buf_z(&a.text), want);
    op_builder_release(&g);
    filter_free(a.filter);
    buf_release(&a.text);
    arena_release(&a.arena);
}

static void operations_and_messages_have_the_same_keys(void **state)
{
    (void)state;
    check("tool:a", "m1 m3 o1 ");
    check("prompt:p", "m4 m5 o2 ");
    check("uri:file:///*", "m6 o3 ");
    check("method:notifications/progress", "m2 ");
    check("id:x", "m4 m5 o2 ");
    check("id:\"x\"", "m4 m5 o2 ");
    check("id:\"1\"", "");
    check("kind:op", "o1 o2 o4 o5 o3 ");
    check("kind:req", "m1 o1 m4 o2 m6 m8 o5 o3 ");
    check("kind:res", "m3 m5 m7 o4 m10 ");
    check("kind:notif", "m2 m9 ");
    check("dir:c2s", "m1 o1 m4 o2 m6 m8 m9 o5 o3 ");
    check("is:tool-error", "m3 o1 ");
    check("is:rpc-error", "m5 o2 ");
    check("code:-32602", "m5 o2 ");
    check("is:pending", "o3 ");
    check("is:cancelled", "m9 o5 ");
    check("is:late", "m10 o5 ");
    check("is:orphan", "m7 o4 ");
    check("is:slow", "o1 ");
    check("is:progress", "m2 o1 ");
    check("is:ok", "m7 o4 m10 ");
    check("dur:>1s", "m3 o1 ");
    check("server-dur:>1s", "o1 ");
    check("status:>0", "");
    check("req-size:>78", "m1 o1 ");
    check("res-size:<30", "m7 o4 m10 o5 ");
    check("t:..1s", "o1 ");
}

static void the_payload_is_the_content_of_the_message(void **state)
{
    struct terse_scanned s = { 0 };
    struct record r = { .kind = RECORD_MESSAGE };
    struct filter_view v;

    (void)state;
    r.message.msg = terse_scan(&s, "{'method':'ping'}");
    filter_view_payload(&v, &r);
    assert_true(json_exists(v.message));
    assert_int_equal(v.has | v.kind | v.dir | v.is, 0);
    assert_null(v.method.at);
    terse_scanned_release(&s);
    r = (struct record){ .kind = RECORD_RAW, .bytes.bytes = STR("x") };
    filter_view_payload(&v, &r);
    assert_str(v.bytes, STR("x"));
    assert_false(json_exists(v.message));
}

static void other_records_have_their_kinds(void **state)
{
    struct record r = { .kind = RECORD_STDERR, .bytes.bytes = STR("hello") };
    struct filter_view v;

    (void)state;
    filter_view_record(&v, &r);
    assert_int_equal(v.kind, FILTER_KIND_STDERR);
    assert_int_equal(v.size, 5);
    r = (struct record){ .kind = RECORD_HTTP_RESPONSE, .has = HAS_STATUS, .http.status = 401 };
    filter_view_record(&v, &r);
    assert_int_equal(v.kind, FILTER_KIND_HTTP);
    assert_int_equal(v.is, FILTER_IS_HTTP_ERROR);
    assert_int_equal(v.status, 401);
    r = (struct record){ .kind = RECORD_PROC };
    filter_view_record(&v, &r);
    assert_int_equal(v.kind, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_and_messages_have_the_same_keys),
        cmocka_unit_test(the_payload_is_the_content_of_the_message),
        cmocka_unit_test(other_records_have_their_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
