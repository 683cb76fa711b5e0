#include "memory-file.h"
#include "record-summary.h"
#include "test.h"

/* A sink that writes down one word per record. */
struct index {
    struct sink sink;
    struct buf seen;
};

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    struct index *s = (struct index *)self;

    (void)e;
    if (r->kind == RECORD_MESSAGE)
        buf_printf(&s->seen, "%llu ", (unsigned long long)r->message.seq);
    else
        buf_printf(&s->seen, "%s ", r->kind == RECORD_HEADER ? "header" : "other");
    return true;
}

/* The records, the remarks in brackets, and how it ended. */
static void run(struct index *s, struct str text, size_t step)
{
    struct memory_reader p;
    struct str remarks;

    *s = (struct index){ .sink = { put_record } };
    buf_init(&s->seen, 1 << 16);
    memory_reader_run(&p, &recording_format, text, step, &s->sink);
    remarks = buf_str(&p.warnings);
    while (remarks.len) {
        struct str remark = str_cut(&remarks, '\n');

        buf_printf(&s->seen, "[%.*s]", STR_ARG(remark));
    }
    buf_printf(&s->seen, "%s", p.failed ? p.error.msg : "end");
    memory_reader_release(&p);
}

static void check(struct str text, struct str want)
{
    static const size_t steps[] = { 1, 7, 1 << 20 };

    for (size_t i = 0; i < 3; i++) {
        struct index s;

        run(&s, text, steps[i]);
        assert_str(buf_str(&s.seen), want);
        buf_release(&s.seen);
    }
}

#define HEAD                                                                                   \
    "{\"type\":\"header\",\"version\":\"1.0\",\"recorded_at\":\"2025-02-04T10:00:00Z\","       \
    "\"upstream\":\"x\",\"thoughtjack_version\":\"0.3.0\"}\n"
#define MSG(n)                                                                                 \
    "{\"type\":\"message\",\"seq\":" #n ",\"ts\":\"2025-02-04T10:00:00Z\",\"dir\":\"c2s\","    \
    "\"msg\":{\"id\":" #n "}}"

static void lines_become_records_in_order(void **state)
{
    (void)state;
    check(STR(HEAD MSG(1) "\n" MSG(2) "\n"), STR("header 1 2 end"));
    check(STR(HEAD MSG(1) "\r\n\n  \n" MSG(2)), STR("header 1 2 end"));
}

static void a_truncated_last_line_is_dropped_with_one_warning(void **state)
{
    (void)state;
    check(STR(HEAD MSG(1) "\n{\"type\":\"mess"),
          STR("header 1 [3:14 the last line is cut off; used up to here]end"));
    check(STR(HEAD MSG(1) "\n{\"type\":\n"),
          STR("header 1 [3:1 the last line is cut off; used up to here]end"));
}

