#include "format/recording-line.h"
#include "test.h"

/* Reads a line and writes it again. */
static void read_and_write(struct str line, struct buf *back, struct record *r, struct arena *a,
                           struct json *j)
{
    struct json_fault fault;
    struct err e = ERR_NONE;
    size_t at;

    assert_true(json_scan(j, line, &fault));
    if (!recording_line_read(json_root(j), r, a, &at, &e))
        fail_msg("%.*s: %s", STR_ARG(line), e.msg);
    recording_line_write(back, r);
}

/* One line of every type, with every member it knows. */
static const char *const whole_lines[] = {
    "{\"type\":\"header\",\"version\":\"1.0\",\"name\":\"n\",\"tags\":[\"a\",\"b\"],"
    "\"recorded_at\":\"2025-02-04T10:00:00.050Z\",\"upstream\":\"npx x\","
    "\"thoughtjack_version\":\"0.3.0\",\"producer\":{\"name\":\"mcpreel\"},"
    "\"command\":[\"npx\",\"x\"],\"transport\":\"stdio\",\"source\":{\"format\":\"cassette\"},"
    "\"part\":2,\"us\":0}",
    "{\"type\":\"message\",\"seq\":1,\"ts\":\"2025-02-04T10:00:00.050001Z\",\"dir\":\"c2s\","
    "\"msg\":{ \"id\":1.0,\"method\":\"p\\u0069ng\" },\"us\":50,\"conn\":1,\"session\":2,"
    "\"exchange\":3,\"stream\":4}",
    "{\"type\":\"message\",\"seq\":2,\"ts\":\"2025-02-04T10:00:00.100Z\",\"dir\":\"s2c\","
    "\"msg\":{\"id\":1.0,\"result\":{}},\"latency_ms\":50,\"event\":{\"n\":1},"
    "\"batch\":{\"id\":1,\"index\":0,\"count\":2},\"redelivers\":1,\"redacted\":[\"/id\"]}",
    "{\"type\":\"raw\",\"from\":\"server\",\"why\":\"not "
    "JSON\",\"text\":\"hello\\n\",\"us\":7}",
    "{\"type\":\"raw\",\"from\":\"client\",\"base64\":\"/w==\",\"us\":7,\"conn\":1}",
    "{\"type\":\"raw\",\"from\":\"server\",\"why\":\"too many to be "
    "kept\",\"count\":9,\"bytes\":18,"
    "\"text\":\"\",\"us\":7,\"conn\":1}",
    "{\"type\":\"sse\",\"comment\":\"\",\"count\":9,\"bytes\":18,\"us\":7,\"exchange\":1}",
    "{\"type\":\"stderr\",\"text\":\"\",\"us\":8,\"conn\":1}",
    "{\"type\":\"proc\",\"ev\":\"exit\",\"exit_code\":-1,\"signal\":9,\"us\":-1}",
    "{\"type\":\"proc\",\"ev\":\"failed\",\"why\":\"no more processes\",\"us\":9}",
    "{\"type\":\"http\",\"ev\":\"request\",\"state\":\"live\",\"kind\":\"lifecycle\","
    "\"method\":\"POST\","
    "\"path\":\"/mcp\",\"query\":\"\",\"host\":\"self\",\"origin\":\"none\","
    "\"headers\":[[\"Accept\",\"*/*\"]],\"auth\":true,\"body\":\"message\",\"exchange\":1}",
    "{\"type\":\"http\",\"ev\":\"request\",\"exchange\":1}",
    "{\"type\":\"http\",\"ev\":\"response\",\"status\":200,\"took_ms\":7,\"by\":\"server\","
    "\"media\":\"sse\","
    "\"resumes\":{\"stream\":1,\"after\":2},\"mints_session\":true,\"headers\":[],"
    "\"exchange\":1}",
    "{\"type\":\"http\",\"ev\":\"end\",\"by\":\"client\",\"clean\":false,\"exchange\":1}",
    "{\"type\":\"sse\",\"n\":0,\"id\":\"a\",\"event\":\"endpoint\",\"retry\":500,"
    "\"data\":\"\",\"comment\":\"ping\",\"stream\":1}",
    "{\"type\":\"gap\",\"from\":\"server\",\"messages\":3,\"bytes\":99,\"why\":\"disk full\","
    "\"us\":1}",
    "{\"type\":\"footer\",\"total_messages\":2,\"duration_ms\":9,\"client_messages\":1,"
    "\"server_messages\":1,\"exit_code\":0,\"protocol_version\":\"2025-11-25\","
    "\"server_info\":{\"name\":\"s\"},\"client_info\":{\"name\":\"c\"},\"errors\":0,\"us\":9}",
};

static void every_line_is_rewritten_byte_for_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof whole_lines / sizeof whole_lines[0]; i++) {
        struct str line = str_z(whole_lines[i]);
        struct arena a = { 0 };
        struct record r;
        struct json j;
        struct buf back;

        json_init(&j);
        buf_init(&back, 4096);
        read_and_write(line, &back, &r, &a, &j);
        assert_int_equal(back.at[back.len - 1], '\n');
        assert_str(str_n(back.at, back.len - 1), line);
        buf_release(&back);
        json_release(&j);
        arena_release(&a);
    }
}

static void absent_members_stay_absent(void **state)
{
    struct str line = STR("{\"type\":\"message\",\"seq\":0,\"ts\":\"2025-02-04T10:00:00Z\","
                          "\"dir\":\"s2c\",\"msg\":{}}");
    struct arena a = { 0 };
    struct record r;
    struct json j;
    struct buf back;

    (void)state;
    json_init(&j);
    buf_init(&back, 4096);
    read_and_write(line, &back, &r, &a, &j);
    assert_int_equal(r.has, HAS_SEQ | HAS_WALL);
    assert_int_equal(r.message.dir, TO_CLIENT);
    assert_null(r.message.batch.at);
    buf_release(&back);
    json_release(&j);
    arena_release(&a);
}

