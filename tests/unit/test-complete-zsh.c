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
    complete_zsh(&b, &app);
    for (; *there; there++)
        if (!strstr(buf_z(&b), *there))
            fail_msg("'%s' is not in\n%s", *there, buf_z(&b));
    for (; *absent; absent++)
        if (strstr(buf_z(&b), *absent))
            fail_msg("'%s' is in\n%s", *absent, buf_z(&b));
    buf_release(&b);
}

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
    check_script(there, absent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shown_option_is_a_spec_with_its_texts_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
