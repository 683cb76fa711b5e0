#include "runtime/record-path.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file-lock.h"
#include "base/file.h"
#include "cli.h"
#include "loop/process-self.h"
#include "test.h"

#define HEADER                                                                                 \
    "{'type':'header','version':'1.0','recorded_at':'2026-01-01T00:00:01.000Z',"               \
    "'upstream':'u','thoughtjack_version':'0.3.0'}\n"
#define PING                                                                                   \
    "{'type':'message','seq':1,'ts':'2026-01-01T00:00:02.000Z','dir':'c2s',"                   \
    "'msg':{'jsonrpc':'2.0','id':1,'method':'ping'}}\n"
#define PONG                                                                                   \
    "{'type':'message','seq':2,'ts':'2026-01-01T00:00:02.000Z','dir':'s2c',"                   \
    "'msg':{'jsonrpc':'2.0','id':1,'result':{}},'latency_ms':0}\n"

static struct app app_at(struct cli *d)
{
    static const struct log none = { .level = LOG_ERROR };

    return (struct app){ .sys = &d->faults.sys, .log = &none };
}

static bool finish(struct cli *d, bool replace, struct err *e)
{
    struct app app = app_at(d);
    bool empty = false;

    return record_path_write_document(&app, "a.json.cassette.journal", "a.json",
                                      &cassette_format, replace, &empty, e);
}

static void the_name_of_a_journal_has_its_format(void **state)
{
    const struct format *format = NULL;
    const char *target = NULL;
    struct arena a = { 0 };

    (void)state;
    assert_string_equal(record_path_journal_name(&a, "dir/a.json", &cassette_format),
                        "dir/a.json.cassette.journal");
    assert_true(record_path_parse_journal("dir/a.json.cassette.journal", &a, &target, &format));
    assert_string_equal(target, "dir/a.json");
    assert_ptr_equal(format, &cassette_format);
    assert_true(record_path_parse_journal("a.gz.recording.journal", &a, &target, &format));
    assert_string_equal(target, "a.gz");
    assert_ptr_equal(format, &recording_format);
    arena_release(&a);
}

static void other_names_are_not_journals(void **state)
{
    static const char *const names[] = { "a.json",
                                         "a.journal",
                                         "a.xyz.journal",
                                         ".cassette.journal",
                                         "acassette.journal",
                                         "a.cassette.journal.fixed" };
    const struct format *format;
    const char *target;
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_false(record_path_parse_journal(names[i], &a, &target, &format));
    arena_release(&a);
}

static void the_document_is_made_beside_the_journal(void **state)
{
    struct cli *d = *state;
    struct err e = ERR_NONE;

    cli_put_file(d, "a.json.cassette.journal", HEADER PING PONG);
    assert_true(finish(d, false, &e));
    assert_int_equal(cli_count_files(d), 2);
    assert_non_null(strstr(cli_get_file(d, "a.json"), "'method': 'ping'"));
}

static void after_any_failure_the_journal_stays(void **state)
{
    static const enum fault_call calls[] = { FAULT_WRITE, FAULT_FDATASYNC, FAULT_LINK };
    struct cli *d = *state;

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct err e = ERR_NONE;

        fault_init(&d->faults);
        cli_put_file(d, "a.json.cassette.journal", HEADER PING PONG);
        fault_fail(&d->faults, calls[i], 1, FAULT_FOREVER, ENOSPC);
        assert_false(finish(d, false, &e));
        assert_int_equal(cli_count_files(d), 1);
        assert_string_equal(cli_get_file(d, "a.json.cassette.journal"), HEADER PING PONG);
    }
}

/* Its name is not safe yet: a power cut could take both. */
static void after_a_failed_folder_sync_the_journal_stays(void **state)
{
    struct cli *d = *state;
    struct err e = ERR_NONE;

    cli_put_file(d, "a.json.cassette.journal", HEADER PING PONG);
    fault_fail(&d->faults, FAULT_FSYNC, 1, 1, EIO);
    assert_false(finish(d, false, &e));
    assert_int_equal(cli_count_files(d), 2);
}

static void another_file_is_replaced_only_if_requested(void **state)
{
    struct cli *d = *state;
    struct err e = ERR_NONE;

    cli_put_file(d, "a.json.cassette.journal", HEADER PING PONG);
    cli_put_file(d, "a.json", "theirs");
    assert_false(finish(d, false, &e));
    assert_string_equal(cli_get_file(d, "a.json"), "theirs");
    assert_true(finish(d, true, &e));
    assert_non_null(strstr(cli_get_file(d, "a.json"), "'method': 'ping'"));
    assert_int_equal(cli_count_files(d), 2);
}

