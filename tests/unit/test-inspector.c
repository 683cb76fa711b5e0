#include "format/format.h"

#include "memory-file.h"
#include "record-summary.h"
#include "terse.h"
#include "test.h"

static void check(const char *terse, const char *want)
{
    struct arena a = { 0 };
    struct buf seen;

    buf_init(&seen, 1 << 20);
    record_summary_of_file(&seen, &inspector_format, terse_json(&a, terse), 7,
                           FEATURE_DIRECTION | FEATURE_BYTES | FEATURE_UNPAIRED |
                               FEATURE_SERVER_MESSAGES | FEATURE_TIME | FEATURE_OTHER_JSON |
                               FEATURE_UNKNOWN_MEMBERS);
    assert_str(buf_str(&seen), str_z(want));
    buf_release(&seen);
    arena_release(&a);
}

static void an_array_and_the_events_of_an_object_are_read(void **state)
{
    (void)state;
    check("[{'id':1,'method':'tools/list'},\n {'id':1,'result':\n{}, 'timestamp_ms':1000}]",
          "c2s {'id':1,'method':'tools/list'} \n"
          "s2c {'id':1,'result': {}, 'timestamp_ms':1000} at=1970-01-01T00:00:01.000Z \nend");
    check("{'a':[ 1 ],'events':[{'id':1,'method':'ping'}]}",
          "extra='{'inspector':{'a':[ 1 ]}}' \nc2s {'id':1,'method':'ping'} \nend");
    check("[]", "end");
    check("{'events':[]}", "end");
}

static void a_wrong_document_is_an_error_with_entry_and_position(void **state)
{
    (void)state;
    check("3", "f:1:1: the document must be an array of messages, or have one in 'events'");
    check("{}", "f:1:1: the document must be an array of messages, or have one in 'events'");
    check("{'events':7}",
          "f:1:11: the document must be an array of messages, or have one in 'events'");
    check("[{'id':1,'method':'ping'},\n{'x':1}]", "f:2:1: entry 2: not a JSON-RPC message");
    check("[{'id':1,'method':'ping'},\n 7]",
          "f:2:2: entry 2: a JSON-RPC message must be an object");
    check("[[{'id':1,'method':'ping'}]]",
          "f:1:2: entry 1: a batch: an entry must be one JSON-RPC message");
    check("[{'id':[],'method':'ping'}]", "f:1:2: entry 1: a JSON-RPC id must not be an array");
    check("[{'id':1,'method':'ping'}", "f:1:26: the document is cut off");
}

static void the_probe_recognizes_its_documents(void **state)
{
    static const struct terse_head heads[] = {
        { "[{'jsonrpc':'2.0','id':1,'method':'ping'}]", true },
        { "[\n{'jsonrpc':'2.0','id':", true },
        { "{'events':[{'jsonrpc':'2.0','id':", true },
        { "{'x':1, 'events' : [ {'jsonrpc':'2.0','method':'a'}", true },
        { "{'events':[]}", true },
        { "[]", false },
        { "[{'jsonrpc':'2.0','id':1,'method':'ping'}]\n{", false }, /* lines */
        { "{'events':{'jsonrpc':'2.0'", false },
        { "[{'a':1}]", false },
        { "[1]", false },
        { "", false },
    };

    (void)state;
    terse_check_probe(inspector_format.probe, heads, sizeof heads / sizeof heads[0]);
}

static void a_document_without_events_is_recognized_again(void **state)
{
    struct memory_writer w;

    (void)state;
    memory_writer_init(&w, &inspector_format);
    memory_writer_finish(&w);
    assert_str(buf_str(&w.text), STR("{\"events\":[]}\n"));
    memory_writer_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_and_the_events_of_an_object_are_read),
        cmocka_unit_test(a_wrong_document_is_an_error_with_entry_and_position),
        cmocka_unit_test(the_probe_recognizes_its_documents),
        cmocka_unit_test(a_document_without_events_is_recognized_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
