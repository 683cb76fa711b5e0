#include "cmd/record-place.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lock.h"
#include "desk.h"
#include "loop/self.h"
#include "test.h"

static char *server[] = { (char *)(uintptr_t) "/usr/bin/some-server", NULL };

static struct app app_with(struct desk *d, char *const *env)
{
    return (struct app){ .sys = &d->faults.sys, .env = env };
}

static bool find(struct desk *d, struct record_place *p, const struct record_wish *wish,
                 char *const *env, struct err *e)
{
    static char *nothing[] = { NULL };
    struct app app = app_with(d, env ? env : nothing);
    struct record_wish w = *wish;

    w.server = server;
    return record_place_find(p, &app, &w, e);
}

/* Of a name such as DIR/20261115T100000Z-LABEL-NUMBER.EXT. */
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
    snprintf(want, sizeof want, rest, self_number());
    assert_str(name, str_z(want));
}

static void a_file_that_is_named_is_that_file(void **state)
{
    struct record_place p;
    struct err e = ERR_NONE;

    assert_true(find(*state, &p, &(struct record_wish){ .output = "a.jsonl" }, NULL, &e));
    assert_string_equal(p.path, "a.jsonl");
    assert_string_equal(p.live, "a.jsonl");
    assert_ptr_equal(p.format, &recording_format);
    assert_false(record_place_is_journal(&p));
    assert_false(record_place_next(&p, 1));
    record_place_release(&p);
}

static void its_format_is_told_by_its_name_or_said(void **state)
{
    static const struct {
        const char *output;
        const struct format *said, *want;
    } rows[] = {
        { "a.trace.jsonl", NULL, &trace_format },
        { "a.json", NULL, &cassette_format },
        { "a", NULL, &recording_format },
        { "a.json", &jsonrpc_format, &jsonrpc_format },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct record_place p;
        struct err e = ERR_NONE;

        assert_true(
            find(*state, &p,
                 &(struct record_wish){ .output = rows[i].output, .format = rows[i].said },
                 NULL, &e));
        assert_ptr_equal(p.format, rows[i].want);
        record_place_release(&p);
    }
}

static void a_document_is_recorded_as_a_journal(void **state)
{
    struct record_place p;
    struct err e = ERR_NONE;

    assert_true(find(*state, &p, &(struct record_wish){ .output = "a.json" }, NULL, &e));
    assert_true(record_place_is_journal(&p));
    assert_string_equal(p.path, "a.json");
    assert_string_equal(p.live, "a.json.cassette.journal");
    record_place_release(&p);
    assert_false(find(*state, &p, &(struct record_wish){ .output = "a.json", .rotate = true },
                      NULL, &e));
    assert_string_equal(e.msg, "'--rotate' does not go with 'cassette': it is one document");
    record_place_release(&p);
}

