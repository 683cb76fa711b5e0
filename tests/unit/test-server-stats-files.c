#include "report/server-stats-files.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "test.h"

#define HEADER                                                                                 \
    "{'type':'header','version':'1.0','recorded_at':'2026-01-01T00:00:01.000Z',"               \
    "'upstream':'u','thoughtjack_version':'0.3.0'}\n"
#define PING                                                                                   \
    "{'type':'message','seq':1,'ts':'2026-01-01T00:00:02.000Z','dir':'c2s',"                   \
    "'msg':{'id':1,'method':'ping'}}\n"

struct reading {
    struct log log;
    struct buf logged;
    struct server_stats stats;
    struct server_stats_files files;
};

static void write_log(void *to, struct str line)
{
    buf_add(to, line);
}

static void begin(struct reading *r, const struct cli *d)
{
    *r =
        (struct reading){ .log = { .level = LOG_INFO, .write = write_log, .arg = &r->logged } };
    buf_init(&r->logged, 1 << 20);
    server_stats_init(&r->stats);
    r->files = (struct server_stats_files){
        .sys = &d->faults.sys, .log = &r->log, .log_failures = true, .stats = &r->stats
    };
}

static void end(struct reading *r)
{
    server_stats_files_release(&r->files);
    server_stats_release(&r->stats);
    buf_release(&r->logged);
}

static void files_are_added_up(void **state)
{
    struct cli *d = *state;
    struct reading r;

    begin(&r, d);
    cli_put_file(d, "a.jsonl", HEADER PING);
    server_stats_files_add(&r.files, "a.jsonl");
    server_stats_files_add(&r.files, "a.jsonl");
    assert_int_equal(r.files.read, 2);
    assert_int_equal(r.files.bytes, 2 * (sizeof HEADER PING - 1));
    assert_int_equal(r.files.failed, 0);
    assert_int_equal(r.stats.recordings, 2);
    assert_int_equal(r.logged.len, 0);
    end(&r);
}

static void a_folder_may_have_other_files(void **state)
{
    struct cli *d = *state;
    struct reading r;

    begin(&r, d);
    assert_int_equal(mkdir("t", 0700), 0);
    assert_int_equal(mkdir("t/sub", 0700), 0);
    cli_put_file(d, "t/a.jsonl", HEADER PING);
    cli_put_file(d, "t/no-footer-torn.jsonl", HEADER PING "{'type':'mess");
    cli_put_file(d, "t/notes.txt", "buy milk\n");
    cli_put_file(d, "t/package.json", "{'name':'x'}");
    cli_put_file(d, "t/sub/b.jsonl", HEADER PING);
    server_stats_files_add(&r.files, "t");
    assert_int_equal(r.files.read, 2);
    assert_int_equal(r.files.notes, 1);
    assert_int_equal(r.files.other, 2);
    assert_int_equal(r.files.failed, 0);
    assert_int_equal(r.logged.len, 0);
    server_stats_files_add(&r.files, "t/package.json"); /* named */
    assert_int_equal(r.files.failed, 1);
    unlink("t/sub/b.jsonl");
    rmdir("t/sub");
    end(&r);
}

static void failures_are_logged_and_kept(void **state)
{
    struct cli *d = *state;
    struct reading r;

    begin(&r, d);
    assert_int_equal(mkdir("t", 0700), 0);
    cli_put_file(d, "t/empty.jsonl", "");
    cli_put_file(d, "notes.txt", "buy milk\n");
    cli_put_file(d, "damaged.jsonl", HEADER PING "{'type':'message'}\n" PING);
    server_stats_files_add(&r.files, "t");
    server_stats_files_add(&r.files, "notes.txt");
    server_stats_files_add(&r.files, "missing.jsonl");
    server_stats_files_add(&r.files, "damaged.jsonl");
    assert_int_equal(r.files.failed, 4);
    assert_int_equal(r.files.failure, ERR_INPUT);
    assert_int_equal(r.files.read, 1); /* the damaged one, up to the damage */
    assert_int_equal(r.stats.recordings, 1);
    assert_str(r.files.failures[0].path, STR("t/empty.jsonl"));
    assert_str(r.files.failures[0].error, STR("cannot read 't/empty.jsonl': it is empty"));
    assert_str(r.files.failures[3].path, STR("damaged.jsonl"));
    assert_non_null(strstr(buf_z(&r.logged), "notes.txt"));
    assert_non_null(strstr(buf_z(&r.logged), "'missing.jsonl': No such file"));
    assert_non_null(strstr(buf_z(&r.logged), "damaged.jsonl:3"));
    buf_clear(&r.logged);
    r.files.log_failures = false;
    server_stats_files_add(&r.files, "missing.jsonl");
    assert_int_equal(r.files.failed, 5);
    assert_int_equal(r.logged.len, 0);
    end(&r);
}

static void only_the_first_failures_are_kept(void **state)
{
    char name[32];
    struct cli *d = *state;
    struct reading r;

    begin(&r, d);
    for (int i = 0; i < SERVER_STATS_FILES_FAILURES + 3; i++) {
        snprintf(name, sizeof name, "missing-%d", i);
        server_stats_files_add(&r.files, name);
    }
    assert_int_equal(r.files.failed, SERVER_STATS_FILES_FAILURES + 3);
    assert_str(r.files.failures[SERVER_STATS_FILES_FAILURES - 1].path, STR("missing-63"));
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(files_are_added_up),
        WITH_CLI(a_folder_may_have_other_files),
        WITH_CLI(failures_are_logged_and_kept),
        WITH_CLI(only_the_first_failures_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
