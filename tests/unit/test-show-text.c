#include "cmd/show-text.h"

#include "test.h"

static struct buf to;

static int setup(void **state)
{
    (void)state;
    buf_init(&to, 1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buf_release(&to);
    return 0;
}

static const struct operation call = {
    .number = 7,
    .root = 7,
    .kind = OPERATION_REQUEST,
    .dir = TO_SERVER,
    .method = STR_INIT("tools/call"),
    .subject = STR_INIT("read_file"),
    .outcome = OUTCOME_RPC_ERROR,
    .flags = OP_CODE | OP_GAP,
    .code = -32602,
    .first_us = 1234567,
    .total_us = 118000,
    .server_us = -1,
    .wait_us = -1,
    .bytes = 2048,
    .messages = { .count = 2 },
};

static void a_row_has_its_columns(void **state)
{
    struct buf parts;

    (void)state;
    buf_init(&parts, 4096);
    show_text_operation(&parts, &call, false);
    show_text_row(&to, buf_str(&parts), 0, 0);
    assert_str(buf_str(&to),
               STR("     7      1.234  client  tools/call read_file                       "
                   "rpc -32602       118 ms    2.0 kB  gap\n"));
    buf_clear(&to);
    show_text_row(&to, buf_str(&parts), 2, 3);
    assert_str(buf_str(&to),
               STR("     7      1.234  client      tools/call read_file                   "
                   "rpc -32602       118 ms    2.0 kB  gap\n"));
    buf_clear(&to);
    show_text_row(&to, buf_str(&parts), 0, 3);
    assert_true(str_ends(buf_str(&to), STR("  gap  of 3\n")));
    buf_release(&parts);
}

static void a_long_name_is_cut_and_hostile_text_is_shown(void **state)
{
    struct operation op = call;
    struct buf parts;

    (void)state;
    op.subject = STR("\x1b[2J\n\xe2\x80\xae and a name that is far too long for its column");
    buf_init(&parts, 4096);
    show_text_operation(&parts, &op, false);
    show_text_row(&to, buf_str(&parts), 60, 1);
    assert_true(memchr(to.at, '\x1b', to.len) == NULL);
    assert_int_equal(str_find(buf_str(&to), '\n'), to.len - 1);
    assert_non_null(strstr(buf_z(&to), "…"));
    buf_release(&parts);
}

static void the_verdict_tells_three_times_where_they_differ(void **state)
{
    struct operation op = call;

    (void)state;
    show_text_verdict(&to, &op, false);
    assert_str(buf_str(&to), STR("7  tools/call read_file: rpc -32602 (Invalid params), took "
                                 "118 ms, 2 messages, 2.0 kB  gap\n"));
    buf_clear(&to);
    op.outcome = OUTCOME_OK;
    op.server_us = 18000;
    op.wait_us = 100000;
    op.flags = 0;
    show_text_verdict(&to, &op, false);
    assert_str(buf_str(&to), STR("7  tools/call read_file: ok, took 118 ms: server 18 ms, "
                                 "client 100 ms, 2 messages, 2.0 kB\n"));
}

static void a_row_tells_whose_time_it_was(void **state)
{
    struct operation op = call;

    (void)state;
    op.flags = 0;
    op.server_us = 18000;
    op.wait_us = 100000;
    show_text_operation(&to, &op, false);
    assert_true(str_ends(buf_str(&to), STR("118 ms    2.0 kB  server 18 ms, client 100 ms")));
    buf_clear(&to);
    op.dir = TO_CLIENT;
    show_text_operation(&to, &op, false);
    assert_true(str_ends(buf_str(&to), STR("118 ms    2.0 kB")));
}

static void what_has_no_messages_of_its_own_has_no_size(void **state)
{
    struct operation op = call;

    (void)state;
    op.kind = OPERATION_BATCH;
    op.flags = 0;
    op.messages.count = op.bytes = 0;
    show_text_operation(&to, &op, false);
    assert_true(str_ends(buf_str(&to), STR("118 ms          ")));
}

static void records_between_messages_have_lines(void **state)
{
    struct record r = { .kind = RECORD_PROC, .has = HAS_EXIT_CODE | HAS_SIGNAL };

    (void)state;
    r.proc = (struct record_proc){ .event = STR("exit"), .exit_code = 1, .signal = 9 };
    show_text_record(&to, &r, 5000000, false);
    assert_str(buf_str(&to), STR("            5.000  server  process   exit 1 by signal 9\n"));
    buf_clear(&to);
    r = (struct record){ .kind = RECORD_PROC };
    r.proc = (struct record_proc){ .event = STR("failed"), .why = STR("not there") };
    show_text_record(&to, &r, 5000000, false);
    assert_str(buf_str(&to), STR("            5.000  server  process   failed: not there\n"));
    buf_clear(&to);
    r = (struct record){ .kind = RECORD_HTTP_REQUEST };
    r.http.method = STR("POST");
    r.http.path = STR("/mcp");
    show_text_record(&to, &r, -1, false);
    assert_str(buf_str(&to), STR("                   client  http      POST /mcp\n"));
    buf_clear(&to);
    r = (struct record){ .kind = RECORD_GAP };
    r.gap.messages = 3;
    r.gap.why = STR("disk full");
    show_text_record(&to, &r, 0, false);
    assert_non_null(strstr(buf_z(&to), "gap       3 messages are missing: disk full\n"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_row_has_its_columns),
        TEST(a_long_name_is_cut_and_hostile_text_is_shown),
        TEST(the_verdict_tells_three_times_where_they_differ),
        TEST(a_row_tells_whose_time_it_was),
        TEST(what_has_no_messages_of_its_own_has_no_size),
        TEST(records_between_messages_have_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
