#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "program.h"
#include "test.h"

#define HEAD                                                                                   \
    "{\"type\":\"header\",\"version\":\"1.0\",\"recorded_at\":\"2025-02-04T10:00:00Z\","       \
    "\"upstream\":\"x\",\"thoughtjack_version\":\"0.3.0\"}\n"
#define LINE(seq, dir, msg)                                                                    \
    "{\"type\":\"message\",\"seq\":" #seq ",\"ts\":\"2025-02-04T10:00:00Z\",\"dir\":\"" dir    \
    "\",\"msg\":" msg "}\n"
#define RECORDING                                                                              \
    HEAD LINE(1, "c2s", "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}")    \
        LINE(2, "s2c", "{\"id\":1,\"result\":{\"is\":\"a\"}}")                                 \
            LINE(3, "c2s",                                                                     \
                 "{\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"b\",\"n\":1}}")   \
                LINE(4, "s2c", "{\"id\":2,\"result\":{\"is\":\"b\"}}")

/* Each test stands in a directory for itself, with a recording in it. */
static int into_a_new_directory(void **state)
{
    static const char text[] = RECORDING;
    char *dir = strdup("/tmp/mcpreel-replay-XXXXXX");
    int fd;

    *state = dir;
    if (!dir || !mkdtemp(dir) || chdir(dir) != 0)
        return -1;
    fd = open("file", O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || write(fd, text, sizeof text - 1) != sizeof text - 1)
        return -1;
    return close(fd);
}

static int out_of_it(void **state)
{
    int r;

    unlink("file");
    r = chdir("/") == 0 && rmdir(*state) == 0 ? 0 : -1;
    free(*state);
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

#define ASK(id, name, n)                                                                       \
    "{\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\",\"n\":" n "}}" \
    "\n"

static void recorded_answers_go_to_the_live_client(void **state)
{
    (void)state;
    check(PROGRAM_WORDS("replay", "file"), ASK("\"x\"", "b", "1") ASK("0", "a", "1"), 0,
          "{\"id\":\"x\",\"result\":{\"is\":\"b\"}}\n{\"id\":0,\"result\":{\"is\":\"a\"}}\n",
          "mcpreel: tools/call a answered with #1, whose params differ\n"
          "mcpreel: answered 2 requests from the recording, 0 unmatched\n");
}

static void a_last_line_without_newline_is_answered(void **state)
{
    (void)state;
    check(PROGRAM_WORDS("-q", "replay", "file"), "{\"id\":7,\"method\":\"ping\"}", 0,
          "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n", "");
}

#define HINT "record a session that has it, or go on after misses with --on-unmatched warn"
#define MISS                                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"no recorded "      \
    "answer for tools/call 'c'\",\"data\":{\"reason\":\"never recorded\",\"nearest\":{"        \
    "\"seq\":3,\"method\":\"tools/call\",\"subject\":\"b\",\"differences\":[{\"path\":"        \
    "\"$.params.name\",\"recorded\":\"b\",\"got\":\"c\"}]},\"hint\":\"" HINT "\"}}}\n"
#define COMPLAINT                                                                              \
    "mcpreel: no recorded answer for tools/call 'c'; nearest is #3 tools/call 'b', which "     \
    "differs at $.params.name: recorded \"b\", got \"c\"; " HINT "\n"

static void a_miss_is_answered_and_ends_with_1(void **state)
{
    (void)state;
    check(PROGRAM_WORDS("replay", "file"), ASK("1", "c", "1") ASK("2", "a", "1"), 1, MISS,
          COMPLAINT "mcpreel: answered 0 requests from the recording, 1 unmatched\n"
                    "mcpreel: never asked for: #1 tools/call a, #3 tools/call b\n");
}

static void with_warn_it_goes_on_and_ends_with_0(void **state)
{
    (void)state;
    check(PROGRAM_WORDS("replay", "--on-unmatched", "warn", "file"),
          ASK("1", "c", "1") ASK("2", "b", "1"), 0,
          MISS "{\"id\":2,\"result\":{\"is\":\"b\"}}\n",
          COMPLAINT "mcpreel: answered 1 request from the recording, 1 unmatched\n"
                    "mcpreel: never asked for: #1 tools/call a\n");
}

static void by_request_other_params_are_a_miss(void **state)
{
    struct program p;

    (void)state;
    for (int i = 0; i < 2; i++) {
        program_run(&p, NULL,
                    PROGRAM_WORDS("-q", "replay", "--match", i ? "method_params" : "by-request",
                                  "-r", "file"),
                    STR(ASK("1", "b", "2")));
        assert_int_equal(p.code, 1);
        program_release(&p);
        program_run(&p, NULL,
                    PROGRAM_WORDS("-q", "replay", "--match-mode", "by-request", "file"),
                    STR(ASK("1", "b", "1.0")));
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

static void a_line_beyond_all_measure_is_ignored_and_told(void **state)
{
    enum { SIZE = (64 << 20) + 1 };
    struct program p;
    struct buf in;

    (void)state;
    buf_init(&in, SIZE + 100);
    memset(buf_space(&in, SIZE), 'x', SIZE);
    buf_grew(&in, SIZE);
    buf_add(&in, STR("\n{\"id\":7,\"method\":\"ping\"}\n"));
    program_run(&p, NULL, PROGRAM_WORDS("replay", "--on-unmatched", "warn", "file"),
                buf_str(&in));
    assert_int_equal(p.code, 0);
    assert_str(buf_str(&p.out), STR("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n"));
    assert_non_null(strstr(buf_z(&p.err), "mcpreel: warning: the client sent a line of "
                                          "67108865 bytes; it was ignored\n"));
    program_release(&p);
    buf_release(&in);
}

#define IN_A_DIRECTORY(test)                                                                   \
    cmocka_unit_test_setup_teardown(test, into_a_new_directory, out_of_it)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_DIRECTORY(recorded_answers_go_to_the_live_client),
        IN_A_DIRECTORY(a_last_line_without_newline_is_answered),
        IN_A_DIRECTORY(a_miss_is_answered_and_ends_with_1),
        IN_A_DIRECTORY(with_warn_it_goes_on_and_ends_with_0),
        IN_A_DIRECTORY(by_request_other_params_are_a_miss),
        IN_A_DIRECTORY(one_recording_must_be_named_and_be_there),
        IN_A_DIRECTORY(a_line_beyond_all_measure_is_ignored_and_told),
    };
    alarm(60); /* a session that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
