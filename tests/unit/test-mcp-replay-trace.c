#include "memory-file.h"
#include "record-summary.h"
#include "terse.h"
#include "test.h"

/* The content of a trace, its warnings and its end, with windows of any size. JSON is
 * spelled with ' for ", see terse.h. */
static void check(const char *terse, const char *want)
{
    static const size_t steps[] = { 1, 7, 1 << 20 };
    struct arena a = { 0 };
    struct str text = terse_json(&a, terse);

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct buf seen;

        buf_init(&seen, 1 << 20);
        record_summary_of_file(&seen, &mcp_replay_trace_format, text, steps[i],
                               ~RECORD_SUMMARY_OTHER);
        assert_str(buf_str(&seen), str_z(want));
        buf_release(&seen);
    }
    arena_release(&a);
}

/* Records as lines of terse text, written as a trace. */
static void check_written(const char *records, const char *want)
{
    struct memory_writer f;
    struct arena a = { 0 };

    memory_writer_init(&f, &mcp_replay_trace_format);
    terse_feed(&f.sink, records);
    memory_writer_finish(&f);
    assert_str(buf_str(&f.text), terse_json(&a, want));
    memory_writer_release(&f);
    arena_release(&a);
}

#define META                                                                                   \
    "{'v':1,'type':'meta','startedAt':'2026-05-12T23:00:00.000Z','label':'l','command':['a','" \
    "b']}\n"
#define META_SEEN "at=2026-05-12T23:00:00.000Z name='l' command='['a','b']' \n"
#define T1 "'t':'2026-05-12T23:00:01.000Z'"
#define T2 "'t':'2026-05-12T23:00:00.500Z'"
#define SEEN_T1 "at=2026-05-12T23:00:01.000Z "
#define SEEN_T2 "at=2026-05-12T23:00:00.500Z "
#define PING "{'jsonrpc':'2.0','id':1,'method':'ping'}"
#define PONG "{'jsonrpc':'2.0','id':1,'result':{}}"

static void lines_become_records_in_the_order_of_the_file(void **state)
{
    (void)state;
    check(META "{" T1 ",'dir':'in','raw':" PING "}\n{" T2 ",'dir':'out','raw':" PONG "}\n{" T1
               ",'type':'end','exitCode':3,'durationMs':1000}\n",
          META_SEEN "c2s " PING " " SEEN_T1 "\ns2c " PONG " " SEEN_T2 "\n" SEEN_T1
                    "exit=3 ms=1000 \nend");
}

static void a_crash_leaves_no_end_line(void **state)
{
    (void)state;
    check(META "{" T1 ",'dir':'in','raw':" PING "}\n",
          META_SEEN "c2s " PING " " SEEN_T1 "\nend");
    check(META, META_SEEN "end");
}

static void a_rotated_part_has_no_meta_line_and_one_warning(void **state)
{
    (void)state;
    check("{" T1 ",'dir':'in','raw':" PING "}\n{" T2 ",'dir':'out','raw':" PONG "}\n",
          "c2s " PING " " SEEN_T1 "\ns2c " PONG " " SEEN_T2
          "\n1:1 no meta line: a rotated part; reading on without one\nend");
    check("{" T1 ",'type':'end','exitCode':0,'durationMs':9}\n", SEEN_T1
          "exit=0 ms=9 \n1:1 no meta line: a rotated part; reading on without one\nend");
}

static void parts_in_one_file_are_a_continuation(void **state)
{
    (void)state;
    check(META META, META_SEEN META_SEEN
          "2:1 another meta line; its trace is taken as a continuation\nend");
}

static void an_array_is_a_batch(void **state)
{
    (void)state;
    check(META "{" T1 ",'dir':'in','raw':[" PING "," PING "]}\n{" T1 ",'dir':'out','raw':[" PONG
               "]}\n",
          META_SEEN "c2s " PING " " SEEN_T1 "batch=1:0/2 \nc2s " PING " " SEEN_T1
                    "batch=1:1/2 \ns2c " PONG " " SEEN_T1 "batch=2:0/1 \nend");
}

