#include "report/op-text.h"

#include "terse.h"
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
    .flags = OP_HAS_CODE | OP_GAP,
    .code = -32602,
    .first_us = 1234567,
    .total_us = 118000,
    .server_us = -1,
    .wait_us = -1,
    .bytes = 2048,
    .messages = { .count = 2 },
};

static const struct op_row_detail nothing = { .error = { 0 } };

/* One operation as a row of a list. */
static void add_row(const struct operation *op, const struct op_row_detail *detail,
                    const struct op_text_layout *l, const struct op_row *where, size_t depth)
{
    struct op_row row = *where;
    struct buf parts;

    buf_init(&parts, 64 << 10);
    op_text_write_operation(&parts, op, detail, l);
    row.text = buf_str(&parts);
    op_text_write_row(&to, &row, depth, l);
    buf_release(&parts);
}

static void a_row_has_its_columns(void **state)
{
    struct op_text_layout pipe = op_text_layout(0, false);

    (void)state;
    add_row(&call, &nothing, &pipe, &(struct op_row){ .number = 7 }, 0);
    assert_str(buf_str(&to),
               STR("     7      1.234  client  tools/call read_file                       "
                   "rpc -32602        118 ms    2.0 kB  gap\n"));
    buf_clear(&to);
    add_row(&call, &nothing, &pipe, &(struct op_row){ .parent = 3 }, 2);
    assert_str(buf_str(&to),
               STR("     7      1.234  client      tools/call read_file                   "
                   "rpc -32602        118 ms    2.0 kB  gap\n"));
    buf_clear(&to);
    add_row(&call, &nothing, &pipe, &(struct op_row){ .parent = 3 }, 0);
    assert_true(str_ends(buf_str(&to), STR("  gap  of 3\n")));
    buf_clear(&to);
    op_text_add_session_column(&pipe);
    add_row(&call, &nothing, &pipe, &(struct op_row){ .session = 12 }, 0);
    assert_true(str_starts(buf_str(&to), STR("     7      1.234  12       client  tools")));
}

static void arguments_or_error_come_before_notes(void **state)
{
    struct op_text_layout pipe = op_text_layout(0, false);
    struct op_row_detail detail = { .arguments = STR("{\"path\":\"/a\"}") };

    (void)state;
    add_row(&call, &detail, &pipe, &(struct op_row){ .number = 7 }, 0);
    assert_true(str_ends(buf_str(&to), STR("2.0 kB  {\"path\":\"/a\"}  gap\n")));
    buf_clear(&to);
    detail.error = STR("no\nsuch file");
    add_row(&call, &detail, &pipe, &(struct op_row){ .number = 7 }, 0);
    assert_true(str_ends(buf_str(&to), STR("2.0 kB  no\\nsuch file  gap\n")));
}

static void a_server_that_exited_says_how(void **state)
{
    struct operation op = call;
    struct op_text_layout pipe = op_text_layout(0, false);

    (void)state;
    op.flags = 0;
    op.outcome = OUTCOME_SERVER_EXITED;
    op.has = HAS_EXIT_CODE;
    op.exit_code = 3;
    add_row(&op, &nothing, &pipe, &(struct op_row){ .number = 7 }, 0);
    assert_non_null(strstr(buf_z(&to), " server exited     118 ms    2.0 kB  exit code 3\n"));
    buf_clear(&to);
    op.has = HAS_SIGNAL;
    op.signal = 11;
    add_row(&op, &nothing, &pipe, &(struct op_row){ .number = 7 }, 0);
    assert_true(str_ends(buf_str(&to), STR("  signal 11\n")));
}

static size_t columns_of(struct str line)
{
    size_t n = 0;

    for (size_t i = 0; i < line.len; i++)
        n += ((unsigned char)line.at[i] & 0xC0) != 0x80;
    return n - 1; /* the newline */
}

