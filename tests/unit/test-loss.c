#include "trace/loss.h"

#include "terse.h"
#include "test.h"

enum { EVERYTHING = (1 << FEATURE_COUNT) - 1 };

static void assert_lost(const struct loss *l, const char *want)
{
    struct buf text;

    buf_init(&text, 4096);
    loss_add_text(&text, l);
    assert_str(buf_str(&text), str_z(want));
    assert_int_equal(loss_is_any(l), want[0] != '\0');
    buf_release(&text);
}

/* Returns the features of the records that a format with `keeps` loses; the records come from a
 * format with `source_keeps`. */
static void check_loss(unsigned had, unsigned keeps, const char *input, const char *want)
{
    struct loss l;

    loss_init(&l, keeps);
    l.source_keeps = had;
    terse_feed(&l.sink, input);
    assert_lost(&l, want);
    loss_release(&l);
}

#define PING "@1 c2s {'id':1,'method':'ping'}\n"
#define PONG "@2 s2c {'id':1,'result':{}}\n"

static void kept_features_are_not_lost(void **state)
{
    (void)state;
    check_loss(EVERYTHING, EVERYTHING, PING "| {'type':'stderr','text':'x'}\n" PONG, "");
    check_loss(EVERYTHING, 0, "", "");
}

static void losses_of_a_record_are_counted_by_feature(void **state)
{
    (void)state;
    check_loss(EVERYTHING, EVERYTHING & ~FEATURE_TIME, PING PONG, "the times of 2 messages");
    check_loss(
        EVERYTHING, EVERYTHING & ~(FEATURE_TIME | FEATURE_SERVER_MESSAGES),
        PING "@2 s2c {'method':'notifications/message'}\n" PONG,
        "the times of 3 messages, 1 server notification, server request or response to one");
    check_loss(EVERYTHING, EVERYTHING & ~(FEATURE_PROCESS | FEATURE_GAP),
               "| {'type':'proc','ev':'start'}\n"
               "| {'type':'gap','messages':1,'bytes':2,'why':'w'}\n"
               "| {'type':'proc','ev':'exit'}\n",
               "2 starts and ends of the server, 1 gap of the recorder");
}

static void bytes_and_directions_are_lost_with_every_message(void **state)
{
    (void)state;
    check_loss(EVERYTHING, EVERYTHING & ~(FEATURE_BYTES | FEATURE_DIRECTION), PING PONG,
               "the exact bytes of 2 messages, which side sent 2 messages");
}

static void absent_features_are_not_lost(void **state)
{
    (void)state;
    check_loss(EVERYTHING & ~FEATURE_DIRECTION,
               EVERYTHING & ~(FEATURE_BYTES | FEATURE_DIRECTION), PING,
               "the exact bytes of 1 message");
    check_loss(0, 0, PING PONG, "");
}

static void a_present_feature_is_lost_whatever_the_source_format_declares(void **state)
{
    (void)state;
    check_loss(0, 0,
               "| {'type':'stderr','text':'x'}\n| {'type':'raw','from':'client','text':'y'}\n",
               "1 line that is not JSON, 1 line of standard error");
}

static void a_format_keeps_its_own_features(void **state)
{
    struct loss l;

    (void)state;
    loss_init(&l, 0);
    l.same_format = true;
    terse_feed(&l.sink, PING "| {'type':'stderr','text':'x'}\n");
    assert_lost(&l, "");
    terse_feed(&l.sink, "| {'type':'new'}\n");
    assert_lost(&l, "1 line of unknown types");
    loss_release(&l);
}

#define SOURCE(format)                                                                         \
    "| {'type':'header','version':'1.0','recorded_at':'2026-01-01T00:00:00Z','upstream':'u',"  \
    "'thoughtjack_version':'0.3.0','name':'n','source':{'format':'" format "'}}\n"
#define EXCHANGE                                                                               \
    "x=1 c2s {'id':1,'method':'never answered'}\n"                                             \
    "| {'type':'http','ev':'response','status':200,'exchange':1}\n"                            \
    "| {'type':'footer','total_messages':1,'duration_ms':0,'client_messages':1,"               \
    "'server_messages':0}\n"

static void a_format_keeps_its_own_features_through_a_recording(void **state)
{
    struct loss l;

    (void)state;
    loss_init(&l, 0);
    l.name = STR("cassette");
    terse_feed(&l.sink, SOURCE("cassette") EXCHANGE);
    assert_lost(&l, "");
    /* But not added members. */
    terse_feed(&l.sink, "| {'type':'stderr','text':'x'}\n@1 x=2 c2s {'method':'n'}\n");
    assert_lost(&l, "the exact bytes of 1 message, the times of 1 message, "
                    "1 line of standard error, 1 record with HTTP data, "
                    "which side sent 1 message");
    loss_release(&l);
    check_loss(EVERYTHING, EVERYTHING & ~FEATURE_NAME, SOURCE("har") EXCHANGE,
               "the recording's name");
}

#define NOTE "c2s {'method':'n'}\n"
#define REQUEST_2 "c2s {'id':2,'method':'b'}\n"
#define TELL_2 "s2c {'id':2,'result':{}}\n"

