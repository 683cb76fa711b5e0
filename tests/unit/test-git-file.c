#include "runtime/git-file.h"

#include "loop/program.h"
#include "temp-dir.h"
#include "test.h"

static char *const env[] = { "PATH=/usr/bin:/bin",
                             "HOME=/nonexistent",
                             "GIT_CONFIG_NOSYSTEM=1",
                             "GIT_AUTHOR_NAME=a",
                             "GIT_AUTHOR_EMAIL=a@a",
                             "GIT_COMMITTER_NAME=a",
                             "GIT_COMMITTER_EMAIL=a@a",
                             "GIT_CEILING_DIRECTORIES=/tmp:/var/tmp",
                             NULL };

static void run(const char *script)
{
    char *argv[] = { "sh", "-ec", (char *)script, NULL };
    struct err e = ERR_NONE;
    struct program p;
    char piece[4096];
    size_t got;

    if (!program_start(&p, argv, env, PROGRAM_STDOUT, &e))
        fail_msg("%s", e.msg);
    do
        assert_true(program_read(&p, piece, sizeof piece, &got, &e));
    while (got);
    assert_int_equal(program_wait(&p), 0);
}

static void make_repository(void)
{
    run("git init -q repo; cd repo; mkdir d; echo one >d/f; git add d; git commit -qm 1; "
        "echo two >d/f; git commit -qam 2; echo three >d/f; echo new >d/g");
}

static bool open_file(struct git_file *g, const char *revision, const char *path, struct err *e)
{
    const struct app app = { .sys = &sys_real, .env = env };

    return git_file_open(g, &app, revision, path, ".", e);
}

static void the_content_is_that_of_the_revision(void **state)
{
    struct err e = ERR_NONE;
    struct git_file g;
    struct buf text;

    (void)state;
    make_repository();
    buf_init(&text, 1 << 20);
    assert_true(open_file(&g, "HEAD", "repo/d/f", &e));
    assert_str(g.name, STR("HEAD:repo/d/f"));
    assert_true(file_read_all(&text, &sys_real, g.path, &e));
    assert_str(buf_str(&text), STR("two\n"));
    git_file_release(&g);
    buf_clear(&text);
    assert_true(open_file(&g, "HEAD~1", "repo/d/f", &e));
    assert_true(file_read_all(&text, &sys_real, g.path, &e));
    assert_str(buf_str(&text), STR("one\n"));
    git_file_release(&g);
    buf_release(&text);
    run("rm -rf repo");
}

static void check_error(const char *revision, const char *path, enum err_kind kind,
                        const char *says)
{
    struct err e = ERR_NONE;
    struct git_file g;

    assert_false(open_file(&g, revision, path, &e));
    assert_int_equal(e.kind, kind);
    assert_string_equal(e.msg, says);
    git_file_release(&g);
}

static void errors_name_what_is_missing(void **state)
{
    (void)state;
    make_repository();
    check_error("v9", "repo/d/f", ERR_USAGE, "git has no revision 'v9'");
    check_error("--all", "repo/d/f", ERR_USAGE, "git has no revision '--all'");
    check_error("HEAD", "repo/d/g", ERR_INPUT, "revision 'HEAD' has no file 'repo/d/g'");
    check_error("HEAD", "f", ERR_INPUT, "'f' is not in a git repository");
    run("rm -rf repo");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(the_content_is_that_of_the_revision),
        IN_TEMP_DIR(errors_name_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
