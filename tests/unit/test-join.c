#include "trace/join.h"

#include <stdio.h>

#include "format/recording-line.h"
#include "terse.h"
#include "test.h"
#include "trace/part.h"

enum { EVERYTHING = (1 << PART_COUNT) - 1 };

/* Writes down what comes out as lines of a recording, with ' for ". */
struct lines {
    struct sink sink;
    struct buf text;
};

static bool put_line(struct sink *self, const struct record *r, struct err *e)
{
    struct lines *l = (struct lines *)self;
    size_t from = l->text.len;

    (void)e;
    if (r->kind == RECORD_UNKNOWN)
        buf_printf(&l->text, "unknown\n");
    else
        recording_line_write(&l->text, r);
    for (char *c = l->text.at + from; c < l->text.at + l->text.len; c++)
        *c = *c == '"' ? '\'' : *c;
    return true;
}

static void lines_init(struct lines *l)
{
    *l = (struct lines){ .sink = { put_line } };
    buf_init(&l->text, 1 << 20);
}

/* Every line of the story is the number of its lane and a line of a recording. */
static void pour(struct join *j, const char *story, unsigned parts)
{
    struct str rest = str_z(story);

    while (rest.len) {
        struct str line = str_cut(&rest, '\n');
        char one[1024];

        assert_true(line.len > 2 && line.len < sizeof one - 2);
        one[0] = '|';
        memcpy(one + 1, line.at + 1, line.len - 1);
        one[line.len] = '\0';
        join_from(j, (size_t)(line.at[0] - '0'), parts);
        terse_pour(&j->sink, one);
    }
}

static void tell(struct join *j, const char *story, unsigned parts, const char *want)
{
    struct lines *l = (struct lines *)j->to;
    struct err e = ERR_NONE;

    pour(j, story, parts);
    assert_true(join_finish(j, &e));
    assert_str(buf_str(&l->text), str_z(want));
    join_release(j);
    buf_release(&l->text);
}

static void join_story(size_t lanes, unsigned parts, const char *story, const char *want)
{
    struct lines l;
    struct join j;

    lines_init(&l);
    join_init(&j, lanes, &l.sink);
    tell(&j, story, parts, want);
}

static void mend_story(const char *story, const char *want)
{
    struct lines l;
    struct join j;

    lines_init(&l);
    join_init(&j, 1, &l.sink);
    j.whole = true;
    tell(&j, story, EVERYTHING, want);
}

#define HEADER(name, second)                                                                   \
    "{'type':'header','version':'1.0','name':'" name                                           \
    "','recorded_at':'2026-01-01T00:00:" second                                                \
    ".000Z','upstream':'u','thoughtjack_version':'0.3.0'"
#define MESSAGE(seq, second, dir, msg)                                                         \
    "{'type':'message','seq':" seq ",'ts':'2026-01-01T00:00:" second ".000Z','dir':'" dir      \
    "','msg':" msg
#define BARE_PING "{'id':1,'method':'ping'}"
#define PING(seq, second) MESSAGE(seq, second, "c2s", BARE_PING)
#define PONG(seq, second) MESSAGE(seq, second, "s2c", "{'id':1,'result':{}}")
#define FOOTER(all, ms, client, server)                                                        \
    "{'type':'footer','total_messages':" all ",'duration_ms':" ms                              \
    ",'client_messages':" client ",'server_messages':" server

/* What comes out must be what went in, without the lanes. */
static void assert_unchanged(const char *story, bool whole)
{
    struct str rest = str_z(story);
    struct lines l;
    struct buf want;
    struct join j;

    buf_init(&want, 1 << 20);
    while (rest.len) {
        buf_add(&want, str_skip(str_cut(&rest, '\n'), 2));
        buf_add_ch(&want, '\n');
    }
    lines_init(&l);
    join_init(&j, 1, &l.sink);
    j.whole = whole;
    tell(&j, story, EVERYTHING, buf_z(&want));
    buf_release(&want);
}

static void a_recording_that_is_whole_comes_out_as_it_went_in(void **state)
{
    static const char recorded[] =
        "0 " HEADER("a", "01") ",'us':12}\n"
        "0 {'type':'proc','ev':'start','us':90,'conn':1}\n"
        "0 " PING("7", "02") ",'us':500,'conn':1,'session':3,'exchange':4,'stream':5}\n"
        "0 {'type':'stderr','text':'x','us':600,'conn':1}\n"
        "0 " PONG("9", "03") ",'latency_ms':2,'batch':{'id':1,'index':0,'count':1},"
                             "'redelivers':3,'us':550}\n"
        "0 " FOOTER("2", "61", "1", "1") ",'exit_code':3,'protocol_version':'v',"
        "'server_info':{'a':1},'client_info':{},'errors':0,'us':700}\n";
    static const char seeds[] = "0 " HEADER("a", "01") "}\n0 " PING("1", "02") "}\n0 " PONG(
        "2", "03") "}\n0 " FOOTER("2", "99", "1", "1") "}\n";

    (void)state;
    assert_unchanged(recorded, false);
    assert_unchanged(recorded, true);
    assert_unchanged(seeds, false);
    assert_unchanged(seeds, true);
}