static void a_line_that_is_not_a_message_becomes_a_raw_record(void **state)
{
    static const char *const values[] = { "7", "'text'", "null", "[]", "{'a':1}", "{}" };

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct arena a = { 0 };

        check(arena_printf(&a, META "{" T1 ",'dir':'out','raw':%s}\n", values[i]).at,
              arena_printf(&a, META_SEEN "bytes s2c %s " SEEN_T1 "\nend", values[i]).at);
        arena_release(&a);
    }
    check(META "{" T1 ",'dir':'in','raw':[" PING ",[2],3]}\n",
          META_SEEN "c2s " PING " " SEEN_T1 "batch=1:0/3 \n"
                    "bytes c2s [2] " SEEN_T1 "\nbytes c2s 3 " SEEN_T1 "\nend");
}

static void unknown_lines_are_skipped_with_one_warning_each(void **state)
{
    (void)state;
    check(META "{'type':'beat'}\n{'type':'beat'}\n{'type':'note'}\n{" T1
               ",'dir':'event','raw':1}\n{'raw':1,'dir':'event'," T1 "}\n",
          META_SEEN "2:9 ignoring lines of an unknown type, 'beat'\n"
                    "4:9 ignoring lines of an unknown type, 'note'\n"
                    "5:39 ignoring lines of an unknown direction, 'event'\nend");
    check(META "{\n 'type':\n  'beat'}\n",
          META_SEEN "4:3 ignoring lines of an unknown type, 'beat'\nend");
}

static void warnings_about_skipped_lines_are_limited(void **state)
{
    struct terse records;
    struct memory_reader p;
    struct buf text;

    (void)state;
    buf_init(&text, 1 << 20);
    terse_init(&records);
    for (int i = 0; i < 100; i++)
        buf_printf(&text, "{\"type\":\"t%d\",\"v\":1}\n", i);
    memory_reader_run(&p, &mcp_replay_trace_format, buf_str(&text), 1 << 20, &records.sink);
    assert_false(p.failed);
    assert_int_equal(p.warning_count, 1 + 32);
    terse_release(&records);
    memory_reader_release(&p);
    buf_release(&text);
}

static void placeholder_values_of_mcpreel_are_recognized(void **state)
{
    (void)state;
    check("{'v':1,'type':'meta','startedAt':'1970-01-01T00:00:00.000Z','label':'mcp',"
          "'command':[]}\n{'t':'1970-01-01T00:00:00.000Z','dir':'in','raw':" PING "}\n",
          "c2s " PING " \nend");
    check("{'v':1,'type':'meta','startedAt':'1970-01-01T00:00:00.000Z','label':'',"
          "'command':['https://example.com/mcp']}\n",
          "name='' upstream='https://example.com/mcp' \nend");
}

static void a_file_may_lack_the_exit_code(void **state)
{
    (void)state;
    check(META "{" T1 ",'type':'end','durationMs':-5,'reason':'lost'}\n",
          META_SEEN SEEN_T1 "ms=0 extra='{'trace':{'reason':'lost'}}' \nend");
}

