#include <fcntl.h>
#include <unistd.h>

#include "base/compress.h"
#include "program.h"
#include "temp-dir.h"
#include "test.h"

#define HEAD                                                                                   \
    "{\"type\":\"header\",\"version\":\"1.0\",\"recorded_at\":\"2025-02-04T10:00:00Z\","       \
    "\"upstream\":\"x\",\"thoughtjack_version\":\"0.3.0\"}\n"
#define LINE(seq, dir, msg)                                                                    \
    "{\"type\":\"message\",\"seq\":" #seq ",\"ts\":\"2025-02-04T10:00:00Z\",\"dir\":\"" dir    \
    "\",\"msg\":" msg "}\n"
#define FOOT                                                                                   \
    "{\"type\":\"footer\",\"total_messages\":4,"                                               \
    "\"duration_ms\":1000,\"client_messages\":2,\"server_messages\":2}\n"
#define RECORDING                                                                              \
    HEAD LINE(1, "c2s",                                                                        \
              "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"n\":1}}")      \
        LINE(2, "s2c", "{\"id\":1,\"result\":{\"is\":\"a\"}}")                                 \
            LINE(3, "c2s",                                                                     \
                 "{\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"b\",\"n\":1}}")   \
                LINE(4, "s2c", "{\"id\":2,\"result\":{\"is\":\"b\"}}") FOOT

/* Each test stands in a directory for itself, with a recording in it. */
static int with_a_recording(void **state)
{
    int r = temp_dir_enter(state);

    temp_dir_put("file", STR(RECORDING));
    return r;
}

static void check(const char *const *words, const char *in, int code, const char *out,
                  const char *err)
{
    struct program p;

    program_run(&p, NULL, words, str_z(in));
    assert_str(buf_str(&p.err), str_z(err));
    assert_str(buf_str(&p.out), str_z(out));
    assert_int_equal(p.code, code);
    program_release(&p);
}

#define REQUEST(id, name, n)                                                                   \
    "{\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\",\"n\":" n "}}" \
    "\n"

#define HINT                                                                                   \
    "record it with mcpreel record, or forward it to the server: --on-unmatched passthrough "  \
    "-- "                                                                                      \
    "SERVER"
#define MISS                                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"no recorded "      \
    "response for tools/call 'c'\",\"data\":{\"reason\":\"no-match\",\"nearest\":{"            \
    "\"seq\":1,\"method\":\"tools/call\",\"subject\":\"a\",\"differences\":[{\"path\":"        \
    "\"$.params.name\",\"recorded\":\"a\",\"live\":\"c\"}]},\"hint\":\"" HINT "\"}}}\n"
#define COMPLAINT                                                                              \
    "mcpreel: no recorded response for tools/call 'c'; nearest is #1 tools/call 'a', which "   \
    "differs at $.params.name: recorded \"a\", got \"c\"; " HINT "\n"

static void recorded_answers_go_to_the_live_client(void **state)
{
    (void)state;
    check(PROGRAM_WORDS("replay", "--match", "sequential", "file"),
          REQUEST("\"x\"", "b", "1") REQUEST("0", "a", "2"), 0,
          "{\"id\":\"x\",\"result\":{\"is\":\"b\"}}\n{\"id\":0,\"result\":{\"is\":\"a\"}}\n",
          "mcpreel: warning: tools/call a: matched #1, but params differ at $.params.n: "
          "recorded 1, got 2\n"
          "mcpreel: answered 2 requests from the recording, 0 unmatched\n");
}

/* ThoughtJack's spelling brings its own. */
static void the_default_is_by_request(void **state)
{
    static const struct {
        const char *const words[4];
        int code;
    } rows[] = {
        { { "-q", "replay", "file", NULL }, 1 },
        { { "replay", "-r", "file", NULL }, 0 },
        { { "replay", "--recording", "file", NULL }, 0 },
    };
    struct program p;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        program_run(&p, NULL, rows[i].words, STR(REQUEST("1", "b", "2")));
        assert_int_equal(p.code, rows[i].code);
        program_release(&p);
    }
}

