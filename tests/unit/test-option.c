#include "cmd/option.h"

#include "fake-cli.h"
#include "test.h"

struct shared_args {
    bool quiet;
    const char *label; /* the other set has one of that name too */
};

static const struct option shared_options[] = {
    { .key = 'q',
      .name = "quiet",
      .type = OPTION_FLAG,
      .offset = offsetof(struct shared_args, quiet),
      .help = "say less" },
    { .name = "label",
      .arg = "X",
      .type = OPTION_STRING,
      .offset = offsetof(struct shared_args, label),
      .help = "hidden by the other" },
    { 0 },
};

struct seen_row {
    const char *line, *want; /* the output of fake_cli_dump(), "q" first if quiet */
};

/* Reads a line and an environment as a command would; the result, or the error
 * with its hint after a newline. */
static struct buf read_all(const char *line, char *const *env)
{
    char words[512], *argv[FAKE_CLI_WORDS + 1];
    struct shared_args shared = { 0 };
    struct fake_cli_args args = { 0 };
    struct arena arena = { 0 };
    struct option_reader r;
    struct operands in;
    struct err e = ERR_NONE;
    struct buf out;
    int argc;

    memcpy(words, line, strlen(line) + 1);
    argc = fake_cli_split(words, argv);
    option_reader_init(&r, env, &arena);
    option_reader_add(&r, (struct option_set){ shared_options, &shared });
    option_reader_add(&r, (struct option_set){ fake_cli_options, &args });
    r.command = "tape";
    assert_int_equal(option_read_line(&r, argc, argv, OPTION_ALL, &in, &e), argc);
    option_read_env(&r, &e);
    buf_init(&out, 4096);
    if (e.kind == ERR_OK) {
        buf_add(&out, shared.quiet ? STR("q ") : STR_NONE);
        fake_cli_dump(&out, &args, &in);
    } else {
        assert_int_equal(e.kind, ERR_USAGE);
        buf_printf(&out, "%s\n%s", e.msg, e.hint);
    }
    assert_null(shared.label);
    arena_release(&arena);
    return out;
}

static void check_rows(const struct seen_row *rows, size_t count, char *const *env)
{
    for (size_t i = 0; i < count; i++) {
        struct buf got = read_all(rows[i].line, env);

        if (!str_eq(str_trim(buf_str(&got)), str_z(rows[i].want)))
            fail_msg("'%s': got '%s', want '%s'", rows[i].line, buf_z(&got), rows[i].want);
        buf_release(&got);
    }
}

#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof((rows)[0]), NULL)

static void every_spelling_of_an_option_is_parsed(void **state)
{
    static const struct seen_row rows[] = {
        { "", "" },
        { "--output a", "output=a" },
        { "--output=a", "output=a" },
        { "--output=a=b", "output=a=b" },
        { "--out a", "output=a" },
        { "--cassette=a", "output=a" },
        { "-o a", "output=a" },
        { "-oa", "output=a" },
        { "-o=a", "output=a" },
        { "-o -", "output=-" },
        { "-o --force", "output=--force" },
        { "-o a -o b", "output=b" },
        { "--label=", "label=" },
        { "--label ~", "label=" },
        { "-fq", "q force" },
        { "-fo a", "output=a force" },
        { "-fqoa", "q output=a force" },
        { "-lll -l", "level=4" },
        { "--level --level", "level=2" },
        { "--no-redact", "bare" },
        { "--no-redact --redact", "" },
        { "--odd", "odd" },
        { "--match by-request", "match=3" },
        { "--match=method_params", "match=3" },
        { "--match sequential", "match=0" },
        { "-p 1", "port=1" },
        { "--limit 1KiB", "limit=1024" },
        { "--flush-interval-of-the-file 20ms", "flush=20000" },
        { "--speed x4", "speed=8" },
        { "--tags a,b --tags c", "tag=a tag=b tag=c" },
        { "-r x --rule=y,z", "rule=x rule=y,z" },
    };
    (void)state;
    CHECK_ROWS(rows);
}

