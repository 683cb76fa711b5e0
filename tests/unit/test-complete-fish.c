#include "completion-check.h"
#include "test.h"

static void every_shown_option_is_a_line_with_its_texts_quoted(void **state)
{
    static const char *const there[] = {
        "-n '__mcpreel_in record' -s o -l output -r -F -d 'write the tape to FILE'\n",
        "-l label -x -d 'what it\\'s called: [any] text",
        "-l match -x -a 'sequential by-request' -d",
        "-l redact -d 'hide secrets'\n",
        "-l no-redact\n",
        "-n '__mcpreel_in' -a record -d 'tape what\\'s said [all: of it]'\n",
        "-n '__mcpreel_in plain' -F\n",
        "-n '__mcpreel_in completion' -a 'bash zsh fish'\n",
        "-n '__mcpreel_in help' -a exit-codes -d ",
        NULL,
    };
    static const char *const absent[] = { "odd", "recorder", "method_params", "no-force",
                                          NULL };
    (void)state;
    completion_check(complete_fish, there, absent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shown_option_is_a_line_with_its_texts_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
