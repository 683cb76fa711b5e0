#include "cmd/writer-options.h"

#include "fake-cli.h"
#include "test.h"

struct args {
    bool wide, other;
};

static const struct option rows[] = {
    { .name = "wide",
      .type = OPTION_FLAG,
      .group = WRITER_GROUP,
      .offset = offsetof(struct args, wide),
      .help = "of a format" },
    { .name = "other",
      .type = OPTION_FLAG,
      .offset = offsetof(struct args, other),
      .help = "of the command" },
    { 0 },
};

static const struct format takes_none = { .name = "narrow" };
static const struct format takes_wide = { .name = "wide", .options = { "x", "wide" } };

static bool check(const char *line, char *const *env, const struct format *to, struct err *e)
{
    char words[512], *argv[FAKE_CLI_WORDS + 1];
    struct args args = { 0 };
    struct arena arena = { 0 };
    struct option_reader r;
    struct operands in;
    bool ok;

    memcpy(words, line, strlen(line) + 1);
    option_reader_init(&r, env, &arena);
    option_reader_add(&r, (struct option_set){ rows, &args });
    option_read_line(&r, fake_cli_split(words, argv), argv, OPTION_ALL, &in, e);
    option_read_env(&r, e);
    assert_int_equal(e->kind, ERR_OK);
    ok = writer_options_check(rows, &in, to, e);
    arena_release(&arena);
    return ok;
}

static void a_format_gets_only_the_options_that_it_takes(void **state)
{
    char *none[] = { NULL };
    struct err e = ERR_NONE;

    (void)state;
    assert_true(check("--wide --other", none, &takes_wide, &e));
    assert_true(check("--other", none, &takes_none, &e));
    assert_false(check("--wide", none, &takes_none, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_true(str_starts(str_z(e.msg), STR("'--wide' only goes with the formats ")));
    assert_true(str_ends(str_z(e.msg), STR("not with 'narrow'")));
    assert_string_equal(e.hint, "select one with --to");
}

static void variables_may_be_meant_for_other_formats(void **state)
{
    char wide[] = "MCPREEL_WIDE=1", *env[] = { wide, NULL };
    struct err e = ERR_NONE;

    (void)state;
    assert_true(check("", env, &takes_none, &e));
}

static void a_uuid_has_version_4(void **state)
{
    struct str id = STR_NONE;
    struct err e = ERR_NONE;

    (void)state;
    assert_true(writer_options_parse_uuid(&id, "550e8400-e29b-41d4-a716-446655440000", &e));
    assert_int_equal(id.len, 36);
    assert_false(writer_options_parse_uuid(&id, "550e8400-e29b-51d4-a716-446655440000", &e));
    assert_int_equal(e.kind, ERR_USAGE);
}

static void a_text_is_not_empty(void **state)
{
    struct str text = STR_NONE;
    struct err e = ERR_NONE;

    (void)state;
    assert_true(writer_options_parse_text(&text, "planner", &e));
    assert_str(text, STR("planner"));
    assert_false(writer_options_parse_text(&text, "", &e));
    assert_int_equal(e.kind, ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_format_gets_only_the_options_that_it_takes),
        cmocka_unit_test(variables_may_be_meant_for_other_formats),
        cmocka_unit_test(a_uuid_has_version_4),
        cmocka_unit_test(a_text_is_not_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
