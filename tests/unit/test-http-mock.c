#include "engine/http-mock.h"

#include "playbook.h"
#include "plays.h"
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
    "1 POST {\"id\":1,\"method\":\"tools/list\"}\n"                                            \
    "1 200 json {\"id\":1,\"result\":{}}\n"                                                    \
    "options match=sequential\n"                                                               \
    "1 POST {\"id\":2,\"method\":\"tools/list\"}\n"

/* The playbooks prove nothing unless a wrong one fails. */
static void a_story_fails_on_everything_that_is_not_as_it_says(void **state)
{
    (void)state;
    check(LIST "1 200 json {\"id\":2,\"result\":{}}\n", true, "");
    check(LIST, false, "6: not expected\n  got  1 200 json {\"id\":2,\"result\":{}}");
    check(LIST "1 200 sse\n", false,
          "6: something else\n  got  1 200 json {\"id\":2,\"result\":{}}\n  want 1 200 sse");
    check(LIST "2 200 json {\"id\":2,\"result\":{}}\n", false,
          "6: something else\n  got  1 200 json {\"id\":2,\"result\":{}}\n"
          "  want 2 200 json {\"id\":2,\"result\":{}}");
    check(LIST "1 200 json session=1 {\"id\":2,\"result\":{}}\n", false,
          "6: something else\n  got  1 200 json {\"id\":2,\"result\":{}}\n"
          "  want 1 200 json session=1 {\"id\":2,\"result\":{}}");
    check(LIST "1 200 json {\"id\":2,\"result\":{}}\n1 end\n", false,
          "7: nothing came\n  want 1 end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_story_fails_on_everything_that_is_not_as_it_says),
    };
    return plays_run("http-mock", tests, 1, "tests/playbook/http/*.play", playbook_run);
}
