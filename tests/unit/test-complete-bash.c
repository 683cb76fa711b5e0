#include "completion-check.h"
#include "test.h"

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
    completion_check(complete_bash, there, absent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shown_option_is_offered_and_values_by_their_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