static void with_fail_at_end_it_goes_on_and_ends_with_1(void **state)
{
    (void)state;
    check(PROGRAM_WORDS("replay", "--fail-at-end", "file"),
          REQUEST("1", "c", "1") REQUEST("2", "b", "1"), 1,
          MISS "{\"id\":2,\"result\":{\"is\":\"b\"}}\n",
          COMPLAINT "mcpreel: answered 1 request from the recording, 1 unmatched\n"
                    "mcpreel: unused recorded calls: #1 tools/call a\n");
    check(PROGRAM_WORDS("-q", "replay", "--fail-at-end", "file"), REQUEST("2", "b", "1"), 0,
          "{\"id\":2,\"result\":{\"is\":\"b\"}}\n", "");
    check(PROGRAM_WORDS("-q", "replay", "--fail-at-end", "--on-unmatched", "passthrough",
                        "file", "--", "true"),
          "", 2, "",
          "mcpreel: --fail-at-end cannot be combined with --on-unmatched passthrough\n"
          "  with passthrough, the server responds to unmatched requests\n");
}

static void a_last_line_without_newline_is_answered(void **state)
{
    (void)state;
    check(PROGRAM_WORDS("-q", "replay", "file"), "{\"id\":7,\"method\":\"ping\"}", 0,
          "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n", "");
}

static void a_miss_is_answered_and_ends_with_1(void **state)
{
    (void)state;
    check(PROGRAM_WORDS("replay", "file"), REQUEST("1", "c", "1") REQUEST("2", "a", "1"), 1,
          MISS,
          COMPLAINT "mcpreel: answered 0 requests from the recording, 1 unmatched\n"
                    "mcpreel: unused recorded calls: #1 tools/call a, #3 tools/call b\n");
}

static void with_warn_it_goes_on_and_ends_with_0(void **state)
{
    (void)state;
    check(PROGRAM_WORDS("replay", "--on-unmatched", "warn", "file"),
          REQUEST("1", "c", "1") REQUEST("2", "b", "1"), 0,
          MISS "{\"id\":2,\"result\":{\"is\":\"b\"}}\n",
          COMPLAINT "mcpreel: answered 1 request from the recording, 1 unmatched\n"
                    "mcpreel: unused recorded calls: #1 tools/call a\n");
}

static void by_request_other_params_are_a_miss(void **state)
{
    struct program p;

    (void)state;
    for (int i = 0; i < 2; i++) {
        program_run(&p, NULL,
                    PROGRAM_WORDS("-q", "replay", "--match", i ? "method_params" : "by-request",
                                  "-r", "file"),
                    STR(REQUEST("1", "b", "2")));
        assert_int_equal(p.code, 1);
        program_release(&p);
        program_run(&p, NULL,
                    PROGRAM_WORDS("-q", "replay", "--match-mode", "by-request", "file"),
                    STR(REQUEST("1", "b", "1.0")));
        assert_int_equal(p.code, 0);
        assert_str(buf_str(&p.out), STR("{\"id\":1,\"result\":{\"is\":\"b\"}}\n"));
        program_release(&p);
    }
}

static void one_recording_must_be_named_and_be_there(void **state)
{
    (void)state;
    check(PROGRAM_WORDS("replay"), "", 2, "",
          "mcpreel: no recording to replay\n  name one: mcpreel replay session.jsonl\n");
    check(PROGRAM_WORDS("replay", "-r", "file", "file"), "", 2, "",
          "mcpreel: two recordings to replay\n  name one: mcpreel replay session.jsonl\n");
    check(PROGRAM_WORDS("replay", "nothing"), "", 3, "",
          "mcpreel: cannot read 'nothing': No such file or directory\n");
}

static void a_line_beyond_all_measure_is_an_error_and_told(void **state)
{
    enum { SIZE = (64 << 20) + 1 };
    struct program p;
    struct buf in;

    (void)state;
    buf_init(&in, SIZE + 100);
    memset(buf_reserve(&in, SIZE), 'x', SIZE);
    buf_commit(&in, SIZE);
    buf_add(&in, STR("\n{\"id\":7,\"method\":\"ping\"}\n"));
    program_run(&p, NULL, PROGRAM_WORDS("replay", "--on-unmatched", "warn", "file"),
                buf_str(&in));
    assert_int_equal(p.code, 0);
    assert_str(buf_str(&p.out),
               STR("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":"
                   "\"the line is too long\"}}\n"
                   "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n"));
    assert_non_null(strstr(buf_z(&p.err), "mcpreel: warning: the client sent a line of "
                                          "67108865 bytes; it was ignored\n"));
    program_release(&p);
    buf_release(&in);
}

