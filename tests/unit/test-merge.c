#include "format/merge.h"

#include "temp-dir.h"
#include "test.h"

static const struct log *quiet(void)
{
    static const struct log none = { .level = LOG_ERROR };

    return &none;
}

static const char *const abc[] = { "a", "b", "c" };

static struct merge *open_merge(size_t count)
{
    struct err e = ERR_NONE;
    struct merge *m = NULL;

    if (!merge_open(&m, &sys_real, abc, count, NULL, quiet(), &e))
        fail_msg("%s", e.msg);
    return m;
}

/* The result of merging the files a, b, …: one letter for each record. Messages are known by
 * their method, other records by their kind. */
static void assert_order(size_t count, const char *want)
{
    struct merge *m = open_merge(count);
    struct err e = ERR_NONE;
    struct record r;
    struct buf got;
    enum next_result next;
    size_t from;

    buf_init(&got, 4096);
    while ((next = merge_next(m, &r, &from, &e)) == NEXT_RECORD) {
        buf_printf(&got, "%s%c", got.len ? " " : "", (int)('a' + from));
        if (r.kind == RECORD_MESSAGE)
            buf_add(&got, json_unquoted(json_get(r.message.msg, STR("method"))));
        else
            buf_printf(&got, "%s",
                       r.kind == RECORD_HEADER   ? "H"
                       : r.kind == RECORD_STDERR ? "E"
                                                 : "?");
    }
    assert_int_equal(next, NEXT_END);
    assert_int_equal(merge_next(m, &r, &from, &e), NEXT_END);
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
    merge_close(m);
}

#define HEADER(second)                                                                         \
    "{'type':'header','version':'1.0','recorded_at':'2026-01-01T00:00:" second                 \
    "Z','upstream':'u','thoughtjack_version':'0.3.0'}\n"
#define AT(second, name)                                                                       \
    "{'type':'message','seq':1,'ts':'2026-01-01T00:00:" second                                 \
    "Z','dir':'c2s','msg':{'method':'" name "'}}\n"
#define STDERR(us) "{'type':'stderr','text':'x','us':" us "}\n"

static void records_are_merged_by_time(void **state)
{
    (void)state;
    temp_dir_put_terse("a", HEADER("00") AT("01", "1") AT("04", "4") AT("05", "5"));
    temp_dir_put_terse("b", HEADER("00") AT("02", "2") AT("03", "3") AT("06", "6"));
    temp_dir_put_terse("c", HEADER("00") AT("04.5", "45"));
    assert_order(1, "aH a1 a4 a5");
    assert_order(2, "aH bH a1 b2 b3 a4 a5 b6");
    assert_order(3, "aH bH cH a1 b2 b3 a4 c45 a5 b6");
}

static void the_order_in_a_file_is_kept_if_its_clock_goes_back(void **state)
{
    (void)state;
    temp_dir_put_terse("a", AT("10", "1") AT("03", "2") AT("04", "3"));
    temp_dir_put_terse("b", AT("05", "4") AT("11", "5"));
    assert_order(2, "b4 a1 a2 a3 b5");
}

static void at_equal_times_the_earlier_file_comes_first(void **state)
{
    (void)state;
    temp_dir_put_terse("a", AT("01", "1") AT("01", "2"));
    temp_dir_put_terse("b", AT("01", "3") AT("01", "4"));
    assert_order(2, "a1 a2 b3 b4");
}

static void the_monotonic_time_is_used_without_a_date(void **state)
{
    (void)state;
    temp_dir_put_terse("a", HEADER("10") STDERR("1500000") AT("13", "1"));
    temp_dir_put_terse("b", HEADER("05") AT("11", "2") STDERR("6700000") AT("12", "3"));
    assert_order(2, "aH bH b2 aE bE b3 a1");
}

static void a_record_without_time_follows_the_one_before(void **state)
{
    static const char *const plain = "{'jsonrpc':'2.0','method':'x'}\n";

    (void)state;
    temp_dir_put_terse("a", HEADER("00") AT("01", "1") "{'type':'new'}\n" AT("05", "2"));
    temp_dir_put_terse("b", HEADER("00") AT("03", "3"));
    assert_order(2, "aH bH a1 a? b3 a2");
    temp_dir_put_terse("a", AT("01", "1"));
    temp_dir_put_terse("b", plain);
    assert_order(2, "bx a1");
}

static void the_messages_of_a_batch_stay_together(void **state)
{
    (void)state;
    temp_dir_put_terse("a",
                       "{'t':'2026-01-01T00:00:01Z','dir':'in','raw':[{'id':1,'method':'1'},"
                       "{'id':2,'method':'2'},{'id':3,'method':'3'}]}\n"
                       "{'t':'2026-01-01T00:00:01Z','dir':'in','raw':{'method':'4'}}\n");
    temp_dir_put_terse("b", "{'type':'message','seq':1,'ts':'2026-01-01T00:00:00Z','dir':'c2s',"
                            "'msg':{'method':'5'},'batch':{'id':1,'index':0,'count':2}}\n"
                            "{'type':'message','seq':2,'ts':'2026-01-01T00:00:09Z','dir':'c2s',"
                            "'msg':{'method':'6'},'batch':{'id':1,'index':1,'count':2}}\n"
                            "{'type':'message','seq':2,'ts':'2026-01-01T00:00:00Z','dir':'c2s',"
                            "'msg':{'method':'7'},'batch':{'id':2,'index':0,'count':2}}\n");
    assert_order(2, "b5 b6 b7 a1 a2 a3 a4");
}