static void in_a_folder_the_name_is_new(void **state)
{
    struct record_place p;
    struct err e = ERR_NONE;

    assert_int_equal(mkdir("dir", 0700), 0);
    assert_true(
        find(*state, &p, &(struct record_wish){ .output = "dir", .name = "A b/c" }, NULL, &e));
    assert_unique(p.path, "dir/", "A-b-c-%ld.jsonl");
    assert_true(record_place_next(&p, 1));
    assert_unique(p.path, "dir/", "A-b-c-%ld-2.jsonl");
    assert_true(record_place_next(&p, 99));
    assert_false(record_place_next(&p, 100));
    record_place_release(&p);
    assert_true(find(*state, &p,
                     &(struct record_wish){ .output = "dir/", .format = &cassette_format },
                     NULL, &e));
    assert_unique(p.path, "dir/", "some-server-%ld.json");
    assert_unique(p.live, "dir/", "some-server-%ld.json.cassette.journal");
    record_place_release(&p);
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
static void without_a_name_it_goes_to_the_folder_of_the_user(void **state)
{
    struct desk *d = *state;
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
        struct record_place p;
        struct err e = ERR_NONE;
        struct stat st;

        for (int k = 0; k < 2; k++)
            snprintf(text[k], sizeof text[k], rows[i].env[k], d->dir);
        snprintf(folder, sizeof folder, "%s/%s", d->dir, rows[i].folder);
        if (!find(d, &p, &(struct record_wish){ .output = NULL }, env, &e))
            fail_msg("%s", e.msg);
        assert_string_equal(p.folder, folder);
        assert_int_equal(stat(folder, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0700);
        assert_int_equal(strncmp(p.path, folder, strlen(folder)), 0);
        record_place_release(&p);
    }
    assert_int_equal(access("relative", F_OK), -1);
    remove_folders();
}

static void a_folder_of_the_user_that_is_open_to_all_is_refused(void **state)
{
    struct desk *d = *state;
    char home[256], *env[] = { home, NULL };
    struct record_place p;
    struct err e = ERR_NONE;

    snprintf(home, sizeof home, "HOME=%s/home", d->dir);
    assert_true(find(d, &p, &(struct record_wish){ .output = NULL }, env, &e));
    record_place_release(&p);
    assert_int_equal(chmod("home/.local/state/mcpreel/traces", 0777), 0);
    assert_false(find(d, &p, &(struct record_wish){ .output = NULL }, env, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_non_null(strstr(e.msg, "anybody may change what is in it"));
    record_place_release(&p);
    for (const char *const *f =
             (const char *const[]){ "home/.local/state/mcpreel/traces",
                                    "home/.local/state/mcpreel", "home/.local/state",
                                    "home/.local", "home", NULL };
         *f; f++)
        assert_int_equal(rmdir(*f), 0);
}

static void without_any_place_it_says_what_to_do(void **state)
{
    struct record_place p;
    struct err e = ERR_NONE;

    assert_false(find(*state, &p, &(struct record_wish){ .output = NULL }, NULL, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg,
                        "no folder for recordings: neither XDG_STATE_HOME nor HOME is set");
    record_place_release(&p);
}

static void what_stands_in_the_way_is_said_before_anything_starts(void **state)
{
    struct desk *d = *state;
    struct record_place p;
    struct err e = ERR_NONE;

    desk_put(d, "a.2.jsonl", "theirs");
    assert_true(
        find(d, &p, &(struct record_wish){ .output = "a.jsonl", .rotate = true }, NULL, &e));
    assert_false(record_place_is_free(&p, &d->faults.sys, &e));
    assert_string_equal(e.msg, "cannot write 'a.2.jsonl': it exists already");
    record_place_release(&p);

    assert_true(
        find(d, &p, &(struct record_wish){ .output = "a.jsonl", .rotate = true, .force = true },
             NULL, &e));
    assert_true(record_place_is_free(&p, &d->faults.sys, &e)); /* that part is passed over */
    record_place_release(&p);
}

static void a_journal_that_nobody_writes_is_set_aside(void **state)
{
    struct desk *d = *state;
    const struct sys *sys = &d->faults.sys;
    struct record_place p;
    struct err e = ERR_NONE;
    const char *aside;
    int theirs;

    desk_put(d, "b.json.cassette.journal", "theirs");
    desk_put(d, "b.2.json.cassette.journal", "older");
    assert_true(find(d, &p, &(struct record_wish){ .output = "b.json" }, NULL, &e));
    theirs = lock_hold(sys, "b.json.cassette.journal");
    assert_false(record_place_is_free(&p, sys, &e));
    assert_string_equal(e.msg, "cannot write 'b.json.cassette.journal': it exists already");
    assert_string_equal(e.hint, "another process is recording there");
    assert_true(record_place_set_aside(&p, sys, &aside, &e));
    assert_null(aside);
    close(theirs);
    assert_true(record_place_is_free(&p, sys, &e));
    assert_true(record_place_set_aside(&p, sys, &aside, &e));
    assert_string_equal(aside, "b.3.json.cassette.journal");
    assert_string_equal(desk_get(d, aside), "theirs");
    assert_string_equal(desk_get(d, "b.2.json.cassette.journal"), "older");
    assert_int_equal(access(p.live, F_OK), -1);
    record_place_release(&p);
}

static void a_place_in_use_gives_way_to_one_beside_it(void **state)
{
    struct desk *d = *state;
    struct record_wish wish = { .output = "a.jsonl", .force = true };
    struct record_place p;
    struct err e = ERR_NONE;
    struct file theirs;
    char want[64];

    assert_true(file_create(&theirs, &sys_real, "a.jsonl", false, &e));
    assert_true(find(d, &p, &wish, NULL, &e));
    assert_false(record_place_give_way(&p, &sys_real)); /* it is a file like any other */
    assert_true(record_place_is_free(&p, &sys_real, &e));
    lock_take(&sys_real, theirs.fd);
    assert_false(record_place_is_free(&p, &sys_real, &e));
    assert_string_equal(e.msg, "cannot write 'a.jsonl': another process is writing it");
    assert_true(record_place_give_way(&p, &sys_real));
    snprintf(want, sizeof want, "a-%ld.jsonl", self_number());
    assert_string_equal(p.path, want);
    assert_true(record_place_is_free(&p, &sys_real, &e));
    assert_false(record_place_give_way(&p, &sys_real)); /* once is enough */
    record_place_release(&p);
    wish.force = false; /* without it the file would be refused in any case */
    assert_true(find(d, &p, &wish, NULL, &e));
    assert_false(record_place_give_way(&p, &sys_real));
    record_place_release(&p);
    file_close(&theirs, &e);
}

static void a_server_is_called_by_what_people_call_it(void **state)
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
            record_place_label(&a, NULL, (char *const *)(uintptr_t)rows[i].words),
            rows[i].want);
        arena_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        AT_A_DESK(a_file_that_is_named_is_that_file),
        AT_A_DESK(its_format_is_told_by_its_name_or_said),
        AT_A_DESK(a_document_is_recorded_as_a_journal),
        AT_A_DESK(in_a_folder_the_name_is_new),
        AT_A_DESK(without_a_name_it_goes_to_the_folder_of_the_user),
        AT_A_DESK(a_folder_of_the_user_that_is_open_to_all_is_refused),
        AT_A_DESK(without_any_place_it_says_what_to_do),
        AT_A_DESK(what_stands_in_the_way_is_said_before_anything_starts),
        AT_A_DESK(a_journal_that_nobody_writes_is_set_aside),
        AT_A_DESK(a_place_in_use_gives_way_to_one_beside_it),
        cmocka_unit_test(a_server_is_called_by_what_people_call_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
