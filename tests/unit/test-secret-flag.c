#include "trace/secret-flag.h"

#include "test.h"

static void names_that_end_like_a_secret_say_so(void **state)
{
    static const struct {
        const char *word;
        size_t at;
    } rows[] = {
        { "--token=abc", 8 },     { "--token", 7 },
        { "-token", 6 },          { "--api-key=x", 10 },
        { "--apiKey", 8 },        { "GITHUB_TOKEN=ghx", 13 },
        { "X-Api-Key: abc", 11 }, { "--client-secret", 15 },
        { "DB.PASSWORD=p", 12 },  { "--aws_secret_access_key=k", 24 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t at = 0;
        assert_true(secret_flag(str_z(rows[i].word), &at));
        assert_int_equal(at, rows[i].at);
    }
}

static void other_words_do_not(void **state)
{
    static const char *const words[] = {
        "",
        "--token-limit=5",
        "token",
        "--tokens",
        "--key=server.key",
        "https://x/token",
        "--token=",
        "secret",
        "--x=token",
        "a b token=5",
        "--keyboard",
        "-",
    };

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t at;
        if (secret_flag(str_z(words[i]), &at))
            fail_msg("'%s' is none", words[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_end_like_a_secret_say_so),
        cmocka_unit_test(other_words_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
