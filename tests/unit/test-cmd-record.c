#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "format/reader.h"
#include "program.h"
#include "temp-dir.h"
#include "terse.h"
#include "test.h"

static void check(const struct sys *sys, const char *const *words, const char *in, int code,
                  const char *out, const char *err)
{
    struct program p;

    program_run(&p, sys, words, str_z(in));
    assert_str(buf_str(&p.err), str_z(err));
    assert_str(buf_str(&p.out), str_z(out));
    assert_int_equal(p.code, code);
    program_release(&p);
}

static void ignore(void *to, struct str line)
{
    (void)to;
    (void)line;
}

/* The records of the file without their times, header and footer in brief. */
static bool without_times(struct sink *self, const struct record *r, struct err *e)
{
    struct terse *t = *(struct terse **)(self + 1);
    struct record bare = *r;

    bare.has &= ~(unsigned)(HAS_US | HAS_LATENCY);
    if (bare.kind == RECORD_FOOTER)
        bare.footer.duration_ms = 0;
    return t->sink.put(&t->sink, &bare, e);
}

static void assert_recorded(const char *want)
{
    struct {
        struct sink sink;
        struct terse *to;
    } filter = { .sink = { without_times } };
    struct log log = { .level = LOG_ERROR, .write = ignore };
    struct err e = ERR_NONE;
    struct terse t;

    terse_init(&t);
    filter.to = &t;
    if (!reader_read_all(&sys_real, "file", &log, &filter.sink, &e))
        fail_msg("%s", e.msg);
    assert_terse(&t, want);
    terse_release(&t);
}

#define FINE(n)                                                                                \
    "mcpreel: recording to file\n"                                                             \
    "mcpreel: recorded " #n " messages in file\n"

