#include "runtime/recording-append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "fault-sys.h"
#include "program.h"
#include "temp-dir.h"
#include "test.h"

#define CALL(id, name)                                                                         \
    "{\"jsonrpc\":\"2.0\",\"id\":" #id                                                         \
    ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"}}\n"
#define RESULT(id, text)                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"result\":{\"is\":\"" text "\"}}\n"

/* A server that answers initialize, then one call, with its own pid as proof that it ran. */
static const char server[] =
    "read i; echo '{\"jsonrpc\":\"2.0\",\"id\":\"mcpreel-greeting\","
    "\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
    "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}'; read n; "
    "read c; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"is\":"
    "\"new\"}}'; read e";

static const char old[] = "{\"dir\":\"c2s\",\"type\":\"message\",\"seq\":1,\"ts\":"
                          "\"2026-01-01T00:00:00Z\",\"msg\":{\"jsonrpc\":\"2.0\",\"id\":1,"
                          "\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}}\n"
                          "{\"dir\":\"s2c\",\"type\":\"message\",\"seq\":2,\"ts\":"
                          "\"2026-01-01T00:00:01Z\",\"msg\":{\"jsonrpc\":\"2.0\",\"id\":1,"
                          "\"result\":{\"is\":\"old\"}}}\n";

static void put_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void read_file(struct buf *to, const char *path)
{
    struct err e = ERR_NONE;

    buf_init(to, 1 << 20);
    if (!file_read_all(to, &sys_real, path, &e))
        fail_msg("%s", e.msg);
}

static void assert_file(const char *path, const char *want)
{
    struct buf text;

    read_file(&text, path);
    assert_str(buf_str(&text), str_z(want));
    buf_release(&text);
}

static void replay(struct program *p, const struct sys *sys, const char *mode,
                   const char *script, struct str in)
{
    program_run(
        p, sys,
        PROGRAM_WORDS("replay", "--record-mode", mode, "a.jsonl", "--", "sh", "-c", script),
        in);
}

static void a_new_call_is_appended_and_replayed_afterwards(void **state)
{
    struct program p;

    (void)state;
    put_file("a.jsonl", old);
    replay(&p, NULL, "append", server, STR(CALL(5, "a") CALL(6, "b")));
    assert_int_equal(p.code, 0);
    assert_str(buf_str(&p.out), STR(RESULT(5, "old") RESULT(6, "new")));
    assert_non_null(strstr(buf_z(&p.err), "appended 1 call to 'a.jsonl'\n"));
    program_release(&p);
    assert_int_equal(access("a.jsonl.appended.jsonl", F_OK), -1);

    replay(&p, NULL, "none", "exit 9", STR(CALL(6, "b") CALL(5, "a")));
    assert_int_equal(p.code, 0);
    assert_str(buf_str(&p.out), STR(RESULT(6, "new") RESULT(5, "old")));
    program_release(&p);
}

static void without_a_new_call_the_file_is_unchanged(void **state)
{
    struct program p;

    (void)state;
    put_file("a.jsonl", old);
    replay(&p, NULL, "append", "exit 9", STR(CALL(5, "a")));
    assert_int_equal(p.code, 0);
    assert_str(buf_str(&p.out), STR(RESULT(5, "old")));
    program_release(&p);
    assert_file("a.jsonl", old);
    assert_int_equal(access("a.jsonl.appended.jsonl", F_OK), -1);
}

static void a_server_that_exits_leaves_the_file_unchanged(void **state)
{
    struct program p;

    (void)state;
    put_file("a.jsonl", old);
    replay(&p, NULL, "append", "read i; exit 3", STR(CALL(5, "b")));
    assert_int_equal(p.code, 4);
    program_release(&p);
    assert_file("a.jsonl", old);
    assert_int_equal(access("a.jsonl.appended.jsonl", F_OK), -1);
}

