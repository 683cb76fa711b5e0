#include "cmd/help-text.h"

#include "fake-cli.h"
#include "test.h"

static const struct app plain_app = { .commands = fake_cli_commands };

static void help_of_a_command_has_everything_of_its_row(void **state)
{
    static const char want[] =
        "Tapes what is said. This text is long enough to need more than the one line of\n"
        "eighty columns.\n"
        "\n"
        "  a table\n"
        "  stays   as it is\n"
        "\n"
        "Usage:\n"
        "  mcpreel record [options] [FILE...]\n"
        "  mcpreel record [options] -- COMMAND\n"
        "\n"
        "Examples:\n"
        "  mcpreel record -o a -- sh\n"
        "      to tape a shell\n"
        "\n"
        "Options:\n"
        "  -o, --output FILE         write the tape to FILE\n"
        "      --label NAME          what it's called: [any] text, even one so long that\n"
        "                            its help has to go on in a second line\n"
        "      --tags TAG            mark it (repeatable, or with commas)\n"
        "  -r, --rule REGEX          hide what matches (repeatable; default: a,b)\n"
        "\n"
        "Safety:\n"
        "  -f, --force               replace what is there\n"
        "      --[no-]redact         hide secrets (on by default)\n"
        "\n"
        "Replay:\n"
        "      --match HOW           how to match (sequential, by-request)\n"
        "  -p, --port N              listen there (1 to 65535; default: 5555)\n"
        "      --flush-interval-of-the-file TIME\n"
        "                            sync this often (default: 1s)\n"
        "      --limit SIZE          largest message (default: 64MB)\n"
        "      --speed SPEED         how fast (half)\n"
        "  -l, --level               one up\n"
        "\n"
        "Global options:\n"
        "  -h, --help                show help for the command and exit\n"
        "  -v, --verbose             write more messages to standard error\n"
        "  -q, --quiet               write only errors to standard error\n"
        "      --json                write results and errors as JSON\n"
        "      --color WHEN          use colours (auto, always, never; default: auto)\n"
        "  -V, --version             show the version and exit\n"
        "\n"
        "Most options can also be set in the environment: see 'mcpreel help environment'.\n"
        "More: man mcpreel-record\n";
    struct buf b;
    (void)state;

    buf_init(&b, HELP_TEXT_MAX);
    help_text_command(&b, &plain_app, &fake_cli_record);
    assert_str(buf_str(&b), STR(want));
    buf_release(&b);
}

static void a_replaced_global_option_is_listed_once(void **state)
{
    const char *first;
    struct buf b;
    (void)state;

    buf_init(&b, HELP_TEXT_MAX);
    help_text_command(&b, &plain_app, &fake_cli_plain);
    first = strstr(buf_z(&b), "--verbose");
    assert_non_null(first);
    assert_non_null(strstr(buf_z(&b), "--verbose             print bodies"));
    assert_null(strstr(first + 1, "--verbose"));
    buf_release(&b);
}

static void colour_is_used_for_headings_if_enabled(void **state)
{
    struct app app = { .commands = fake_cli_commands, .color = true };
    struct buf b;
    (void)state;

    buf_init(&b, HELP_TEXT_MAX);
    help_text_command(&b, &app, &fake_cli_plain);
    assert_non_null(strstr(buf_z(&b), "\n\x1b[1mUsage:\x1b[0m\n"));
    buf_clear(&b);
    help_text_command(&b, &plain_app, &fake_cli_plain);
    assert_null(strchr(buf_z(&b), '\x1b'));
    buf_release(&b);
}

static void the_overview_lists_visible_commands_and_is_short(void **state)
{
    static const char want[] = "mcpreel - record, replay and inspect MCP traffic\n"
                               "\n"
                               "Examples:\n"
                               "  mcpreel record -o session.jsonl -- node server.js\n"
                               "  mcpreel replay session.jsonl\n"
                               "  mcpreel inspect session.jsonl\n"
                               "\n"
                               "Commands:\n"
                               "  record       tape what's said [all: of it]\n"
                               "  plain        print a file's name\n"
                               "  start        start a server\n"
                               "  completion   write a completion script for a shell\n"
                               "  help         explain a command or a topic\n"
                               "  version      show the version of mcpreel\n"
                               "\n"
                               "More: mcpreel help [COMMAND], man mcpreel\n";
    struct buf b;
    (void)state;

    buf_init(&b, HELP_TEXT_MAX);
    help_text_overview(&b, &plain_app);
    assert_str(buf_str(&b), STR(want));
    buf_release(&b);
}

static void help_of_the_program_adds_topics_and_global_options(void **state)
{
    static const char *const parts[] = { "\n  mcpreel -- SERVER [ARGS...]\n",
                                         "\nTopics:\n  environment  variables",
                                         "\nGlobal options:\n  -h, --help ",
                                         "\n  plain        print a file's name\n" };
    struct buf b;
    (void)state;

    buf_init(&b, HELP_TEXT_MAX);
    help_text_program(&b, &plain_app);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!strstr(buf_z(&b), parts[i]))
            fail_msg("'%s' is not in\n%s", parts[i], buf_z(&b));
    assert_null(strstr(buf_z(&b), "recorder"));
    buf_release(&b);
}

static void a_range_without_maximum_has_its_own_text(void **state)
{
    const struct option o = {
        .name = "n", .arg = "N", .type = OPTION_INT, .min = 1, .max = INT64_MAX
    };
    struct buf b;
    (void)state;

    buf_init(&b, 100);
    help_text_option_notes(&b, &o);
    assert_str(buf_str(&b), STR(" (1 or more)"));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_of_a_command_has_everything_of_its_row),
        cmocka_unit_test(a_replaced_global_option_is_listed_once),
        cmocka_unit_test(colour_is_used_for_headings_if_enabled),
        cmocka_unit_test(the_overview_lists_visible_commands_and_is_short),
        cmocka_unit_test(help_of_the_program_adds_topics_and_global_options),
        cmocka_unit_test(a_range_without_maximum_has_its_own_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