static void a_journal_without_an_interaction_makes_no_document(void **state)
{
    struct cli *d = *state;
    struct app app = app_at(d);
    struct err e = ERR_NONE;
    bool empty = false;

    cli_put_file(d, "a.json.cassette.journal", HEADER PING);
    cli_put_file(d, "a.json", "theirs");
    assert_true(record_path_write_document(&app, "a.json.cassette.journal", "a.json",
                                           &cassette_format, true, &empty, &e));
    assert_true(empty);
    assert_string_equal(cli_get_file(d, "a.json"), "theirs");
    assert_int_equal(cli_count_files(d), 2);
}

static void a_truncated_journal_gives_its_complete_records(void **state)
{
    struct cli *d = *state;
    struct err e = ERR_NONE;

    cli_put_file(d, "a.json.cassette.journal", HEADER PING PONG "{'type':'mess");
    assert_true(finish(d, false, &e));
    assert_non_null(strstr(cli_get_file(d, "a.json"), "'method': 'ping'"));
}

static char *server[] = { (char *)(uintptr_t) "/usr/bin/some-server", NULL };

static struct app app_with(struct cli *d, char *const *env)
{
    return (struct app){ .sys = &d->faults.sys, .env = env };
}

static bool find(struct cli *d, struct record_path *p, const struct record_path_options *wish,
                 char *const *env, struct err *e)
{
    static char *nothing[] = { NULL };
    struct app app = app_with(d, env ? env : nothing);
    struct record_path_options w = *wish;

    w.server_argv = server;
    return record_path_resolve(p, &app, &w, e);
}

/* Returns the label of a name such as DIR/20261115T100000Z-LABEL-NUMBER.EXT. */
static void assert_unique(const char *path, const char *dir, const char *rest)
{
    struct str name = str_z(path), stamp;
    char want[128];

    assert_true(str_starts(name, str_z(dir)));
    name = str_skip(name, strlen(dir));
    stamp = str_cut(&name, '-');
    assert_int_equal(stamp.len, sizeof "20261115T100000Z" - 1);
    assert_int_equal(stamp.at[8], 'T');
    assert_int_equal(stamp.at[15], 'Z');
    snprintf(want, sizeof want, rest, process_self_pid());
    assert_str(name, str_z(want));
}

static void a_given_file_name_is_used(void **state)
{
    struct record_path p;
    struct err e = ERR_NONE;

    assert_true(
        find(*state, &p, &(struct record_path_options){ .output = "a.jsonl" }, NULL, &e));
    assert_string_equal(p.path, "a.jsonl");
    assert_string_equal(p.live_path, "a.jsonl");
    assert_ptr_equal(p.format, &recording_format);
    assert_false(record_path_uses_journal(&p));
    assert_false(record_path_next_name(&p, 1));
    record_path_release(&p);
}

static void the_format_comes_from_the_name_or_the_option(void **state)
{
    static const struct {
        const char *output;
        const struct format *error_text, *want;
    } rows[] = {
        { "a.trace.jsonl", NULL, &mcp_replay_trace_format },
        { "a.json", NULL, &cassette_format },
        { "a", NULL, &recording_format },
        { "a.json", &jsonrpc_format, &jsonrpc_format },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct record_path p;
        struct err e = ERR_NONE;

        assert_true(find(*state, &p,
                         &(struct record_path_options){ .output = rows[i].output,
                                                        .format = rows[i].error_text },
                         NULL, &e));
        assert_ptr_equal(p.format, rows[i].want);
        record_path_release(&p);
    }
}

static void a_document_is_recorded_as_a_journal(void **state)
{
    struct record_path p;
    struct err e = ERR_NONE;

    assert_true(
        find(*state, &p, &(struct record_path_options){ .output = "a.json" }, NULL, &e));
    assert_true(record_path_uses_journal(&p));
    assert_string_equal(p.path, "a.json");
    assert_string_equal(p.live_path, "a.json.cassette.journal");
    record_path_release(&p);
    assert_false(find(*state, &p,
                      &(struct record_path_options){ .output = "a.json", .rotate = true }, NULL,
                      &e));
    assert_string_equal(
        e.msg, "'--rotate' cannot be combined with format 'cassette': it is one document");
    record_path_release(&p);
}

static void in_a_folder_the_recording_gets_a_unique_name(void **state)
{
    struct record_path p;
    struct err e = ERR_NONE;

    assert_int_equal(mkdir("dir", 0700), 0);
    assert_true(find(*state, &p,
                     &(struct record_path_options){ .output = "dir", .name = "A b/c" }, NULL,
                     &e));
    assert_unique(p.path, "dir/", "A-b-c-%ld.jsonl");
    assert_true(record_path_next_name(&p, 1));
    assert_unique(p.path, "dir/", "A-b-c-%ld-2.jsonl");
    assert_true(record_path_next_name(&p, 99));
    assert_false(record_path_next_name(&p, 100));
    record_path_release(&p);
    assert_true(
        find(*state, &p,
             &(struct record_path_options){ .output = "dir/", .format = &cassette_format },
             NULL, &e));
    assert_unique(p.path, "dir/", "some-server-%ld.json");
    assert_unique(p.live_path, "dir/", "some-server-%ld.json.cassette.journal");
    record_path_release(&p);
    rmdir("dir");
}