static void two_lanes_become_one_recording(void **state)
{
    (void)state;
    join_story(2, EVERYTHING,
               "0 " HEADER("a", "01") ",'us':0}\n"
               "1 " HEADER("b", "02") ",'us':0}\n"
               "0 " PING("1", "03") ",'us':2000000,'conn':1}\n"
               "1 " PING("1", "04") ",'us':2000000,'conn':1}\n"
               "1 " PONG("2", "05") ",'us':3000000,'conn':1}\n"
               "0 " PONG("2", "06") ",'us':5000000,'conn':1}\n"
               "0 " FOOTER("2", "6000", "1", "1") ",'exit_code':0,'errors':0,'us':6000000}\n"
               "1 " FOOTER("2", "9000", "1", "1") ",'exit_code':7,'errors':0,'us':9000000}\n",
               HEADER("a", "01") ",'us':0}\n"
               PING("1", "03") ",'us':2000000,'conn':1}\n"
               PING("2", "04") ",'us':3000000,'conn':2}\n"
               PONG("3", "05") ",'us':4000000,'conn':2}\n"
               PONG("4", "06") ",'us':5000000,'conn':1}\n"
               FOOTER("4", "10000", "2", "2") ",'exit_code':7,'errors':0,'us':10000000}\n");
}

static void times_count_from_the_earliest_start(void **state)
{
    struct lines l;
    struct join j;

    (void)state;
    lines_init(&l);
    join_init(&j, 2, &l.sink);
    j.dated = true;
    j.start_us = INT64_C(1767225600000000); /* 2026-01-01T00:00:00Z */
    tell(&j,
         "0 " HEADER("a", "05") ",'us':100}\n"
         "1 " HEADER("b", "00") ",'us':0}\n"
         "1 {'type':'stderr','text':'x','us':1000000}\n"
         "0 {'type':'stderr','text':'y','us':200}\n",
         EVERYTHING & ~PART_END,
         HEADER("a", "00") ",'us':0}\n"
         "{'type':'stderr','text':'x','us':1000000}\n"
         "{'type':'stderr','text':'y','us':5000100}\n"
         FOOTER("0", "5000", "0", "0") ",'errors':0,'us':5000100}\n");
}

static void joined_times_do_not_step_back(void **state)
{
    (void)state;
    join_story(2, EVERYTHING,
               "0 " HEADER("a", "01") ",'us':0}\n"
               "0 {'type':'stderr','text':'x','us':900}\n"
               "1 {'type':'stderr','text':'y','us':300}\n"
               "0 {'type':'stderr','text':'z','us':1000}\n",
               HEADER("a", "01") ",'us':0}\n"
               "{'type':'stderr','text':'x','us':900}\n"
               "{'type':'stderr','text':'y','us':900}\n"
               "{'type':'stderr','text':'z','us':1000}\n");
}

static void every_kind_of_number_is_kept_apart(void **state)
{
    (void)state;
    join_story(3, 0,
               "0 " PING("1", "01") ",'conn':2,'session':1,'exchange':5,'stream':1}\n"
               "1 " PING("1", "01") ",'conn':2,'session':1,'exchange':5,'stream':1}\n"
               "2 " PING("1", "01") ",'conn':1,'session':2}\n"
               "2 " PING("2", "01") "}\n"
               "2 {'type':'stderr','text':'x'}\n",
               PING("1", "01") ",'conn':4,'session':1,'exchange':13,'stream':1}\n"
               PING("2", "01") ",'conn':5,'session':2,'exchange':14,'stream':2}\n"
               PING("3", "01") ",'conn':3,'session':6}\n"
               PING("4", "01") ",'conn':3}\n"
               "{'type':'stderr','text':'x'}\n"
               FOOTER("4", "0", "4", "0") ",'errors':0}\n");
}

static void batches_of_two_lanes_are_two(void **state)
{
    (void)state;
    join_story(2, 0,
               "0 " PING("1", "01") ",'batch':{'id':1,'index':0,'count':2}}\n"
               "1 " PING("1", "01") ",'batch':{'id':1,'index':0,'count':2}}\n"
               "1 " PING("1", "01") ",'batch':{'odd':1}}\n",
               PING("1", "01") ",'batch':{'id':1,'index':0,'count':2},'conn':1}\n"
               PING("2", "01") ",'batch':{'id':2,'index':0,'count':2},'conn':2}\n"
               PING("3", "01") ",'batch':{'odd':1},'conn':2}\n"
               FOOTER("3", "0", "3", "0") ",'errors':0}\n");
}