static void timing_is_checked(void **state)
{
    static const char *const bad[] = { "slow",       "scaled",    "scaled:",    "scaled:-1",
                                       "scaled:x",   "scaled:1x", "scaled:nan", "scaled:1e9",
                                       "scaled:inf", "scaled: 1", "scaled:.",   "realistic:2" };
    static const char *const good[] = { "instant", "realistic", "scaled:0", "scaled:0.5",
                                        "scaled:2" };
    struct program p;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        program_run(&p, NULL, PROGRAM_WORDS("replay", "--timing", bad[i], "file"), STR_NONE);
        if (p.code != 2)
            fail_msg("%s", bad[i]);
        program_release(&p);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        program_run(&p, NULL, PROGRAM_WORDS("-q", "replay", "--timing", good[i], "file"),
                    STR(REQUEST("1", "a", "1")));
        if (p.code != 0)
            fail_msg("%s", good[i]);
        assert_str(buf_str(&p.out), STR("{\"id\":1,\"result\":{\"is\":\"a\"}}\n"));
        program_release(&p);
    }
}

static void what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    check(PROGRAM_WORDS("replay", "--order", "total", "--match", "fuzzy", "file"), "", 2, "",
          "mcpreel: --order total needs --match sequential\n");
    check(PROGRAM_WORDS("replay", "file", "--", "cat"), "", 2, "",
          "mcpreel: a server was given, but passthrough is off\n"
          "  add --on-unmatched passthrough or --record-mode, or leave out the server\n");
    check(PROGRAM_WORDS("replay", "--on-unmatched", "passthrough", "file"), "", 2, "",
          "mcpreel: --on-unmatched passthrough needs a server\n"
          "  give its command: mcpreel replay --on-unmatched passthrough session.jsonl -- "
          "COMMAND ARGS…\n  or its URL: --url URL\n");
    check(PROGRAM_WORDS("replay", "--url", "http://h", "file"), "", 2, "",
          "mcpreel: a server was given, but passthrough is off\n"
          "  add --on-unmatched passthrough or --record-mode, or leave out the server\n");
    check(PROGRAM_WORDS("replay", "--on-unmatched", "passthrough", "--url", "http://h", "file",
                        "--", "cat"),
          "", 2, "", "mcpreel: two servers: a URL and a command\n");
    check(PROGRAM_WORDS("replay", "--on-unmatched", "passthrough", "--url", "h", "file"), "", 2,
          "",
          "mcpreel: '--url': 'h' cannot be used: the URL begins with neither 'http://' nor "
          "'https://'\n");
    check(PROGRAM_WORDS("replay", "--header", "a: b", "file"), "", 2, "",
          "mcpreel: '--header' needs '--url'\n");
    check(PROGRAM_WORDS("replay", "--on-unmatched", "passthrough", "--upstream", "a", "file",
                        "--", "b"),
          "", 2, "", "mcpreel: two servers: '--upstream' and the command after '--'\n");
    check(
        PROGRAM_WORDS("replay", "--on-unmatched", "passthrough", "--upstream", "a 'b", "file"),
        "", 2, "",
        "mcpreel: cannot parse the command of '--upstream': a quote (') is not closed\n");
    check(PROGRAM_WORDS("replay", "--cassette", "file", "file"), "", 2, "",
          "mcpreel: two recordings to replay\n  name one: mcpreel replay session.jsonl\n");
}

static void total_order_is_kept(void **state)
{
    struct program p;

    (void)state;
    program_run(&p, NULL, PROGRAM_WORDS("-q", "replay", "--order", "total", "file"),
                STR(REQUEST("1", "b", "1")));
    assert_int_equal(p.code, 1);
    assert_non_null(strstr(buf_z(&p.out), "\"reason\":\"out-of-order\""));
    program_release(&p);
}

static void what_was_not_asked_for_can_be_a_finding(void **state)
{
    (void)state;
    check(PROGRAM_WORDS("-q", "replay", "--strict-unused", "file"), REQUEST("1", "a", "1"), 1,
          "{\"id\":1,\"result\":{\"is\":\"a\"}}\n",
          "mcpreel: unused recorded calls: #3 tools/call b\n");
    check(PROGRAM_WORDS("-q", "replay", "--strict-unused", "file"),
          REQUEST("1", "a", "1") REQUEST("2", "b", "1"), 0,
          "{\"id\":1,\"result\":{\"is\":\"a\"}}\n{\"id\":2,\"result\":{\"is\":\"b\"}}\n", "");
}

