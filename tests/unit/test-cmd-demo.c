#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "fake-cli.h"
#include "test.h"
#include "json/json.h"

/* The demo starts mcpreel again, which here is this program: with arguments it acts as
 * mcpreel. MISHAP names the fault to plant before that: the command, and the fault
 * ("replay=gone", "replay=kill", "replay=OLD=NEW" in the recording). With "die" the replay
 * does all it should, and is killed then. */

static void replace(const char *path, struct str old, struct str new)
{
    struct err e = ERR_NONE;
    struct buf text;
    char *at;
    int fd;

    buf_init(&text, 1 << 20);
    BUG_IF(old.len != new.len || !file_read_all(&text, &sys_real, path, &e));
    at = memmem(text.at, text.len, old.at, old.len);
    fd = open(path, O_WRONLY);
    BUG_IF(!at || pwrite(fd, new.at, new.len, at - text.at) != (ssize_t) new.len);
    close(fd);
    buf_release(&text);
}

static void apply_mishap(const char *command, const char *path)
{
    struct str what = str_z(getenv("MISHAP")), old;

    if (!str_eq(str_cut(&what, '='), str_z(command)))
        return;
    if (str_eq(what, STR("kill"))) {
        BUG_IF(write(STDERR_FILENO, "ouch\n", 5) != 5);
        raise(SIGKILL);
    } else if (str_eq(what, STR("gone"))) {
        unlink(path);
    } else {
        old = str_cut(&what, '=');
        replace(path, old, what);
    }
}

static int act_as_mcpreel(int argc, char **argv)
{
    struct dispatch d = { .sys = &sys_real, .commands = command_table, .env = environ };
    bool dies =
        str_eq(str_z(getenv("MISHAP")), STR("die")) && str_eq(str_z(argv[2]), STR("replay"));
    int code;

    apply_mishap(argv[2], argv[argc - 1]);
    log_init_fd(&d.log, STDERR_FILENO, LOG_INFO, false);
    code = dispatch_run(&d, argc, argv);
    if (dies)
        raise(SIGKILL);
    return code;
}

/* A demo in a directory of its own. */
struct bench {
    struct fake_cli with;
    char dir[32], file[64];
};

static void setup(struct bench *b)
{
    static char *no_env[] = { NULL };

    fake_cli_init(&b->with, no_env);
    b->with.dispatch.commands = command_table;
    memcpy(b->dir, "/tmp/demo-XXXXXX", sizeof "/tmp/demo-XXXXXX");
    assert_non_null(mkdtemp(b->dir));
    snprintf(b->file, sizeof b->file, "%s/x.jsonl", b->dir);
    unsetenv("MISHAP");
}

static void done(struct bench *b)
{
    unlink(b->file);
    assert_int_equal(rmdir(b->dir), 0);
    fake_cli_release(&b->with);
}

static int run(struct bench *b, const char *options, const char *mishap)
{
    char line[256];

    if (mishap)
        setenv("MISHAP", mishap, 1);
    else
        unsetenv("MISHAP");
    snprintf(line, sizeof line, "mcpreel demo %s -o %s", options, b->file);
    return fake_cli_run(&b->with, line);
}

static bool has(const struct buf *in, const char *text)
{
    return in->len && memmem(in->at, in->len, text, strlen(text));
}