static void recordings_one_after_the_other_become_one(void **state)
{
    (void)state;
    join_story(1, EVERYTHING,
               "0 " HEADER("a", "01") ",'us':0}\n"
               "0 " PING("1", "01") ",'us':10,'conn':1}\n"
               "0 " PONG("2", "01") ",'us':20,'conn':2}\n"
               "0 " FOOTER("2", "1", "1", "1") ",'protocol_version':'p','us':30}\n"
               "0 " HEADER("b", "03") ",'us':5}\n"
               "0 " PING("1", "03") ",'us':15,'conn':1}\n"
               "0 " FOOTER("1", "1", "1", "0") ",'us':25}\n",
               HEADER("a", "01") ",'us':0}\n"
               PING("1", "01") ",'us':10,'conn':1}\n"
               PONG("2", "01") ",'us':20,'conn':2}\n"
               PING("3", "03") ",'us':2000010,'conn':3}\n"
               FOOTER("3", "2000", "2", "1") ",'protocol_version':'p','us':2000020}\n");
}

static void a_recording_that_broke_off_stays_so(void **state)
{
    static const char one[] = "0 " HEADER("a", "01") "}\n0 " PING("1", "02") "}\n";

    (void)state;
    join_story(1, EVERYTHING, one, HEADER("a", "01") "}\n" PING("1", "02") "}\n");
    join_story(2, EVERYTHING,
               "0 " HEADER("a", "01") "}\n"
               "1 " HEADER("b", "01") "}\n"
               "0 " PING("1", "02") "}\n"
               "1 " PING("1", "03") "}\n"
               "1 " FOOTER("1", "1", "1", "0") "}\n",
               HEADER("a", "01") "}\n"
               PING("1", "02") ",'conn':1}\n"
               PING("2", "03") ",'conn':2}\n");
}

static void a_format_without_ends_cannot_break_off(void **state)
{
    (void)state;
    join_story(1, EVERYTHING & ~PART_END, "0 " PING("1", "02") "}\n",
               PING("1", "02") "}\n" FOOTER("1", "0", "1", "0") ",'errors':0}\n");
    join_story(1, EVERYTHING & ~PART_END, "", "");
}

static void totals_are_counted_anew(void **state)
{
    (void)state;
    join_story(1, EVERYTHING,
               "0 " HEADER("a", "01") "}\n"
               "0 " MESSAGE("1", "02", "s2c", "{'id':1,'error':{}}") "}\n"
               "0 " FOOTER("70", "500", "60", "10") ",'errors':9}\n"
               "0 " MESSAGE("2", "02", "s2c", "{'id':1,'result':{'isError':true}}") "}\n",
               HEADER("a", "01") "}\n"
               MESSAGE("1", "02", "s2c", "{'id':1,'error':{}}") "}\n"
               MESSAGE("2", "02", "s2c", "{'id':1,'result':{'isError':true}}") "}\n"
               FOOTER("2", "500", "0", "2") ",'errors':2}\n");
}

static void numbers_that_do_not_rise_are_mended(void **state)
{
    (void)state;
    join_story(1, 0,
               "0 " PING("0", "01") "}\n"
               "0 " PING("5", "01") "}\n"
               "0 " PING("5", "01") "}\n"
               "0 " PING("2", "01") "}\n"
               "0 " PING("9", "01") "}\n"
               "0 " PING("9223372036854775807", "01") "}\n",
               PING("1", "01") "}\n" PING("5", "01") "}\n" PING("6", "01") "}\n" PING(
                   "7", "01") "}\n" PING("9", "01") "}\n" PING("10", "01") "}\n"
               FOOTER("6", "0", "6", "0") ",'errors':0}\n");
}

static void what_was_delivered_again_says_so_of_the_right_message(void **state)
{
    (void)state;
    join_story(2, 0,
               "0 " PONG("1", "01") ",'exchange':1}\n"
               "1 " PONG("1", "01") ",'exchange':1}\n"
               "1 " PONG("2", "01") ",'exchange':1}\n"
               "1 " PONG("3", "01") ",'redelivers':1,'exchange':2}\n"
               "1 " PONG("4", "01") ",'redelivers':77,'exchange':2}\n"
               "0 " PONG("2", "01") ",'redelivers':1,'exchange':2}\n",
               PONG("1", "01") ",'conn':1,'exchange':1}\n"
               PONG("2", "01") ",'conn':2,'exchange':2}\n"
               PONG("3", "01") ",'conn':2,'exchange':2}\n"
               PONG("4", "01") ",'redelivers':2,'conn':2,'exchange':4}\n"
               PONG("5", "01") ",'conn':2,'exchange':4}\n"
               PONG("6", "01") ",'redelivers':1,'conn':1,'exchange':3}\n"
               FOOTER("6", "0", "0", "6") ",'errors':0}\n");
}