static void no_row_is_wider_than_the_terminal(void **state)
{
    struct op_row_detail detail = { .arguments =
                                        STR("{\"a\":\"a long text, \xc3\xbc and more of it, "
                                            "and more, and more, and more, and more, and "
                                            "more, and more, and more of it\"}") };
    struct operation op = call;

    (void)state;
    op.subject = STR("a name that is far too long for its column, whatever its width may be");
    for (size_t width = 76; width < 260; width++) {
        struct op_text_layout l = op_text_layout(width, false);

        add_row(&op, &detail, &l, &(struct op_row){ .number = 7 }, 0);
        assert_in_range(columns_of(buf_str(&to)), 60, width);
        buf_clear(&to);
        op_text_write_operations_header(&to, &l);
        assert_true(columns_of(buf_str(&to)) <= width);
        buf_clear(&to);
    }
}

static void a_long_name_is_cut_on_a_terminal_and_hostile_text_is_shown(void **state)
{
    struct op_text_layout terminal = op_text_layout(120, false),
                          pipe = op_text_layout(0, false);
    struct op_row_detail detail = { .error = STR("\x1b[2J\n\xe2\x80\xae") };
    struct operation op = call;

    (void)state;
    op.subject = STR("\x1b[2J\n\xe2\x80\xae and a name that is far too long for its column");
    add_row(&op, &detail, &terminal, &(struct op_row){ .parent = 1 }, 60);
    assert_true(memchr(to.at, '\x1b', to.len) == NULL);
    assert_int_equal(str_find(buf_str(&to), '\n'), to.len - 1);
    assert_non_null(strstr(buf_z(&to), "…"));
    assert_null(strstr(buf_z(&to), "its column"));
    buf_clear(&to);
    add_row(&op, &nothing, &pipe, &(struct op_row){ .parent = 1 }, 60);
    assert_non_null(strstr(buf_z(&to), "too long for its column"));
}

static void assert_detail(const char *json, enum operation_role role, const char *arguments,
                          const char *error)
{
    struct operation_message m = { .seq = 1, .role = (uint8_t)role };
    struct record r = { .kind = RECORD_MESSAGE };
    struct operation_event ev = { &call, &m, &r };
    struct terse_scanned s = { 0 };
    struct arena a = { 0 };

    r.message.msg = terse_scan(&s, json);
    assert_str(op_text_arguments(&ev, &a), str_z(arguments));
    assert_str(op_text_error(&ev, &a), str_z(error));
    arena_release(&a);
    terse_scanned_release(&s);
}

static void arguments_and_errors_are_taken_from_messages(void **state)
{
    (void)state;
    assert_detail("{'method':'tools/call','params':{'name':'a','arguments':{ 'x' : ' y\\\\' , "
                  "'z':[ 1 ]}}}",
                  ROLE_REQUEST, "{\"x\":\" y\\\\\",\"z\":[1]}", "");
    assert_detail("{'method':'tools/call','params':{'name':'a','arguments':{}}}", ROLE_REQUEST,
                  "", "");
    assert_detail("{'method':'tools/call','params':{'name':'a'}}", ROLE_REQUEST, "", "");
    assert_detail("{'method':'resources/read','params':{'uri':'a:b','_meta':{'p':1}}}",
                  ROLE_REQUEST, "", "");
    assert_detail("{'method':'notifications/message','params':{'level':'info','data':[ 1 ]}}",
                  ROLE_LOG, "{\"level\":\"info\",\"data\":[1]}", "");
    assert_detail("{'method':'ping','params':7}", ROLE_REQUEST, "", "");
    assert_detail("{'id':1,'error':{'code':1,'message':'no'}}", ROLE_RESPONSE, "", "no");
    assert_detail("{'id':1,'error':7}", ROLE_RESPONSE, "", "");
    assert_detail("{'id':1,'result':{'isError':true,'content':[{'type':'image'},{'type':'text',"
                  "'text':'bad'}]}}",
                  ROLE_RESPONSE, "", "bad");
    assert_detail("{'id':1,'result':{'isError':true,'content':{'text':'x'}}}", ROLE_RESPONSE,
                  "", "");
    assert_detail("{'id':1,'result':{'content':[{'type':'text','text':'fine'}]}}",
                  ROLE_RESPONSE, "", "");
}

