#include "replay/replay.h"

#include "playbook.h"
#include "test.h"
#include "text-cases.h"

static void check(const char *play, bool passes, const char *says)
{
    text_cases_check(playbook_run, play, passes, says);
}

#define LIST                                                                                   \
    "recording\n"                                                                              \
    "c2s {\"id\":1,\"method\":\"tools/list\"}\n"                                               \
    "s2c {\"id\":1,\"result\":{}}\n"                                                           \
    ">> {\"id\":2,\"method\":\"tools/list\"}\n"

static void a_playbook_fails_on_every_deviation(void **state)
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
    check("options match=other\n", false, "1: no such option\n  got  match=other");
    check("recording\n", false, "2: nothing happens in it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_playbook_fails_on_every_deviation),
    };
    return text_cases_run("replay", tests, 1, "tests/playbook/*.play", playbook_run);
}
