#include "trace/combine.h"

#include <stdio.h>

#include "format/recording-line.h"
#include "terse.h"
#include "test.h"
#include "trace/features.h"

enum { EVERYTHING = (1 << FEATURE_COUNT) - 1 };

/* Writes the records that come out as lines of a recording, with ' for ". */
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

/* Input and output are abbreviated. Each line starts with the number of its lane:
 *
 *     0 H NAME SECOND MORE      a header
 *     0 P SEQ SECOND MORE       a request of the client
 *     0 R SEQ SECOND MORE       the answer to it
 *     0 M SEQ SECOND DIR MSG MORE
 *     0 F ALL MS CLIENT SERVER MORE
 *     0 {…}                     any line of a recording
 *
 * MORE are further members, as they stand in JSON. */
static struct str word(struct str *line)
{
    return str_cut(line, ' ');
}

static void add_message(struct buf *to, struct str *line, const char *dir, const char *msg)
{
    struct str seq = word(line), second = word(line);

    buf_printf(to, "{'type':'message','seq':%.*s,'ts':'2026-01-01T00:00:%.*s.000Z','dir':'",
               STR_ARG(seq), STR_ARG(second));
    if (dir) {
        buf_printf(to, "%s','msg':%s", dir, msg);
        return;
    }
    buf_add(to, word(line));
    buf_add(to, STR("','msg':"));
    buf_add(to, word(line));
}

static void add_header(struct buf *to, struct str *line)
{
    struct str name = word(line), second = word(line);

    buf_printf(to,
               "{'type':'header','version':'1.0','name':'%.*s','recorded_at':"
               "'2026-01-01T00:00:%.*s.000Z','upstream':'u','thoughtjack_version':'0.3.0'",
               STR_ARG(name), STR_ARG(second));
}

static void add_footer(struct buf *to, struct str *line)
{
    struct str all = word(line), ms = word(line), client = word(line), server = word(line);

    buf_printf(to,
               "{'type':'footer','total_messages':%.*s,'duration_ms':%.*s,"
               "'client_messages':%.*s,'server_messages':%.*s",
               STR_ARG(all), STR_ARG(ms), STR_ARG(client), STR_ARG(server));
}

/* An abbreviated line, without its lane, as a line of a recording. */
static void expand(struct buf *to, struct str line)
{
    char kind = line.at[0];

    if (kind == '{') {
        buf_add(to, line);
        buf_add_ch(to, '\n');
        return;
    }
    word(&line);
    if (kind == 'H')
        add_header(to, &line);
    else if (kind == 'P')
        add_message(to, &line, "c2s", "{'id':1,'method':'ping'}");
    else if (kind == 'R')
        add_message(to, &line, "s2c", "{'id':1,'result':{}}");
    else if (kind == 'M')
        add_message(to, &line, NULL, NULL);
    else if (kind == 'F')
        add_footer(to, &line);
    else
        fail_msg("a line of no kind: %.*s", STR_ARG(line));
    if (line.len)
        buf_add_ch(to, ',');
    buf_add(to, line);
    buf_add(to, STR("}\n"));
}

static void feed(struct combine *j, const char *input, unsigned parts)
{
    struct str rest = str_z(input);
    struct buf one;

    buf_init(&one, 4096);
    while (rest.len) {
        struct str line = str_cut(&rest, '\n');

        buf_clear(&one);
        buf_add(&one, STR("| "));
        expand(&one, str_skip(line, 2));
        combine_select_input(j, (size_t)(line.at[0] - '0'), parts);
        terse_feed(&j->sink, buf_z(&one));
    }
    buf_release(&one);
}

/* `want` is abbreviated in the same way, without lanes. */
static void feed_and_check(struct combine *j, const char *input, unsigned parts,
                           const char *want)
{
    struct lines *l = (struct lines *)j->next_sink;
    struct str rest = str_z(want);
    struct err e = ERR_NONE;
    struct buf all;

    buf_init(&all, 1 << 20);
    while (rest.len)
        expand(&all, str_cut(&rest, '\n'));
    feed(j, input, parts);
    assert_true(combine_finish(j, &e));
    assert_str(buf_str(&l->text), buf_str(&all));
    combine_release(j);
    buf_release(&l->text);
    buf_release(&all);
}