/* Every rule of the format, broken. */
static void an_invalid_line_is_an_error_with_its_position(void **state)
{
    static const struct {
        const char *line, *want;
    } cases[] = {
        { "[]", "2:1: a line of a trace must be an object" },
        { PING, "2:1: data of format 'jsonrpc' starts here, in a file of format 'trace'" },
        { "{'type':'message','seq':1}",
          "2:1: data of format 'recording' starts here, in a file of format 'trace'" },
        { "7", "2:1: a line of a trace must be an object" },
        { "{'type':1}", "2:9: 'type' must be a string" },
        { "{'type':null}", "2:9: 'type' must be a string" },
        { "{}", "2:1: 't' must be a date and time like 2026-05-12T23:00:00.000Z" },
        { "{'t':5,'dir':'in','raw':1}",
          "2:6: 't' must be a date and time like 2026-05-12T23:00:00.000Z" },
        { "{'t':'noon','dir':'in','raw':1}",
          "2:6: 't' must be a date and time like 2026-05-12T23:00:00.000Z" },
        { "{" T1 ",'raw':1}", "2:1: 'dir' must be 'in' or 'out'" },
        { "{" T1 ",'dir':true,'raw':1}", "2:39: 'dir' must be 'in' or 'out'" },
        { "{" T1 ",'dir':'in'}", "2:1: a message line without 'raw'" },
        { "{'type':'end','durationMs':1,'exitCode':0}",
          "2:1: 't' must be a date and time like 2026-05-12T23:00:00.000Z" },
        { "{" T1 ",'type':'end','exitCode':0}", "2:1: 'durationMs' must be a whole number" },
        { "{" T1 ",'type':'end','durationMs':'1','exitCode':0}",
          "2:59: 'durationMs' must be a whole number" },
        { "{" T1 ",'type':'end','durationMs':1,'exitCode':null}",
          "2:72: 'exitCode' must be a whole number" },
        { "{'type':'meta'}", "2:1: 'v' must be a whole number" },
        { "{'type':'meta','v':'1'}", "2:20: 'v' must be a whole number" },
        { "{'type':'meta','v':2}",
          "2:20: this is a trace of version 2; this program reads version 1" },
        { "{'type':'meta','v':1}",
          "2:1: 'startedAt' must be a date and time like 2026-05-12T23:00:00.000Z" },
        { "{'type':'meta','v':1,'startedAt':'2026-05-12T23:00:00Z'}",
          "2:1: 'label' must be a string" },
        { "{'type':'meta','v':1,'startedAt':'2026-05-12T23:00:00Z','label':[]}",
          "2:65: 'label' must be a string" },
        { "{'type':'meta','v':1,'startedAt':'2026-05-12T23:00:00Z','label':''}",
          "2:1: 'command' must be an array of strings" },
        { "{'type':'meta','v':1,'startedAt':'2026-05-12T23:00:00Z','label':'','command':{}}",
          "2:78: 'command' must be an array of strings" },
        { "{'type':'meta','v':1,'startedAt':'2026-05-12T23:00:00Z','label':'',"
          "'command':['a',1]}",
          "2:83: 'command' must be an array of strings" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena a = { 0 };

        check(arena_printf(&a, META "%s\n" META, cases[i].line).at,
              arena_printf(&a, META_SEEN "f:%s", cases[i].want).at);
        arena_release(&a);
    }
}

static void the_probe_recognizes_traces(void **state)
{
    static const struct terse_head heads[] = {
        { META, true },
        { "{'v':2,'type':'meta'}", true }, /* to say so */
        { "{" T1 ",'dir':'in','raw':7}", true },
        { "{" T1 ",'type':'end','durationMs':5}", true },
        { "{'v':1,'type':'meta','startedAt':'20", true },
        { "{ 't' : '2026", true },
        { "{'t':'x','dir':'in'}", false },
        { "{'type':'meta'}", false },
        { "{'type':'end','t':1}", false },
        { "{'type':'message','seq':1}", false },
        { "['v']", false },
        { "", false },
    };

    (void)state;
    terse_check_probe(mcp_replay_trace_format.probe, heads, sizeof heads / sizeof *heads);
}

#define HEADER                                                                                 \
    "| {'type':'header','version':'1.0','recorded_at':'2026-05-12T23:00:00.000Z',"             \
    "'upstream':'a b','thoughtjack_version':'0.3.0','name':'l','command':['a','b']}\n"
#define MESSAGE(ms, dir, more, msg)                                                            \
    "| {'type':'message','seq':1,'ts':'2026-05-12T23:00:0" ms "Z','dir':'" dir "'" more        \
    ",'msg':" msg "}\n"
#define LINE(ms, dir, raw) "{'t':'2026-05-12T23:00:0" ms "Z','dir':'" dir "','raw':" raw "}\n"

static void records_become_lines(void **state)
{
    (void)state;
    check_written(
        HEADER MESSAGE("1.000", "c2s", "", PING) MESSAGE(
            "0.500", "s2c", "",
            PONG) "| {'type':'stderr','text':'x'}\n| {'type':'weather'}\n"
                  "| {'type':'footer','total_messages':2,'duration_ms':9000,"
                  "'client_messages':1,'server_messages':1,'exit_code':3,'us':8999999}\n",
        META LINE("1.000", "in", PING) LINE(
            "0.500", "out", PONG) "{'t':'2026-05-12T23:00:08.999Z','type':'end','exitCode':3,"
                                  "'durationMs':9000}\n");
}

static void missing_required_members_get_placeholder_values(void **state)
{
    (void)state;
    check_written("c2s " PING "\n",
                  "{'v':1,'type':'meta','startedAt':'1970-01-01T00:00:00.000Z','label':'mcp',"
                  "'command':[]}\n"
                  "{'t':'1970-01-01T00:00:00.000Z','dir':'in','raw':" PING "}\n");
    check_written("| {'type':'stderr','text':'x'}\n" MESSAGE("1.000", "c2s", "", PING),
                  "{'v':1,'type':'meta','startedAt':'2026-05-12T23:00:01.000Z','label':'mcp',"
                  "'command':[]}\n" LINE("1.000", "in", PING));
    check_written("| {'type':'header','version':'1.0','recorded_at':'2026-05-12T23:00:00.000Z',"
                  "'upstream':'a b','thoughtjack_version':'0.3.0'}\n"
                  "| {'type':'footer','total_messages':0,'duration_ms':9000,"
                  "'client_messages':0,'server_messages':0}\n",
                  "{'v':1,'type':'meta','startedAt':'2026-05-12T23:00:00.000Z','label':'mcp',"
                  "'command':['a b']}\n{'t':'2026-05-12T23:00:09.000Z','type':'end',"
                  "'durationMs':9000}\n");
}

static void a_recording_without_name_gets_the_label_of_mcp_tape(void **state)
{
    static const struct {
        const char *command, *label;
    } cases[] = {
        { "['/opt/My.Server','--port','-']", "my-server" },
        { "['npx','-y','@scope/Files']", "files" },
        { "['bin/Fs.exe','a b']", "fs-exe" },
        { "['node','0123456789012345678901234567890123']", "01234567890123456789012345678901" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        const char *meta = arena_printf(&a,
                                        "{'v':1,'type':'meta','startedAt':"
                                        "'2026-05-12T23:00:00.000Z','label':'%s','command':%s,"
                                        "'labelled':false}\n",
                                        cases[i].label, cases[i].command)
                               .at;

        check_written(arena_printf(&a,
                                   "| {'type':'header','version':'1.0','recorded_at':"
                                   "'2026-05-12T23:00:00.000Z','upstream':'u',"
                                   "'thoughtjack_version':'0.3.0','command':%s}\n",
                                   cases[i].command)
                          .at,
                      meta);
        check(meta, arena_printf(&a, "at=2026-05-12T23:00:00.000Z command='%s' \nend",
                                 cases[i].command)
                        .at);
        arena_release(&a);
    }
}

#define EXIT(how) "| {'type':'proc','ev':'exit'" how "}\n"
#define FOOTER(more)                                                                           \
    "| {'type':'footer','total_messages':0,'duration_ms':9000,'client_messages':0,"            \
    "'server_messages':0" more "}\n"
#define END_LINE(code)                                                                         \
    "{'t':'2026-05-12T23:00:09.000Z','type':'end'" code ",'durationMs':9000}\n"

static void an_unknown_exit_code_stays_absent(void **state)
{
    (void)state;
    check_written(HEADER EXIT("") FOOTER(""), META END_LINE(""));
    check_written(HEADER EXIT(",'exit_code':3") FOOTER(""), META END_LINE(",'exitCode':3"));
    check_written(HEADER EXIT(",'signal':9") FOOTER(""), META END_LINE(",'exitCode':137"));
    check_written(HEADER EXIT(",'signal':9") FOOTER(",'exit_code':1"),
                  META END_LINE(",'exitCode':1"));
    check_written(HEADER EXIT(",'signal':9") "| {'type':'proc','ev':'start'}\n" FOOTER(""),
                  META END_LINE(""));
}

static void a_time_is_written_in_milliseconds(void **state)
{
    (void)state;
    check_written(
        HEADER MESSAGE("1.000999", "c2s", "",
                       PING) "| {'type':'raw','from':'client','text':'7','us':1999999}\n",
        META LINE("1.000", "in", PING) LINE("1.999", "in", "7"));
}

#define BATCH(index, count) ",'batch':{'id':1,'index':" #index ",'count':" #count "}"

static void a_batch_is_written_as_an_array(void **state)
{
    (void)state;
    check_written(HEADER MESSAGE("1.000", "c2s", BATCH(0, 2), PING)
                      MESSAGE("1.000", "c2s", BATCH(1, 2), PING)
                          MESSAGE("1.000", "s2c", BATCH(0, 1), PONG),
                  META LINE("1.000", "in", "[" PING "," PING "]")
                      LINE("1.000", "out", "[" PONG "]"));
}

static void json_values_that_are_not_messages_are_written_and_bytes_are_not(void **state)
{
    (void)state;
    check_written(HEADER MESSAGE("1.000", "c2s", BATCH(0, 3),
                                 PING) "| {'type':'raw','from':'client','text':'[7] "
                                       "'}\n" MESSAGE("1.000", "c2s", BATCH(2, 3),
                                                      PING) "| "
                                                            "{'type':'raw','from':'server','"
                                                            "text':'null','us':2000000}\n"
                                                            "| "
                                                            "{'type':'raw','from':'server','"
                                                            "text':'oops'}\n"
                                                            "| "
                                                            "{'type':'raw','from':'server','"
                                                            "text':'[`n1]'}\n",
                  META LINE("1.000", "in", "[" PING ",[7]," PING "]")
                      LINE("2.000", "out", "null"));
}

/* Its messages are not lost, and it is not finished with those of another. */
static void an_incomplete_batch_is_written_as_it_is(void **state)
{
    (void)state;
    check_written(HEADER MESSAGE("1.000", "c2s", BATCH(0, 3), PING)
                      MESSAGE("2.000", "s2c", "", PONG)
                          MESSAGE("3.000", "c2s", BATCH(2, 3), PING)
                              MESSAGE("4.000", "s2c", BATCH(0, 2), PONG)
                                  MESSAGE("5.000", "c2s", BATCH(1, 2), PING)
                                      MESSAGE("6.000", "s2c", BATCH(0, 9), PONG),
                  META LINE("1.000", "in", "[" PING "]") LINE("2.000", "out", PONG)
                      LINE("3.000", "in", "[" PING "]") LINE("4.000", "out", "[" PONG "]")
                          LINE("5.000", "in", "[" PING "]") LINE("6.000", "out", "[" PONG "]"));
    check_written(
        HEADER MESSAGE("1.000", "c2s", BATCH(0, 2),
                       PING) "| {'type':'footer','total_messages':1,'duration_ms':1,"
                             "'client_messages':1,'server_messages':0}\n",
        META LINE("1.000", "in", "[" PING "]") "{'t':'2026-05-12T23:00:00.001Z','type':'end',"
                                               "'durationMs':1}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_become_records_in_the_order_of_the_file),
        cmocka_unit_test(a_crash_leaves_no_end_line),
        cmocka_unit_test(a_rotated_part_has_no_meta_line_and_one_warning),
        cmocka_unit_test(parts_in_one_file_are_a_continuation),
        cmocka_unit_test(an_array_is_a_batch),
        cmocka_unit_test(a_line_that_is_not_a_message_becomes_a_raw_record),
        cmocka_unit_test(unknown_lines_are_skipped_with_one_warning_each),
        cmocka_unit_test(warnings_about_skipped_lines_are_limited),
        cmocka_unit_test(placeholder_values_of_mcpreel_are_recognized),
        cmocka_unit_test(a_file_may_lack_the_exit_code),
        cmocka_unit_test(an_invalid_line_is_an_error_with_its_position),
        cmocka_unit_test(the_probe_recognizes_traces),
        cmocka_unit_test(records_become_lines),
        cmocka_unit_test(missing_required_members_get_placeholder_values),
        cmocka_unit_test(a_recording_without_name_gets_the_label_of_mcp_tape),
        cmocka_unit_test(an_unknown_exit_code_stays_absent),
        cmocka_unit_test(a_time_is_written_in_milliseconds),
        cmocka_unit_test(a_batch_is_written_as_an_array),
        cmocka_unit_test(json_values_that_are_not_messages_are_written_and_bytes_are_not),
        cmocka_unit_test(an_incomplete_batch_is_written_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
