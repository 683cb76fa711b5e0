#include "format/format.h"

#include "memory-file.h"
#include "terse.h"
#include "test.h"

static void assert_tag(struct json_val span, const char *key, const char *type,
                       const char *value)
{
    struct json_iter it = json_each(json_get(span, STR("tags")));

    while (json_next(&it))
        if (json_is(json_get(it.value, STR("key")), str_z(key))) {
            assert_true(json_is(json_get(it.value, STR("type")), str_z(type)));
            assert_str(json_raw(json_get(it.value, STR("value"))), str_z(value));
            return;
        }
    fail_msg("no tag '%s'", key);
}

static void a_document_has_one_trace_with_processes(void **state)
{
    struct json_val trace, span, root, reference;
    struct memory_writer w;
    struct json_fault fault;
    struct json doc;

    (void)state;
    memory_writer_init(&w, &jaeger_format);
    terse_feed(&w.sink, "@5 c2s {'id':1,'method':'ping','params':{'_meta':{'traceparent':"
                        "'00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'}}}\n"
                        "@6 s2c {'method':'notifications/x'}\n"
                        "@7 s2c {'id':1,'error':{'code':-1,'message':'no'}}\n");
    memory_writer_finish(&w);
    json_init(&doc);
    assert_true(json_scan(&doc, buf_str(&w.text), &fault));
    trace = json_item(json_get(json_root(&doc), STR("data")), 0);
    span = json_item(json_get(trace, STR("spans")), 0);
    root = json_item(json_get(trace, STR("spans")), 1);
    assert_str(json_raw(json_get(span, STR("startTime"))), STR("5"));
    assert_str(json_raw(json_get(span, STR("duration"))), STR("2"));
    assert_str(json_raw(json_get(span, STR("processID"))), STR("\"p1\""));
    assert_str(json_raw(json_get(root, STR("processID"))), STR("\"p2\""));
    assert_str(json_raw(json_get(span, STR("traceID"))),
               json_raw(json_get(trace, STR("traceID"))));
    reference = json_item(json_get(span, STR("references")), 0);
    assert_str(json_raw(json_get(reference, STR("spanID"))),
               json_raw(json_get(root, STR("spanID"))));
    reference = json_item(json_get(span, STR("references")), 1);
    assert_true(json_is(json_get(reference, STR("refType")), STR("FOLLOWS_FROM")));
    assert_true(
        json_is(json_get(reference, STR("traceID")), STR("0af7651916cd43dd8448eb211c80319c")));
    assert_tag(span, "span.kind", "string", "\"server\"");
    assert_tag(span, "error", "bool", "true");
    assert_tag(span, "otel.status_description", "string", "\"no\"");
    assert_int_equal(json_count(json_get(root, STR("logs"))), 1);
    assert_str(json_raw(json_get(trace, STR("processes"))),
               STR("{\"p1\":{\"serviceName\":\"mcp-server\",\"tags\":[]},"
                   "\"p2\":{\"serviceName\":\"mcp-client\",\"tags\":[]}}"));
    json_release(&doc);
    memory_writer_release(&w);
}

static void a_name_selects_it(void **state)
{
    (void)state;
    assert_ptr_equal(format_by_path(STR("a.jaeger.json")), &jaeger_format);
    assert_null(jaeger_format.next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_has_one_trace_with_processes),
        cmocka_unit_test(a_name_selects_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