static void remove_folders(void)
{
    static const char *const folders[] = { "own",
                                           "state/mcpreel/traces",
                                           "state/mcpreel",
                                           "state",
                                           "home/.local/state/mcpreel/traces",
                                           "home/.local/state/mcpreel",
                                           "home/.local/state",
                                           "home/.local",
                                           "home" };

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(rmdir(folders[i]), 0);
}

/* It is made for this user alone. */
static void without_a_name_the_recording_goes_to_the_users_folder(void **state)
{
    struct cli *d = *state;
    static const struct {
        const char *env[3], *folder;
    } rows[] = {
        { { "MCPREEL_DIR=%s/own", "XDG_STATE_HOME=%s/state" }, "own" },
        { { "XDG_STATE_HOME=%s/state", "HOME=%s/home" }, "state/mcpreel/traces" },
        { { "XDG_STATE_HOME=relative", "HOME=%s/home" }, "home/.local/state/mcpreel/traces" },
        { { "MCPREEL_DIR=relative", "HOME=%s/home" }, "home/.local/state/mcpreel/traces" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[2][256], folder[256], *env[] = { text[0], text[1], NULL };
        struct record_path p;
        struct err e = ERR_NONE;
        struct stat st;

        for (int k = 0; k < 2; k++)
            snprintf(text[k], sizeof text[k], rows[i].env[k], d->dir);
        snprintf(folder, sizeof folder, "%s/%s", d->dir, rows[i].folder);
        if (!find(d, &p, &(struct record_path_options){ .output = NULL }, env, &e))
            fail_msg("%s", e.msg);
        assert_string_equal(p.folder, folder);
        assert_int_equal(stat(folder, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0700);
        assert_int_equal(strncmp(p.path, folder, strlen(folder)), 0);
        record_path_release(&p);
    }
    assert_int_equal(access("relative", F_OK), -1);
    remove_folders();
}

static void a_world_writable_user_folder_is_rejected(void **state)
{
    struct cli *d = *state;
    char home[256], *env[] = { home, NULL };
    struct record_path p;
    struct err e = ERR_NONE;

    snprintf(home, sizeof home, "HOME=%s/home", d->dir);
    assert_true(find(d, &p, &(struct record_path_options){ .output = NULL }, env, &e));
    record_path_release(&p);
    assert_int_equal(chmod("home/.local/state/mcpreel/traces", 0777), 0);
    assert_false(find(d, &p, &(struct record_path_options){ .output = NULL }, env, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_non_null(strstr(e.msg, "all users can write to it"));
    record_path_release(&p);
    for (const char *const *f =
             (const char *const[]){ "home/.local/state/mcpreel/traces",
                                    "home/.local/state/mcpreel", "home/.local/state",
                                    "home/.local", "home", NULL };
         *f; f++)
        assert_int_equal(rmdir(*f), 0);
}

static void without_any_folder_the_error_has_a_hint(void **state)
{
    struct record_path p;
    struct err e = ERR_NONE;

    assert_false(find(*state, &p, &(struct record_path_options){ .output = NULL }, NULL, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg,
                        "no folder for recordings: neither XDG_STATE_HOME nor HOME is set");
    record_path_release(&p);
}

static void an_existing_file_is_reported_before_the_server_starts(void **state)
{
    struct cli *d = *state;
    struct record_path p;
    struct err e = ERR_NONE;

    cli_put_file(d, "a.2.jsonl", "theirs");
    assert_true(find(
        d, &p, &(struct record_path_options){ .output = "a.jsonl", .rotate = true }, NULL, &e));
    assert_false(record_path_is_free(&p, &d->faults.sys, &e));
    assert_string_equal(e.msg, "cannot write 'a.2.jsonl': it exists already");
    record_path_release(&p);

    assert_true(find(
        d, &p,
        &(struct record_path_options){ .output = "a.jsonl", .rotate = true, .force = true },
        NULL, &e));
    assert_true(record_path_is_free(&p, &d->faults.sys, &e)); /* that part is passed over */
    record_path_release(&p);
}

static void an_unlocked_journal_is_moved_aside(void **state)
{
    struct cli *d = *state;
    const struct sys *sys = &d->faults.sys;
    struct record_path p;
    struct err e = ERR_NONE;
    const char *aside;
    int theirs;

    cli_put_file(d, "b.json.cassette.journal", "theirs");
    cli_put_file(d, "b.2.json.cassette.journal", "older");
    assert_true(find(d, &p, &(struct record_path_options){ .output = "b.json" }, NULL, &e));
    theirs = file_lock_open(sys, "b.json.cassette.journal");
    assert_false(record_path_is_free(&p, sys, &e));
    assert_string_equal(e.msg, "cannot write 'b.json.cassette.journal': it exists already");
    assert_string_equal(e.hint, "another process is recording there");
    assert_true(record_path_move_journal(&p, sys, &aside, &e));
    assert_null(aside);
    close(theirs);
    assert_true(record_path_is_free(&p, sys, &e));
    assert_true(record_path_move_journal(&p, sys, &aside, &e));
    assert_string_equal(aside, "b.3.json.cassette.journal");
    assert_string_equal(cli_get_file(d, aside), "theirs");
    assert_string_equal(cli_get_file(d, "b.2.json.cassette.journal"), "older");
    assert_int_equal(access(p.live_path, F_OK), -1);
    record_path_release(&p);
}

static void a_generated_name_in_use_is_changed(void **state)
{
    struct cli *d = *state;
    struct record_path_options wish = { .output = "a.jsonl", .force = true };
    struct record_path p;
    struct err e = ERR_NONE;
    struct file theirs;
    char want[64];

    assert_true(file_create(&theirs, &sys_real, "a.jsonl", false, &e));
    assert_true(find(d, &p, &wish, NULL, &e));
    assert_false(record_path_avoid_locked(&p, &sys_real)); /* it is a file like any other */
    assert_true(record_path_is_free(&p, &sys_real, &e));
    file_lock_acquire(&sys_real, theirs.fd);
    assert_false(record_path_is_free(&p, &sys_real, &e));
    assert_string_equal(e.msg, "cannot write 'a.jsonl': another process is writing it");
    assert_true(record_path_avoid_locked(&p, &sys_real));
    snprintf(want, sizeof want, "a-%ld.jsonl", process_self_pid());
    assert_string_equal(p.path, want);
    assert_true(record_path_is_free(&p, &sys_real, &e));
    assert_false(record_path_avoid_locked(&p, &sys_real)); /* once is enough */
    record_path_release(&p);
    wish.force = false; /* without it the file would be refused in any case */
    assert_true(find(d, &p, &wish, NULL, &e));
    assert_false(record_path_avoid_locked(&p, &sys_real));
    record_path_release(&p);
    file_close(&theirs, &e);
}

static void the_server_name_is_derived_from_its_command(void **state)
{
    static const struct {
        const char *words[6], *want;
    } rows[] = {
        { { "npx", "-y", "@modelcontextprotocol/server-filesystem@1.2", "/tmp" },
          "server-filesystem" },
        { { "/usr/bin/python3", "-m", "my.server" }, "my.server" },
        { { "uv", "run", "server.py" }, "server.py" },
        { { "docker", "run", "-e", "TOKEN=secret", "mcp/fetch" }, "fetch" },
        { { "npx", "--registry", "https://user:secret@host/", "pkg" }, "pkg" },
        { { "./some server" }, "some-server" },
        { { "npx" }, "npx" },
        { { "/" }, "server" },
        { { "..." }, "server" },
        { { "0123456789012345678901234567890123456789more" },
          "0123456789012345678901234567890123456789" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = { 0 };

        assert_string_equal(
            record_path_server_label(&a, NULL, (char *const *)(uintptr_t)rows[i].words),
            rows[i].want);
        arena_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_of_a_journal_has_its_format),
        cmocka_unit_test(other_names_are_not_journals),
        WITH_CLI(the_document_is_made_beside_the_journal),
        WITH_CLI(after_any_failure_the_journal_stays),
        WITH_CLI(after_a_failed_folder_sync_the_journal_stays),
        WITH_CLI(another_file_is_replaced_only_if_requested),
        WITH_CLI(a_journal_without_an_interaction_makes_no_document),
        WITH_CLI(a_truncated_journal_gives_its_complete_records),
        WITH_CLI(a_given_file_name_is_used),
        WITH_CLI(the_format_comes_from_the_name_or_the_option),
        WITH_CLI(a_document_is_recorded_as_a_journal),
        WITH_CLI(in_a_folder_the_recording_gets_a_unique_name),
        WITH_CLI(without_a_name_the_recording_goes_to_the_users_folder),
        WITH_CLI(a_world_writable_user_folder_is_rejected),
        WITH_CLI(without_any_folder_the_error_has_a_hint),
        WITH_CLI(an_existing_file_is_reported_before_the_server_starts),
        WITH_CLI(an_unlocked_journal_is_moved_aside),
        WITH_CLI(a_generated_name_in_use_is_changed),
        cmocka_unit_test(the_server_name_is_derived_from_its_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
