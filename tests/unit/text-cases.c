#include "text-cases.h"

#include <glob.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"

struct text_case {
    const char *path;
    text_case_fn *play;
};

static void text_case_passes(void **state)
{
    const struct text_case *one_case = *state;
    struct err e = ERR_NONE;
    struct buf text, why;

    buf_init(&text, (size_t)1 << 26);
    buf_init(&why, (size_t)1 << 26);
    if (!file_read_all(&text, &sys_real, one_case->path, &e))
        fail_msg("%s", e.msg);
    if (!one_case->play(buf_str(&text), &why))
        fail_msg("%s:%s", one_case->path, buf_z(&why));
    buf_release(&text);
    buf_release(&why);
}

/* "tests/playbook/one-case.play" as "one_case". */
static char *name_of(const char *path)
{
    struct str name = str_z(strrchr(path, '/') + 1);
    char *copy = mem_alloc(name.len);

    memcpy(copy, name.at, name.len - strlen(".play"));
    for (char *c = copy; *c; c++)
        *c = *c == '-' ? '_' : *c;
    return copy;
}

int text_cases_run(const char *group, const struct CMUnitTest *fixed, size_t count,
                   const char *pattern, text_case_fn *play)
{
    struct CMUnitTest *tests;
    struct text_case *cases;
    glob_t files;
    int failed;

    if (glob(pattern, GLOB_ERR, NULL, &files) != 0)
        BUG("no cases: started in another directory than the root of the source?");
    tests = mem_alloc((count + files.gl_pathc) * sizeof *tests);
    cases = mem_alloc(files.gl_pathc * sizeof *cases);
    memcpy(tests, fixed, count * sizeof *tests);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        cases[i] = (struct text_case){ files.gl_pathv[i], play };
        tests[count + i] = (struct CMUnitTest){ .name = name_of(files.gl_pathv[i]),
                                                .test_func = text_case_passes,
                                                .initial_state = &cases[i] };
    }
    failed = _cmocka_run_group_tests(group, tests, count + files.gl_pathc, NULL, NULL);
    for (size_t i = 0; i < files.gl_pathc; i++)
        free((char *)(uintptr_t)tests[count + i].name);
    free(tests);
    free(cases);
    globfree(&files);
    return failed;
}

void text_cases_check(text_case_fn *play, const char *text, bool passes, const char *says)
{
    struct buf why;

    buf_init(&why, 1 << 16);
    if (play(str_z(text), &why) != passes)
        fail_msg("%s: %s", passes ? "should pass" : "should fail", buf_z(&why));
    assert_str(buf_str(&why), str_z(says));
    buf_release(&why);
}