static void check_combined(size_t lanes, unsigned parts, const char *input, const char *want)
{
    struct lines l;
    struct combine j;

    lines_init(&l);
    combine_init(&j, lanes, &l.sink);
    feed_and_check(&j, input, parts, want);
}

static void check_repair(const char *input, const char *want)
{
    struct lines l;
    struct combine j;

    lines_init(&l);
    combine_init(&j, 1, &l.sink);
    j.add_header_footer = true;
    feed_and_check(&j, input, EVERYTHING, want);
}

/* The output must be the input, without its file. */
static void assert_unchanged(const char *input)
{
    struct str rest = str_z(input);
    struct buf want;

    buf_init(&want, 1 << 20);
    while (rest.len) {
        buf_add(&want, str_skip(str_cut(&rest, '\n'), 2));
        buf_add_ch(&want, '\n');
    }
    check_combined(1, EVERYTHING, input, buf_z(&want));
    check_repair(input, buf_z(&want));
    buf_release(&want);
}

static void a_complete_recording_stays_unchanged(void **state)
{
    (void)state;
    assert_unchanged("0 H a 01 'us':12\n"
                     "0 {'type':'proc','ev':'start','us':90,'conn':1}\n"
                     "0 P 7 02 'us':500,'conn':1,'session':3,'exchange':4,'stream':5\n"
                     "0 {'type':'stderr','text':'x','us':600,'conn':1}\n"
                     "0 R 9 03 'latency_ms':2,'batch':{'id':1,'index':0,'count':1},"
                     "'redelivers':3,'us':550\n"
                     "0 F 2 61 1 1 'exit_code':3,'protocol_version':'v','server_info':{'a':1},"
                     "'client_info':{},'errors':0,'us':700\n");
    assert_unchanged("0 H a 01\n"
                     "0 P 1 02\n"
                     "0 R 2 03\n"
                     "0 F 2 99 1 1\n");
}

static void two_inputs_become_one_recording(void **state)
{
    (void)state;
    check_combined(2, EVERYTHING,
                   "0 H a 01 'us':0\n"
                   "1 H b 02 'us':0\n"
                   "0 P 1 03 'us':2000000,'conn':1\n"
                   "1 P 1 04 'us':2000000,'conn':1\n"
                   "1 R 2 05 'us':3000000,'conn':1\n"
                   "0 R 2 06 'us':5000000,'conn':1\n"
                   "0 F 2 6000 1 1 'exit_code':0,'errors':0,'us':6000000\n"
                   "1 F 2 9000 1 1 'exit_code':7,'errors':0,'us':9000000\n",
                   "H a 01 'us':0\n"
                   "P 1 03 'us':2000000,'conn':1\n"
                   "P 2 04 'us':3000000,'conn':2\n"
                   "R 3 05 'us':4000000,'conn':2\n"
                   "R 4 06 'us':5000000,'conn':1\n"
                   "F 4 10000 2 2 'exit_code':7,'errors':0,'us':10000000\n");
}

static void the_source_is_kept_for_one_input_only(void **state)
{
    (void)state;
    check_combined(2, EVERYTHING, "0 H a 01 'source':{'format':'cassette'}\n1 H b 02\n",
                   "H a 01\n");
    check_combined(1, EVERYTHING, "0 H a 01 'source':{'format':'cassette'}\n0 F 0 0 0 0\n",
                   "H a 01 'source':{'format':'cassette'}\nF 0 0 0 0\n");
}