static void the_demo_records_replays_and_prints_next_steps(void **state)
{
    struct stat st;
    struct bench b;

    (void)state;
    setup(&b);
    assert_int_equal(run(&b, "", NULL), EXIT_OK);
    assert_str(buf_str(&b.with.err), STR(""));
    assert_true(has(&b.with.out, "1 Record: "));
    assert_true(
        has(&b.with.out, "received the same: 9 responses, 3 progress notifications,\n"));
    assert_true(has(&b.with.out, "demo server\n  9 passed\n"));
    assert_true(has(&b.with.out,
                    "demo server --changed\n  8 passed, 1 failed: tools/call divide\n"
                    "    $.result.content[0].text\n"));
    assert_true(has(&b.with.out, "mcpreel inspect /tmp/demo-"));
    assert_int_equal(stat(b.file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    done(&b);
}

static void an_existing_file_is_kept_without_force(void **state)
{
    struct bench b;

    (void)state;
    setup(&b);
    assert_int_equal(run(&b, "", NULL), EXIT_OK);
    assert_int_equal(run(&b, "", NULL), EXIT_USAGE);
    assert_str(buf_str(&b.with.out), STR(""));
    assert_true(str_starts(buf_str(&b.with.err), STR("mcpreel: cannot write '/tmp/demo-")));
    assert_true(has(&b.with.err, "/x.jsonl': it exists already\n"
                                 "  choose another name, or add --force to replace it\n"));
    assert_int_equal(run(&b, "--force", NULL), EXIT_OK);
    done(&b);
}

static void a_missing_directory_is_an_io_error(void **state)
{
    struct bench b;

    (void)state;
    setup(&b);
    assert_int_equal(fake_cli_run(&b.with, "mcpreel demo -o /no/such/place/x.jsonl"), EXIT_IO);
    assert_str(buf_str(&b.with.err), STR("mcpreel: cannot write '/no/such/place/x.jsonl': "
                                         "there is no folder '/no/such/place'\n"
                                         "  make it first: mkdir -p '/no/such/place'\n"));
    done(&b);
}

static void a_replay_that_differs_is_a_finding(void **state)
{
    struct bench b;

    (void)state;
    setup(&b);
    assert_int_equal(run(&b, "", "replay=without an error=with two errors."), EXIT_FINDINGS);
    assert_true(has(&b.with.out,
                    "  The replay differs from the recording. The first difference is after "
                    "tools/call count to 3:\n  recorded  log, {"));
    assert_true(has(&b.with.out, "with two errors."));
    assert_false(has(&b.with.out, "3 Verify: "));
    assert_false(has(&b.with.out, "4 Next: "));
    assert_str(buf_str(&b.with.err), STR(""));
    done(&b);
}

/* The replay then answers with an error of its own and ends. */
static void a_request_missing_in_the_recording_is_a_finding(void **state)
{
    struct bench b;

    (void)state;
    setup(&b);
    assert_int_equal(
        run(&b, "", "replay=\"name\" : \"divide\", \"arg=\"name\" : \"decide\", \"arg"),
        EXIT_FINDINGS);
    assert_true(has(&b.with.out, "after tools/call divide 1 by 0:\n"));
    assert_true(has(&b.with.out, "  replayed  error {\"code\":-32000,"));
    done(&b);
}

static void an_unreadable_recording_is_named_with_its_line(void **state)
{
    struct bench b;

    (void)state;
    setup(&b);
    assert_int_equal(run(&b, "", "replay=\"seq\":2,=\"seq\":2;"), EXIT_INPUT);
    assert_true(has(&b.with.err, b.file));
    assert_true(has(&b.with.err, ":5:"));
    assert_false(has(&b.with.err, "{\"error\""));
    assert_int_equal(run(&b, "--force", "replay=gone"), EXIT_INPUT);
    assert_true(has(&b.with.err, "x.jsonl': No such file or directory\n"));
    done(&b);
}

static void a_crashed_process_is_reported_with_its_last_stderr(void **state)
{
    struct bench b;

    (void)state;
    setup(&b);
    assert_int_equal(run(&b, "", "record=kill"), EXIT_SERVER);
    assert_str(buf_str(&b.with.err),
               STR("mcpreel: the server ended without a response to initialize (signal 9)\n"
                   "  its last line on standard error: ouch\n"));
    assert_int_equal(run(&b, "", "replay=kill"), EXIT_SERVER);
    assert_true(has(&b.with.out, "1 Record: "));
    assert_false(has(&b.with.out, "2 Replay: "));
    assert_int_equal(run(&b, "--force", "verify=kill"), EXIT_SERVER);
    assert_true(has(&b.with.out, "2 Replay: "));
    assert_false(has(&b.with.out, "3 Verify: "));
    assert_true(has(&b.with.err, "mcpreel: verify failed (signal 9)\n"));
    assert_int_equal(run(&b, "--force", "die"), EXIT_SERVER);
    assert_true(has(&b.with.err, "mcpreel: the server failed (signal 9)\n"));
    done(&b);
}

static void with_json_the_output_is_json(void **state)
{
    struct json_fault fault;
    struct bench b;
    struct json j;

    (void)state;
    setup(&b);
    json_init(&j);
    assert_int_equal(run(&b, "--json", NULL), EXIT_OK);
    assert_true(json_scan(&j, buf_str(&b.with.out), &fault));
    assert_int_equal(json_type(json_get(json_root(&j), STR("same"))), JSON_TRUE);
    assert_int_equal(json_count(json_get(json_root(&j), STR("verify"))), 2);
    assert_int_equal(run(&b, "--json --force", "replay=windy=rainy"), EXIT_FINDINGS);
    assert_true(json_scan(&j, buf_str(&b.with.out), &fault));
    assert_int_equal(json_type(json_get(json_root(&j), STR("same"))), JSON_FALSE);
    assert_int_equal(run(&b, "--json", NULL), EXIT_USAGE);
    assert_true(str_starts(buf_str(&b.with.err), STR("{\"error\":{\"kind\":\"usage\",")));
    json_release(&j);
    done(&b);
}

static void output_that_cannot_be_written_is_an_error(void **state)
{
    struct bench b;

    (void)state;
    setup(&b);
    b.with.out_fails = true;
    assert_int_equal(run(&b, "", NULL), EXIT_IO);
    assert_true(has(&b.with.err, "standard output"));
    done(&b);
}

static void the_demo_accepts_only_the_operand_server(void **state)
{
    struct bench b;

    (void)state;
    setup(&b);
    assert_int_equal(fake_cli_run(&b.with, "mcpreel demo client"), EXIT_USAGE);
    assert_int_equal(fake_cli_run(&b.with, "mcpreel demo server server"), EXIT_USAGE);
    assert_int_equal(fake_cli_run(&b.with, "mcpreel demo --changed"), EXIT_USAGE);
    assert_true(has(&b.with.err, "'--changed' needs 'demo server'"));
    done(&b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_demo_records_replays_and_prints_next_steps),
        cmocka_unit_test(an_existing_file_is_kept_without_force),
        cmocka_unit_test(a_missing_directory_is_an_io_error),
        cmocka_unit_test(a_replay_that_differs_is_a_finding),
        cmocka_unit_test(a_request_missing_in_the_recording_is_a_finding),
        cmocka_unit_test(an_unreadable_recording_is_named_with_its_line),
        cmocka_unit_test(a_crashed_process_is_reported_with_its_last_stderr),
        cmocka_unit_test(with_json_the_output_is_json),
        cmocka_unit_test(output_that_cannot_be_written_is_an_error),
        cmocka_unit_test(the_demo_accepts_only_the_operand_server),
    };

    if (argc > 1)
        return act_as_mcpreel(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
