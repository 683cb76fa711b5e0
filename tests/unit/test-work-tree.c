#include "base/work-tree.h"

#include <sys/stat.h>
#include <unistd.h>

#include "temp-dir.h"
#include "test.h"

static void check_folder(const char *dir, const char *want)
{
    struct arena a = { 0 };

    assert_int_equal(chdir(dir), 0);
    assert_str(work_tree_folder(&a), str_z(want));
    arena_release(&a);
}

static void the_folder_is_that_below_git(void **state)
{
    (void)state;
    assert_int_equal(mkdir("a", 0700), 0);
    assert_int_equal(mkdir("a/b c", 0700), 0);
    check_folder("a/b c", "");
    assert_int_equal(mkdir("../../.git", 0700), 0);
    check_folder(".", "a/b c/");
    check_folder("..", "a/");
    check_folder("..", "");
    assert_int_equal(rmdir(".git"), 0);
}

static void a_path_begins_at_the_root(void **state)
{
    static const struct {
        const char *folder, *path, *want;
    } rows[] = {
        { "", "./a/../b.json", "./a/../b.json" },
        { "x/y/", "a.json", "x/y/a.json" },
        { "x/y/", "./a//b.json", "x/y/a/b.json" },
        { "x/y/", "../a.json", "x/a.json" },
        { "x/y/", "../../a.json", "a.json" },
        { "x/y/", "../../../../a.json", "../../a.json" },
        { "x/y/", "..", "x/" },
        { "x/", "a/../..b", "x/..b" },
    };
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_str(work_tree_path(str_z(rows[i].folder), str_z(rows[i].path), &a),
                   str_z(rows[i].want));
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(the_folder_is_that_below_git),
        cmocka_unit_test(a_path_begins_at_the_root),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
