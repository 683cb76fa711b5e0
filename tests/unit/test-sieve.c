#include "base/sieve.h"

#include "test.h"

enum { TEXT = 4096 };

static unsigned draw(unsigned *seed)
{
    return (*seed = *seed * 1103515245u + 12345u) >> 16;
}

/* All that comes through before the end, where the sieve looks at nothing. Returns where that
 * is. */
static size_t sift(const struct sieve *s, struct str text, bool through[TEXT])
{
    uint32_t places;
    size_t at = 0;

    memset(through, 0, TEXT * sizeof *through);
    for (; (places = sieve_next(s, text, &at)); at += SIEVE_PLACES)
        for (unsigned n = 0; n < SIEVE_PLACES; n++)
            through[at + n] = places >> n & 1;
    return at;
}

static bool stands_at(char grams[][SIEVE_GRAM], size_t count, const char *at)
{
    for (size_t i = 0; i < count; i++)
        if (!memcmp(grams[i], at, SIEVE_GRAM))
            return true;
    return false;
}

static void no_gram_is_left_out(void **state)
{
    enum { GRAMS = 40 };
    char text[TEXT], grams[GRAMS][SIEVE_GRAM];
    struct sieve s = { .grams = 0 };
    bool through[TEXT];
    unsigned seed = 7;
    size_t end, right = 0;

    (void)state;
    for (size_t i = 0; i < TEXT; i++)
        text[i] = (char)(i % 2 ? 'a' + draw(&seed) % 8 : draw(&seed));
    for (size_t i = 0; i < GRAMS; i++) {
        memcpy(grams[i], text + i * 97, SIEVE_GRAM);
        sieve_add(&s, grams[i]);
    }
    for (size_t len = TEXT - 70; len <= TEXT; len++) {
        end = sift(&s, str_n(text, len), through);
        assert_true(end <= len);
        for (size_t i = 0; i < end; i++)
            assert_true(through[i] || !stands_at(grams, GRAMS, text + i));
    }
    for (size_t i = 0; i < end; i++)
        right += through[i];
    assert_true(right < end / 4); /* or it would be of no use */
}

static void the_last_bytes_are_nobodys_but_the_callers(void **state)
{
    char text[SIEVE_PLACES + SIEVE_GRAM - 1];
    struct sieve s = { .grams = 0 };
    size_t at = 0;

    (void)state;
    sieve_add(&s, "abc");
    memset(text, '.', sizeof text);
    memcpy(text + sizeof text - SIEVE_GRAM, "abc", SIEVE_GRAM);
    assert_int_equal(sieve_next(&s, str_n(text, sizeof text - 1), &at), 0);
    assert_int_equal(at, 0);
    assert_int_equal(sieve_next(&s, STR_NONE, &at), 0);
    if (sieve_next(&s, str_n(text, sizeof text), &at)) /* there is AVX2 */
        assert_int_equal(sieve_next(&s, str_n(text, sizeof text), &at), 1u << 31);
    assert_int_equal(at, 0);
}

static void among_too_many_grams_nothing_is_looked_for(void **state)
{
    char text[TEXT];
    struct sieve s = { .grams = 0 };
    size_t at = 0;

    (void)state;
    memset(text, 'a', sizeof text);
    for (int i = 0; i <= SIEVE_MOST; i++)
        sieve_add(&s, "aaa");
    assert_int_equal(sieve_next(&s, str_n(text, sizeof text), &at), 0);
    assert_int_equal(at, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_gram_is_left_out),
        cmocka_unit_test(the_last_bytes_are_nobodys_but_the_callers),
        cmocka_unit_test(among_too_many_grams_nothing_is_looked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