static void the_position_of_a_message_in_a_call_is_lost(void **state)
{
    const unsigned keeps = EVERYTHING & ~FEATURE_ORDER,
                   less = keeps & ~(unsigned)FEATURE_UNPAIRED;

    (void)state;
    check_loss(EVERYTHING, keeps, PING PONG REQUEST_2 TELL_2 NOTE, "");
    check_loss(EVERYTHING, keeps, PING NOTE PONG,
               "the order of messages of 1 overlapping call");
    check_loss(EVERYTHING, keeps, PING REQUEST_2 NOTE TELL_2 PONG,
               "the order of messages of 2 overlapping calls");
    check_loss(EVERYTHING, keeps, PING REQUEST_2 PONG TELL_2,
               "the order of messages of 1 overlapping call");
    check_loss(keeps, keeps, PING REQUEST_2 PONG, "");
    /* Server requests have no position to lose, nor has a call that never ends. */
    check_loss(EVERYTHING, keeps,
               PING "s2c {'id':1,'method':'ping'}\nc2s {'id':1,'result':{}}\n" PONG, "");
    check_loss(EVERYTHING, less, PING REQUEST_2 NOTE TELL_2,
               "1 unpaired request or response, the order of messages of 1 overlapping call");
    check_loss(keeps, less, PING REQUEST_2 PONG, "1 unpaired request or response");
}

static void microseconds_are_lost_where_the_time_is_kept(void **state)
{
    const unsigned keeps = EVERYTHING & ~FEATURE_MICROSECONDS;

    (void)state;
    check_loss(EVERYTHING, keeps, PING PONG NOTE, "the microseconds of 2 messages");
    check_loss(EVERYTHING, keeps & ~(unsigned)FEATURE_TIME, PING PONG NOTE,
               "the times of 2 messages");
    check_loss(keeps, keeps, PING PONG, "");
}

#define ON(conn)                                                                               \
    "| {'type':'message','seq':1,'ts':'2026-01-01T00:00:00Z','dir':'c2s',"                     \
    "'msg':{'method':'n'},'conn':" conn "}\n"

static void connections_are_lost_if_there_are_several(void **state)
{
    const unsigned keeps = EVERYTHING & ~FEATURE_CONN;

    (void)state;
    check_loss(EVERYTHING, keeps, NOTE ON("0") ON("0"), "");
    check_loss(EVERYTHING, keeps, ON("3") NOTE ON("1") ON("3") ON("2"),
               "the connection of 2 messages");
    check_loss(keeps, keeps, ON("3") ON("1"), "");
}

static void a_response_may_come_on_a_resumed_stream(void **state)
{
    (void)state;
    check_loss(
        EVERYTHING, EVERYTHING & ~FEATURE_UNPAIRED,
        "@1 x=1 c2s {'id':1,'method':'a'}\n"
        "| {'type':'http','ev':'response','status':200,'media':'sse','exchange':1,"
        "'stream':1,'us':1}\n"
        "| {'type':'http','ev':'request','method':'GET','path':'/','us':2,'exchange':2}\n"
        "| {'type':'http','ev':'response','status':200,'media':'sse','exchange':2,"
        "'stream':2,'resumes':{'stream':1},'us':3}\n"
        "@4 x=2 s2c {'id':1,'result':{}}\n",
        "");
}

static void a_loss_is_written_as_json_counts_by_name(void **state)
{
    struct json_out o;
    struct loss l;
    struct buf b;

    (void)state;
    buf_init(&b, 4096);
    o = json_out_to(&b);
    loss_init(&l, EVERYTHING & ~(FEATURE_TIME | FEATURE_STDERR));
    loss_write_json(&o, &l);
    terse_feed(&l.sink, PING PONG "| {'type':'stderr','text':'x'}\n| {'type':'new'}\n");
    loss_write_json(&o, &l);
    assert_str(buf_str(&b), STR("{},{\"time\":2,\"stderr\":1,\"unknown-records\":1}"));
    loss_release(&l);
    buf_release(&b);
}

static void the_source_may_change_between_records(void **state)
{
    struct loss l;

    (void)state;
    loss_init(&l, EVERYTHING & ~FEATURE_BYTES);
    terse_feed(&l.sink, PING);
    l.source_keeps = 0;
    terse_feed(&l.sink, PONG);
    assert_lost(&l, "the exact bytes of 1 message");
    loss_release(&l);
}

static void a_request_is_lost_until_it_has_a_response(void **state)
{
    const unsigned keeps = EVERYTHING & ~FEATURE_UNPAIRED;
    struct loss l;

    (void)state;
    loss_init(&l, keeps);
    terse_feed(&l.sink, PING);
    assert_true(loss_is_any(&l));
    terse_feed(&l.sink, PONG);
    assert_false(loss_is_any(&l));
    terse_feed(&l.sink, PONG); /* no request was sent */
    assert_lost(&l, "1 unpaired request or response");
    loss_release(&l);
    /* On HTTP it belongs to its exchange, whatever the request was. */
    check_loss(EVERYTHING, keeps, "@0 x=2 s2c {'id':7,'result':{}}\n", "");

    check_loss(EVERYTHING, keeps,
               "c2s {'id':1,'method':'a'}\nc2s {'id':'1','method':'b'}\nc2s {'method':'n'}\n"
               "conn=2 s2c {'id':1,'result':{}}\n",
               "3 unpaired requests and responses");
    /* Those of the server's are its own part. */
    check_loss(EVERYTHING, keeps, "s2c {'id':1,'method':'roots/list'}\n", "");
    check_loss(EVERYTHING, keeps,
               "s2c {'id':1,'method':'roots/list'}\n" PING "c2s {'id':1,'result':{}}\n",
               "1 unpaired request or response");
}