#define REPORT                                                                                 \
    "{\"v\":2,\"command\":\"replay\",\"exit_code\":0,\"requests\":1,\"matched\":1,"            \
    "\"repeated\":0,"                                                                          \
    "\"from_other_session\":0,\"differing_params\":0,\"redacted_params\":0,\"ignored_"         \
    "params\":0,\"ambiguous\":0,"                                                              \
    "\"skipped\":1,"                                                                           \
    "\"unsupported_protocol_version\":0,"                                                      \
    "\"unmatched\":0,\"forwarded\":0,\"unused\":1,"                                            \
    "\"server_requests\":0,\"server_requests_differing\":0,\"server_requests_unsupported\":0," \
    "\"server_requests_unanswered\":0,\"token_text_left\":0,\"unmatched_requests\":[],"        \
    "\"match_rules\":[],\"rule_matches\":[],\"skipped_requests\":[{\"seq\":1,\"method\":"      \
    "\"tools/call\",\"subject\":\"a\"}],"                                                      \
    "\"server_request_notes\":[],\"token_text_left_requests\":[],\"unused_requests\":[{"       \
    "\"seq\":1,"                                                                               \
    "\"method\":\"tools/call\","                                                               \
    "\"subject\":\"a\"}]}\n"

static void how_it_went_is_reported(void **state)
{
    char got[4096] = "";
    int fd;

    (void)state;
    for (int i = 0; i < 2; i++) { /* the second replaces the first */
        check(PROGRAM_WORDS("-q", "replay", "--force", "--report", "report", "file"),
              REQUEST("1", "b", "1"), 0, "{\"id\":1,\"result\":{\"is\":\"b\"}}\n", "");
        fd = open("report", O_RDONLY);
        assert_true(fd >= 0 && read(fd, got, sizeof got - 1) > 0);
        close(fd);
        assert_string_equal(got, REPORT);
    }
    check(PROGRAM_WORDS("-q", "replay", "--report", "report", "file"), REQUEST("1", "b", "1"),
          2, "",
          "mcpreel: cannot write 'report': it exists already\n"
          "  choose another name, or add --force to replace it\n");
    check(PROGRAM_WORDS("-q", "replay", "--force", "--report", "file", "file"), "", 2, "",
          "mcpreel: the report cannot be written to 'file': the command reads or writes that "
          "file\n");
    assert_int_equal(unlink("report"), 0);
    check(PROGRAM_WORDS("-q", "--json", "replay", "file"), REQUEST("1", "b", "1"), 0,
          "{\"id\":1,\"result\":{\"is\":\"b\"}}\n", REPORT);
    check(PROGRAM_WORDS("-q", "replay", "--report", "no/report", "file"),
          REQUEST("1", "b", "1"), 5, "", /* found before the first request */
          "mcpreel: cannot write 'no/report': there is no folder 'no'\n"
          "  make it first: mkdir -p 'no'\n");
}

static void a_cassette_is_served_as_its_recorder_does(void **state)
{
    (void)state;
    check(
        PROGRAM_WORDS("-q", "replay", "--stdio", "--cassette", "file"),
        REQUEST("1", "b", "1.0") REQUEST("2", "b", "1"), 0,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32600,\"message\":\"No matching "
        "interaction for tools/call [b]\",\"data\":{\"reason\":\"no-match\","
        "\"nearest\":{\"seq\":3,\"method\":\"tools/call\",\"subject\":\"b\",\"differences\":"
        "[{\"path\":\"$.params.n\",\"recorded\":1,\"live\":1.0}]},\"hint\":\"ignore what "
        "differs with --ignore-paths '$.params.n', or record it with mcpreel record\"}}}\n"
        "{\"id\":2,\"result\":{\"is\":\"b\"}}\n",
        "mcpreel: no recorded response for tools/call 'b'; nearest is #3 tools/call 'b', which "
        "differs at $.params.n: recorded 1, got 1.0; ignore what differs with --ignore-paths "
        "'$.params.n', or record it with mcpreel record\n");
    check(
        PROGRAM_WORDS("-q", "replay", "--stdio", "--cassette", "file", "--match", "sequential"),
        "{\"id\":5,\"method\":\"whatever\"}\n", 0, "{\"id\":5,\"result\":{\"is\":\"a\"}}\n",
        "");
}

