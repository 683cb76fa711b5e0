#include "base/memchr.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

enum { LENGTH = 150 };

static const unsigned char *first_of(const unsigned char *text, int sought, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] == (unsigned char)sought)
            return text + i;
    return NULL;
}

static void the_first_byte_is_found_at_each_place_and_alignment(void **state)
{
    unsigned char *text = malloc(LENGTH);

    (void)state;
    assert_non_null(text);
    for (size_t start = 0; start < 9; start++)
        for (size_t at = start; at < LENGTH; at++) {
            memset(text, 'a', LENGTH);
            text[at] = '\n';
            text[LENGTH - 1] = '\n';
            assert_ptr_equal(MEMCHR_OF_STATIC_PROGRAM(text + start, '\n', LENGTH - start),
                             text + at);
            assert_null(MEMCHR_OF_STATIC_PROGRAM(text + start, '\n', at - start));
        }
    free(text);
}

static void every_byte_is_told_from_its_neighbours(void **state)
{
    unsigned char text[LENGTH];

    (void)state;
    for (int sought = 0; sought < 256; sought++) {
        for (size_t i = 0; i < LENGTH; i++)
            text[i] = (unsigned char)(sought + (i % 2 ? 1 : 128));
        assert_null(MEMCHR_OF_STATIC_PROGRAM(text, sought, LENGTH));
        text[70] = (unsigned char)sought;
        assert_ptr_equal(MEMCHR_OF_STATIC_PROGRAM(text, sought, LENGTH),
                         first_of(text, sought, LENGTH));
        assert_ptr_equal(MEMCHR_OF_STATIC_PROGRAM(text, sought - 256, LENGTH), text + 70);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_byte_is_found_at_each_place_and_alignment),
        cmocka_unit_test(every_byte_is_told_from_its_neighbours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