static void trailing_nul_bytes_are_dropped_with_one_warning(void **state)
{
    (void)state;
    check(STR(HEAD MSG(1) "\n\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
          STR("header 1 [3:1 the file ends in NUL bytes; used up to here]end"));
    check(STR(HEAD MSG(1) "\n{\"type\":\0\0\0\0"),
          STR("header 1 [3:9 the last line is cut off and ends in NUL bytes; used up to "
              "here]end"));
}

static void nul_bytes_in_the_middle_are_an_error(void **state)
{
    (void)state;
    check(STR(HEAD "\0\0" MSG(1) "\n"),
          STR("header f:2:1: NUL bytes in the middle of the file"));
}

static void an_object_may_span_lines(void **state)
{
    (void)state;
    check(STR(HEAD "{\n \"type\": \"message\",\n \"seq\": 1,\n \"ts\": "
                   "\"2025-02-04T10:00:00Z\",\n \"dir\": \"c2s\",\n \"msg\": {\n  \"id\": 1\n "
                   "}\n}\n" MSG(2) "\n"),
          STR("header 1 2 end"));
}

static void a_truncated_line_in_the_middle_is_an_error(void **state)
{
    (void)state;
    check(STR(HEAD "{\"type\":\"mess\n" MSG(2) "\n"),
          STR("header f:2:14: the line ends inside a JSON value"));
    check(STR(HEAD "{\"type\":\"message\",\n" MSG(2) "\n"),
          STR("header f:2:19: the line ends inside a JSON value"));
}

static void a_missing_or_repeated_header_gives_a_warning(void **state)
{
    (void)state;
    check(STR(MSG(1) "\n"), STR("1 [1:1 no header line; reading on without one]end"));
    check(STR(HEAD MSG(1) "\n" HEAD MSG(1) "\n"),
          STR("header 1 header 1 [3:1 another header line; its recording is taken as a "
              "continuation]end"));
}

static void another_major_version_is_rejected(void **state)
{
    (void)state;
    check(STR("{\"type\":\"header\",\"version\":\"2.0\",\"recorded_at\":"
              "\"2025-02-04T10:00:00Z\",\"upstream\":\"x\",\"thoughtjack_version\":\"9\"}\n"),
          STR("f:1:1: this is a recording of version 2.0; this program reads version 1"));
}

static void another_format_in_the_file_is_an_error(void **state)
{
    (void)state;
    check(STR(HEAD "{\"v\":1,\"type\":\"meta\"}\n"),
          STR("header f:2:1: data of format 'trace' starts here, in a file of format "
              "'recording'"));
    check(STR(HEAD "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"),
          STR("header f:2:1: data of format 'jsonrpc' starts here, in a file of format "
              "'recording'"));
}

/* Placeholder values for required members are read as absent. */
static void placeholder_values_of_mcpreel_are_recognized(void **state)
{
    static const char lines[] =
        "{\"type\":\"header\",\"version\":\"1.0\",\"recorded_at\":"
        "\"1970-01-01T00:00:00.000Z\",\"upstream\":\"unknown\","
        "\"thoughtjack_version\":\"0.3.0\"}\n"
        "{\"type\":\"message\",\"seq\":1,\"ts\":\"1970-01-01T00:00:00.000Z\","
        "\"dir\":\"c2s\",\"msg\":{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}\n";
    struct record_summary l;
    struct memory_reader p;
    struct buf view;

    (void)state;
    record_summary_init(&l);
    buf_init(&view, 1 << 16);
    memory_reader_run(&p, &recording_format, STR(lines), 99, &l.sink);
    record_summary_write(&l, RECORD_SUMMARY_ALL & ~(unsigned)FEATURE_BYTES, &view);
    assert_true(str_starts(buf_str(&view), STR("c2s #")));
    assert_true(str_ends(buf_str(&view), STR(" seq=1 \n")));
    record_summary_release(&l);
    memory_reader_release(&p);
    buf_release(&view);
}

static void rewrite(struct str text, const struct format *from, struct str want)
{
    struct memory_writer f;
    struct memory_reader p;

    memory_writer_init(&f, &recording_format);
    memory_reader_run(&p, from, text, 99, &f.sink);
    memory_writer_finish(&f);
    assert_false(p.failed);
    assert_str(buf_str(&f.text), want);
    memory_reader_release(&p);
    memory_writer_release(&f);
}

static void missing_required_members_get_placeholder_values(void **state)
{
    (void)state;
    rewrite(STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"), &jsonrpc_format,
            STR("{\"type\":\"header\",\"version\":\"1.0\",\"recorded_at\":"
                "\"1970-01-01T00:00:00.000Z\",\"upstream\":\"unknown\","
                "\"thoughtjack_version\":\"0.3.0\"}\n"
                "{\"type\":\"message\",\"seq\":1,\"ts\":\"1970-01-01T00:00:00.000Z\","
                "\"dir\":\"c2s\",\"msg\":{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}"
                "\n"));
    rewrite(STR("{\"t\":\"2026-05-12T23:00:30.000Z\",\"type\":\"end\",\"exitCode\":1,"
                "\"durationMs\":30000}\n"),
            &mcp_replay_trace_format,
            STR("{\"type\":\"header\",\"version\":\"1.0\",\"recorded_at\":"
                "\"2026-05-12T23:00:00.000Z\",\"upstream\":\"unknown\","
                "\"thoughtjack_version\":\"0.3.0\"}\n"
                "{\"type\":\"footer\",\"total_messages\":0,\"duration_ms\":30000,"
                "\"client_messages\":0,\"server_messages\":0,\"exit_code\":1,"
                "\"us\":30000000}\n"));
}

static void an_object_of_several_lines_is_written_on_one(void **state)
{
    (void)state;
    rewrite(STR("{\n\"type\": \"header\",\n\"version\": \"1.0\",\n\"recorded_at\":\n"
                "\"2025-02-04T10:00:00.000Z\",\n\"upstream\": \"x\",\n"
                "\"thoughtjack_version\": \"0.3.0\",\n\"command\": [\n\"x\"\n]\n}\n"),
            &recording_format,
            STR("{\"type\":\"header\",\"version\":\"1.0\",\"recorded_at\":"
                "\"2025-02-04T10:00:00.000Z\",\"upstream\":\"x\","
                "\"thoughtjack_version\":\"0.3.0\",\"command\":[ \"x\" ]}\n"));
}

/* A peer may send a message as deep as any value may be, and its line is deeper. */
static void the_deepest_message_can_be_read_again(void **state)
{
    struct buf text;

    (void)state;
    buf_init(&text, 1 << 16);
    buf_add(&text, STR(HEAD "{\"type\":\"message\",\"seq\":1,\"ts\":\"2025-02-04T10:00:00Z\","
                            "\"dir\":\"c2s\",\"msg\":{\"id\":1,\"params\":"));
    for (int i = 0; i < JSON_MAX_DEPTH - 1; i++)
        buf_add_ch(&text, '[');
    for (int i = 0; i < JSON_MAX_DEPTH - 1; i++)
        buf_add_ch(&text, ']');
    buf_add(&text, STR("}}\n"));
    check(buf_str(&text), STR("header 1 end"));
    buf_release(&text);
}

/* Cut anywhere, a recording gives a prefix of its records and never anything else. */
static void every_truncation_gives_the_records_before_it(void **state)
{
    static const char text[] = HEAD MSG(1) "\n" MSG(2) "\n{\"type\":\"weather\"}\n" MSG(3) "\n";
    struct str whole = STR("header 1 2 other 3 end");

    (void)state;
    for (size_t cut = 0; cut < sizeof text; cut++) {
        struct str records;
        struct index s;

        run(&s, str_n(text, cut), 11);
        records = buf_str(&s.seen);
        assert_true(str_ends(records, STR("end")));
        records.len =
            str_find(records, '[') < records.len ? str_find(records, '[') : records.len - 3;
        assert_true(str_starts(whole, records));
        buf_release(&s.seen);
    }
}

static void the_probe_recognizes_recordings(void **state)
{
    (void)state;
    assert_true(recording_format.probe(STR(HEAD)));
    assert_true(recording_format.probe(STR("\n {\n\"type\": \"message\"\n}")));
    assert_true(recording_format.probe(STR("{\"type\":\"message\",\"seq\":1,\"msg\":{\"a")));
    assert_false(recording_format.probe(STR("{\"type\":\"trace\"}")));
    assert_false(recording_format.probe(STR("{\"version\":\"1.0\"}")));
    assert_false(recording_format.probe(STR("[1]")));
    assert_false(recording_format.probe(STR("\x7f"
                                            "ELF")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_become_records_in_order),
        cmocka_unit_test(a_truncated_last_line_is_dropped_with_one_warning),
        cmocka_unit_test(trailing_nul_bytes_are_dropped_with_one_warning),
        cmocka_unit_test(nul_bytes_in_the_middle_are_an_error),
        cmocka_unit_test(an_object_may_span_lines),
        cmocka_unit_test(a_truncated_line_in_the_middle_is_an_error),
        cmocka_unit_test(a_missing_or_repeated_header_gives_a_warning),
        cmocka_unit_test(another_major_version_is_rejected),
        cmocka_unit_test(another_format_in_the_file_is_an_error),
        cmocka_unit_test(placeholder_values_of_mcpreel_are_recognized),
        cmocka_unit_test(missing_required_members_get_placeholder_values),
        cmocka_unit_test(an_object_of_several_lines_is_written_on_one),
        cmocka_unit_test(the_deepest_message_can_be_read_again),
        cmocka_unit_test(every_truncation_gives_the_records_before_it),
        cmocka_unit_test(the_probe_recognizes_recordings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