/* This is EC-REC-001 of ThoughtJack. */
static void ec_rec_001_an_empty_recording_answers_with_errors(void **state)
{
    struct program p;

    (void)state;
    temp_dir_put("file", STR(HEAD));
    program_run(&p, NULL, PROGRAM_WORDS("replay", "--on-unmatched", "warn", "file"),
                STR(REQUEST("1", "a", "1") REQUEST("2", "b", "1")));
    assert_int_equal(p.code, 0);
    assert_non_null(strstr(buf_z(&p.err), "mcpreel: warning: 'file' has no messages; no "
                                          "request can match\n"));
    assert_non_null(strstr(buf_z(&p.out), "\"id\":1,\"error\":{\"code\":-32000"));
    assert_non_null(strstr(buf_z(&p.out), "\"id\":2,\"error\":{\"code\":-32000"));
    program_release(&p);
}

static void ec_rec_002_a_torn_last_line_is_left_out(void **state)
{
    (void)state;
    temp_dir_put(
        "file",
        STR(HEAD LINE(1, "c2s",
                      "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}")
                LINE(2, "s2c", "{\"id\":1,\"result\":{\"is\":\"a\"}}") "{\"type\":\"mess"));
    check(PROGRAM_WORDS("replay", "file"),
          "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}\n", 0,
          "{\"id\":1,\"result\":{\"is\":\"a\"}}\n",
          "mcpreel: warning: file:4:14: the last line is cut off; used up to here\n"
          "mcpreel: 'file' has no footer; its recorder did not end properly\n"
          "mcpreel: answered 1 request from the recording, 0 unmatched\n");
}

static void ec_rec_008_another_version_is_an_error(void **state)
{
    (void)state;
    temp_dir_put(
        "file",
        STR("{\"type\":\"header\",\"version\":\"2.0\",\"recorded_at\":\"2025-02-04T10:00:00Z\","
            "\"upstream\":\"x\",\"thoughtjack_version\":\"0.9.0\"}\n"));
    check(PROGRAM_WORDS("replay", "file"), REQUEST("1", "a", "1"), 3, "",
          "mcpreel: file:1:1: this is a recording of version 2.0; this program reads version "
          "1\n");
    /* All other members that a header of that version may have. */
    temp_dir_put("file", STR("{\"type\":\"header\",\"version\":\"2.0\",\"upstream\":[]}\n"));
    check(PROGRAM_WORDS("replay", "file"), REQUEST("1", "a", "1"), 3, "",
          "mcpreel: file:1:1: this is a recording of version 2.0; this program reads version "
          "1\n");
    temp_dir_put("file", STR("{\"type\":\"header\",\"version\":\"1.0\",\"recorded_at\":"
                             "\"2025-02-04T10:00:00Z\",\"upstream\":\"x\"}\n"));
    check(PROGRAM_WORDS("replay", "file"), REQUEST("1", "a", "1"), 3, "",
          "mcpreel: file:1:1: a header line without 'thoughtjack_version'\n"
          "  to save what can be read: mcpreel check --fix file\n");
}

static void ec_rec_009_what_is_not_recorded_is_passed_through(void **state)
{
    static const char server[] =
        "read hello; echo '{\"id\":\"mcpreel-greeting\",\"result\":{}}'; read ready; read ask; "
        "echo '{\"id\":1,\"result\":{\"is\":\"live\"}}'; cat >/dev/null";
    char before[8192], after[8192];
    ssize_t had, has;
    int fd;

    (void)state;
    fd = open("file", O_RDONLY);
    had = read(fd, before, sizeof before);
    close(fd);
    check(PROGRAM_WORDS("replay", "--on-unmatched", "passthrough", "file", "--", "sh", "-c",
                        server),
          REQUEST("1", "c", "1") REQUEST("2", "b", "1"), 0,
          "{\"id\":2,\"result\":{\"is\":\"b\"}}\n{\"id\":1,\"result\":{\"is\":\"live\"}}\n",
          "mcpreel: no recorded response for tools/call 'c'; forwarded to the passthrough "
          "server\n"
          "mcpreel: answered 1 request from the recording, 1 unmatched\n"
          "mcpreel: unused recorded calls: #1 tools/call a\n");
    fd = open("file", O_RDONLY);
    has = read(fd, after, sizeof after);
    close(fd);
    assert_int_equal(had, has);
    assert_memory_equal(before, after, (size_t)had);
}

