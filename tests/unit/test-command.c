#include "cmd/command.h"

#include <stdio.h>

#include "base/shell-split.h"
#include "base/text-wrap.h"
#include "cmd/global-options.h"
#include "cmd/option-value.h"
#include "fake-cli.h"
#include "test.h"

static void a_command_is_found_by_its_full_name_only(void **state)
{
    struct err e = ERR_NONE;
    (void)state;

    assert_ptr_equal(command_find(fake_cli_commands, "record", &e), &fake_cli_record);
    assert_ptr_equal(command_find(fake_cli_commands, "recorder", &e), &fake_cli_hidden);
    assert_int_equal(e.kind, ERR_OK);
    assert_null(command_find(fake_cli_commands, "recor", &e));
    assert_null(command_find(fake_cli_commands, "", &e));
    assert_null(command_find(fake_cli_commands, "Record", &e));
}

static void an_unknown_command_is_an_error_with_a_suggestion(void **state)
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
        assert_null(command_find(fake_cli_commands, rows[i].name, &e));
        assert_int_equal(e.kind, ERR_USAGE);
        assert_string_equal(e.msg, rows[i].msg);
        assert_string_equal(e.hint, rows[i].hint);
    }
}

/* Only where the first operand cannot be anything else. */
static void a_command_without_operands_accepts_the_server_command(void **state)
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
      "'peer' is not one of apple, pear",
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

static void the_number_of_operands_is_checked_by_the_table(void **state)
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

/* The rules that every row of the real tables must keep; the first to break one is named. */

#define RULE(ok, what)                                                                         \
    do {                                                                                       \
        if (!(ok))                                                                             \
            fail_msg("%s: %s", where, what);                                                   \
    } while (0)

static bool is_name(const char *text)
{
    return *text >= 'a' && *text <= 'z' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(text);
}

/* One line that starts small and has no full stop. */
static bool is_verb_phrase(const char *text)
{
    return *text && !strchr(text, '\n') && !(*text >= 'A' && *text <= 'Z' && text[1] >= 'a') &&
           text[strlen(text) - 1] != '.';
}

static size_t field_size(enum option_type type)
{
    switch (type) {
    case OPTION_FLAG:
        return sizeof(bool);
    case OPTION_COUNT:
    case OPTION_CHOICE:
        return sizeof(int);
    case OPTION_LIST:
        return sizeof(struct str_list);
    case OPTION_CUSTOM:
        return 1;
    default:
        return 8;
    }
}

static void check_option(const char *where, const struct option *o, size_t args_size)
{
    static const struct option_choice *none;
    RULE(is_name(o->name), "a name has small letters, digits and hyphens");
    RULE(strlen(o->name) > 1, "a name has more than a letter");
    RULE(o->help && is_verb_phrase(o->help),
         "help is one line, starts small, has no full stop");
    RULE(o->type != OPTION_END, "a row has a type");
    RULE((option_takes_value(o) || o->implied) == (o->arg != NULL),
         "an option with a value has a name for it");
    RULE(o->type != OPTION_CHOICE || o->choices != none, "a choice has choices");
    RULE((o->type == OPTION_CUSTOM) == (o->parse != NULL), "custom is what has a parser");
    RULE(!o->negatable || o->type == OPTION_FLAG, "only a flag can be negated");
    RULE(!o->split || o->type == OPTION_LIST, "only a list is split");
    RULE(o->offset + field_size(o->type) <= args_size, "the field lies inside the struct");
    for (const struct option_choice *c = o->choices; c && c->name; c++)
        RULE(c->value >= 0 && !strpbrk(c->name, " '\"$`\\"), "a choice is one safe word");
}

static bool have_common_name(const struct option *a, const struct option *b)
{
    const char *mine[OPTION_ALIASES + 1] = { a->name },
                                      *theirs[OPTION_ALIASES + 1] = { b->name };

    memcpy(mine + 1, a->aliases, sizeof a->aliases);
    memcpy(theirs + 1, b->aliases, sizeof b->aliases);
    for (size_t i = 0; i <= OPTION_ALIASES && mine[i]; i++)
        for (size_t j = 0; j <= OPTION_ALIASES && theirs[j]; j++)
            if (strcmp(mine[i], theirs[j]) == 0)
                return true;
    return false;
}

/* Rows of one heading stand together, and nothing is there twice. */
static void check_table(const char *command, const struct option *rows, size_t args_size)
{
    for (const struct option *o = rows; o && o->name; o++) {
        char where[128];

        snprintf(where, sizeof where, "%s --%s", command, o->name);
        check_option(where, o, args_size);
        for (const struct option *later = o + 1; later->name; later++) {
            bool same = !o->group == !later->group &&
                        (!o->group || strcmp(o->group, later->group) == 0);
            bool next =
                !o[1].group == !o->group && (!o->group || strcmp(o->group, o[1].group) == 0);
            RULE(!have_common_name(o, later), "no name is there twice");
            RULE(!o->key || o->key != later->key, "no key is there twice");
            RULE(!same || next, "rows of one heading stand together");
        }
    }
}