static void times_are_relative_to_the_earliest_start(void **state)
{
    struct lines l;
    struct combine j;

    (void)state;
    lines_init(&l);
    combine_init(&j, 2, &l.sink);
    j.start_known = true;
    j.start_us = INT64_C(1767225600000000); /* 2026-01-01T00:00:00Z */
    feed_and_check(&j,
                   "0 H a 05 'us':100\n"
                   "1 H b 00 'us':0\n"
                   "1 {'type':'stderr','text':'x','us':1000000}\n"
                   "0 {'type':'stderr','text':'y','us':200}\n",
                   EVERYTHING & ~FEATURE_END,
                   "H a 00 'us':0\n"
                   "{'type':'stderr','text':'x','us':1000000}\n"
                   "{'type':'stderr','text':'y','us':5000100}\n"
                   "F 0 5000 0 0 'errors':0,'us':5000100\n");
}

static void combined_times_do_not_go_back(void **state)
{
    (void)state;
    check_combined(2, EVERYTHING,
                   "0 H a 01 'us':0\n"
                   "0 {'type':'stderr','text':'w','us':-5}\n"
                   "0 {'type':'stderr','text':'x','us':900}\n"
                   "1 {'type':'stderr','text':'y','us':300}\n"
                   "0 {'type':'stderr','text':'z','us':1000}\n",
                   "H a 01 'us':0\n"
                   "{'type':'stderr','text':'w','us':0}\n"
                   "{'type':'stderr','text':'x','us':900}\n"
                   "{'type':'stderr','text':'y','us':900}\n"
                   "{'type':'stderr','text':'z','us':1000}\n");
}

static void numbers_of_different_inputs_stay_different(void **state)
{
    (void)state;
    check_combined(3, 0,
                   "0 P 1 01 'conn':2,'session':1,'exchange':5,'stream':1\n"
                   "1 P 1 01 'conn':2,'session':1,'exchange':5,'stream':1\n"
                   "2 P 1 01 'conn':1,'session':2\n"
                   "2 P 2 01\n"
                   "2 {'type':'stderr','text':'x'}\n",
                   "P 1 01 'conn':4,'session':1,'exchange':13,'stream':1\n"
                   "P 2 01 'conn':5,'session':2,'exchange':14,'stream':2\n"
                   "P 3 01 'conn':3,'session':6\n"
                   "P 4 01 'conn':3\n"
                   "{'type':'stderr','text':'x'}\n"
                   "F 4 0 4 0 'errors':0\n");
}

static void batches_of_two_inputs_stay_separate(void **state)
{
    (void)state;
    check_combined(2, 0,
                   "0 P 1 01 'batch':{'id':1,'index':0,'count':2}\n"
                   "1 P 1 01 'batch':{'id':1,'index':0,'count':2}\n"
                   "1 P 1 01 'batch':{'odd':1}\n",
                   "P 1 01 'batch':{'id':1,'index':0,'count':2},'conn':1\n"
                   "P 2 01 'batch':{'id':2,'index':0,'count':2},'conn':2\n"
                   "P 3 01 'batch':{'odd':1},'conn':2\n"
                   "F 3 0 3 0 'errors':0\n");
}

static void consecutive_recordings_become_one(void **state)
{
    (void)state;
    check_combined(1, EVERYTHING,
                   "0 H a 01 'us':0\n"
                   "0 P 1 01 'us':10,'conn':1\n"
                   "0 R 2 01 'us':20,'conn':2\n"
                   "0 F 2 1 1 1 'protocol_version':'p','us':30\n"
                   "0 H b 03 'us':5\n"
                   "0 P 1 03 'us':15,'conn':1\n"
                   "0 F 1 1 1 0 'us':25\n",
                   "H a 01 'us':0\n"
                   "P 1 01 'us':10,'conn':1\n"
                   "R 2 01 'us':20,'conn':2\n"
                   "P 3 03 'us':2000010,'conn':3\n"
                   "F 3 2000 2 1 'protocol_version':'p','us':2000020\n");
}

/* The parts of a recording are files of their own, and one recording all the same: the
 * answer in the second belongs to the request in the first. */