static void operands_and_options_come_in_any_order(void **state)
{
    static const struct seen_row rows[] = {
        { "a", "<a>" },
        { "a -f b", "force <a><b>" },
        { "-f a -o b c", "output=b force <a><c>" },
        { "-", "<->" },
        { "~ a", "<><a>" },
        { "a -- b -f --", "<a>-- b -f --" },
        { "-- -- a", "-- -- a" },
    };
    (void)state;
    CHECK_ROWS(rows);
}

static void an_error_names_the_nearest_option_and_help(void **state)
{
    static const struct seen_row rows[] = {
        { "--outptu a", "unknown option '--outptu' for 'tape'\ndid you mean '--output'?\n"
                        "see 'mcpreel tape --help'" },
        { "--casette=a", "unknown option '--casette' for 'tape'\ndid you mean '--cassette'?\n"
                         "see 'mcpreel tape --help'" },
        { "--quite", "unknown option '--quite' for 'tape'\ndid you mean '--quiet'?\n"
                     "see 'mcpreel tape --help'" },
        { "--odds", "unknown option '--odds' for 'tape'\nsee 'mcpreel tape --help'" },
        { "--xyzzy", "unknown option '--xyzzy' for 'tape'\nsee 'mcpreel tape --help'" },
        { "--no-redcat",
          "unknown option '--no-redcat' for 'tape'\ndid you mean '--no-redact'?\n"
          "see 'mcpreel tape --help'" },
        { "--no-force", "unknown option '--no-force' for 'tape'\ndid you mean '--force'?\n"
                        "see 'mcpreel tape --help'" },
        { "--no-", "unknown option '--no-' for 'tape'\ndid you mean '--no-redact'?\n"
                   "see 'mcpreel tape --help'" },
        { "--=x", "unknown option '--' for 'tape'\nsee 'mcpreel tape --help'" },
        { "-x", "unknown option '-x' for 'tape'\nsee 'mcpreel tape --help'" },
        { "-fx", "unknown option '-x' for 'tape'\nsee 'mcpreel tape --help'" },
        { "--force=1", "option '--force' takes no value\nsee 'mcpreel tape --help'" },
        { "--no-redact=1", "option '--no-redact' takes no value\nsee 'mcpreel tape --help'" },
        { "--output", "option '--output' needs a value: FILE\nsee 'mcpreel tape --help'" },
        { "-o", "option '-o' needs a value: FILE\nsee 'mcpreel tape --help'" },
        { "-fo", "option '-o' needs a value: FILE\nsee 'mcpreel tape --help'" },
        { "-o -- sh", "option '-o' needs a value: FILE\nsee 'mcpreel tape --help'" },
        { "--out= a",
          "option '--out': the name of a file cannot be empty\nsee 'mcpreel tape --help'" },
        { "-p 0", "option '-p': '0' is not from 1 to 65535\nsee 'mcpreel tape --help'" },
        { "--match=sequental",
          "option '--match': 'sequental' is not one of sequential, by-request\n"
          "did you mean 'sequential'?\nsee 'mcpreel tape --help'" },
        { "--speed warp", "option '--speed': 'warp' is no speed\nsee 'mcpreel tape --help'" },
        { "--bad -p x --worse",
          "unknown option '--bad' for 'tape'\nsee 'mcpreel tape --help'" },
    };
    (void)state;
    CHECK_ROWS(rows);
}

