#include "runtime/record-report.h"

#include "terse.h"
#include "test.h"

static void assert_report(const struct record_report *report, const char *want)
{
    struct arena a = { 0 };
    struct buf text;

    buf_init(&text, 4096);
    record_report_write(report, &text);
    assert_str(buf_str(&text), terse_json(&a, want));
    buf_release(&text);
    arena_release(&a);
}

static void a_complete_recording_has_no_rest_and_no_note(void **state)
{
    struct loss loss;

    (void)state;
    loss_init(&loss, 0);
    assert_report(
        &(struct record_report){ .file = "a.jsonl",
                                 .format = "recording",
                                 .parts = 1,
                                 .messages = 4,
                                 .complete = true,
                                 .loss = &loss },
        "{'v':2,'command':'record','exit_code':0,'file':'a.jsonl','format':'recording','parts':"
        "1,"
        "'messages':4,'messages_lost':0,'messages_too_long':0,'complete':true,'rest':null,"
        "'note':null,'lost':{}}\n");
    loss_release(&loss);
}

static void all_that_is_missing_is_named(void **state)
{
    struct loss loss;

    (void)state;
    loss_init(&loss, 0);
    loss.unread_values = 3;
    assert_report(
        &(struct record_report){ .exit_code = 125,
                                 .format = "cassette",
                                 .messages = 9,
                                 .lost = 2,
                                 .too_long = 1,
                                 .rest = "a.json.journal",
                                 .note = "the server was ended",
                                 .loss = &loss },
        "{'v':2,'command':'record','exit_code':125,'file':null,'format':'cassette','parts':0,"
        "'messages':9,'messages_lost':2,'messages_too_long':1,'complete':false,"
        "'rest':'a.json.journal','note':'the server was "
        "ended','lost':{'unread-values':3}}\n");
    loss_release(&loss);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_complete_recording_has_no_rest_and_no_note),
        cmocka_unit_test(all_that_is_missing_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
