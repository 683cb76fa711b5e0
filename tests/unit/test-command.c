#include "cmd/command.h"

#include "fixture.h"
#include "test.h"

static void a_command_is_found_by_its_whole_name_only(void **state)
{
    struct err e = ERR_NONE;
    (void)state;

    assert_ptr_equal(command_find(fixture_commands, "record", &e), &fixture_tape);
    assert_ptr_equal(command_find(fixture_commands, "recorder", &e), &fixture_secret);
    assert_int_equal(e.kind, ERR_OK);
    assert_null(command_find(fixture_commands, "recor", &e));
    assert_null(command_find(fixture_commands, "", &e));
    assert_null(command_find(fixture_commands, "Record", &e));
}

static void an_unknown_one_is_an_error_that_suggests_the_nearest_shown(void **state)
{
    static const struct {
        const char *name, *msg, *hint;
    } rows[] = {
        { "plian", "unknown command 'plian'", "did you mean 'plain'?\nsee 'mcpreel --help'" },
        { "recorde", "unknown command 'recorde'",
          "did you mean 'record'?\nsee 'mcpreel --help'" },
        { "xyzzy", "unknown command 'xyzzy'", "see 'mcpreel --help'" },
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err e = ERR_NONE;
        assert_null(command_find(fixture_commands, rows[i].name, &e));
        assert_int_equal(e.kind, ERR_USAGE);
        assert_string_equal(e.msg, rows[i].msg);
        assert_string_equal(e.hint, rows[i].hint);
    }
}

/* Only where the first operand cannot be anything else. */
static void a_command_without_operands_takes_the_server_as_such(void **state)
{
    (void)state;
    assert_int_equal(command_extent(&cmd_record), OPTION_SERVER);
    assert_int_equal(command_extent(&cmd_replay), OPTION_ALL);
    assert_int_equal(command_extent(&cmd_version), OPTION_ALL);
}

static const struct option_choice fruits[] = { { "apple", 0, false },
                                               { "pear", 1, false },
                                               { 0 } };

static const struct command one_file = { .name = "one", .operand = "FILE", .min = 1, .max = 1 };
static const struct command files = {
    .name = "files", .operand = "FILE", .min = 2, .max = COMMAND_ANY
};
static const struct command fruit = {
    .name = "fruit", .operand = "FRUIT", .takes = COMMAND_WORDS, .words = fruits, .max = 1
};
static const struct command starts = { .name = "starts", .server = true };

static const struct {
    const struct command *command;
    size_t count;
    const char *words[4];
    bool server;
    size_t server_count;
    const char *msg, *hint; /* NULL: it is fine */
} check_rows[] = {
    { &one_file, 1, { "a" }, false, 0, NULL, NULL },
    { &one_file, 0, { NULL }, false, 0, "missing FILE for 'one'", "see 'mcpreel one --help'" },
    { &one_file,
      2,
      { "a", "b" },
      false,
      0,
      "unexpected 'b' for 'one'",
      "see 'mcpreel one --help'" },
    { &one_file,
      1,
      { "a" },
      true,
      1,
      "'one' starts no server, so '--' has no meaning",
      "see 'mcpreel one --help'" },
    { &files, 1, { "a" }, false, 0, "missing FILE for 'files'", "see 'mcpreel files --help'" },
    { &files, 4, { "a", "b", "c", "d" }, false, 0, NULL, NULL },
    { &fruit, 1, { "pear" }, false, 0, NULL, NULL },
    { &fruit, 0, { NULL }, false, 0, NULL, NULL },
    { &fruit,
      1,
      { "peer" },
      false,
      0,
      "'peer' is none of apple, pear",
      "did you mean 'pear'?\nsee 'mcpreel fruit --help'" },
    { &starts, 0, { NULL }, true, 2, NULL, NULL },
    { &starts, 0, { NULL }, false, 0, NULL, NULL },
    { &starts,
      0,
      { NULL },
      true,
      0,
      "the command of the server is missing after '--'",
      "see 'mcpreel starts --help'" },
    { &starts,
      1,
      { "sh" },
      false,
      0,
      "unexpected 'sh' for 'starts'",
      "the command of a server follows '--'\nsee 'mcpreel starts --help'" },
    { &starts,
      1,
      { "x" },
      true,
      1,
      "unexpected 'x' for 'starts'",
      "see 'mcpreel starts --help'" },
};

static void operands_are_as_many_and_such_as_the_table_says(void **state)
{
    (void)state;

    for (size_t i = 0; i < sizeof check_rows / sizeof check_rows[0]; i++) {
        char *server[] = { "sh", "x", NULL };
        const struct operands in = {
            .at = (char **)(uintptr_t)check_rows[i].words,
            .count = check_rows[i].count,
            .server = check_rows[i].server ? server : NULL,
            .server_count = check_rows[i].server_count,
        };
        struct err e = ERR_NONE;

        assert_int_equal(command_check(check_rows[i].command, &in, &e), !check_rows[i].msg);
        assert_string_equal(e.msg, check_rows[i].msg ? check_rows[i].msg : "");
        assert_string_equal(e.hint, check_rows[i].hint ? check_rows[i].hint : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_is_found_by_its_whole_name_only),
        cmocka_unit_test(an_unknown_one_is_an_error_that_suggests_the_nearest_shown),
        cmocka_unit_test(a_command_without_operands_takes_the_server_as_such),
        cmocka_unit_test(operands_are_as_many_and_such_as_the_table_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