static void headers_come_before_everything(void **state)
{
    (void)state;
    temp_dir_put_terse("a", HEADER("50") AT("51", "1"));
    temp_dir_put_terse("b", AT("01", "2"));
    temp_dir_put_terse("c", HEADER("03") AT("04", "3"));
    assert_order(3, "aH cH b2 c3 a1");
}

static void assert_start(size_t count, bool known, int64_t want)
{
    struct merge *m = open_merge(count);
    int64_t us = 0;

    assert_int_equal(merge_start(m, &us), known);
    assert_int_equal(us, want);
    merge_close(m);
}

static void the_earliest_start_is_known_before_the_first_record(void **state)
{
    const int64_t midnight = INT64_C(1767225600000000);

    (void)state;
    temp_dir_put_terse("a", "{'jsonrpc':'2.0','method':'x'}\n");
    assert_start(1, false, 0);
    temp_dir_put_terse("b", HEADER("07") AT("08", "1"));
    assert_start(2, true, midnight + 7000000);
    temp_dir_put_terse(
        "c", "{'type':'message','seq':1,'ts':'2026-01-01T00:00:08Z','dir':'c2s','us':3000000,"
             "'msg':{'method':'x'}}\n");
    assert_start(3, true, midnight + 5000000);
    temp_dir_put_terse("c", AT("03", "x"));
    assert_start(3, true, midnight + 3000000);
}

static void each_record_has_the_number_of_its_file(void **state)
{
    struct merge *m;

    (void)state;
    temp_dir_put_terse("a", AT("01", "1"));
    temp_dir_put_terse("b", "{'jsonrpc':'2.0','method':'x'}\n");
    m = open_merge(2);
    assert_string_equal(merge_format(m, 0)->name, "recording");
    assert_string_equal(merge_format(m, 1)->name, "jsonrpc");
    merge_close(m);
}

static void the_progress_of_a_merge_is_returned(void **state)
{
    struct err e = ERR_NONE;
    struct record r;
    struct merge *m;
    uint64_t size;
    size_t from;

    (void)state;
    temp_dir_put_terse("a", AT("01", "1") AT("02", "2"));
    temp_dir_put_terse("b", AT("03", "3"));
    m = open_merge(2);
    size = merge_size(m);
    assert_int_equal(size, 3 * (sizeof AT("01", "1") - 1));
    while (merge_next(m, &r, &from, &e) == NEXT_RECORD)
        assert_true(merge_offset(m) <= size);
    assert_int_equal(merge_offset(m), size);
    merge_close(m);
}

static void assert_no_merge(size_t count, const char *msg)
{
    struct err e = ERR_NONE;
    struct merge *m = NULL;

    assert_false(merge_open(&m, &sys_real, abc, count, NULL, quiet(), &e));
    assert_string_equal(e.msg, msg);
    assert_int_equal(e.kind, ERR_INPUT);
    assert_null(m);
}

static void an_error_has_file_and_position(void **state)
{
    struct err e = ERR_NONE;
    struct record r;
    struct merge *m;
    size_t from;

    (void)state;
    temp_dir_put_terse("a", AT("01", "1") AT("05", "2"));
    assert_no_merge(2, "cannot read 'b': No such file or directory");
    temp_dir_put_terse("b", "{'type':'message'}\n");
    assert_no_merge(2, "b:1:1: a message line without 'seq'");
    temp_dir_put_terse("b", AT("02", "3") "{'type':'message'}\n");
    m = open_merge(2);
    assert_int_equal(merge_next(m, &r, &from, &e), NEXT_RECORD);
    assert_int_equal(merge_next(m, &r, &from, &e), NEXT_RECORD);
    assert_int_equal(merge_next(m, &r, &from, &e), NEXT_ERROR);
    assert_string_equal(e.msg, "b:2:1: a message line without 'seq'");
    merge_close(m);
    merge_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(records_are_merged_by_time),
        IN_TEMP_DIR(the_order_in_a_file_is_kept_if_its_clock_goes_back),
        IN_TEMP_DIR(at_equal_times_the_earlier_file_comes_first),
        IN_TEMP_DIR(the_monotonic_time_is_used_without_a_date),
        IN_TEMP_DIR(a_record_without_time_follows_the_one_before),
        IN_TEMP_DIR(the_messages_of_a_batch_stay_together),
        IN_TEMP_DIR(headers_come_before_everything),
        IN_TEMP_DIR(the_earliest_start_is_known_before_the_first_record),
        IN_TEMP_DIR(each_record_has_the_number_of_its_file),
        IN_TEMP_DIR(the_progress_of_a_merge_is_returned),
        IN_TEMP_DIR(an_error_has_file_and_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