static void a_server_behind_that_dies_is_told_and_ends_with_4(void **state)
{
    struct program p;

    (void)state;
    program_run(&p, NULL,
                PROGRAM_WORDS("-q", "replay", "--on-unmatched", "passthrough", "--upstream",
                              "sh -c 'read x; echo broken >&2; exit 9'", "file"),
                STR(REQUEST("1", "c", "1")));
    assert_int_equal(p.code, 4);
    assert_non_null(strstr(buf_z(&p.out), "the passthrough server has ended"));
    assert_str(buf_str(&p.err), STR("mcpreel: passthrough server: 'sh' ended with "
                                    "exit code 9: broken\n"));
    program_release(&p);
    program_run(&p, NULL,
                PROGRAM_WORDS("-q", "replay", "--on-unmatched", "passthrough", "file", "--",
                              "./no-such-program"),
                STR(REQUEST("1", "c", "1") REQUEST("2", "a", "1")));
    assert_int_equal(p.code, 4);
    assert_non_null(strstr(buf_z(&p.out), "{\"id\":2,\"result\":{\"is\":\"a\"}}\n"));
    program_release(&p);
}

static void ec_rec_011_a_missing_footer_is_mentioned(void **state)
{
    (void)state;
    temp_dir_put("file", STR(HEAD LINE(1, "c2s", "{\"id\":1,\"method\":\"tools/list\"}")
                                 LINE(2, "s2c", "{\"id\":1,\"result\":{}}")));
    check(PROGRAM_WORDS("replay", "file"), "{\"id\":1,\"method\":\"tools/list\"}\n", 0,
          "{\"id\":1,\"result\":{}}\n",
          "mcpreel: 'file' has no footer; its recorder did not end properly\n"
          "mcpreel: answered 1 request from the recording, 0 unmatched\n");
}

static void a_packed_recording_replays(void **state)
{
    static const char bytes[] = RECORDING;
    struct compressor *p = compressor_new(COMPRESS_ZSTD);
    struct buf packed;
    int fd;

    (void)state;
    buf_init(&packed, 1 << 16);
    compressor_add(p, str_n(bytes, sizeof bytes - 1), false, &packed);
    compressor_end(p, &packed);
    compressor_free(p);
    fd = open("file", O_WRONLY | O_TRUNC);
    assert_int_equal(write(fd, packed.at, packed.len), packed.len);
    close(fd);
    buf_release(&packed);
    check(PROGRAM_WORDS("-q", "replay", "file"), REQUEST("1", "b", "1"), 0,
          "{\"id\":1,\"result\":{\"is\":\"b\"}}\n", "");
}

#define WITH_A_RECORDING(test)                                                                 \
    cmocka_unit_test_setup_teardown(test, with_a_recording, temp_dir_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_A_RECORDING(recorded_answers_go_to_the_live_client),
        WITH_A_RECORDING(the_default_is_by_request),
        WITH_A_RECORDING(with_fail_at_end_it_goes_on_and_ends_with_1),
        WITH_A_RECORDING(a_last_line_without_newline_is_answered),
        WITH_A_RECORDING(a_miss_is_answered_and_ends_with_1),
        WITH_A_RECORDING(with_warn_it_goes_on_and_ends_with_0),
        WITH_A_RECORDING(by_request_other_params_are_a_miss),
        WITH_A_RECORDING(one_recording_must_be_named_and_be_there),
        WITH_A_RECORDING(a_line_beyond_all_measure_is_an_error_and_told),
        WITH_A_RECORDING(timing_is_checked),
        WITH_A_RECORDING(what_does_not_go_together_is_refused),
        WITH_A_RECORDING(total_order_is_kept),
        WITH_A_RECORDING(what_was_not_asked_for_can_be_a_finding),
        WITH_A_RECORDING(how_it_went_is_reported),
        WITH_A_RECORDING(a_cassette_is_served_as_its_recorder_does),
        WITH_A_RECORDING(ec_rec_001_an_empty_recording_answers_with_errors),
        WITH_A_RECORDING(ec_rec_002_a_torn_last_line_is_left_out),
        WITH_A_RECORDING(ec_rec_008_another_version_is_an_error),
        WITH_A_RECORDING(ec_rec_009_what_is_not_recorded_is_passed_through),
        WITH_A_RECORDING(a_server_behind_that_dies_is_told_and_ends_with_4),
        WITH_A_RECORDING(ec_rec_011_a_missing_footer_is_mentioned),
        WITH_A_RECORDING(a_packed_recording_replays),
    };
    alarm(60); /* a session that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
