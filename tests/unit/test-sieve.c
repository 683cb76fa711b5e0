#include "base/sieve.h"

#include "test.h"

enum { TEXT = 4096 };

static unsigned draw(unsigned *seed)
{
    return (*seed = *seed * 1103515245u + 12345u) >> 16;
}

/* All that comes through before the place from which on the sieve looks at nothing. Returns
 * where that is. */
static size_t sift(enum sieve_unit unit, const struct sieve *s, struct str text,
                   bool through[TEXT])
{
    uint64_t places;
    size_t at = 0;

    memset(through, 0, TEXT * sizeof *through);
    for (; (places = sieve_next_by(unit, s, text, &at)); at += SIEVE_PLACES)
        for (unsigned n = 0; n < SIEVE_PLACES; n++)
            if (places >> n & 1) {
                assert_true(at + n + SIEVE_GRAM <= text.len);
                through[at + n] = true;
            }
    return at < text.len ? at : text.len;
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

    (void)state;
    for (size_t i = 0; i < TEXT; i++)
        text[i] = (char)(i % 2 ? 'a' + draw(&seed) % 8 : draw(&seed));
    for (size_t i = 0; i < GRAMS; i++) {
        memcpy(grams[i], text + i * 97, SIEVE_GRAM);
        sieve_add(&s, grams[i]);
    }
    for (enum sieve_unit unit = SIEVE_NONE; unit <= sieve_best(); unit++) {
        size_t right = 0;

        for (size_t len = TEXT - 2 * SIEVE_PLACES; len <= TEXT; len++) {
            size_t end = sift(unit, &s, str_n(text, len), through);
            assert_true(unit ? end + SIEVE_GRAM > len : end == 0);
            for (size_t i = 0; i < end && i + SIEVE_GRAM <= len; i++)
                assert_true(through[i] || !stands_at(grams, GRAMS, text + i));
        }
        for (size_t i = 0; i < TEXT; i++)
            right += through[i];
        assert_true(right < TEXT / 4); /* or it would be of no use */
    }
}

static void all_processors_see_the_same(void **state)
{
    char text[TEXT];
    struct sieve s = { .grams = 0 };
    bool through[TEXT], again[TEXT];
    unsigned seed = 3;

    (void)state;
    for (size_t i = 0; i < TEXT; i++)
        text[i] = (char)draw(&seed);
    for (size_t i = 0; i < SIEVE_MOST; i++)
        sieve_add(&s, text + 5 * i);
    sift(SIEVE_AVX2 < sieve_best() ? SIEVE_AVX2 : sieve_best(), &s, str_n(text, TEXT), through);
    sift(sieve_best(), &s, str_n(text, TEXT), again);
    assert_memory_equal(through, again, sizeof through);
}

static void a_text_that_is_no_block_is_nobodys_but_the_callers(void **state)
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
    if (sieve_best())
        assert_int_equal(sieve_next(&s, str_n(text, sizeof text), &at), UINT64_C(1) << 63);
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
        cmocka_unit_test(all_processors_see_the_same),
        cmocka_unit_test(a_text_that_is_no_block_is_nobodys_but_the_callers),
        cmocka_unit_test(among_too_many_grams_nothing_is_looked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
