#include "completion-check.h"
#include "test.h"

static void every_shown_option_is_a_spec_with_its_texts_quoted(void **state)
{
    static const char *const there[] = {
        "#compdef mcpreel\n",
        "'(-o --output)'{-o+,--output=}'[write the tape to FILE]:FILE:_files' \\\n",
        "'[what it'\\''s called\\: \\[any\\] text, even one",
        "'*'--tags='[mark it]:TAG: ' \\\n",
        "'*'{-l,--level}'[one up]' \\\n",
        "--match='[how to match]:HOW:(sequential by-request)' \\\n",
        "'--no-redact[",
        "'record:tape what'\\''s said \\[all\\: of it\\]'\n",
        "_mcpreel-plain()\n",
        "'1:FILE:_files'\n",
        "':: :_message nothing'\n",
        "'1:SHELL:(bash zsh fish)'\n",
        NULL,
    };
    static const char *const absent[] = { "odd", "recorder", "method_params", "no-force",
                                          NULL };
    (void)state;
    completion_check(complete_zsh, there, absent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shown_option_is_a_spec_with_its_texts_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