static void a_second_writer_gets_an_error_that_names_the_first(void **state)
{
    char holder[64];
    struct program p;
    int fd;

    (void)state;
    put_file("a.jsonl", old);
    fd = open("a.jsonl", O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    snprintf(holder, sizeof holder, "process %ld (test-recording-)", (long)getpid());
    for (int rewrite = 0; rewrite < 2; rewrite++) {
        replay(&p, NULL, rewrite ? "rewrite" : "append", server, STR(CALL(5, "b")));
        assert_int_equal(p.code, 2);
        if (!strstr(buf_z(&p.err), holder))
            fail_msg("no %s in %s", holder, buf_z(&p.err));
        program_release(&p);
    }
    close(fd);
    assert_file("a.jsonl", old);
}

static void a_recording_that_another_process_changes_is_not_replaced(void **state)
{
    static const char changing[] =
        "read i; echo >> a.jsonl; echo '{\"jsonrpc\":\"2.0\",\"id\":"
        "\"mcpreel-greeting\",\"result\":{}}'; read n; read c; "
        "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'; read e";
    struct program p;
    struct buf text;

    (void)state;
    put_file("a.jsonl", old);
    replay(&p, NULL, "append", changing, STR(CALL(5, "b")));
    assert_int_equal(p.code, 3);
    assert_non_null(strstr(buf_z(&p.err), "another process has changed it"));
    program_release(&p);
    read_file(&text, "a.jsonl");
    assert_int_equal(text.len, sizeof old); /* the newline of the other process */
    buf_release(&text);
    read_file(&text, "a.jsonl.appended.jsonl"); /* nothing is lost */
    assert_non_null(strstr(buf_z(&text), "\"id\":1,\"result\":{}"));
    buf_release(&text);
    replay(&p, NULL, "append", server, STR(CALL(5, "b")));
    assert_int_equal(p.code, 2);
    assert_non_null(strstr(buf_z(&p.err), "the new calls of a replay that was killed"));
    program_release(&p);
    unlink("a.jsonl.appended.jsonl");
}

static void a_recording_that_was_changed_is_not_rewritten(void **state)
{
    static const char changing[] =
        "read c; echo >> a.jsonl; echo '{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}'; read e; "
        "exit 0";
    struct program p;
    struct buf text;

    (void)state;
    put_file("a.jsonl", old);
    replay(&p, NULL, "rewrite", changing, STR(CALL(5, "b")));
    assert_int_equal(p.code, 3);
    assert_non_null(strstr(buf_z(&p.err),
                           "'a.jsonl' was not replaced: another process has changed it; the "
                           "session is in 'a.jsonl.recording.journal'\n"));
    program_release(&p);
    read_file(&text, "a.jsonl");
    assert_int_equal(text.len, sizeof old); /* the newline of the other process */
    buf_release(&text);
    read_file(&text, "a.jsonl.recording.journal");
    assert_non_null(strstr(buf_z(&text), "\"id\":5,\"result\":{}"));
    buf_release(&text);
    assert_int_equal(unlink("a.jsonl.recording.journal"), 0);
}

static void a_recording_that_appears_is_not_replaced(void **state)
{
    static const char making[] =
        "read c; echo x > a.jsonl; echo '{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}'; read "
        "e; exit 0";
    struct program p;

    (void)state;
    unlink("a.jsonl");
    for (int once = 0; once < 2; once++) {
        replay(&p, NULL, once ? "once" : "rewrite", making, STR(CALL(5, "b")));
        assert_int_equal(p.code, 5);
        assert_non_null(strstr(buf_z(&p.err), "cannot write 'a.jsonl': it exists already"));
        assert_non_null(strstr(buf_z(&p.err), "is in 'a.jsonl.recording.journal'"));
        program_release(&p);
        assert_file("a.jsonl", "x\n");
        assert_int_equal(unlink("a.jsonl"), 0);
        assert_int_equal(unlink("a.jsonl.recording.journal"), 0);
    }
}

static void a_new_file_that_cannot_be_put_in_place_leaves_the_old_one(void **state)
{
    struct fault_sys f;
    struct program p;

    (void)state;
    put_file("a.jsonl", old);
    fault_init(&f);
    fault_fail(&f, FAULT_RENAME, 1, FAULT_FOREVER, EACCES);
    replay(&p, &f.sys, "append", server, STR(CALL(5, "b")));
    assert_int_equal(p.code, 5);
    assert_non_null(strstr(buf_z(&p.err), "the new calls are in 'a.jsonl.appended.jsonl'"));
    program_release(&p);
    assert_file("a.jsonl", old);
    assert_int_equal(unlink("a.jsonl.appended.jsonl"), 0);
}

static void a_pending_file_is_checked_before_the_session(void **state)
{
    static const char *const paths[] = { "missing/p.jsonl", "a.jsonl/p.jsonl" };

    (void)state;
    put_file("a.jsonl", old);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct program p;

        program_run(&p, NULL,
                    PROGRAM_WORDS("replay", "--record-mode", "append", "--pending", paths[i],
                                  "a.jsonl", "--", "sh", "-c", server),
                    STR(CALL(5, "b")));
        assert_int_equal(p.code, 5);
        assert_str(buf_str(&p.out), STR(""));
        assert_non_null(strstr(buf_z(&p.err), "cannot write"));
        program_release(&p);
        assert_int_equal(access("a.jsonl.appended.jsonl", F_OK), -1);
    }
}

/* A replay was killed. */
static void a_session_that_remains_without_calls_is_removed(void **state)
{
    static const char header[] =
        "{\"type\":\"header\",\"version\":\"1.0\",\"recorded_at\":"
        "\"2026-01-01T00:00:00Z\",\"upstream\":\"s\",\"thoughtjack_version\":\"0.3.0\"}\n";
    struct program p;

    (void)state;
    put_file("a.jsonl", old);
    put_file("a.jsonl.appended.jsonl", header);
    replay(&p, NULL, "append", server, STR(CALL(5, "b")));
    assert_int_equal(p.code, 0);
    program_release(&p);
    assert_int_equal(access("a.jsonl.appended.jsonl", F_OK), -1);

    put_file("a.jsonl.appended.jsonl", "no recording\n");
    replay(&p, NULL, "append", server, STR(CALL(5, "c")));
    assert_int_equal(p.code, 2);
    program_release(&p);
    assert_file("a.jsonl.appended.jsonl", "no recording\n");
    assert_int_equal(unlink("a.jsonl.appended.jsonl"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_call_is_appended_and_replayed_afterwards),
        cmocka_unit_test(without_a_new_call_the_file_is_unchanged),
        cmocka_unit_test(a_server_that_exits_leaves_the_file_unchanged),
        cmocka_unit_test(a_second_writer_gets_an_error_that_names_the_first),
        cmocka_unit_test(a_recording_that_another_process_changes_is_not_replaced),
        cmocka_unit_test(a_recording_that_was_changed_is_not_rewritten),
        cmocka_unit_test(a_recording_that_appears_is_not_replaced),
        cmocka_unit_test(a_pending_file_is_checked_before_the_session),
        cmocka_unit_test(a_session_that_remains_without_calls_is_removed),
        cmocka_unit_test(a_new_file_that_cannot_be_put_in_place_leaves_the_old_one),
    };
    alarm(120);
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
