#include "format/format.h"

#include "memory-file.h"
#include "terse.h"
#include "test.h"

static void write_story(struct memory_writer *w, const char *story)
{
    memory_writer_init(w, &markdown_format);
    terse_feed(&w->sink, story);
    memory_writer_finish(w);
}

static void assert_has(const struct memory_writer *w, const char *text)
{
    if (!str_contains(buf_str(&w->text), str_z(text)))
        fail_msg("no '%s' in:\n%.*s", text, STR_ARG(buf_str(&w->text)));
}

static void each_request_has_its_arguments_and_result(void **state)
{
    struct memory_writer w;

    (void)state;
    write_story(&w, "@0 c2s {'id':1,'method':'tools/call','params':{'name':'a|b','arguments':"
                    "{'x':1.0}}}\n"
                    "@2000 s2c {'id':1,'result':{'content':[]}}\n"
                    "c2s {'id':2,'method':'ping'}\n"
                    "s2c {'id':2,'error':{'code':-32601,'message':'no'}}\n"
                    "c2s {'id':3,'method':'ping'}\n");
    assert_has(&w, "| messages | 5 |\n| requests | 3, 1 with an error |\n");
    assert_has(&w, "| 1 | `tools/call` `a'b` | ok |");
    assert_has(&w, "| 2 | `ping` | error -32601 |");
    assert_has(&w, "| 3 | `ping` | no response |");
    assert_has(&w, "Arguments:\n\n```json\n{\n  \"x\": 1.0\n}\n```\n");
    assert_has(&w, "Error:\n\n```json\n{\n  \"code\": -32601,");
    memory_writer_release(&w);
}

static void a_fence_is_longer_than_those_in_the_text(void **state)
{
    struct memory_writer w;
    const char *story = "c2s {\"id\":1,\"method\":\"ping\",\"params\":{\"t\":\"````\"}}";

    (void)state;
    memory_writer_init(&w, &markdown_format);
    terse_feed_plain(&w.sink, str_z(story));
    memory_writer_finish(&w);
    assert_has(&w, "\n`````json\n");
    assert_has(&w, "\n`````\n");
    memory_writer_release(&w);
}

static void long_values_are_shortened(void **state)
{
    enum { LONG = 9000 };
    struct arena a = { 0 };
    struct memory_writer w;

    (void)state;
    write_story(
        &w,
        arena_printf(&a, "c2s {'id':1,'method':'ping','params':{'t':'%*d'}}\n", LONG, 0).at);
    assert_has(&w, "(shortened; the JSON has 9008 bytes)\n```\n");
    assert_in_range(w.text.len, 4000, 5000);
    memory_writer_release(&w);
    arena_release(&a);
}

/* An issue has a maximal size. */
static void a_long_session_is_cut_with_a_note(void **state)
{
    struct memory_writer w;

    (void)state;
    memory_writer_init(&w, &markdown_format);
    for (int i = 0; i < 300; i++) {
        struct arena a = { 0 };

        terse_feed(
            &w.sink,
            arena_printf(&a, "c2s {'id':%d,'method':'ping','params':{'t':'%*d'}}\n", i, 2000, 0)
                .at);
        arena_release(&a);
    }
    memory_writer_finish(&w);
    assert_has(&w, "The first 200 of 300 requests are shown.\n");
    assert_has(&w, "The details of the other ");
    assert_in_range(w.text.len, 50000, 65536);
    memory_writer_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_request_has_its_arguments_and_result),
        cmocka_unit_test(a_fence_is_longer_than_those_in_the_text),
        cmocka_unit_test(long_values_are_shortened),
        cmocka_unit_test(a_long_session_is_cut_with_a_note),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
