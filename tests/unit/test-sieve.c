#include "base/sieve.h"

#include <stdlib.h>

#include "base/mem.h"
#include "test.h"

enum { BLOCK = SIEVE_PLACES + SIEVE_GRAM - 1 }; /* what has to be there to be looked at */

static unsigned draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 16) % below;
}

/* The same, place by place, in the plainest way there is. */
static bool may_stand(const struct sieve *s, const char *at)
{
    for (unsigned bank = 0; bank < SIEVE_BANKS; bank++) {
        unsigned groups = 0xff;

        for (unsigned place = 0; place < SIEVE_GRAM; place++) {
            unsigned char byte = (unsigned char)at[place];
            groups &= s->low[bank][place][byte & 15] & s->high[bank][place][byte >> 4];
        }
        if (groups)
            return true;
    }
    return false;
}

/* Blocks of which the last may be short, in a text that has a whole one. */
static uint64_t plainly(enum sieve_unit unit, const struct sieve *s, struct str text,
                        size_t *at)
{
    if (!unit || s->grams > SIEVE_MOST || text.len < BLOCK)
        return 0;
    while (*at + SIEVE_GRAM <= text.len) {
        size_t next = text.len - *at < BLOCK ? text.len - (SIEVE_GRAM - 1) : *at + SIEVE_PLACES;
        uint64_t places = 0;

        for (size_t i = *at; i < next; i++)
            places |= (uint64_t)may_stand(s, text.at + i) << (i - *at);
        if (places)
            return places;
        *at = next;
    }
    return 0;
}

/* A text in memory of just its size: who looks beyond it is found by the sanitizer. */
static struct str copy(struct str text)
{
    char *own = mem_grow(NULL, text.len ? text.len : 1);

    if (text.len)
        memcpy(own, text.at, text.len);
    return str_n(own, text.len);
}

/* From `from` on, block by block until there is no more. */
static void check_same(enum sieve_unit unit, const struct sieve *s, struct str text,
                       size_t from)
{
    size_t at = from, want_at = from;
    uint64_t places, want;

    do {
        places = sieve_next_by(unit, s, text, &at);
        want = plainly(unit, s, text, &want_at);
        assert_int_equal(places, want);
        assert_int_equal(at, want_at);
        at += SIEVE_PLACES;
        want_at += SIEVE_PLACES;
    } while (places);
}

static void check_found(enum sieve_unit unit, const struct sieve *s, struct str text,
                        const char *gram)
{
    bool *through = mem_grow(NULL, text.len + SIEVE_PLACES);
    bool all = unit && text.len >= BLOCK;
    size_t at = 0;
    uint64_t places;

    memset(through, 0, text.len + SIEVE_PLACES);
    for (; (places = sieve_next_by(unit, s, text, &at)); at += SIEVE_PLACES)
        for (unsigned n = 0; n < SIEVE_PLACES; n++)
            through[at + n] = places >> n & 1;
    assert_true(all ? at + SIEVE_GRAM > text.len : at == 0);
    for (size_t i = 0; all && i + SIEVE_GRAM <= text.len; i++)
        if (!memcmp(text.at + i, gram, SIEVE_GRAM))
            assert_true(through[i]);
    free(through);
}

/* Texts in which grams are frequent, and such in which they are not: of any length up to
 * three blocks and more, read from any place on. */
static void random_texts_are_sifted_as_place_by_place(void **state)
{
    enum { ROUNDS = 2000, LONGEST = 280, MANY = 60 };
    unsigned seed = 7;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        unsigned letters = round % 2 ? 3 : 1 + draw(&seed, 255), grams = draw(&seed, MANY);
        char bytes[LONGEST], added[MANY][SIEVE_GRAM];
        struct sieve s = { .grams = 0 };
        struct str text;

        for (size_t i = 0; i < LONGEST; i++)
            bytes[i] = (char)(draw(&seed, letters) * 37);
        text = copy(str_n(bytes, draw(&seed, LONGEST + 1)));
        for (unsigned i = 0; i < grams; i++) {
            if (i % 2)
                memcpy(added[i], bytes + draw(&seed, LONGEST - SIEVE_GRAM), SIEVE_GRAM);
            else
                for (int k = 0; k < SIEVE_GRAM; k++)
                    added[i][k] = (char)draw(&seed, 256);
            sieve_add(&s, added[i]);
        }
        for (enum sieve_unit unit = SIEVE_NONE; unit <= sieve_best(); unit++) {
            for (size_t from = 0; from <= text.len; from += 1 + draw(&seed, 20))
                check_same(unit, &s, text, from);
            for (unsigned i = 0; i < grams; i++)
                check_found(unit, &s, text, added[i]);
        }
        free((char *)text.at);
    }
}