static void standard_error_is_counted_in_lines(void **state)
{
    const unsigned keeps = EVERYTHING & ~FEATURE_STDERR;

    (void)state;
    check_loss(EVERYTHING, keeps, "| {'type':'stderr','text':'one\\n'}\n",
               "1 line of standard error");
    check_loss(EVERYTHING, keeps, "| {'type':'stderr','text':'a`nb`n`nc'}\n",
               "4 lines of standard error");
    check_loss(EVERYTHING, keeps,
               "| {'type':'stderr','text':'on'}\n| {'type':'stderr','text':'e'}\n"
               "| {'type':'stderr','text':'`ntwo'}\n| {'type':'stderr','text':''}\n"
               "| {'type':'stderr','text':'`n'}\n| {'type':'stderr','text':'three'}\n",
               "3 lines of standard error");
}

static void unknown_records_are_lost_in_every_format(void **state)
{
    (void)state;
    check_loss(EVERYTHING, EVERYTHING, "| {'type':'new'}\n", "1 line of unknown types");
    check_loss(EVERYTHING, EVERYTHING & ~FEATURE_TIME, PING "| {'type':'x'}\n| {'type':'y'}\n",
               "the times of 1 message, 2 lines of unknown types");
}

static void members_of_a_header_are_lost_together(void **state)
{
    (void)state;
    check_loss(
        EVERYTHING, 0,
        "| {'type':'header','version':'1.0','recorded_at':'2026-01-01T00:00:00Z',"
        "'upstream':'u','thoughtjack_version':'0.3.0','name':'n','tags':[],'command':['c']}\n",
        "the recording's name, the recording's tags, the server's command and arguments");
}

#define CORRELATED(format)                                                                     \
    "| {'type':'message','seq':1,'ts':'2026-01-01T00:00:00Z','dir':'c2s',"                     \
    "'msg':{'method':'n'},'foreign':{'" format "':{'corr_id':1}}}\n"

static void unknown_members_are_kept_only_by_their_format(void **state)
{
    struct loss l;

    (void)state;
    check_loss(EVERYTHING, EVERYTHING, CORRELATED("trace"), "");
    check_loss(EVERYTHING, EVERYTHING & ~FEATURE_UNKNOWN_MEMBERS, CORRELATED("trace"),
               "unknown members of 1 line");
    loss_init(&l, EVERYTHING & ~FEATURE_UNKNOWN_MEMBERS);
    l.name = STR("trace");
    terse_feed(&l.sink, CORRELATED("trace"));
    assert_lost(&l, "");
    terse_feed(&l.sink, CORRELATED("har") CORRELATED("har"));
    assert_lost(&l, "unknown members of 2 lines");
    loss_release(&l);
}

static void unreadable_text_is_lost_in_every_format(void **state)
{
    struct record r = { .kind = RECORD_HEADER, .unread_values = 2 };
    struct err e = ERR_NONE;
    struct loss l;

    (void)state;
    loss_init(&l, EVERYTHING);
    l.same_format = true;
    assert_true(l.sink.put(&l.sink, &r, &e));
    assert_lost(&l, "2 values that could not be read");
    loss_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_features_are_not_lost),
        cmocka_unit_test(losses_of_a_record_are_counted_by_feature),
        cmocka_unit_test(bytes_and_directions_are_lost_with_every_message),
        cmocka_unit_test(absent_features_are_not_lost),
        cmocka_unit_test(a_present_feature_is_lost_whatever_the_source_format_declares),
        cmocka_unit_test(a_format_keeps_its_own_features),
        cmocka_unit_test(a_format_keeps_its_own_features_through_a_recording),
        cmocka_unit_test(the_position_of_a_message_in_a_call_is_lost),
        cmocka_unit_test(microseconds_are_lost_where_the_time_is_kept),
        cmocka_unit_test(connections_are_lost_if_there_are_several),
        cmocka_unit_test(a_response_may_come_on_a_resumed_stream),
        cmocka_unit_test(a_loss_is_written_as_json_counts_by_name),
        cmocka_unit_test(the_source_may_change_between_records),
        cmocka_unit_test(a_request_is_lost_until_it_has_a_response),
        cmocka_unit_test(standard_error_is_counted_in_lines),
        cmocka_unit_test(unknown_records_are_lost_in_every_format),
        cmocka_unit_test(members_of_a_header_are_lost_together),
        cmocka_unit_test(unknown_members_are_kept_only_by_their_format),
        cmocka_unit_test(unreadable_text_is_lost_in_every_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
