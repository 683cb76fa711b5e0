#include "report/inspect-text.h"

#include "terse.h"
#include "test.h"

static const struct inspect_file file = {
    .path = "a.jsonl", .format = "recording", .bytes = 4100, .notes = 0
};

struct shown {
    struct stats s;
    struct buf text;
};

static void begin(struct shown *t)
{
    stats_init(&t->s);
    buf_init(&t->text, 1 << 20);
}

static void finish(struct shown *t, bool color)
{
    stats_finish(&t->s);
    inspect_text_write(&t->text, &t->s, &file, color);
}

static void show(struct shown *t, const char *input, bool color)
{
    begin(t);
    terse_feed(&t->s.sink, input);
    finish(t, color);
}

static void release(struct shown *t)
{
    buf_release(&t->text);
    stats_release(&t->s);
}

static bool holds(struct shown *t, const char *part)
{
    return strstr(buf_z(&t->text), part) != NULL;
}

static void assert_holds(struct shown *t, const char *part)
{
    if (!holds(t, part))
        fail_msg("no '%s' in:\n%s", part, buf_z(&t->text));
}

static void many_pings(struct shown *t, const char *method, int first, int count)
{
    struct arena a = { 0 };

    for (int i = first; i < first + count; i++) {
        arena_clear(&a);
        terse_feed(&t->s.sink, arena_printf(&a, "c2s {'id':%d,'method':'%s'}", i, method).at);
    }
    arena_release(&a);
}

static void a_small_recording_has_a_short_page(void **state)
{
    struct shown t;

    (void)state;
    show(&t, "", false);
    assert_str(buf_str(&t.text),
               STR("a.jsonl: recording, 4.1 kB\n"
                   "\n"
                   "Messages   0\n"
                   "\n"
                   "Errors     none\n"
                   "\n"
                   "Findings   no footer: the recorder did not end properly\n"));
    release(&t);
}

static void the_most_frequent_come_first(void **state)
{
    struct shown t;
    const char *one, *two, *three;

    (void)state;
    begin(&t);
    many_pings(&t, "rare", 0, 1);
    many_pings(&t, "often", 10, 3);
    many_pings(&t, "too", 20, 1);
    finish(&t, false);
    one = strstr(buf_z(&t.text), "\noften  ");
    two = strstr(buf_z(&t.text), "\nrare  ");
    three = strstr(buf_z(&t.text), "\ntoo  ");
    assert_true(one && two && three && one < two && two < three);
    release(&t);
}

static void only_the_first_rows_are_shown(void **state)
{
    struct arena a = { 0 };
    struct shown t;

    (void)state;
    begin(&t);
    for (int i = 0; i < 20; i++)
        many_pings(&t, arena_printf(&a, "own/%d", i).at, i * 10, i < 3 ? 1 : 2);
    finish(&t, false);
    assert_holds(&t, "\nand 4 more                                5      0\n");
    release(&t);
    begin(&t);
    for (int i = 0; i < OP_STATS_ROWS + 2; i++)
        many_pings(&t, arena_printf(&a, "own/%d", i).at, i * 10, i < 3 || i >= 20 ? 1 : 2);
    finish(&t, false);
    assert_holds(&t, "\nand more than 496 others                499      0\n");
    arena_release(&a);
    release(&t);
}

static void definitions_and_results_have_a_context_cost(void **state)
{
    struct shown t;

    (void)state;
    show(&t,
         "c2s {'id':1,'method':'tools/list'}\n"
         "s2c "
         "{'id':1,'result':{'tools':[{'name':'small'},{'name':'large','description':'"
         "1234567890'}]}}\n"
         "c2s {'id':2,'method':'tools/call','params':{'name':'small'}}\n"
         "s2c {'id':2,'result':{'content':[]}}\n"
         "c2s {'id':3,'method':'tools/call','params':{'name':'small'}}\n"
         "s2c {'id':3,'result':{'content':[1]}}\n"
         "c2s {'id':4,'method':'tools/call','params':{'name':'unlisted'}}\n"
         "s2c {'id':4,'result':{}}\n",
         false);
    assert_holds(&t, "Tools      2 advertised, 2 called; never called: large\n"
                     "           definitions of 59 bytes, about 15 tokens\n");
    assert_holds(
        &t, "\nContext (tokens are estimated)         defined tokens results     bytes    "
            "tokens   largest\n"
            "tools/call small                      16 bytes      4       2  29 bytes         "
            "8  15 bytes\n"
            "tools/call large                      43 bytes     11\n"
            "tools/call unlisted                                         1   2 bytes         "
            "1   2 bytes\n");
    release(&t);
}

static void without_lists_and_results_there_is_no_context_cost(void **state)
{
    struct shown t;

    (void)state;
    show(&t, "c2s {'id':1,'method':'ping'}\ns2c {'id':1,'result':{}}\n", false);
    assert_false(holds(&t, "Context"));
    release(&t);
}

