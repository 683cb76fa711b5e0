#include "redact/prefilter.h"

#include <stdlib.h>

#include "base/mem.h"
#include "test.h"

enum {
    BLOCK_BYTES = PREFILTER_POSITIONS + PREFILTER_GRAM - 1
}; /* the bytes that must be present to be filtered */

static unsigned random_below(unsigned *seed, unsigned below)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 16) % below;
}

/* The same, place by place, in the plainest way there is. */
static bool may_match(const struct prefilter *s, const char *at)
{
    for (unsigned bank = 0; bank < PREFILTER_BANKS; bank++) {
        unsigned groups = 0xff;

        for (unsigned place = 0; place < PREFILTER_GRAM; place++) {
            unsigned char byte = (unsigned char)at[place];
            groups &= s->low[bank][place][byte & 15] & s->high[bank][place][byte >> 4];
        }
        if (groups)
            return true;
    }
    return false;
}

/* Blocks of which the last may be short, in a text that has a whole one. */
static uint64_t plainly(enum prefilter_unit unit, const struct prefilter *s, struct str text,
                        size_t *at)
{
    if (!unit || s->grams > PREFILTER_MAX_GRAMS || text.len < BLOCK_BYTES)
        return 0;
    while (*at + PREFILTER_GRAM <= text.len) {
        size_t next = text.len - *at < BLOCK_BYTES ? text.len - (PREFILTER_GRAM - 1)
                                                   : *at + PREFILTER_POSITIONS;
        uint64_t places = 0;

        for (size_t i = *at; i < next; i++)
            places |= (uint64_t)may_match(s, text.at + i) << (i - *at);
        if (places)
            return places;
        *at = next;
    }
    return 0;
}

/* A text in memory of exactly its size: the sanitizer finds a read beyond it. */
static struct str copy(struct str text)
{
    char *own = mem_grow(NULL, text.len ? text.len : 1);

    if (text.len)
        memcpy(own, text.at, text.len);
    return str_n(own, text.len);
}

/* From `from` on, block by block until there is no more. */
static void check_same(enum prefilter_unit unit, const struct prefilter *s, struct str text,
                       size_t from)
{
    size_t at = from, want_at = from;
    uint64_t places, want;

    do {
        places = prefilter_next_by(unit, s, text, &at);
        want = plainly(unit, s, text, &want_at);
        assert_int_equal(places, want);
        assert_int_equal(at, want_at);
        at += PREFILTER_POSITIONS;
        want_at += PREFILTER_POSITIONS;
    } while (places);
}

static void check_found(enum prefilter_unit unit, const struct prefilter *s, struct str text,
                        const char *gram)
{
    bool *through = mem_grow(NULL, text.len + PREFILTER_POSITIONS);
    bool all = unit && text.len >= BLOCK_BYTES;
    size_t at = 0;
    uint64_t places;

    memset(through, 0, text.len + PREFILTER_POSITIONS);
    for (; (places = prefilter_next_by(unit, s, text, &at)); at += PREFILTER_POSITIONS)
        for (unsigned n = 0; n < PREFILTER_POSITIONS; n++)
            through[at + n] = places >> n & 1;
    assert_true(all ? at + PREFILTER_GRAM > text.len : at == 0);
    for (size_t i = 0; all && i + PREFILTER_GRAM <= text.len; i++)
        if (!memcmp(text.at + i, gram, PREFILTER_GRAM))
            assert_true(through[i]);
    free(through);
}

/* Texts in which grams are frequent, and such in which they are not: of any length up to
 * three blocks and more, read from any place on. */
static void random_texts_are_filtered_like_position_by_position(void **state)
{
    enum { ROUNDS = 2000, LONGEST = 280, MANY = 60 };
    unsigned seed = 7;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        unsigned letters = round % 2 ? 3 : 1 + random_below(&seed, 255),
                 grams = random_below(&seed, MANY);
        char bytes[LONGEST], added[MANY][PREFILTER_GRAM];
        struct prefilter s = { .grams = 0 };
        struct str text;

        for (size_t i = 0; i < LONGEST; i++)
            bytes[i] = (char)(random_below(&seed, letters) * 37);
        text = copy(str_n(bytes, random_below(&seed, LONGEST + 1)));
        for (unsigned i = 0; i < grams; i++) {
            if (i % 2)
                memcpy(added[i], bytes + random_below(&seed, LONGEST - PREFILTER_GRAM),
                       PREFILTER_GRAM);
            else
                for (int k = 0; k < PREFILTER_GRAM; k++)
                    added[i][k] = (char)random_below(&seed, 256);
            prefilter_add(&s, added[i]);
        }
        for (enum prefilter_unit unit = PREFILTER_NONE; unit <= prefilter_best_unit(); unit++) {
            for (size_t from = 0; from <= text.len; from += 1 + random_below(&seed, 20))
                check_same(unit, &s, text, from);
            for (unsigned i = 0; i < grams; i++)
                check_found(unit, &s, text, added[i]);
        }
        free((char *)text.at);
    }
}