static void the_environment_sets_options_absent_on_the_command_line(void **state)
{
    static const struct seen_row rows[] = {
        { "", "output=e label=l tag=a tag=b rule=x,y bare level=2 port=7" },
        { "-o a --label b -p 9 --redact -l", "output=a label=b tag=a tag=b rule=x,y level=1"
                                             " port=9" },
        { "--tags c -r z", "output=e label=l tag=c rule=z bare level=2 port=7" },
    };
    char *env[] = { "MCPREEL_OUTPUT=e",
                    "MCPREEL_LABEL=l",
                    "MCPREEL_TAGS=a,b",
                    "MCPREEL_RULE=x,y",
                    "MCPREEL_REDACT=no",
                    "MCPREEL_LEVEL=2",
                    "MCPREEL_PORT=7",
                    "MCPREEL_FORCE=",
                    "MCPREEL_ODD=1",
                    "MCPREEL_OUT=never",
                    NULL };
    (void)state;
    check_rows(rows, sizeof rows / sizeof rows[0], env);
}

static void only_options_of_thoughtjack_read_its_variables(void **state)
{
    static const struct seen_row none = { "", "" };
    static const struct seen_row seed = { "", "output=s" };
    static const struct seen_row spelled = { "", "output=c" };
    char *other[] = { "THOUGHTJACK_LABEL=x", NULL };
    char *by_name[] = { "THOUGHTJACK_CASSETTE=c", "THOUGHTJACK_OUTPUT=s", NULL };
    char *by_spelling[] = { "THOUGHTJACK_CASSETTE=c", NULL };
    char *ours[] = { "THOUGHTJACK_OUTPUT=x", "MCPREEL_OUTPUT=s", NULL };
    (void)state;

    check_rows(&none, 1, other);
    check_rows(&seed, 1, by_name);
    check_rows(&spelled, 1, by_spelling);
    check_rows(&seed, 1, ours);
}

static void an_error_from_the_environment_names_the_variable(void **state)
{
    static const struct seen_row ours = {
        "", "variable 'MCPREEL_PORT': 'x' is not a whole number\nsee 'mcpreel tape --help'"
    };
    static const struct seen_row flag = {
        "", "variable 'MCPREEL_FORCE': 'perhaps' is neither true nor false\n"
            "see 'mcpreel tape --help'"
    };
    static const struct seen_row not_asked = { "-p 1", "port=1" };
    char *bad_port[] = { "MCPREEL_PORT=x", NULL };
    char *bad_flag[] = { "MCPREEL_FORCE=perhaps", NULL };
    (void)state;

    check_rows(&ours, 1, bad_port);
    check_rows(&not_asked, 1, bad_port);
    check_rows(&flag, 1, bad_flag);
}

static void leading_options_end_at_the_first_operand(void **state)
{
    static const struct {
        const char *line;
        int used;
    } rows[] = { { "-q tape -f", 1 }, { "tape", 0 },
                 { "-q -- sh", 1 },   { "-q --label x tape", 3 },
                 { "-q", 1 },         { "", 0 },
                 { "-", 0 },          { "--bad x -q tape", 1 } };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char words[64], *argv[FAKE_CLI_WORDS + 1];
        struct shared_args shared = { 0 };
        struct arena arena = { 0 };
        struct option_reader r;
        struct operands in;
        struct err e = ERR_NONE;

        memcpy(words, rows[i].line, strlen(rows[i].line) + 1);
        option_reader_init(&r, NULL, &arena);
        option_reader_add(&r, (struct option_set){ shared_options, &shared });
        assert_int_equal(
            option_read_line(&r, fake_cli_split(words, argv), argv, OPTION_LEADING, &in, &e),
            rows[i].used);
        assert_int_equal(in.count, 0);
        assert_null(in.server);
        arena_release(&arena);
    }
}

static void parsing_continues_after_an_error_and_keeps_the_first(void **state)
{
    char words[] = "--bad -q --worse", *argv[FAKE_CLI_WORDS + 1];
    struct shared_args shared = { 0 };
    struct arena arena = { 0 };
    struct option_reader r;
    struct operands in;
    struct err e = ERR_NONE;
    (void)state;

    option_reader_init(&r, NULL, &arena);
    option_reader_add(&r, (struct option_set){ shared_options, &shared });
    option_read_line(&r, fake_cli_split(words, argv), argv, OPTION_ALL, &in, &e);
    assert_true(shared.quiet);
    assert_string_equal(e.msg, "unknown option '--bad'");
    assert_string_equal(e.hint, "the options of a command follow its name\n"
                                "see 'mcpreel --help'");
    arena_release(&arena);
}

