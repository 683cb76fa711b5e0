#include "cmd/server-env.h"

#include "test.h"

static char *const ours[] = { "HOME=/h", "ROLE=old", "ROLES=x", NULL };

static bool read_pairs(struct server_env *s, const char **pairs, size_t count, struct err *e)
{
    struct app app = { .env = ours };
    struct str_list list = { pairs, count };

    return server_env_read(s, &app, &list, e);
}

static void without_options_the_environment_is_ours(void **state)
{
    struct err e = ERR_NONE;
    struct server_env s;

    (void)state;
    assert_true(read_pairs(&s, NULL, 0, &e));
    assert_null(s.env);
    assert_null(s.non_secret[0]);
    server_env_release(&s);
}

static void given_variables_replace_ours_and_the_last_counts(void **state)
{
    const char *pairs[] = { "ROLE=a", "EMPTY=", "ROLE=b=c" };
    struct err e = ERR_NONE;
    struct server_env s;

    (void)state;
    assert_true(read_pairs(&s, pairs, 3, &e));
    assert_string_equal(s.env[0], "HOME=/h");
    assert_string_equal(s.env[1], "ROLES=x");
    assert_string_equal(s.env[2], "EMPTY=");
    assert_string_equal(s.env[3], "ROLE=b=c");
    assert_null(s.env[4]);
    server_env_release(&s);
}

static void variables_with_secret_names_are_secrets(void **state)
{
    const char *pairs[] = { "GITHUB_TOKEN=abc def ghi", "PLACE=/tmp/x",
                            "ID=4f9a1c7e55d04b6e8a3377c1", "DB=postgres://u:pw@h/d" };
    struct err e = ERR_NONE;
    struct server_env s;

    (void)state;
    assert_true(read_pairs(&s, pairs, 4, &e));
    assert_int_equal(s.secrets.count, 2);
    assert_str(s.secrets.at[0].name, STR("GITHUB_TOKEN"));
    assert_str(s.secrets.at[0].value, STR("abc def ghi"));
    assert_str(s.secrets.at[1].name, STR("ID"));
    assert_string_equal(s.non_secret[0], "PLACE=/tmp/x");
    assert_string_equal(s.non_secret[1], "DB=postgres://u:pw@h/d");
    assert_null(s.non_secret[2]);
    server_env_release(&s);
}

static void an_invalid_variable_is_rejected_without_its_value(void **state)
{
    static const char *const wrong[] = { "canary", "=canary", "" };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *pairs[] = { "A=b", wrong[i] };
        struct err e = ERR_NONE;
        struct server_env s;

        assert_false(read_pairs(&s, pairs, 2, &e));
        assert_int_equal(e.kind, ERR_USAGE);
        assert_null(strstr(e.msg, "canary"));
        server_env_release(&s);
    }
}

static void words_are_those_of_the_command_or_the_url_and_of_the_environment(void **state)
{
    const char *pairs[] = { "GITHUB_TOKEN=abc def ghi", "PLACE=/tmp/x" };
    char *argv[] = { "node", "s.js", NULL };
    struct err e = ERR_NONE;
    struct arena a = { 0 };
    struct server_env s;
    char *const *words;

    (void)state;
    assert_true(read_pairs(&s, pairs, 2, &e));
    words = server_env_words(&s, argv, NULL, &a);
    assert_string_equal(words[0], "node");
    assert_string_equal(words[1], "s.js");
    assert_string_equal(words[2], "PLACE=/tmp/x");
    assert_null(words[3]);
    words = server_env_words(&s, NULL, "http://h/mcp", &a);
    assert_string_equal(words[0], "http://h/mcp");
    assert_string_equal(words[1], "PLACE=/tmp/x");
    assert_null(words[2]);
    server_env_release(&s);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_options_the_environment_is_ours),
        cmocka_unit_test(given_variables_replace_ours_and_the_last_counts),
        cmocka_unit_test(variables_with_secret_names_are_secrets),
        cmocka_unit_test(an_invalid_variable_is_rejected_without_its_value),
        cmocka_unit_test(words_are_those_of_the_command_or_the_url_and_of_the_environment),
    };
    return cmocka_run_group_tests_name("server-env", tests, NULL, NULL);
}
