#include "cmd/record-mode.h"

#include <stdio.h>
#include <unistd.h>

#include "program.h"
#include "temp-dir.h"
#include "test.h"

static void put_file(const char *path)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
}

static void the_mode_and_the_file_decide(void **state)
{
    static const struct {
        int mode;
        enum record_mode with_file, without;
    } rows[] = {
        { -1, RECORD_MODE_NONE, RECORD_MODE_NONE },
        { RECORD_MODE_NONE, RECORD_MODE_NONE, RECORD_MODE_NONE },
        { RECORD_MODE_ONCE, RECORD_MODE_NONE, RECORD_MODE_REWRITE },
        { RECORD_MODE_APPEND, RECORD_MODE_APPEND, RECORD_MODE_REWRITE },
        { RECORD_MODE_REWRITE, RECORD_MODE_REWRITE, RECORD_MODE_REWRITE },
    };
    struct app app = { .sys = &sys_real };

    (void)state;
    put_file("there");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct record_mode_args args = { .mode = rows[i].mode };

        assert_int_equal(record_mode_choose(&args, &app, "there"), rows[i].with_file);
        assert_int_equal(record_mode_choose(&args, &app, "missing"), rows[i].without);
    }
}

static void every_mode_has_its_name(void **state)
{
    (void)state;
    for (enum record_mode m = RECORD_MODE_NONE; m <= RECORD_MODE_REWRITE; m++)
        assert_int_equal(record_mode_choices[m].value, (int)m);
    assert_string_equal(record_mode_name(RECORD_MODE_REWRITE), "rewrite");
}

#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"
#define PONG "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"
static const char server[] = "read x; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'";
static const char failing_server[] =
    "read x; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'; exit 3";

/* Runs with `--pending` (may be NULL), and expects the exit code and a part of the log. */
static void expect(const char *mode, const char *path, const char *pending, const char *script,
                   int code, const char *logged)
{
    struct program p;

    program_run(&p, NULL,
                PROGRAM_WORDS("replay", "--record-mode", mode, "--pending",
                              pending ? pending : "p.jsonl", path, "--", "sh", "-c", script),
                STR(PING));
    if (p.code != code || !strstr(buf_z(&p.err), logged))
        fail_msg("exit code %d: %s", p.code, buf_z(&p.err));
    program_release(&p);
}

static void a_pending_file_is_written_beside_the_recording(void **state)
{
    (void)state;
    expect("once", "a.jsonl", NULL, server, 0, "recorded 2 messages in p.jsonl");
    assert_int_equal(access("a.jsonl", F_OK), -1);
    expect("once", "a.jsonl", NULL, server, 2, "cannot write 'p.jsonl': it exists");
    expect("once", "a.jsonl", "a.jsonl", server, 2, "names the recording itself");
    expect("once", "a.jsonl", "./a.jsonl", server, 2, "names the recording itself");
    expect("once", "a.jsonl.gz", NULL, server, 2, "would not be compressed like");
    expect("once", "a.jsonl", ".", server, 2, "needs the name of a file");
    assert_int_equal(unlink("p.jsonl"), 0);
    expect("once", "a.csv", "p.csv", server, 2, "end its name in '.jsonl'");
}

static void a_failed_session_makes_no_file(void **state)
{
    (void)state;
    expect("rewrite", "a.jsonl", NULL, failing_server, 4,
           "the server failed; 'p.jsonl' was not created, the session is in "
           "'p.jsonl.recording.journal'");
    assert_int_equal(access("p.jsonl", F_OK), -1);
    assert_int_equal(unlink("p.jsonl.recording.journal"), 0);
    expect("rewrite", "a.jsonl", NULL, "read x; exit 3", 4,
           "the server failed; 'p.jsonl' was not created\n");
    assert_int_equal(access("p.jsonl.recording.journal", F_OK), -1);
    expect("rewrite", "a.jsonl", NULL, "exit 0", 0, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mode_and_the_file_decide),
        cmocka_unit_test(every_mode_has_its_name),
        cmocka_unit_test(a_pending_file_is_written_beside_the_recording),
        cmocka_unit_test(a_failed_session_makes_no_file),
    };
    alarm(120);
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
