#include "engine/mock.h"

#include <glob.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "playbook.h"
#include "test.h"

static void check(const char *play, bool passes, const char *says)
{
    struct buf why;

    buf_init(&why, 1 << 16);
    if (playbook_run(str_z(play), &why) != passes)
        fail_msg("%s: %s", passes ? "should pass" : "should fail", buf_z(&why));
    assert_str(buf_str(&why), str_z(says));
    buf_release(&why);
}

#define LIST                                                                                   \
    "recording\n"                                                                              \
    "c2s {\"id\":1,\"method\":\"tools/list\"}\n"                                               \
    "s2c {\"id\":1,\"result\":{}}\n"                                                           \
    ">> {\"id\":2,\"method\":\"tools/list\"}\n"

/* The playbooks prove nothing unless a wrong one fails. */
static void a_playbook_fails_on_everything_that_is_not_as_it_says(void **state)
{
    (void)state;
    check(LIST "<< {\"id\":2,\"result\":{}}\n", true, "");
    check(LIST, false, "5: not expected\n  got  << {\"id\":2,\"result\":{}}");
    check(LIST "<< {\"id\":1,\"result\":{}}\n", false,
          "5: something else\n  got  << {\"id\":2,\"result\":{}}\n"
          "  want << {\"id\":1,\"result\":{}}");
    check(LIST "<< {\"id\":2, \"result\":{}}\n", false,
          "5: something else\n  got  << {\"id\":2,\"result\":{}}\n"
          "  want << {\"id\":2, \"result\":{}}");
    check(LIST "<< {\"id\":2,\"result\":{}}\nfinish 0\n", false,
          "6: nothing came\n  want finish 0");
    check(LIST "close\n", false, "5: not expected\n  got  << {\"id\":2,\"result\":{}}");
    check(LIST "<< {\"id\":2,\"result\":{}}\nxx\n", false,
          "6: no such line in a playbook\n  got  xx");
    check(LIST "<< {\"id\":2,\"result\":{}}\nc2s {}\n", false,
          "6: the recording comes first\n  got  c2s {}");
    check("options match=fuzzy\n", false, "1: no such option\n  got  match=fuzzy");
    check("recording\n", false, "2: nothing happens in it");
}

static void a_story_goes_as_its_playbook_says(void **state)
{
    const char *path = *state;
    struct err e = ERR_NONE;
    struct buf text, why;

    buf_init(&text, (size_t)1 << 26);
    buf_init(&why, (size_t)1 << 26);
    if (!file_slurp(&text, &sys_real, path, &e))
        fail_msg("%s", e.msg);
    if (!playbook_run(buf_str(&text), &why))
        fail_msg("%s:%s", path, buf_z(&why));
    buf_release(&text);
    buf_release(&why);
}

/* "tests/playbook/one-story.play" as "one_story". */
static char *name_of(const char *path)
{
    struct str name = str_z(strrchr(path, '/') + 1);
    char *copy = mem_alloc(name.len);

    memcpy(copy, name.at, name.len - strlen(".play"));
    for (char *c = copy; *c; c++)
        *c = *c == '-' ? '_' : *c;
    return copy;
}

int main(void)
{
    const struct CMUnitTest fixed[] = {
        cmocka_unit_test(a_playbook_fails_on_everything_that_is_not_as_it_says),
    };
    struct CMUnitTest *tests;
    size_t count = 0;
    glob_t plays;
    int failed;

    if (glob("tests/playbook/*.play", GLOB_ERR, NULL, &plays) != 0)
        BUG("no playbooks: started in another directory than the root of the source?");
    tests = mem_alloc((plays.gl_pathc + 1) * sizeof *tests);
    tests[count++] = fixed[0];
    for (size_t i = 0; i < plays.gl_pathc; i++)
        tests[count++] = (struct CMUnitTest){ .name = name_of(plays.gl_pathv[i]),
                                              .test_func = a_story_goes_as_its_playbook_says,
                                              .initial_state = plays.gl_pathv[i] };
    failed = _cmocka_run_group_tests("mock", tests, count, NULL, NULL);
    for (size_t i = 1; i < count; i++)
        free((char *)(uintptr_t)tests[i].name);
    free(tests);
    globfree(&plays);
    return failed;
}
