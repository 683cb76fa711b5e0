#include "format/format.h"

#include <stdio.h>

#include "memory-file.h"
#include "terse.h"
#include "test.h"

#define CONTEXT                                                                                \
    "'_meta':{'traceparent':'00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00',"        \
    "'tracestate':'x=`'q`''}"

/* Returns the number of lines, each of which must be one object with resourceSpans. */
static size_t count_lines(struct str text)
{
    size_t lines = 0;

    while (text.len) {
        struct json_fault fault;
        struct json doc;

        json_init(&doc);
        assert_true(json_scan(&doc, str_cut(&text, '\n'), &fault));
        assert_true(json_count(json_get(json_root(&doc), STR("resourceSpans"))) > 0);
        json_release(&doc);
        lines++;
    }
    return lines;
}

static void assert_has(const struct memory_writer *w, const char *part)
{
    struct arena a = { 0 };
    struct str want = terse_json(&a, part);

    if (!str_contains(buf_str(&w->text), want))
        print_message("not in %.*s\n: %.*s\n", STR_ARG(buf_str(&w->text)), STR_ARG(want));
    assert_true(str_contains(buf_str(&w->text), want));
    arena_release(&a);
}

static void values_have_the_types_of_protobuf(void **state)
{
    struct memory_writer w;

    (void)state;
    memory_writer_init(&w, &otlp_format);
    terse_feed(&w.sink, "@5 c2s {'id':1,'method':'ping'}\n"
                        "@7 s2c {'id':1,'error':{'code':-1,'message':'no'}}\n"
                        "x=4 http 404\n");
    memory_writer_finish(&w);
    assert_int_equal(count_lines(buf_str(&w.text)), 1);
    assert_has(&w, "'flags':257,'name':'ping','kind':3,'startTimeUnixNano':'5000',"
                   "'endTimeUnixNano':'7000','attributes':[{'key':'mcp.method.name','value':"
                   "{'stringValue':'ping'}}");
    assert_has(&w, "'status':{'message':'no','code':2}}");
    assert_has(&w, "{'resource':{'attributes':[{'key':'service.name','value':"
                   "{'stringValue':'mcp-client'}}]},'scopeSpans':[{'scope':{'name':'mcpreel'");
    memory_writer_release(&w);
}

static void a_context_is_the_parent(void **state)
{
    struct memory_writer w;

    (void)state;
    memory_writer_init(&w, &otlp_format);
    terse_feed(&w.sink, "c2s {'id':1,'method':'ping','params':{" CONTEXT "}}\n"
                        "s2c {'id':1,'result':{}}\n");
    memory_writer_finish(&w);
    assert_int_equal(count_lines(buf_str(&w.text)), 1);
    assert_has(&w, "{'traceId':'0af7651916cd43dd8448eb211c80319c','spanId':'");
    assert_has(&w, ",x=`'q`'','parentSpanId':'b7ad6b7169203331','flags':768,'name':'ping',"
                   "'kind':2,");
    assert_has(&w, "'links':[{'traceId':'");
    assert_has(&w, "'service.name','value':{'stringValue':'mcp-server'}");
    memory_writer_release(&w);
}

static void a_line_has_512_spans(void **state)
{
    struct memory_writer w;
    char story[128];

    (void)state;
    memory_writer_init(&w, &otlp_format);
    for (int i = 0; i < 1100; i++) {
        snprintf(story, sizeof story,
                 "c2s {'id':%d,'method':'ping'}\ns2c {'id':%d,'result':{}}\n", i, i);
        terse_feed(&w.sink, story);
    }
    memory_writer_finish(&w);
    assert_int_equal(count_lines(buf_str(&w.text)), 3);
    memory_writer_release(&w);
}

static void dropped_events_are_counted(void **state)
{
    struct memory_writer w;

    (void)state;
    memory_writer_init(&w, &otlp_format);
    for (int i = 0; i < 130; i++)
        terse_feed(&w.sink, "@1 s2c {'method':'notifications/x'}\n");
    memory_writer_finish(&w);
    assert_has(&w, "{'timeUnixNano':'1000','name':'notifications/x'}],'droppedEventsCount':2");
    memory_writer_release(&w);
}

static void names_select_it(void **state)
{
    (void)state;
    assert_ptr_equal(format_by_path(STR("a.otlp.jsonl")), &otlp_format);
    assert_ptr_equal(format_by_path(STR("a.otlp.json.zst")), &otlp_format);
    assert_null(otlp_format.next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_the_types_of_protobuf),
        cmocka_unit_test(a_context_is_the_parent),
        cmocka_unit_test(a_line_has_512_spans),
        cmocka_unit_test(dropped_events_are_counted),
        cmocka_unit_test(names_select_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
