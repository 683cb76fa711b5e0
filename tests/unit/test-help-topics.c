#include "cmd/help-topics.h"

#include "base/text-wrap.h"
#include "fake-cli.h"
#include "test.h"

static const struct app app = { .commands = fake_cli_commands };

static void topics_are_found_by_name(void **state)
{
    (void)state;
    assert_non_null(help_topic_find("exit-codes"));
    assert_non_null(help_topic_find("environment"));
    assert_non_null(help_topic_find("recording"));
    assert_non_null(help_topic_find("matching"));
    assert_null(help_topic_find("exit"));
}

static void no_topic_has_the_name_of_a_command(void **state)
{
    struct err e = ERR_NONE;
    (void)state;

    for (const struct help_topic *t = help_topics; t->name; t++)
        assert_null(command_find(command_table, t->name, &e));
}

/* Tables are not refilled, so they must fit, also with the indent of the manual. */
static void lines_of_tables_fit_the_manual_page(void **state)
{
    struct buf b;
    (void)state;

    buf_init(&b, 1 << 20);
    for (const struct help_topic *t = help_topics; t->name; t++) {
        struct str rest, p;
        buf_clear(&b);
        help_topic_add_text(&b, t, &(struct app){ .commands = command_table });
        for (rest = buf_str(&b); text_wrap_next_paragraph(&rest, &p);)
            while (text_wrap_is_verbatim(p) && p.len)
                if (text_wrap_columns(str_cut(&p, '\n')) > TEXT_WRAP_TABLE_WIDTH)
                    fail_msg("topic '%s' has a line too wide", t->name);
    }
    buf_release(&b);
}

static void every_variable_is_listed_once_with_its_option(void **state)
{
    static const char *const want[] = {
        "\n  MCPREEL_OUTPUT            --output of record; also THOUGHTJACK_OUTPUT,\n"
        "                            THOUGHTJACK_OUT, THOUGHTJACK_CASSETTE\n",
        "\n  MCPREEL_FLUSH_INTERVAL_OF_THE_FILE\n"
        "                            --flush-interval-of-the-file of record\n",
        "\n  MCPREEL_LABEL             --label of record, plain\n",
        "\n  MCPREEL_VERBOSE           --verbose of plain\n",
        "\n  MCPREEL_VERBOSE           --verbose\n",
        "\n  MCPREEL_COLOR             --color; also THOUGHTJACK_COLOR\n",
    };
    struct buf b;
    (void)state;

    buf_init(&b, 1 << 20);
    help_topic_add_text(&b, help_topic_find("environment"), &app);
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        const char *at = strstr(buf_z(&b), want[i]);
        if (!at || strstr(at + 1, want[i]))
            fail_msg("'%s' is not there once in:\n%s", want[i], buf_z(&b));
    }
    assert_null(strstr(buf_z(&b), "MCPREEL_ODD"));
    assert_null(strstr(buf_z(&b), "MCPREEL_HELP"));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(topics_are_found_by_name),
        cmocka_unit_test(no_topic_has_the_name_of_a_command),
        cmocka_unit_test(lines_of_tables_fit_the_manual_page),
        cmocka_unit_test(every_variable_is_listed_once_with_its_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
