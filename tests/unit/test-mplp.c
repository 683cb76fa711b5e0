#include "format/format.h"

#include "memory-file.h"
#include "terse.h"
#include "test.h"

#define STORY                                                                                  \
    "@0 c2s {'id':1,'method':'tools/call','params':{'name':'t','arguments':{'a':1}}}\n"        \
    "@1 s2c {'method':'notifications/Tools/list_changed','params':{'x':1}}\n"                  \
    "@2 s2c {'id':1,'result':{}}\n@3 s2c {'id':9,'result':{}}\n"

static struct json_val written(struct memory_writer *w, struct json *doc,
                               const struct format *format,
                               const struct format_options *options, const char *story)
{
    struct json_fault fault;

    memory_writer_init(w, format);
    encoder_end(&w->encoder, &w->text);
    buf_clear(&w->text);
    encoder_begin(&w->encoder, format, options);
    terse_feed(&w->sink, story);
    memory_writer_finish(w);
    json_init(doc);
    if (!json_scan(doc, buf_str(&w->text), &fault))
        return JSON_VAL_NONE;
    return json_root(doc);
}

static void release(struct memory_writer *w, struct json *doc)
{
    json_release(doc);
    memory_writer_release(w);
}

static void assert_member(struct json_val object, const char *key, const char *want)
{
    assert_str(json_raw(json_get(object, str_z(key))), str_z(want));
}

static void a_document_has_segments_events_and_a_root(void **state)
{
    struct memory_writer w;
    struct json doc;
    struct json_val trace = written(&w, &doc, &mplp_format, NULL, STORY), segments, root;

    (void)state;
    segments = json_get(trace, STR("segments"));
    root = json_get(trace, STR("root_span"));
    assert_int_equal(json_count(segments), 2);
    assert_int_equal(json_count(json_get(trace, STR("events"))), 5);
    assert_member(trace, "status", "\"running\"");
    assert_str(json_raw(json_get(root, STR("trace_id"))),
               json_raw(json_get(trace, STR("trace_id"))));
    assert_str(json_raw(json_get(root, STR("span_id"))),
               json_raw(json_get(json_item(segments, 1), STR("segment_id"))));
    assert_str(json_raw(json_get(root, STR("span_id"))),
               json_raw(json_get(json_item(segments, 0), STR("parent_segment_id"))));
    assert_member(json_item(segments, 0), "label", "\"tools/call t\"");
    assert_member(json_get(json_item(segments, 0), STR("attributes")), "mplp.tool.args",
                  "{\"a\":1}");
    release(&w, &doc);
}

static void events_have_types_of_dotted_words(void **state)
{
    static const char *const want[] = { "\"execution.started\"", "\"tool.call\"",
                                        "\"mcp.notifications.tools.listchanged\"",
                                        "\"tool.result\"", "\"mcp.response.orphan\"" };
    struct memory_writer w;
    struct json doc;
    struct json_val trace = written(&w, &doc, &mplp_format, NULL, STORY),
                    events = json_get(trace, STR("events"));

    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_member(json_item(events, i), "event_type", want[i]);
    assert_false(
        json_exists(json_get(json_get(json_item(events, 2), STR("data")), STR("params"))));
    release(&w, &doc);
}

static void options_are_in_the_document(void **state)
{
    const struct format_options o = { .plan_id = STR("550e8400-e29b-41d4-a716-446655440000"),
                                      .context_id = STR("650e8400-e29b-41d4-a716-446655440000"),
                                      .payloads = true };
    struct memory_writer w;
    struct json doc;
    struct json_val trace = written(&w, &doc, &mplp_format, &o, STORY);
    struct json_val data = json_get(json_item(json_get(trace, STR("events")), 2), STR("data"));

    (void)state;
    assert_member(trace, "plan_id", "\"550e8400-e29b-41d4-a716-446655440000\"");
    assert_member(trace, "context_id", "\"650e8400-e29b-41d4-a716-446655440000\"");
    assert_member(data, "params", "{\"x\":1}");
    release(&w, &doc);
}

static void an_empty_recording_is_a_document(void **state)
{
    struct memory_writer w;
    struct json doc;
    struct json_val trace = written(&w, &doc, &mplp_format, NULL, "");

    (void)state;
    assert_int_equal(json_count(json_get(trace, STR("segments"))), 1);
    assert_int_equal(json_count(json_get(trace, STR("events"))), 1);
    release(&w, &doc);
}

static void lines_have_segments_and_events(void **state)
{
    struct memory_writer w;
    struct json doc;
    size_t lines = 0;

    (void)state;
    assert_false(json_exists(written(&w, &doc, &mplp_jsonl_format, NULL, STORY)));
    for (size_t i = 0; i < w.text.len; i++)
        lines += w.text.at[i] == '\n';
    assert_int_equal(lines, 7);
    assert_true(str_starts(buf_str(&w.text), STR("{\"trace_id\":\"")));
    assert_true(str_contains(buf_str(&w.text), STR("\"operation\":\"tools/call\"")));
    release(&w, &doc);
}

static void names_select_them(void **state)
{
    (void)state;
    assert_ptr_equal(format_by_path(STR("a.mplp.json")), &mplp_format);
    assert_ptr_equal(format_by_path(STR("a.mplp.jsonl.gz")), &mplp_jsonl_format);
    assert_null(mplp_format.next);
    assert_null(mplp_jsonl_format.next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_has_segments_events_and_a_root),
        cmocka_unit_test(events_have_types_of_dotted_words),
        cmocka_unit_test(options_are_in_the_document),
        cmocka_unit_test(an_empty_recording_is_a_document),
        cmocka_unit_test(lines_have_segments_and_events),
        cmocka_unit_test(names_select_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
