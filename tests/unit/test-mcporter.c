#include "memory-file.h"
#include "record-summary.h"
#include "terse.h"
#include "test.h"

#define PARTS                                                                                  \
    (FEATURE_DIRECTION | FEATURE_BYTES | FEATURE_TIME | FEATURE_CONN | FEATURE_UNPAIRED |      \
     FEATURE_SERVER_MESSAGES | FEATURE_OTHER_JSON)

/* Records of a file, its remarks and how it ended, however it is shown. JSON is spelled with '
 * for ", see terse.h. */
static void check(const char *terse, const char *want)
{
    static const size_t steps[] = { 1, 7, 1 << 20 };
    struct arena a = { 0 };
    struct str text = terse_json(&a, terse);

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct buf seen;

        buf_init(&seen, 1 << 20);
        record_summary_of_file(&seen, &mcporter_format, text, steps[i], PARTS);
        assert_str(buf_str(&seen), str_z(want));
        buf_release(&seen);
    }
    arena_release(&a);
}

#define META(dir, server, second)                                                              \
    "'_meta':{'dir':'" dir "','server':'" server "','ts':'2026-05-16T00:00:0" second ".000Z'}"
#define START(server)                                                                          \
    "{'jsonrpc':'2.0','method':'$transport/start'," META("lifecycle", server, "0") "}\n"
#define CALL(server, second)                                                                   \
    "{'jsonrpc':'2.0','id':1,'method':'tools/call'," META("send", server, second) "}\n"
#define RESULT(server, second)                                                                 \
    "{'jsonrpc':'2.0','id':1,'result':{}," META("recv", server, second) "}\n"

static void a_message_has_direction_and_time_and_lacks_what_mcporter_added(void **state)
{
    (void)state;
    check(START("a") CALL("a", "1") RESULT("a", "2"),
          "c2s {'jsonrpc':'2.0','id':1,'method':'tools/call'} at=2026-05-16T00:00:01.000Z "
          "conn=1 \n"
          "s2c {'jsonrpc':'2.0','id':1,'result':{}} at=2026-05-16T00:00:02.000Z conn=1 \n"
          "end");
}

static void each_server_has_a_connection(void **state)
{
    (void)state;
    check(START("a") START("b") CALL("a", "1") CALL("b", "2") RESULT("b", "3") RESULT("a", "4"),
          "c2s {'jsonrpc':'2.0','id':1,'method':'tools/call'} at=2026-05-16T00:00:01.000Z "
          "conn=1 \n"
          "c2s {'jsonrpc':'2.0','id':1,'method':'tools/call'} at=2026-05-16T00:00:02.000Z "
          "conn=2 \n"
          "s2c {'jsonrpc':'2.0','id':1,'result':{}} at=2026-05-16T00:00:03.000Z conn=2 \n"
          "s2c {'jsonrpc':'2.0','id':1,'result':{}} at=2026-05-16T00:00:04.000Z conn=1 \n"
          "end");
}

static void a_server_that_starts_again_has_another_connection(void **state)
{
    (void)state;
    check(START("a") CALL("a", "1") START("a") CALL("a", "2"),
          "c2s {'jsonrpc':'2.0','id':1,'method':'tools/call'} at=2026-05-16T00:00:01.000Z "
          "conn=1 \n"
          "c2s {'jsonrpc':'2.0','id':1,'method':'tools/call'} at=2026-05-16T00:00:02.000Z "
          "conn=2 \n"
          "end");
}

static void metadata_of_the_message_itself_stays(void **state)
{
    (void)state;
    check("{" META("send", "a",
                   "1") ",'jsonrpc':'2.0','id':1,'method':'m','params':{'_meta':{'dir':1}}}\n",
          "c2s {'jsonrpc':'2.0','id':1,'method':'m','params':{'_meta':{'dir':1}}} "
          "at=2026-05-16T00:00:01.000Z conn=1 \n"
          "end");
}