static void a_row_is_shown_unless_hidden_or_replaced(void **state)
{
    (void)state;
    assert_true(option_is_shown(&shared_options[1], NULL));
    assert_true(option_is_shown(&shared_options[0], fake_cli_options));
    assert_false(option_is_shown(&shared_options[1], fake_cli_options));
    for (const struct option *o = fake_cli_options; o->name; o++)
        assert_int_equal(option_is_shown(o, NULL), strcmp(o->name, "odd") != 0);
}

static void an_option_without_effect_is_rejected_on_the_command_line_only(void **state)
{
    static char *const env[] = { "MCPREEL_LABEL=x", NULL };
    static const struct option_unused rows[] = { { "quiet", "others", false },
                                                 { "label", "a name", true },
                                                 { 0 } };
    static const struct {
        const char *line, *says;
    } cases[] = {
        { "", NULL },
        { "-q", NULL },
        { "--label x", "'--label' needs a name" },
        { "-- --label x", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[64], *argv[FAKE_CLI_WORDS + 1];
        struct shared_args shared = { 0 };
        struct arena arena = { 0 };
        struct option_reader r;
        struct operands in;
        struct err e = ERR_NONE;

        memcpy(words, cases[i].line, strlen(cases[i].line) + 1);
        option_reader_init(&r, env, &arena);
        option_reader_add(&r, (struct option_set){ shared_options, &shared });
        option_read_line(&r, fake_cli_split(words, argv), argv, OPTION_ALL, &in, &e);
        option_read_env(&r, &e);
        assert_non_null(shared.label);
        assert_int_equal(option_reject_unused(&in, rows, &e), !cases[i].says);
        if (cases[i].says)
            assert_string_equal(e.msg, cases[i].says);
        arena_release(&arena);
    }
    assert_true(option_reject_unused(&(struct operands){ 0 }, rows, &(struct err)ERR_NONE));
}

static void a_variable_has_the_name_of_its_option_in_capitals(void **state)
{
    char out[OPTION_ENV_NAME];
    (void)state;

    assert_string_equal(option_env_name(out, "MCPREEL_", "log-file2"), "MCPREEL_LOG_FILE2");
}

static void whether_a_value_came_from_the_environment_is_known(void **state)
{
    char *env[] = { (char *)(uintptr_t) "MCPREEL_LOG_FILE=a",
                    (char *)(uintptr_t) "THOUGHTJACK_B=c", NULL };

    (void)state;
    assert_true(option_env_has(env, "log-file", "a"));
    assert_false(option_env_has(env, "log-file", "b"));
    assert_true(option_env_has(env, "b", "c"));
    assert_false(option_env_has(env, "c", "c"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whether_a_value_came_from_the_environment_is_known),
        cmocka_unit_test(every_spelling_of_an_option_is_parsed),
        cmocka_unit_test(operands_and_options_come_in_any_order),
        cmocka_unit_test(an_error_names_the_nearest_option_and_help),
        cmocka_unit_test(the_environment_sets_options_absent_on_the_command_line),
        cmocka_unit_test(only_options_of_thoughtjack_read_its_variables),
        cmocka_unit_test(an_error_from_the_environment_names_the_variable),
        cmocka_unit_test(leading_options_end_at_the_first_operand),
        cmocka_unit_test(parsing_continues_after_an_error_and_keeps_the_first),
        cmocka_unit_test(a_row_is_shown_unless_hidden_or_replaced),
        cmocka_unit_test(an_option_without_effect_is_rejected_on_the_command_line_only),
        cmocka_unit_test(a_variable_has_the_name_of_its_option_in_capitals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
