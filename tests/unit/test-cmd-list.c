#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "test.h"

#define HEAD(date)                                                                             \
    "{'type':'header','version':'1.0','recorded_at':'" date                                    \
    "T21:00:00.000Z','upstream':'python s.py','thoughtjack_version':'0.3.0'}\n"
#define INFO                                                                                   \
    "{'type':'message','seq':1,'ts':'2026-11-15T21:00:00.001Z','dir':'s2c','msg':{'id':0,"     \
    "'result':{'serverInfo':{'name':'fs`u001b','version':'2'}}}}\n"
#define CALL                                                                                   \
    "{'type':'message','seq':2,'ts':'2026-11-15T21:00:00.002Z','dir':'c2s','msg':{'id':1,"     \
    "'method':'tools/call','params':{'name':'a'}}}\n"
#define FOOT                                                                                   \
    "{'type':'footer','total_messages':2,'duration_ms':0,'client_messages':1,"                 \
    "'server_messages':1}\n"
#define TITLE "recorded (UTC)         calls       size  server                        file\n"

static void recordings_are_listed_newest_first(void **state)
{
    struct cli *d = *state;

    assert_int_equal(mkdir("t", 0700), 0);
    cli_put_file(d, "t/a.jsonl", HEAD("2026-11-14") INFO CALL CALL FOOT);
    cli_put_file(d, "t/b.jsonl", HEAD("2026-11-15") CALL);
    assert_run(
        d, "mcpreel list t", 0,
        TITLE "2026-11-15 21:00:00        1  260 bytes  python s.py                   t/b.jsonl"
              "  (no footer)\n"
              "2026-11-14 21:00:00        2  627 bytes  fs\\x1b 2                      "
              "t/a.jsonl\n",
        "");
    assert_int_equal(cli_run(d, "mcpreel list -n 1 t/"), 0);
    assert_null(strstr(buf_z(&d->out), "a.jsonl"));
    assert_non_null(strstr(buf_z(&d->out), "t/b.jsonl"));
    unlink("t/a.jsonl");
    unlink("t/b.jsonl");
    assert_int_equal(rmdir("t"), 0);
}

static void unreadable_recordings_are_listed_and_other_files_counted(void **state)
{
    struct cli *d = *state;

    assert_int_equal(mkdir("t", 0700), 0);
    assert_int_equal(mkdir("t/folder.jsonl", 0700), 0);
    cli_put_file(d, "t/empty.jsonl", "");
    cli_put_file(d, "t/broken.jsonl", HEAD("2026-11-14") CALL "{'type':'message'}\n" CALL);
    cli_put_file(d, "t/notes.txt", "buy milk\n");
    cli_put_file(d, "t/.hidden.jsonl", "x");
    assert_int_equal(cli_run(d, "mcpreel list t"), 0);
    assert_str(buf_str(&d->err), STR("mcpreel: 1 other file is there\n"));
    assert_non_null(strstr(buf_z(&d->out),
                           "        -    0 bytes                                "
                           "t/empty.jsonl  (unreadable: cannot read 't/empty.jsonl': it is "
                           "empty)\n"));
    assert_non_null(strstr(buf_z(&d->out), "t/broken.jsonl  (damaged: t/broken.jsonl:3:1: "));
    assert_null(strstr(buf_z(&d->out), "hidden"));
    assert_null(strstr(buf_z(&d->out), "folder"));
    unlink("t/empty.jsonl");
    unlink("t/broken.jsonl");
    unlink("t/notes.txt");
    unlink("t/.hidden.jsonl");
    assert_int_equal(rmdir("t/folder.jsonl"), 0);
    assert_int_equal(rmdir("t"), 0);
}

/* Its front and its footer are read; the rest is estimated. */
static void a_large_file_is_not_read_completely(void **state)
{
    struct cli *d = *state;
    const char *estimate;
    struct buf text;

    buf_init(&text, 8 << 20);
    buf_add(&text, STR(HEAD("2026-11-14")));
    for (int i = 0; i < 10000; i++)
        buf_add(&text, STR(CALL));
    buf_add(&text,
            STR("{'type':'footer','total_messages':2,'duration_ms':0,'client_messages':1,"
                "'server_messages':1,'server_info':{'name':'big','version':'1'}}\n"));
    assert_int_equal(mkdir("t", 0700), 0);
    cli_put_file(d, "t/a.jsonl", buf_z(&text));
    assert_int_equal(cli_run(d, "mcpreel list t"), 0);
    assert_non_null(strstr(buf_z(&d->out), "     1.3 MB  big 1  "));
    estimate = strchr(buf_z(&d->out), '~');
    assert_non_null(estimate);
    assert_in_range(strtol(estimate + 1, NULL, 10), 9900, 10100);
    assert_null(strstr(buf_z(&d->out), "no footer"));
    assert_int_equal(cli_run(d, "mcpreel list --json t"), 0);
    assert_non_null(strstr(buf_z(&d->out), "\"tool_calls_estimated\":true"));
    unlink("t/a.jsonl");
    assert_int_equal(rmdir("t"), 0);
    buf_release(&text);
}

static void an_empty_folder_is_reported(void **state)
{
    struct cli *d = *state;
    char home[600], *env[] = { home, NULL };

    snprintf(home, sizeof home, "XDG_STATE_HOME=%s", d->dir);
    d->env = env;
    assert_int_equal(cli_run(d, "mcpreel list"), 0);
    assert_int_equal(d->out.len, 0);
    assert_non_null(strstr(buf_z(&d->err), "mcpreel: no recordings in '"));
    assert_non_null(strstr(buf_z(&d->err), "without -o writes them there\n"));
    assert_int_equal(cli_run(d, "mcpreel list --json"), 0);
    assert_true(
        str_ends(buf_str(&d->out), STR("\"count\":0,\"other_files\":0,\"recordings\":[]}\n")));
    assert_int_equal(d->err.len, 0);
    assert_run(d, "mcpreel list nowhere", 3, "",
               "mcpreel: cannot read the folder 'nowhere': No such file or directory\n");
    d->env = NULL;
    assert_run(d, "mcpreel list", 2, "",
               "mcpreel: no folder for recordings: neither XDG_STATE_HOME nor HOME is set\n"
               "  name a folder, or set MCPREEL_DIR\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(recordings_are_listed_newest_first),
        WITH_CLI(unreadable_recordings_are_listed_and_other_files_counted),
        WITH_CLI(a_large_file_is_not_read_completely),
        WITH_CLI(an_empty_folder_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