static void json_that_is_no_message_is_kept(void **state)
{
    (void)state;
    check("{'n':1," META("recv", "a", "1") "}\n{" META("send", "a", "1") "}\n",
          "bytes s2c {'n':1} at=2026-05-16T00:00:01.000Z \n"
          "bytes c2s {} at=2026-05-16T00:00:01.000Z \n"
          "end");
}

static void a_line_without_direction_server_or_time_is_an_error(void **state)
{
    (void)state;
    check(CALL("a", "1") "{'id':1,'result':{},'_meta':{'dir':'recv'}}\n",
          "c2s {'jsonrpc':'2.0','id':1,'method':'tools/call'} at=2026-05-16T00:00:01.000Z "
          "conn=1 \n"
          "f:2:29: '_meta' must have the name of a 'server', and as 'dir' 'send', 'recv' or "
          "'lifecycle'");
    check(CALL("a", "1") "{'id':1,'result':{},'_meta':{'server':'a','dir':'up','ts':1}}\n",
          "c2s {'jsonrpc':'2.0','id':1,'method':'tools/call'} at=2026-05-16T00:00:01.000Z "
          "conn=1 \n"
          "f:2:29: '_meta' must have the name of a 'server', and as 'dir' 'send', 'recv' or "
          "'lifecycle'");
    check(CALL("a", "1") "{'id':1,'result':{},'_meta':{'server':'a','dir':'recv','ts':1}}\n",
          "c2s {'jsonrpc':'2.0','id':1,'method':'tools/call'} at=2026-05-16T00:00:01.000Z "
          "conn=1 \n"
          "f:2:61: 'ts' must be a date and time like 2026-05-12T23:00:00.000Z");
    check(CALL("a", "1") "[]\n", "c2s {'jsonrpc':'2.0','id':1,'method':'tools/call'} "
                                 "at=2026-05-16T00:00:01.000Z conn=1 \n"
                                 "f:2:1: a line must be an object");
}

static void messages_of_another_format_are_an_error(void **state)
{
    (void)state;
    check(CALL("a", "1") "{'jsonrpc':'2.0','id':1,'result':{}}\n",
          "c2s {'jsonrpc':'2.0','id':1,'method':'tools/call'} at=2026-05-16T00:00:01.000Z "
          "conn=1 \n"
          "f:2:1: data of format 'jsonrpc' starts here, in a file of format 'mcporter'");
}

static enum probe_rank rank(const struct format *f, const char *terse)
{
    struct arena a = { 0 };
    enum probe_rank found = format_rank(f, terse_json(&a, terse));

    arena_release(&a);
    return found;
}

static void it_is_not_taken_for_bare_messages(void **state)
{
    (void)state;
    assert_int_equal(rank(&mcporter_format, CALL("a", "1")), PROBE_SURE);
    assert_int_equal(rank(&jsonrpc_format, CALL("a", "1")), PROBE_WEAK);
    assert_int_equal(rank(&mcporter_format, "{'jsonrpc':'2.0','method':'m','_meta':{}}"),
                     PROBE_NONE);
    assert_int_equal(rank(&mcporter_format, "{'jsonrpc':'2.0','method':'m'}"), PROBE_NONE);
    assert_int_equal(rank(&jsonrpc_format, "{'jsonrpc':'2.0','method':'m'}"), PROBE_SURE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_has_direction_and_time_and_lacks_what_mcporter_added),
        cmocka_unit_test(each_server_has_a_connection),
        cmocka_unit_test(a_server_that_starts_again_has_another_connection),
        cmocka_unit_test(metadata_of_the_message_itself_stays),
        cmocka_unit_test(json_that_is_no_message_is_kept),
        cmocka_unit_test(a_line_without_direction_server_or_time_is_an_error),
        cmocka_unit_test(messages_of_another_format_are_an_error),
        cmocka_unit_test(it_is_not_taken_for_bare_messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