static void the_verdict_tells_three_times_where_they_differ(void **state)
{
    struct operation op = call;

    (void)state;
    op_text_write_summary(&to, &op, false);
    assert_str(buf_str(&to), STR("7  tools/call read_file: rpc -32602 (Invalid params), took "
                                 "118 ms, 2 messages, 2.0 kB  gap\n"));
    buf_clear(&to);
    op.outcome = OUTCOME_OK;
    op.server_us = 18000;
    op.wait_us = 100000;
    op.flags = 0;
    op_text_write_summary(&to, &op, false);
    assert_str(buf_str(&to), STR("7  tools/call read_file: ok, took 118 ms: server 18 ms, "
                                 "client 100 ms, 2 messages, 2.0 kB\n"));
}

static void a_row_tells_whose_time_it_was(void **state)
{
    struct op_text_layout pipe = op_text_layout(0, false);
    struct operation op = call;

    (void)state;
    op.flags = 0;
    op.server_us = 18000;
    op.wait_us = 100000;
    op_text_write_operation(&to, &op, &nothing, &pipe);
    assert_true(str_ends(buf_str(&to), STR("118 ms    2.0 kB  server 18 ms, client 100 ms")));
    buf_clear(&to);
    op.dir = TO_CLIENT;
    op_text_write_operation(&to, &op, &nothing, &pipe);
    assert_true(str_ends(buf_str(&to), STR("118 ms    2.0 kB")));
}

static void what_has_no_messages_of_its_own_has_no_size(void **state)
{
    struct op_text_layout pipe = op_text_layout(0, false);
    struct operation op = call;

    (void)state;
    op.kind = OPERATION_BATCH;
    op.flags = 0;
    op.messages.count = op.bytes = 0;
    op_text_write_operation(&to, &op, &nothing, &pipe);
    assert_true(str_ends(buf_str(&to), STR("118 ms          ")));
}

static void records_between_messages_have_lines(void **state)
{
    struct op_text_layout pipe = op_text_layout(0, false);
    struct record r = { .kind = RECORD_PROC, .has = HAS_EXIT_CODE | HAS_SIGNAL };

    (void)state;
    r.proc = (struct record_proc){ .event = STR("exit"), .exit_code = 1, .signal = 9 };
    op_text_write_record(&to, &r, 5000000, &pipe);
    assert_str(buf_str(&to),
               STR("            5.000  server  process       exit 1 by signal 9\n"));
    buf_clear(&to);
    r = (struct record){ .kind = RECORD_PROC };
    r.proc = (struct record_proc){ .event = STR("failed"), .why = STR("not there") };
    op_text_write_record(&to, &r, 5000000, &pipe);
    assert_str(buf_str(&to),
               STR("            5.000  server  process       failed: not there\n"));
    buf_clear(&to);
    r = (struct record){ .kind = RECORD_HTTP_REQUEST };
    r.http.method = STR("POST");
    r.http.path = STR("/mcp");
    op_text_write_record(&to, &r, -1, &pipe);
    assert_str(buf_str(&to), STR("                   client  http          POST /mcp\n"));
    buf_clear(&to);
    r = (struct record){ .kind = RECORD_GAP };
    r.gap.messages = 3;
    r.gap.why = STR("disk full");
    op_text_write_record(&to, &r, 0, &pipe);
    assert_non_null(strstr(buf_z(&to), "gap           3 messages are missing: disk full\n"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_row_has_its_columns),
        TEST(arguments_or_error_come_before_notes),
        TEST(a_server_that_exited_says_how),
        TEST(no_row_is_wider_than_the_terminal),
        TEST(a_long_name_is_cut_on_a_terminal_and_hostile_text_is_shown),
        TEST(arguments_and_errors_are_taken_from_messages),
        TEST(the_verdict_tells_three_times_where_they_differ),
        TEST(a_row_tells_whose_time_it_was),
        TEST(what_has_no_messages_of_its_own_has_no_size),
        TEST(records_between_messages_have_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