static void what_is_to_be_whole_gets_a_header_and_a_footer(void **state)
{
    (void)state;
    mend_story("0 " MESSAGE("1", "02", "c2s",
                            "{'id':1,'method':'initialize','params':{'clientInfo':{'c':1}}}")
               ",'us':1000000}\n"
               "0 " MESSAGE("2", "03", "s2c",
                            "{'id':1,'result':{'protocolVersion':'v','serverInfo':{'s':1}}}")
               ",'us':2000000}\n"
               "0 " MESSAGE("3", "03", "s2c", "{'id':2,'error':{}}") ",'us':2000500}\n",
               "{'type':'header','recorded_at':'2026-01-01T00:00:01.000Z'}\n"
               MESSAGE("1", "02", "c2s",
                       "{'id':1,'method':'initialize','params':{'clientInfo':{'c':1}}}")
               ",'us':1000000}\n"
               MESSAGE("2", "03", "s2c",
                       "{'id':1,'result':{'protocolVersion':'v','serverInfo':{'s':1}}}")
               ",'us':2000000}\n"
               MESSAGE("3", "03", "s2c", "{'id':2,'error':{}}") ",'us':2000500}\n"
               FOOTER("3", "2000", "1", "2") ",'protocol_version':'v','server_info':{'s':1},"
               "'client_info':{'c':1},'errors':1,'us':2000500}\n");
}

static void nothing_at_all_becomes_an_empty_recording(void **state)
{
    struct terse t;
    struct join j;
    struct err e = ERR_NONE;

    (void)state;
    terse_init(&t);
    join_init(&j, 1, &t.sink);
    j.whole = true;
    assert_true(join_finish(&j, &e));
    assert_terse(&t, "header version= name= upstream=\n"
                     "footer messages=0+0=0 ms=0 errors=0 code=0 protocol= server= client=\n");
    join_release(&j);
    terse_release(&t);
}

static void a_sink_that_takes_no_more_is_heard(void **state)
{
    struct terse t;
    struct join j;
    struct err e = ERR_NONE;
    struct record r = { .kind = RECORD_STDERR };

    (void)state;
    terse_init(&t);
    t.refuses = true;
    join_init(&j, 1, &t.sink);
    assert_false(j.sink.put(&j.sink, &r, &e));
    assert_string_equal(e.msg, "no room");
    j.whole = true;
    assert_false(join_finish(&j, &e));
    join_release(&j);
    terse_release(&t);
}

static void hostile_numbers_stay_numbers(void **state)
{
    static const char huge[] = ",'us':9223372036854775807,'conn':9223372036854775807,"
                               "'exchange':9223372036854775806}\n";
    char story[2048];
    struct lines l;
    struct join j;

    (void)state;
    snprintf(story, sizeof story, "0 %s%s1 %s%s0 %s%s", PING("1", "01"), huge, PING("1", "01"),
             huge, PING("2", "01"), huge);
    lines_init(&l);
    join_init(&j, 2, &l.sink);
    pour(&j, story, 0);
    assert_int_equal(join_messages(&j), 3);
    assert_null(strstr(buf_z(&l.text), ":-"));
    join_release(&j);
    buf_release(&l.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_that_is_whole_comes_out_as_it_went_in),
        cmocka_unit_test(two_lanes_become_one_recording),
        cmocka_unit_test(times_count_from_the_earliest_start),
        cmocka_unit_test(joined_times_do_not_step_back),
        cmocka_unit_test(every_kind_of_number_is_kept_apart),
        cmocka_unit_test(batches_of_two_lanes_are_two),
        cmocka_unit_test(recordings_one_after_the_other_become_one),
        cmocka_unit_test(a_recording_that_broke_off_stays_so),
        cmocka_unit_test(a_format_without_ends_cannot_break_off),
        cmocka_unit_test(totals_are_counted_anew),
        cmocka_unit_test(numbers_that_do_not_rise_are_mended),
        cmocka_unit_test(what_was_delivered_again_says_so_of_the_right_message),
        cmocka_unit_test(what_is_to_be_whole_gets_a_header_and_a_footer),
        cmocka_unit_test(nothing_at_all_becomes_an_empty_recording),
        cmocka_unit_test(a_sink_that_takes_no_more_is_heard),
        cmocka_unit_test(hostile_numbers_stay_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