static void client_and_server_have_a_table_each(void **state)
{
    struct shown t;

    (void)state;
    show(&t,
         "@1000 s2c {'id':1,'method':'roots/list'}\n"
         "@3500 c2s {'id':1,'error':{'code':-32601,'message':''}}\n",
         false);
    assert_false(holds(&t, "Requests from the client"));
    assert_holds(&t, "\nRequests from the server              calls errors       p50       p95"
                     "       max\n"
                     "roots/list                                1      1    2.5 ms    2.5 ms"
                     "    2.5 ms\n");
    assert_holds(&t, "\nErrors     1 rpc error -32601 Method not found from the client\n");
    release(&t);
}

static void a_continued_call_is_one_call_with_three_durations(void **state)
{
    struct shown t;

    (void)state;
    show(&t,
         "@1000 c2s {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
         "@2000 s2c {'id':1,'result':{'resultType':'input_required','requestState':'s'}}\n"
         "@9000 c2s {'id':2,'method':'tools/call','params':{'name':'a','requestState':'s'}}\n"
         "@9500 s2c {'id':2,'result':{'resultType':'task','taskId':'t','status':'working'}}\n"
         "@9600 c2s {'id':3,'method':'tasks/get','params':{'taskId':'t'}}\n"
         "@9700 s2c {'id':3,'result':{'taskId':'t','status':'completed','result':{}}}\n"
         "@9800 c2s {'id':4,'method':'tools/list'}\n"
         "@9810 s2c {'id':4,'result':{'nextCursor':'2'}}\n"
         "@9820 c2s {'id':5,'method':'tools/list','params':{'cursor':'2'}}\n"
         "@9830 s2c {'id':5,'result':{'nextCursor':'3'}}\n"
         "@9840 c2s {'id':6,'method':'tools/list','params':{'cursor':'3'}}\n"
         "@9850 s2c {'id':6,'result':{}}\n",
         false);
    assert_holds(&t, "\nOperations 6, 4 of them part of others: 2 ok\n");
    assert_holds(
        &t, "\ntools/call a                              1      0    8.7 ms    8.7 ms"
            "    8.7 ms\n"
            "  server time                                         1.7 ms    1.7 ms    1.7 ms\n"
            "  waiting for the client                              7.0 ms    7.0 ms    7.0 ms\n"
            "  with 1 retry, 1 task request\n");
    assert_holds(&t, "\n  with 2 further pages\n");
    assert_false(holds(&t, "tasks/get"));
    release(&t);
}

static void outcomes_have_the_words_of_show(void **state)
{
    struct shown t;

    (void)state;
    show(&t,
         "c2s {'id':1,'method':'a'}\ns2c {'id':1,'result':{}}\n"
         "c2s {'id':2,'method':'a'}\ns2c {'id':2,'error':{'code':1}}\n"
         "c2s {'id':3,'method':'a'}\ns2c {'id':3,'result':{'isError':true}}\n"
         "x=1 c2s {'id':4,'method':'a'}\nx=1 http 500\nx=1 http end server\n"
         "raw s2c hello\n"
         "c2s {'id':5,'method':'a'}\n"
         "c2s {'id':6,'method':'a'}\n"
         "c2s {'method':'notifications/cancelled','params':{'requestId':6}}\n"
         "c2s {'id':7,'method':'a'}\n"
         "c2s {'method':'notifications/cancelled','params':{'requestId':7}}\n"
         "s2c {'id':7,'result':{}}\n"
         "c2s {'method':'notifications/initialized'}\n",
         false);
    assert_holds(&t,
                 "\nOperations 9: 1 ok, 1 rpc error, 1 tool error, 1 http error, 1 malformed, "
                 "1 pending, 1 cancelled, 1 late, 1 not a request\n");
    release(&t);
}

static void without_a_command_the_transport_is_shown(void **state)
{
    static const char header[] =
        "| {'type':'header','version':'1.0','recorded_at':"
        "'2026-11-15T21:00:00Z','thoughtjack_version':'','upstream':'%s'%s}\n";
    struct arena a = { 0 };
    struct shown t;

    (void)state;
    show(&t, arena_printf(&a, header, "srv", ",'transport':'stdio'").at, false);
    assert_holds(&t, "\nCommand    srv (stdio)\n");
    release(&t);
    show(&t, arena_printf(&a, header, "srv", "").at, false);
    assert_holds(&t, "\nCommand    srv\n");
    release(&t);
    show(&t, arena_printf(&a, header, "", ",'transport':'stdio'").at, false);
    assert_holds(&t, "\nTransport  stdio\n");
    release(&t);
    show(&t, arena_printf(&a, header, "", "").at, false);
    assert_false(holds(&t, "Command"));
    assert_false(holds(&t, "Transport"));
    release(&t);
    arena_release(&a);
}

static void several_sessions_are_listed(void **state)
{
    static const char one[] =
        "c2s "
        "{'id':0,'method':'initialize','params':{'clientInfo':{'name':'cli','version':'1'}}}\n";
    struct shown t;

    (void)state;
    show(&t, one, false);
    assert_holds(&t, "\nSessions   1\nMessages");
    release(&t);
    begin(&t);
    for (int i = 0; i < 7; i++)
        terse_feed(&t.s.sink, one);
    finish(&t, false);
    assert_holds(&t, "\nSessions   7\n           1: cli 1 -> unknown, 1 message\n");
    assert_holds(&t, "           5: cli 1 -> unknown, 1 message\n"
                     "           and 2 more\n");
    release(&t);
}

