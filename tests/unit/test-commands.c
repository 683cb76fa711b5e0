/* The rules that every row of the real tables must keep; the first to break one is
 * named. */
#include "cmd/commands.h"

#include <stdio.h>

#include "base/words.h"
#include "cmd/globals.h"
#include "cmd/option-value.h"
#include "cmd/prose.h"
#include "test.h"

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
static bool is_phrase(const char *text)
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
        return sizeof(struct option_list);
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
    RULE(o->help && is_phrase(o->help), "help is one line, starts small, has no full stop");
    RULE(o->type != OPTION_END, "a row has a type");
    RULE(option_takes_value(o) == (o->arg != NULL), "what takes a value calls it something");
    RULE(o->type != OPTION_CHOICE || o->choices != none, "a choice has choices");
    RULE((o->type == OPTION_CUSTOM) == (o->parse != NULL), "custom is what has a parser");
    RULE(!o->negatable || o->type == OPTION_FLAG, "only a flag can be negated");
    RULE(!o->split || o->type == OPTION_LIST, "only a list is split");
    RULE(o->at + field_size(o->type) <= args_size, "the field lies inside the struct");
    for (const struct option_choice *c = o->choices; c && c->name; c++)
        RULE(c->value >= 0 && !strpbrk(c->name, " '\"$`\\"), "a choice is one safe word");
}

static bool names_meet(const struct option *a, const struct option *b)
{
    const char *mine[OPTION_ALSO + 1] = { a->name }, *theirs[OPTION_ALSO + 1] = { b->name };

    memcpy(mine + 1, a->also, sizeof a->also);
    memcpy(theirs + 1, b->also, sizeof b->also);
    for (size_t i = 0; i <= OPTION_ALSO && mine[i]; i++)
        for (size_t j = 0; j <= OPTION_ALSO && theirs[j]; j++)
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
            RULE(!names_meet(o, later), "no name is there twice");
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
        for (const struct option *g = globals_options; g->name; g++)
            if (strcmp(o->name, g->name) != 0) {
                RULE(!names_meet(o, g), "another spelling takes a global option's name");
                RULE(!o->key || o->key != g->key, "a key of a global option is taken");
            }
}

static void each_command_keeps_the_rules_of_its_table(void **state)
{
    (void)state;

    check_table("globals", globals_options, sizeof(struct globals));
    for (const struct command *const *c = commands; *c; c++) {
        const char *where = (*c)->name;
        RULE(is_name((*c)->name), "a name has small letters, digits and hyphens");
        RULE(is_phrase((*c)->summary), "a summary starts small and has no full stop");
        RULE(prose_columns(str_z((*c)->summary)) <= 56, "a summary has at most 56 columns");
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

/* Up to what only a shell understands; in quotes it means nothing. */
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
    struct globals globals = { 0 };
    struct option_reader r;
    struct operands in;
    struct err e = ERR_NONE;
    size_t argc;

    RULE(strstr(line, "mcpreel "), "an example shows mcpreel");
    if (!str_starts(str_z(line), STR("mcpreel ")))
        return;
    RULE(prose_columns(str_z(line)) <= PROSE_TABLE, "an example fits the manual");
    if (!words_split(&argv, &argc, plain_part(line), &arena, &e))
        fail_msg("%s: %s", line, e.msg);
    RULE(argc > 1 && strcmp(argv[1], c->name) == 0, "an example is of its command");
    option_reader_init(&r, NULL, &arena);
    option_reader_add(&r, (struct option_set){ globals_options, &globals });
    option_reader_add(&r, (struct option_set){ c->options, arena_alloc(&arena, c->args_size) });
    option_read_line(&r, (int)argc - 2, argv + 2, command_extent(c), &in, &e);
    if (e.kind != ERR_OK || !command_check(c, &in, &e))
        fail_msg("%s: %s", line, e.msg);
    arena_release(&arena);
}

static void every_example_is_a_line_the_command_takes(void **state)
{
    (void)state;
    for (const struct command *const *c = commands; *c; c++)
        for (const struct command_example *x = (*c)->examples; x && x->line; x++) {
            const char *where = x->line;
            check_example(*c, x->line);
            RULE(x->about && is_phrase(x->about), "an example says what it does");
        }
}

static void help_and_version_are_there_because_the_frame_needs_them(void **state)
{
    struct err e = ERR_NONE;
    (void)state;

    assert_ptr_equal(command_find(commands, "help", &e), &cmd_help);
    assert_ptr_equal(command_find(commands, "version", &e), &cmd_version);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_command_keeps_the_rules_of_its_table),
        cmocka_unit_test(every_example_is_a_line_the_command_takes),
        cmocka_unit_test(help_and_version_are_there_because_the_frame_needs_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