static void a_session_is_forwarded_and_recorded(void **state)
{
    struct stat st;

    (void)state;
    check(NULL,
          PROGRAM_WORDS("record", "-o", "file", "--name", "a name", "--", "sh", "-c",
                        "read x; echo '{\"id\":1,\"result\":{}}'; echo noise; exit 3"),
          "{\"id\":1,\"method\":\"tools/list\"}\n", 3, "{\"id\":1,\"result\":{}}\nnoise\n",
          FINE(2));
    assert_recorded("header version=1.0 name=a name upstream=sh -c read x; echo "
                    "'{'id':1,'result':{}}'; echo noise; exit 3\n"
                    "conn=1 proc start\n"
                    "conn=1 #1 c2s {'id':1,'method':'tools/list'}\n"
                    "conn=1 #2 s2c {'id':1,'result':{}}\n"
                    "conn=1 raw s2c noise (not JSON)\n"
                    "conn=1 proc exit code=3\n"
                    "footer messages=1+1=2 ms=0 errors=0 code=3 protocol= server= client=\n");
    assert_int_equal(stat("file", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

static void the_servers_stderr_is_forwarded_and_recorded(void **state)
{
    (void)state;
    check(NULL, PROGRAM_WORDS("-q", "record", "-o", "file", "--", "sh", "-c", "echo hello >&2"),
          "", 0, "", "hello\n");
    assert_recorded("header version=1.0 name= upstream=sh -c echo hello >&2\n"
                    "conn=1 proc start\n"
                    "conn=1 stderr hello\n\n"
                    "conn=1 proc exit code=0\n"
                    "footer messages=0+0=0 ms=0 errors=0 code=0 protocol= server= client=\n");
}

static void a_server_ended_by_a_signal_exits_with_128_and_the_signal(void **state)
{
    (void)state;
    check(NULL, PROGRAM_WORDS("-q", "record", "-o", "file", "--", "sh", "-c", "kill -9 $$"), "",
          137, "", "");
    assert_recorded("header version=1.0 name= upstream=sh -c kill -9 $$\n"
                    "conn=1 proc start\n"
                    "conn=1 proc exit signal=9\n"
                    "footer messages=0+0=0 ms=0 errors=0 code=137 protocol= server= client=\n");
}

static void a_server_that_cannot_be_started_leaves_no_file(void **state)
{
    static const struct {
        const char *server;
        int code;
        const char *says;
    } rows[] = {
        { "/nowhere/at/all", 127,
          "mcpreel: cannot start server '/nowhere/at/all': no such file or directory\n" },
        { "no-such-command-anywhere", 127,
          "mcpreel: cannot start server 'no-such-command-anywhere': command not found in "
          "PATH\n  install it, or give its path\n" },
        { "/etc/passwd", 126,
          "mcpreel: cannot start server '/etc/passwd': permission denied\n" },
        { "/etc/passwd/x", 126,
          "mcpreel: cannot start server '/etc/passwd/x': not a directory\n" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check(NULL, PROGRAM_WORDS("record", "-o", "file", "--", rows[i].server), "",
              rows[i].code, "", rows[i].says);
        assert_int_equal(access("file", F_OK), -1);
    }
}

static void an_existing_file_is_kept_and_no_server_is_started(void **state)
{
    (void)state;
    check(NULL, PROGRAM_WORDS("-q", "record", "-o", "file", "--", "true"), "", 0, "", "");
    check(NULL, PROGRAM_WORDS("record", "-o", "file", "--", "touch", "started"), "", 2, "",
          "mcpreel: cannot write 'file': it exists already\n"
          "  choose another name, or add --force to replace it\n");
    assert_int_equal(access("started", F_OK), -1);
    check(NULL,
          PROGRAM_WORDS("-q", "record", "--force", "-o", "file", "--", "touch", "started"), "",
          0, "", "");
    assert_int_equal(access("started", F_OK), 0);
}

static void record_needs_exactly_one_server(void **state)
{
    (void)state;
    check(NULL, PROGRAM_WORDS("record", "-o", "file"), "", 2, "",
          "mcpreel: no server to record\n"
          "  give its command: mcpreel record -o session.jsonl [--] COMMAND ARGS…\n"
          "  or its URL: --url URL\n");
    check(NULL, PROGRAM_WORDS("record", "-o", "file", "--upstream", " "), "", 2, "",
          "mcpreel: no server to record\n"
          "  give its command: mcpreel record -o session.jsonl [--] COMMAND ARGS…\n"
          "  or its URL: --url URL\n");
    check(NULL, PROGRAM_WORDS("record", "-o", "file", "--upstream", "true", "--", "true"), "",
          2, "", "mcpreel: two servers to record: '--upstream' and the command 'true'\n");
    check(NULL, PROGRAM_WORDS("record", "-o", "file", "--upstream", "touch 'started"), "", 2,
          "", "mcpreel: cannot parse the command of '--upstream': a quote (') is not closed\n");
    assert_int_equal(access("started", F_OK), -1);
    assert_int_equal(access("file", F_OK), -1);
}

/* As a shell would split it, and without one. */
static void the_server_command_may_be_one_string(void **state)
{
    (void)state;
    check(NULL,
          PROGRAM_WORDS("-q", "record", "-o", "file", "--upstream",
                        "sh -c 'echo \"$0\"' \"a  $HOME;\""),
          "", 0, "a  $HOME;\n", "");
    assert_recorded("header version=1.0 name= upstream=sh -c echo '$0' a  $HOME;\n"
                    "conn=1 proc start\n"
                    "conn=1 raw s2c a  $HOME; (not JSON)\n"
                    "conn=1 proc exit code=0\n"
                    "footer messages=0+0=0 ms=0 errors=0 code=0 protocol= server= client=\n");
}

static void sizes_have_limits(void **state)
{
    (void)state;
    check(NULL, PROGRAM_WORDS("record", "-o", "file", "--max-message", "65MiB", "--", "true"),
          "", 2, "", "mcpreel: '--max-message' must be from 1 byte to 64 MiB\n");
    check(NULL, PROGRAM_WORDS("record", "-o", "file", "--max-message", "0", "--", "true"), "",
          2, "", "mcpreel: '--max-message' must be from 1 byte to 64 MiB\n");
}

static void a_message_over_the_limit_becomes_a_gap(void **state)
{
    (void)state;
    check(NULL,
          PROGRAM_WORDS("-q", "record", "-o", "file", "--max-message", "5", "--", "sh", "-c",
                        "echo 12345; echo 123456"),
          "", 0, "12345\n123456\n", "");
    assert_recorded("header version=1.0 name= upstream=sh -c echo 12345; echo 123456\n"
                    "conn=1 proc start\n"
                    "conn=1 raw s2c 12345 (not JSON-RPC)\n"
                    "conn=1 gap s2c messages=1 bytes=6 (too long to be kept)\n"
                    "conn=1 proc exit code=0\n"
                    "footer messages=0+0=0 ms=0 errors=0 code=0 protocol= server= client=\n");
    check(NULL,
          PROGRAM_WORDS("-q", "record", "--force", "-o", "file", "--strict", "--max-message",
                        "5", "--", "echo", "123456"),
          "", 125, "123456\n", "");
}

static void plain_recordings_have_three_kinds_of_lines(void **state)
{
    (void)state;
    check(NULL,
          PROGRAM_WORDS("-q", "record", "-o", "file", "--plain", "--", "sh", "-c",
                        "echo noise; echo talk >&2; echo '{\"method\":\"a\"}'"),
          "", 0, "noise\n{\"method\":\"a\"}\n", "talk\n");
    assert_recorded("header version=1.0 name= upstream=sh -c echo noise; echo talk >&2; echo "
                    "'{'method':'a'}'\n"
                    "conn=1 #1 s2c {'method':'a'}\n"
                    "footer messages=0+1=1 ms=0 errors=0 code=0 protocol= server= client=\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(a_session_is_forwarded_and_recorded),
        IN_TEMP_DIR(the_servers_stderr_is_forwarded_and_recorded),
        IN_TEMP_DIR(a_server_ended_by_a_signal_exits_with_128_and_the_signal),
        IN_TEMP_DIR(a_server_that_cannot_be_started_leaves_no_file),
        IN_TEMP_DIR(an_existing_file_is_kept_and_no_server_is_started),
        IN_TEMP_DIR(record_needs_exactly_one_server),
        IN_TEMP_DIR(the_server_command_may_be_one_string),
        IN_TEMP_DIR(sizes_have_limits),
        IN_TEMP_DIR(a_message_over_the_limit_becomes_a_gap),
        IN_TEMP_DIR(plain_recordings_have_three_kinds_of_lines),
    };
    alarm(60); /* a session that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