static void tools_without_calls_are_named(void **state)
{
    struct shown t;

    (void)state;
    show(&t,
         "c2s {'id':1,'method':'tools/list'}\n"
         "s2c {'id':1,'result':{'tools':[{'name':'a'},{'name':'b'},{'name':'c'},{'name':'d'},"
         "{'name':'e'},{'name':'f'},{'name':'g'},{'name':'h'},{'name':'i'},{'name':'j'},"
         "{'name':'k'}]}}\n"
         "c2s {'id':2,'method':'tools/call','params':{'name':'b'}}\n",
         false);
    assert_holds(&t,
                 "\nTools      11 advertised, 1 called; never called: a, c, d, e, f, g, h, i "
                 "and 2 more\n");
    release(&t);
}

static void text_of_the_file_is_escaped(void **state)
{
    struct shown t;

    (void)state;
    show(&t,
         "| {'type':'header','version':'1.`u001b','recorded_at':'2026-11-15T21:00:00Z',"
         "'upstream':'`u001b[2J','thoughtjack_version':'','name':'`u202e','transport':'`u0007',"
         "'producer':{'name':'`u009b','version':'`u0000'}}\n"
         "c2s {'id':0,'method':'initialize','params':{'clientInfo':{'name':'c`u001b','version':"
         "'`n'}}}\n"
         "s2c {'id':0,'result':{'protocolVersion':'`u001b','serverInfo':{'name':'`u2066'}}}\n"
         "c2s {'id':0,'method':'initialize'}\n"
         "c2s {'id':1,'method':'`u001b'}\n"
         "c2s {'id':2,'method':'tools/call','params':{'name':'`u001b]0;x`u0007'}}\n"
         "s2c {'method':'`u001b`n'}\n"
         "c2s {'id':3,'method':'tools/list'}\n"
         "s2c {'id':3,'result':{'tools':[{'name':'`u001b[8m'}]}}\n"
         "| {'type':'raw','from':'server','text':'`u001b[31m`r'}\n"
         "| {'type':'`u001b'}\n"
         "| {'type':'gap','messages':1,'bytes':1,'why':'`u001b'}\n",
         false);
    for (size_t i = 0; i < t.text.len; i++) {
        unsigned char c = (unsigned char)t.text.at[i];
        if (c < ' ' && c != '\n')
            fail_msg("byte %02x in:\n%s", c, buf_z(&t.text));
    }
    assert_holds(&t, "<U+202E>");
    assert_holds(&t, "<U+009B> \\x00");
    assert_holds(&t, "tools/call \\x1b]0;x\\x07  ");
    assert_false(holds(&t, "\xe2\x80\xae"));
    assert_false(holds(&t, "\xe2\x81\xa6"));
    release(&t);
}

static void colours_are_used_if_enabled(void **state)
{
    static const char input[] = "c2s {'id':2,'method':'tools/call','params':{'name':'a'}}\n"
                                "s2c {'id':2,'result':{'isError':true}}\n";
    struct shown t;

    (void)state;
    show(&t, input, false);
    assert_false(holds(&t, "\x1b"));
    release(&t);
    show(&t, input, true);
    assert_holds(&t, "\x1b[1mErrors\x1b[0m     \x1b[31m1 tool error\x1b[0m\n");
    assert_holds(&t, "\x1b[31m      1\x1b[0m");
    assert_holds(&t, "\x1b[33mthe file does not start");
    release(&t);
}

static void a_complete_file_has_no_findings(void **state)
{
    struct shown t;

    (void)state;
    show(&t,
         "| "
         "{'type':'header','version':'1.0','recorded_at':'2026-11-15T21:00:00Z','upstream':'u',"
         "'thoughtjack_version':''}\n"
         "| {'type':'footer','total_messages':0,'client_messages':0,'server_messages':0,"
         "'duration_ms':0}\n",
         true);
    assert_holds(&t, "Findings\x1b[0m   \x1b[32mnone\x1b[0m\n");
    release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_recording_has_a_short_page),
        cmocka_unit_test(the_most_frequent_come_first),
        cmocka_unit_test(only_the_first_rows_are_shown),
        cmocka_unit_test(definitions_and_results_have_a_context_cost),
        cmocka_unit_test(without_lists_and_results_there_is_no_context_cost),
        cmocka_unit_test(client_and_server_have_a_table_each),
        cmocka_unit_test(a_continued_call_is_one_call_with_three_durations),
        cmocka_unit_test(outcomes_have_the_words_of_show),
        cmocka_unit_test(without_a_command_the_transport_is_shown),
        cmocka_unit_test(several_sessions_are_listed),
        cmocka_unit_test(tools_without_calls_are_named),
        cmocka_unit_test(text_of_the_file_is_escaped),
        cmocka_unit_test(colours_are_used_if_enabled),
        cmocka_unit_test(a_complete_file_has_no_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