static void an_unknown_type_becomes_an_unknown_record(void **state)
{
    struct json j;
    struct json_fault fault;
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    struct record r;
    size_t at;

    (void)state;
    json_init(&j);
    assert_true(json_scan(&j, STR("{\"type\":\"weather\",\"seq\":\"x\"}"), &fault));
    assert_true(recording_line_read(json_root(&j), &r, &a, &at, &e));
    assert_int_equal(r.kind, RECORD_UNKNOWN);
    assert_str(r.unknown_type, STR("weather"));
    json_release(&j);
    arena_release(&a);
}

#define MSG(members) "{\"type\":\"message\"," members "}"
#define TS "\"ts\":\"2025-02-04T10:00:00Z\","

#define RESPONSE(member) "{\"type\":\"http\",\"ev\":\"response\",\"exchange\":1," member "}"
#define BAD_STATUS "'status' of a http line must be an HTTP status from 200 to 599"

static const struct {
    const char *line;
    size_t at; /* of the offending value */
    const char *why;
} bad_lines[] = {
    { "7", 0, "a line of a recording must be an object" },
    { "{}", 0, "a line without a 'type' that is a string" },
    { "{\"type\":1}", 0, "a line without a 'type' that is a string" },
    { MSG("\"seq\":1," TS "\"dir\":\"c2s\""), 0, "a message line without 'msg'" },
    { MSG(TS "\"dir\":\"c2s\",\"msg\":{}"), 0, "a message line without 'seq'" },
    { MSG("\"seq\":-1"), 24, "'seq' of a message line must be a whole number from 0" },
    { MSG("\"seq\":1.5"), 24, "'seq' of a message line must be a whole number from 0" },
    { MSG("\"seq\":99999999999999999999"), 24,
      "'seq' of a message line must be a whole number from 0" },
    { MSG("\"dir\":\"up\""), 24, "'dir' of a message line must be \"c2s\" or \"s2c\"" },
    { MSG("\"ts\":\"noon\""), 23,
      "'ts' of a message line must be a date and time like 2025-02-04T10:00:00.000Z" },
    { MSG("\"msg\":[]"), 24, "'msg' of a message line must be an object" },
    { "{\"type\":\"header\",\"tags\":{}}", 24,
      "'tags' of a header line must be an array of strings" },
    { "{\"type\":\"header\",\"command\":[\"a\",1]}", 27,
      "'command' of a header line must be an array of strings" },
    { MSG("\"redacted\":[null]"), 29,
      "'redacted' of a message line must be an array of strings" },
    { MSG("\"event\":[]"), 26,
      "'event' of a message line must be an object of 'n', 'id', 'event' and 'retry'" },
    { MSG("\"event\":{\"retry\":-1}"), 26,
      "'event' of a message line must be an object of 'n', 'id', 'event' and 'retry'" },
    { MSG("\"batch\":{\"id\":\"1\"}"), 26,
      "'batch' of a message line must be an object of the numbers 'id', 'index' and "
      "'count'" },
    { "{\"type\":\"raw\",\"from\":\"me\"}", 21,
      "'from' of a raw line must be \"client\" or \"server\"" },
    { "{\"type\":\"raw\",\"base64\":\"!\"}", 23, "'base64' of a raw line must be base64 text" },
    { "{\"type\":\"raw\",\"from\":\"client\"}", 0, "a raw line without 'text'" },
    { "{\"type\":\"stderr\"}", 0, "a stderr line without 'text'" },
    { "{\"type\":\"proc\"}", 0, "a proc line without 'ev'" },
    { "{\"type\":\"http\"}", 0, "a http line without an 'ev' that is a string" },
    { "{\"type\":\"http\",\"ev\":\"request\"}", 0, "a http line without 'exchange'" },
    { RESPONSE("\"status\":0"), 53, BAD_STATUS },
    { RESPONSE("\"status\":199"), 53, BAD_STATUS },
    { RESPONSE("\"status\":600"), 53, BAD_STATUS },
    { RESPONSE("\"status\":200.5"), 53, BAD_STATUS },
    { RESPONSE("\"headers\":[[\"allow\"]]"), 54,
      "'headers' of a http line must be an array of [name, value] pairs" },
    { RESPONSE("\"resumes\":{\"stream\":-1}"), 54,
      "'resumes' of a http line must be an object of the numbers 'stream' and 'after'" },
    { "{\"type\":\"http\",\"ev\":\"end\",\"clean\":1}", 34,
      "'clean' of a http line must be true or false" },
};

static void a_bad_line_is_an_error_with_its_position(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_lines / sizeof bad_lines[0]; i++) {
        struct json_fault fault;
        struct arena a = { 0 };
        struct err e = ERR_NONE;
        struct record r;
        struct json j;
        size_t at;

        json_init(&j);
        assert_true(json_scan(&j, str_z(bad_lines[i].line), &fault));
        assert_false(recording_line_read(json_root(&j), &r, &a, &at, &e));
        assert_string_equal(e.msg, bad_lines[i].why);
        assert_int_equal(at, bad_lines[i].at);
        json_release(&j);
        arena_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_is_rewritten_byte_for_byte),
        cmocka_unit_test(absent_members_stay_absent),
        cmocka_unit_test(an_unknown_type_becomes_an_unknown_record),
        cmocka_unit_test(a_bad_line_is_an_error_with_its_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