/* A key that means one thing everywhere may not mean another in one command,
 * unless that command replaces the whole option. */
static void check_against_globals(const char *where, const struct option *rows)
{
    for (const struct option *o = rows; o && o->name; o++)
        for (const struct option *g = global_options_table; g->name; g++)
            if (strcmp(o->name, g->name) != 0) {
                RULE(!have_common_name(o, g), "another spelling takes a global option's name");
                RULE(!o->key || o->key != g->key, "a key of a global option is taken");
            }
}

static void every_command_row_is_valid(void **state)
{
    (void)state;

    check_table("globals", global_options_table, sizeof(struct global_options));
    for (const struct command *const *c = command_table; *c; c++) {
        const char *where = (*c)->name;
        RULE(is_name((*c)->name), "a name has small letters, digits and hyphens");
        RULE(is_verb_phrase((*c)->summary), "a summary starts small and has no full stop");
        RULE(text_wrap_columns(str_z((*c)->summary)) <= 56, "a summary has at most 56 columns");
        RULE((*c)->usage[0] != NULL, "a command has a usage line");
        RULE(str_ends(str_z((*c)->about), STR(".")) || strstr((*c)->about, "\n  "),
             "what it is about is whole sentences");
        RULE((*c)->run != NULL, "a command runs");
        RULE(!(*c)->max == !(*c)->operand, "operands have a name, and only they");
        RULE((*c)->max == COMMAND_ANY || (*c)->min <= (*c)->max, "min is not above max");
        RULE((*c)->takes != COMMAND_WORDS || (*c)->words, "words are listed");
        for (const struct command *const *d = c + 1; *d; d++)
            RULE(strcmp((*c)->name, (*d)->name) != 0, "no command is there twice");
        check_table((*c)->name, (*c)->options, (*c)->args_size);
        check_against_globals((*c)->name, (*c)->options);
    }
}

/* Up to a character with a meaning for the shell; in quotes it has none. */
static struct str plain_part(const char *line)
{
    bool quoted = false;
    size_t n = 0;

    for (; line[n] && (quoted || !strchr("<>|&;$", line[n])); n++)
        quoted ^= line[n] == '\'';
    return str_n(line, n);
}

static void check_example(const struct command *c, const char *line)
{
    const char *where = line;
    struct arena arena = { 0 };
    char **argv = NULL;
    struct global_options globals = { 0 };
    struct option_reader r;
    struct operands in;
    struct err e = ERR_NONE;
    size_t argc;

    RULE(strstr(line, "mcpreel "), "an example shows mcpreel");
    if (!str_starts(str_z(line), STR("mcpreel ")))
        return;
    RULE(text_wrap_columns(str_z(line)) <= TEXT_WRAP_TABLE_WIDTH, "an example fits the manual");
    if (!shell_split(&argv, &argc, plain_part(line), &arena, &e))
        fail_msg("%s: %s", line, e.msg);
    RULE(argc > 1 && strcmp(argv[1], c->name) == 0, "an example is of its command");
    option_reader_init(&r, NULL, &arena);
    option_reader_add(&r, (struct option_set){ global_options_table, &globals });
    option_reader_add(&r, (struct option_set){ c->options, arena_alloc(&arena, c->args_size) });
    option_read_line(&r, (int)argc - 2, argv + 2, command_extent(c), &in, &e);
    if (e.kind != ERR_OK || !command_check(c, &in, &e))
        fail_msg("%s: %s", line, e.msg);
    arena_release(&arena);
}

static void every_example_is_an_accepted_command_line(void **state)
{
    (void)state;
    for (const struct command *const *c = command_table; *c; c++)
        for (const struct command_example *x = (*c)->examples; x && x->line; x++) {
            const char *where = x->line;
            check_example(*c, x->line);
            RULE(x->about && is_verb_phrase(x->about), "an example says what it does");
        }
}

static void help_and_version_are_in_the_table(void **state)
{
    struct err e = ERR_NONE;
    (void)state;

    assert_ptr_equal(command_find(command_table, "help", &e), &cmd_help);
    assert_ptr_equal(command_find(command_table, "version", &e), &cmd_version);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_is_found_by_its_full_name_only),
        cmocka_unit_test(an_unknown_command_is_an_error_with_a_suggestion),
        cmocka_unit_test(a_command_without_operands_accepts_the_server_command),
        cmocka_unit_test(the_number_of_operands_is_checked_by_the_table),
        cmocka_unit_test(every_command_row_is_valid),
        cmocka_unit_test(every_example_is_an_accepted_command_line),
        cmocka_unit_test(help_and_version_are_in_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
