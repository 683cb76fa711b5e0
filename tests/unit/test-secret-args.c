#include "redact/secret-args.h"

#include "base/buf.h"
#include "test.h"

/* The parts of a word that are secret, each in brackets. */
static void assert_parts(const char *word, const char *want)
{
    struct unescape_span s = { 0, 0 };
    struct buf got;

    buf_init(&got, 1 << 10);
    while (secret_args_find_in_word(str_z(word), s.end, &s))
        buf_printf(&got, "[%.*s]", (int)(s.end - s.at), word + s.at);
    if (!str_eq(buf_str(&got), str_z(want)))
        fail_msg("'%s': got '%s', want '%s'", word, buf_z(&got), want);
    buf_release(&got);
}

static void the_value_of_a_secret_option_is_secret(void **state)
{
    static const char *const rows[][2] = {
        { "--token=abc", "[abc]" },
        { "--api-key=x y", "[x y]" },
        { "--apiKey=-x", "[-x]" },
        { "GITHUB_TOKEN=ghx", "[ghx]" },
        { "X-Api-Key: abc", "[abc]" },
        { "Authorization: Bearer a b", "[Bearer a b]" },
        { "DB.PASSWORD=p", "[p]" },
        { "--aws_secret_access_key=k", "[k]" },
        { "--header=Authorization: Bearer x", "[Bearer x]" },
        { "-HAuthorization: Bearer x", "[Bearer x]" },
        { "--env=TOKEN=abc def", "[abc def]" },
        { "-eTOKEN=abc", "[abc]" },
        { "--key=hunter2", "[hunter2]" },
        { "KEY=abc", "[abc]" },
        { "--pass=abc", "[abc]" },
        { "--auth=abcdefghijklmnopqrst", "[abcdefghijklmnopqrst]" },
        { "--password='a b' --x", "[a b]" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_parts(rows[i][0], rows[i][1]);
}

static void secrets_are_found_inside_a_word(void **state)
{
    static const char *const rows[][2] = {
        { "https://h/mcp?api_key=abc", "[abc]" },
        { "https://h/mcp?x=1&token=abc&y=2#f", "[abc]" },
        { "https://h/mcp?key=abc;sig=1", "[abc]" },
        { "{\"apiKey\":\"abc\",\"x\":{\"token\" : \"d e\"}}", "[abc][d e]" },
        { "{'password': 'abc'}", "[abc]" },
        { "exec srv --token abc -v --password def", "[abc][def]" },
        { "srv --token 'a b' c", "[a b]" },
        { "srv --token -a9 c", "[-a9]" },
        { "A=1 srv --api-key=abc --x", "[abc]" },
        { "Server=h;Password=abc;Db=x", "[abc]" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_parts(rows[i][0], rows[i][1]);
}

static void other_words_have_no_secret(void **state)
{
    static const char *const words[] = {
        "",
        "--token-limit=5",
        "token",
        "--token",
        "--tokens",
        "--tokens=5",
        "--key=server.key",
        "--key=id",
        "--auth=none",
        "--auth=oauth2",
        "--key=./k",
        "--auth=/etc/auth",
        "https://x/token",
        "https://x/token?a=b",
        "http://token:80",
        "--token=",
        "secret",
        "--x=token",
        "the token is",
        "--keyboard=us",
        "--token --verbose",
        "-",
        "=",
        "a:b",
        "keychain=x",
    };

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        assert_parts(words[i], "");
}

static void assert_next(const char *before, const char *word, const char *want)
{
    struct unescape_span s;
    bool secret = secret_args_find_after(str_z(before), str_z(word), &s);

    if (secret != (want != NULL))
        fail_msg("'%s %s'", before, word);
    if (want)
        assert_str(str_n(word + s.at, s.end - s.at), str_z(want));
}

static void a_secret_option_makes_the_next_word_secret(void **state)
{
    static const char *const flags[] = { "--token",         "-token",     "--apiKey",
                                         "--client-secret", "--key",      "--pass",
                                         "--auth",          "--password", "--bearer" };

    (void)state;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        assert_next(flags[i], "hunter2", "hunter2");
        assert_next(flags[i], "-hunter2", "-hunter2");
        assert_next(flags[i], "--Hunter2", "--Hunter2");
        assert_next(flags[i], "-v", NULL);
        assert_next(flags[i], "--verbose", NULL);
        assert_next(flags[i], "--log-level=5", NULL);
        assert_next(flags[i], "--", NULL);
        assert_next(flags[i], "", NULL);
    }
    assert_next("--user", "me:hunter2", "hunter2");
    assert_next("-u", "me:hunter2", "hunter2");
}

static void other_options_do_not_make_the_next_word_secret(void **state)
{
    assert_next("", "hunter2", NULL);
    assert_next("token", "hunter2", NULL);
    assert_next("--token-limit", "5", NULL);
    assert_next("--key", "server.key", NULL);
    assert_next("--key", "/etc/x", NULL);
    assert_next("--key", "id", NULL);
    assert_next("--auth", "oauth2", NULL);
    assert_next("-p", "hunter2", NULL);
    assert_next("-u", "1000:1000", NULL);
    assert_next("--user", "me", NULL);
    assert_next("--user", "me:", NULL);
    (void)state;
}

static void password_options_of_known_programs_are_found(void **state)
{
    (void)state;
    assert_true(secret_args_is_password(STR("/usr/bin/sshpass"), STR("-p"), STR("hunter2")));
    assert_true(secret_args_is_password(STR("mysql"), STR("-p"), STR("x")));
    assert_false(secret_args_is_password(STR("mysql"), STR("-p"), STR("-v")));
    assert_false(secret_args_is_password(STR("mysql"), STR("-P"), STR("x")));
    assert_false(secret_args_is_password(STR("npx"), STR("-p"), STR("typescript")));
    assert_false(secret_args_is_password(STR(""), STR(""), STR("x")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_value_of_a_secret_option_is_secret),
        cmocka_unit_test(secrets_are_found_inside_a_word),
        cmocka_unit_test(other_words_have_no_secret),
        cmocka_unit_test(a_secret_option_makes_the_next_word_secret),
        cmocka_unit_test(other_options_do_not_make_the_next_word_secret),
        cmocka_unit_test(password_options_of_known_programs_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
