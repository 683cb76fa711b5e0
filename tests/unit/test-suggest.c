#include "base/suggest.h"

#include "test.h"

static const char *best_of(const char *given, const char *const *names)
{
    struct suggest n = suggest_for(str_z(given));

    for (; *names; names++)
        suggest_try(&n, *names);
    return n.best;
}

static void a_misspelled_word_is_found_and_others_are_not(void **state)
{
    static const char *const names[] = { "record", "replay", "redact", "cassette", "on", NULL };
    static const struct {
        const char *given, *want;
    } rows[] = {
        { "recrod", "record" }, { "reply", "replay" },  { "cassete", "cassette" },
        { "cas", "cassette" },  { "record", "record" }, { "redac", "redact" },
        { "reco", "record" },   { "xyzzy", NULL },      { "", NULL },
        { "r", NULL },          { "no", "on" },         { "recording-of-things", NULL },
        { "rep", "replay" },    { "CASSETTE", NULL },
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *got = best_of(rows[i].given, names);
        if (!got != !rows[i].want || (got && strcmp(got, rows[i].want) != 0))
            fail_msg("'%s': got %s, want %s", rows[i].given, got ? got : "none",
                     rows[i].want ? rows[i].want : "none");
    }
}

static void the_first_of_equally_near_words_wins(void **state)
{
    static const char *const names[] = { "abcd", "abce", NULL };
    (void)state;

    assert_string_equal(best_of("abcf", names), "abcd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_misspelled_word_is_found_and_others_are_not),
        cmocka_unit_test(the_first_of_equally_near_words_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