static void rotated_parts_become_one_recording(void **state)
{
    (void)state;
    check_combined(2, EVERYTHING,
                   "0 H a 01 'part':1,'us':0\n"
                   "1 H a 01 'part':2,'us':0\n"
                   "0 P 1 03 'us':2000000,'conn':1\n"
                   "0 F 1 6000 1 0 'us':2000001\n"
                   "1 R 2 04 'us':3000000,'conn':1\n"
                   "1 P 3 05 'us':4000000,'conn':2\n"
                   "1 F 2 9000 1 1 'exit_code':7,'us':5000000\n",
                   "H a 01 'us':0\n"
                   "P 1 03 'us':2000000,'conn':1\n"
                   "R 2 04 'us':3000000,'conn':1\n"
                   "P 3 05 'us':4000000,'conn':3\n"
                   "F 3 5000 2 1 'exit_code':7,'errors':0,'us':5000000\n");
    check_combined(1, EVERYTHING,
                   "0 H a 01 'part':1,'us':0\n"
                   "0 P 1 03 'us':2000000,'conn':1\n"
                   "0 F 1 6000 1 0 'us':2000001\n"
                   "0 H a 01 'part':2,'us':0\n"
                   "0 R 2 04 'us':3000000,'conn':1\n"
                   "0 F 1 9000 0 1 'exit_code':7,'us':5000000\n",
                   "H a 01 'part':1,'us':0\n"
                   "P 1 03 'us':2000000,'conn':1\n"
                   "R 2 04 'us':3000000,'conn':1\n"
                   "F 2 5000 1 1 'exit_code':7,'errors':0,'us':5000000\n");
}

static void parts_of_two_recordings_become_two(void **state)
{
    (void)state;
    check_combined(4, EVERYTHING,
                   "0 H a 01 'part':1,'us':0\n"
                   "1 H b 02 'part':2,'us':0\n"
                   "2 H a 01 'part':2,'us':0\n"
                   "3 H c 01 'us':0\n"
                   "0 P 1 03 'us':2000000,'conn':1\n"
                   "1 P 1 04 'us':2000000,'conn':1\n"
                   "2 R 2 05 'us':4000000,'conn':1\n"
                   "3 P 2 06 'us':5000000,'conn':1\n",
                   "H a 01 'us':0\n"
                   "P 1 03 'us':2000000,'conn':1\n"
                   "P 2 04 'us':3000000,'conn':2\n"
                   "R 3 05 'us':4000000,'conn':1\n"
                   "P 4 06 'us':5000000,'conn':4\n");
}

static void a_truncated_recording_stays_truncated(void **state)
{
    (void)state;
    check_combined(1, EVERYTHING, "0 H a 01\n0 P 1 02\n", "H a 01\nP 1 02\n");
    check_combined(2, EVERYTHING,
                   "0 H a 01\n"
                   "1 H b 01\n"
                   "0 P 1 02\n"
                   "1 P 1 03\n"
                   "1 F 1 1 1 0\n",
                   "H a 01\n"
                   "P 1 02 'conn':1\n"
                   "P 2 03 'conn':2\n");
    check_combined(1, EVERYTHING, "0 H a 01\n0 P 1 02\n0 H b 03\n0 F 0 0 0 0\n",
                   "H a 01\nP 1 02\n");
}

static void records_before_the_first_header_are_not_truncated(void **state)
{
    (void)state;
    check_combined(1, EVERYTHING, "0 {'type':'stderr','text':'x'}\n0 H b 03\n0 F 0 0 0 0\n",
                   "{'type':'stderr','text':'x'}\nF 0 0 0 0\n");
}

static void a_format_without_footer_is_never_truncated(void **state)
{
    (void)state;
    check_combined(1, EVERYTHING & ~FEATURE_END, "0 P 1 02\n",
                   "P 1 02\nF 1 0 1 0 'errors':0\n");
    check_combined(1, EVERYTHING & ~FEATURE_END, "", "");
}