static void check_place(enum prefilter_unit unit, size_t len, size_t place)
{
    bool seen = unit && len >= BLOCK_BYTES;
    struct prefilter s = { .grams = 0 };
    char bytes[200];
    size_t at = 0;
    struct str text;

    memset(bytes, '.', sizeof bytes);
    memcpy(bytes + place, "a\xff\x80", PREFILTER_GRAM);
    text = copy(str_n(bytes, len));
    prefilter_add(&s, "a\xff\x80");
    assert_int_equal(prefilter_next_by(unit, &s, text, &at),
                     seen ? UINT64_C(1) << place % PREFILTER_POSITIONS : 0);
    assert_int_equal(at, seen ? place - place % PREFILTER_POSITIONS : 0);
    free((char *)text.at);
}

/* One gram in a text that has nothing of it: there, and nowhere else, wherever a block ends. */
static void a_gram_passes_only_at_its_position(void **state)
{
    static const size_t lengths[] = { 0,  2,  3,   31,  32,  63,  64,  65,  66,
                                      67, 68, 127, 128, 129, 130, 131, 132, 194 };

    (void)state;
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
        for (size_t place = 0; place + PREFILTER_GRAM <= lengths[k]; place++)
            for (enum prefilter_unit unit = PREFILTER_NONE; unit <= prefilter_best_unit();
                 unit++)
                check_place(unit, lengths[k], place);
}

static void the_maximum_number_of_grams_is_found(void **state)
{
    enum { LONG = 4096 };
    char bytes[LONG];
    struct prefilter s = { .grams = 0 };
    struct str text = str_n(bytes, LONG);
    unsigned seed = 11;

    (void)state;
    for (size_t i = 0; i < LONG; i++)
        bytes[i] = (char)random_below(&seed, 256);
    for (size_t i = 0; i < PREFILTER_MAX_GRAMS; i++)
        prefilter_add(&s, bytes + i * 12);
    for (enum prefilter_unit unit = PREFILTER_NONE; unit <= prefilter_best_unit(); unit++) {
        for (size_t i = 0; i < PREFILTER_MAX_GRAMS; i++)
            check_found(unit, &s, text, bytes + i * 12);
        check_same(unit, &s, text, 0);
    }
}

/* Or it would be of no use. */
static void most_other_positions_are_skipped(void **state)
{
    enum { LONG = 4096, GRAMS = 40 };
    char bytes[LONG];
    struct prefilter s = { .grams = 0 };
    size_t at = 0, through = 0;
    unsigned seed = 7;
    uint64_t places;

    (void)state;
    for (size_t i = 0; i < LONG; i++)
        bytes[i] = (char)(i % 2 ? 'a' + random_below(&seed, 8) : random_below(&seed, 256));
    for (size_t i = 0; i < GRAMS; i++)
        prefilter_add(&s, bytes + i * 97);
    for (; (places = prefilter_next(&s, str_n(bytes, LONG), &at)); at += PREFILTER_POSITIONS)
        through += (unsigned)__builtin_popcountll(places);
    assert_true(!prefilter_best_unit() || through >= GRAMS);
    assert_true(through < LONG / 4);
}

static void too_many_grams_disable_the_filter(void **state)
{
    char bytes[2 * BLOCK_BYTES];
    struct prefilter s = { .grams = 0 };
    size_t at = 0;

    (void)state;
    memset(bytes, 'a', sizeof bytes);
    for (int i = 0; i < PREFILTER_MAX_GRAMS; i++)
        prefilter_add(&s, "aaa");
    assert_int_equal(prefilter_next(&s, str_n(bytes, sizeof bytes), &at),
                     prefilter_best_unit() ? UINT64_MAX : 0);
    prefilter_add(&s, "aaa");
    assert_int_equal(prefilter_next(&s, str_n(bytes, sizeof bytes), &at), 0);
    assert_int_equal(at, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_texts_are_filtered_like_position_by_position),
        cmocka_unit_test(a_gram_passes_only_at_its_position),
        cmocka_unit_test(the_maximum_number_of_grams_is_found),
        cmocka_unit_test(most_other_positions_are_skipped),
        cmocka_unit_test(too_many_grams_disable_the_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
