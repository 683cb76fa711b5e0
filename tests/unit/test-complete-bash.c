#include "cmd/complete.h"

#include "cmd/usage.h"
#include "fixture.h"
#include "test.h"

/* What the script does is seen by running it in the shell itself; here, what it
 * may not hold, and how texts are quoted. */
static void check_script(const char *const *there, const char *const *absent)
{
    const struct app app = { .commands = fixture_commands };
    struct buf b;

    buf_init(&b, USAGE_MAX);
    complete_bash(&b, &app);
    for (; *there; there++)
        if (!strstr(buf_z(&b), *there))
            fail_msg("'%s' is not in\n%s", *there, buf_z(&b));
    for (; *absent; absent++)
        if (strstr(buf_z(&b), *absent))
            fail_msg("'%s' is in\n%s", *absent, buf_z(&b));
    buf_release(&b);
}

static void every_shown_option_is_offered_and_values_by_their_kind(void **state)
{
    static const char *const there[] = {
        "    \"record --output\" | \"record --out\" | \"record --cassette\" | \"record -o\")\n"
        "        _mcpreel_files\n        return\n",
        "    \"record --match\")\n        _mcpreel_words 'sequential by-request'\n",
        "    \"record --label\")\n        return\n",
        "    *\" --color\")\n        _mcpreel_words 'auto always never'\n",
        " --redact --no-redact ",
        "    \"record \"*) _mcpreel_files ;;\n",
        "    \"completion \"*) _mcpreel_words 'bash zsh fish' ;;\n",
        "    \" \"*) _mcpreel_words 'record plain start completion help version ' ;;\n",
        NULL,
    };
    static const char *const absent[] = { "odd", "recorder", "method_params", "--no-force",
                                          NULL };
    (void)state;
    check_script(there, absent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shown_option_is_offered_and_values_by_their_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