static void totals_are_counted_again(void **state)
{
    (void)state;
    check_combined(1, EVERYTHING,
                   "0 H a 01\n"
                   "0 M 1 02 s2c {'id':1,'error':{}}\n"
                   "0 F 70 500 60 10 'errors':9\n"
                   "0 M 2 02 s2c {'id':1,'result':{'isError':true}}\n",
                   "H a 01\n"
                   "M 1 02 s2c {'id':1,'error':{}}\n"
                   "M 2 02 s2c {'id':1,'result':{'isError':true}}\n"
                   "F 2 500 0 2 'errors':2\n");
}

static void sequence_numbers_that_do_not_rise_are_corrected(void **state)
{
    (void)state;
    check_combined(1, 0,
                   "0 P 0 01\n0 P 5 01\n0 P 5 01\n0 P 2 01\n0 P 9 01\n"
                   "0 P 9223372036854775807 01\n",
                   "P 1 01\nP 5 01\nP 6 01\nP 7 01\nP 9 01\nP 10 01\nF 6 0 6 0 'errors':0\n");
}

static void a_redelivered_message_refers_to_the_new_number(void **state)
{
    (void)state;
    check_combined(2, 0,
                   "0 R 1 01 'exchange':1\n"
                   "1 R 1 01 'exchange':1\n"
                   "1 R 2 01 'exchange':1\n"
                   "1 R 3 01 'redelivers':1,'exchange':2\n"
                   "1 R 4 01 'redelivers':77,'exchange':2\n"
                   "0 R 2 01 'redelivers':1,'exchange':2\n",
                   "R 1 01 'conn':1,'exchange':1\n"
                   "R 2 01 'conn':2,'exchange':2\n"
                   "R 3 01 'conn':2,'exchange':2\n"
                   "R 4 01 'redelivers':2,'conn':2,'exchange':4\n"
                   "R 5 01 'conn':2,'exchange':4\n"
                   "R 6 01 'redelivers':1,'conn':1,'exchange':3\n"
                   "F 6 0 0 6 'errors':0\n");
}

static void a_redelivered_message_may_refer_to_another_part(void **state)
{
    (void)state;
    check_combined(3, EVERYTHING,
                   "0 H a 01 'part':1,'us':0\n"
                   "1 H a 01 'part':2,'us':0\n"
                   "2 H b 01 'us':0\n"
                   "2 P 1 02 'us':1000000,'conn':1\n"
                   "0 R 1 03 'us':2000000,'conn':1,'exchange':1\n"
                   "1 R 2 04 'redelivers':1,'us':3000000,'conn':1,'exchange':2\n",
                   "H a 01 'us':0\n"
                   "P 1 02 'us':1000000,'conn':3\n"
                   "R 2 03 'us':2000000,'conn':1,'exchange':1\n"
                   "R 3 04 'redelivers':2,'us':3000000,'conn':1,'exchange':4\n");
}

static void a_resumed_stream_refers_to_the_new_number(void **state)
{
    (void)state;
    check_combined(
        2, 0,
        "1 {'type':'http','ev':'response','status':200,'exchange':1,'stream':1}\n"
        "1 {'type':'http','ev':'response','status':200,'resumes':{'stream':1,'after':7},"
        "'exchange':2,'stream':2}\n"
        "1 {'type':'http','ev':'response','status':200,'resumes':{'odd':1},'exchange':3}\n",
        "{'type':'http','ev':'response','status':200,'exchange':2,'stream':2}\n"
        "{'type':'http','ev':'response','status':200,'resumes':{'stream':2,'after':7},"
        "'exchange':4,'stream':4}\n"
        "{'type':'http','ev':'response','status':200,'resumes':{'odd':1},'exchange':6}\n"
        "F 0 0 0 0 'errors':0\n");
}