static void check_place(enum sieve_unit unit, size_t len, size_t place)
{
    bool seen = unit && len >= BLOCK;
    struct sieve s = { .grams = 0 };
    char bytes[200];
    size_t at = 0;
    struct str text;

    memset(bytes, '.', sizeof bytes);
    memcpy(bytes + place, "a\xff\x80", SIEVE_GRAM);
    text = copy(str_n(bytes, len));
    sieve_add(&s, "a\xff\x80");
    assert_int_equal(sieve_next_by(unit, &s, text, &at),
                     seen ? UINT64_C(1) << place % SIEVE_PLACES : 0);
    assert_int_equal(at, seen ? place - place % SIEVE_PLACES : 0);
    free((char *)text.at);
}

/* One gram in a text that has nothing of it: there, and nowhere else, wherever a block ends. */
static void a_gram_comes_through_at_its_place_alone(void **state)
{
    static const size_t lengths[] = { 0,  2,  3,   31,  32,  63,  64,  65,  66,
                                      67, 68, 127, 128, 129, 130, 131, 132, 194 };

    (void)state;
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
        for (size_t place = 0; place + SIEVE_GRAM <= lengths[k]; place++)
            for (enum sieve_unit unit = SIEVE_NONE; unit <= sieve_best(); unit++)
                check_place(unit, lengths[k], place);
}

static void no_gram_is_left_out_of_as_many_as_there_may_be(void **state)
{
    enum { LONG = 4096 };
    char bytes[LONG];
    struct sieve s = { .grams = 0 };
    struct str text = str_n(bytes, LONG);
    unsigned seed = 11;

    (void)state;
    for (size_t i = 0; i < LONG; i++)
        bytes[i] = (char)draw(&seed, 256);
    for (size_t i = 0; i < SIEVE_MOST; i++)
        sieve_add(&s, bytes + i * 12);
    for (enum sieve_unit unit = SIEVE_NONE; unit <= sieve_best(); unit++) {
        for (size_t i = 0; i < SIEVE_MOST; i++)
            check_found(unit, &s, text, bytes + i * 12);
        check_same(unit, &s, text, 0);
    }
}

/* Or it would be of no use. */
static void what_is_no_gram_mostly_stays_behind(void **state)
{
    enum { LONG = 4096, GRAMS = 40 };
    char bytes[LONG];
    struct sieve s = { .grams = 0 };
    size_t at = 0, through = 0;
    unsigned seed = 7;
    uint64_t places;

    (void)state;
    for (size_t i = 0; i < LONG; i++)
        bytes[i] = (char)(i % 2 ? 'a' + draw(&seed, 8) : draw(&seed, 256));
    for (size_t i = 0; i < GRAMS; i++)
        sieve_add(&s, bytes + i * 97);
    for (; (places = sieve_next(&s, str_n(bytes, LONG), &at)); at += SIEVE_PLACES)
        through += (unsigned)__builtin_popcountll(places);
    assert_true(!sieve_best() || through >= GRAMS);
    assert_true(through < LONG / 4);
}

static void among_too_many_grams_nothing_is_looked_for(void **state)
{
    char bytes[2 * BLOCK];
    struct sieve s = { .grams = 0 };
    size_t at = 0;

    (void)state;
    memset(bytes, 'a', sizeof bytes);
    for (int i = 0; i < SIEVE_MOST; i++)
        sieve_add(&s, "aaa");
    assert_int_equal(sieve_next(&s, str_n(bytes, sizeof bytes), &at),
                     sieve_best() ? UINT64_MAX : 0);
    sieve_add(&s, "aaa");
    assert_int_equal(sieve_next(&s, str_n(bytes, sizeof bytes), &at), 0);
    assert_int_equal(at, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_texts_are_sifted_as_place_by_place),
        cmocka_unit_test(a_gram_comes_through_at_its_place_alone),
        cmocka_unit_test(no_gram_is_left_out_of_as_many_as_there_may_be),
        cmocka_unit_test(what_is_no_gram_mostly_stays_behind),
        cmocka_unit_test(among_too_many_grams_nothing_is_looked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