static void a_combined_recording_gets_header_and_footer(void **state)
{
    static const char ask[] = "{'id':1,'method':'initialize','params':{'clientInfo':{'c':1}}}";
    static const char answer[] =
        "{'id':1,'result':{'protocolVersion':'v','serverInfo':{'s':1}}}";
    char input[1024], want[1024];

    (void)state;
    snprintf(input, sizeof input,
             "0 M 1 02 c2s %s 'us':1000000\n"
             "0 M 2 03 s2c %s 'us':2000000\n"
             "0 M 3 03 s2c {'id':2,'error':{}} 'us':2000500\n",
             ask, answer);
    snprintf(want, sizeof want,
             "{'type':'header','recorded_at':'2026-01-01T00:00:01.000Z'}\n"
             "M 1 02 c2s %s 'us':1000000\n"
             "M 2 03 s2c %s 'us':2000000\n"
             "M 3 03 s2c {'id':2,'error':{}} 'us':2000500\n"
             "F 3 2000 1 2 'protocol_version':'v','server_info':{'s':1},"
             "'client_info':{'c':1},'errors':1,'us':2000500\n",
             ask, answer);
    check_repair(input, want);
}

static void no_input_becomes_an_empty_recording(void **state)
{
    struct terse t;
    struct combine j;
    struct err e = ERR_NONE;

    (void)state;
    terse_init(&t);
    combine_init(&j, 1, &t.sink);
    j.add_header_footer = true;
    assert_true(combine_finish(&j, &e));
    assert_terse(&t, "header version= name= upstream=\n"
                     "footer messages=0+0=0 ms=0 errors=0 code=0 protocol= server= client=\n");
    combine_release(&j);
    terse_release(&t);
}

static void a_sink_that_fails_ends_the_combination(void **state)
{
    struct terse t;
    struct combine j;
    struct err e = ERR_NONE;
    struct record r = { .kind = RECORD_STDERR };

    (void)state;
    terse_init(&t);
    t.fails = true;
    combine_init(&j, 1, &t.sink);
    assert_false(j.sink.put(&j.sink, &r, &e));
    assert_string_equal(e.msg, "no room");
    j.add_header_footer = true;
    assert_false(combine_finish(&j, &e));
    combine_release(&j);
    terse_release(&t);
}

static void extreme_numbers_do_not_overflow(void **state)
{
    struct lines l;
    struct combine j;

    (void)state;
    lines_init(&l);
    combine_init(&j, 2, &l.sink);
    for (size_t lane = 0; lane < 2; lane++) {
        char line[256];

        snprintf(line, sizeof line,
                 "%zu P 9223372036854775807 01 'us':9223372036854775807,"
                 "'conn':9223372036854775807,'exchange':9223372036854775806\n",
                 lane);
        feed(&j, line, 0);
        feed(&j, line, 0);
    }
    assert_int_equal(combine_message_count(&j), 4);
    assert_null(strstr(buf_z(&l.text), ":-"));
    combine_release(&j);
    buf_release(&l.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_complete_recording_stays_unchanged),
        cmocka_unit_test(two_inputs_become_one_recording),
        cmocka_unit_test(the_source_is_kept_for_one_input_only),
        cmocka_unit_test(times_are_relative_to_the_earliest_start),
        cmocka_unit_test(combined_times_do_not_go_back),
        cmocka_unit_test(numbers_of_different_inputs_stay_different),
        cmocka_unit_test(batches_of_two_inputs_stay_separate),
        cmocka_unit_test(consecutive_recordings_become_one),
        cmocka_unit_test(rotated_parts_become_one_recording),
        cmocka_unit_test(parts_of_two_recordings_become_two),
        cmocka_unit_test(a_truncated_recording_stays_truncated),
        cmocka_unit_test(records_before_the_first_header_are_not_truncated),
        cmocka_unit_test(a_format_without_footer_is_never_truncated),
        cmocka_unit_test(totals_are_counted_again),
        cmocka_unit_test(sequence_numbers_that_do_not_rise_are_corrected),
        cmocka_unit_test(a_redelivered_message_refers_to_the_new_number),
        cmocka_unit_test(a_redelivered_message_may_refer_to_another_part),
        cmocka_unit_test(a_resumed_stream_refers_to_the_new_number),
        cmocka_unit_test(a_combined_recording_gets_header_and_footer),
        cmocka_unit_test(no_input_becomes_an_empty_recording),
        cmocka_unit_test(a_sink_that_fails_ends_the_combination),
        cmocka_unit_test(extreme_numbers_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
