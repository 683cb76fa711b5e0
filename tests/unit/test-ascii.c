#include "base/ascii.h"

#include <string.h>

#include "test.h"

static const char digits[] = "0123456789";
static const char lower[] = "abcdefghijklmnopqrstuvwxyz";
static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

static bool stands_in(char c, const char *set)
{
    return c && strchr(set, c);
}

static void every_byte_has_its_classes_and_no_others(void **state)
{
    (void)state;
    for (int i = 0; i < 256; i++) {
        char c = (char)i;
        bool digit = stands_in(c, digits), small = stands_in(c, lower);
        bool capital = stands_in(c, upper);

        assert_int_equal(ascii_is_digit(c), digit);
        assert_int_equal(ascii_is_lower(c), small);
        assert_int_equal(ascii_is_upper(c), capital);
        assert_int_equal(ascii_is_letter(c), small || capital);
        assert_int_equal(ascii_is_alnum(c), small || capital || digit);
        assert_int_equal(ascii_is_blank(c), stands_in(c, " \t\r\n"));
    }
}

static void a_run_ends_at_the_first_byte_of_another_kind(void **state)
{
    char text[24];

    (void)state;
    for (int i = 0; i < 256; i++)
        for (size_t at = 0; at < sizeof text; at++) {
            char c = (char)i;
            bool ends = i < ' ' || i > '~' || stands_in(c, "\"\\$");

            memset(text, '~', sizeof text);
            text[at] = c;
            if (at + 1 < sizeof text)
                text[at + 1] = '\0'; /* what follows makes no difference */
            assert_int_equal(ascii_run_without(text, at + 1, '"', '\\', '$'), at + !ends);
            assert_int_equal(ascii_run_without(text, sizeof text, '"', '\\', '$'), at + !ends);
        }
    assert_int_equal(ascii_run_without("\x7f"
                                       "aaaaaaa",
                                       8, '"', '"', '"'),
                     0);
    assert_int_equal(ascii_run_without("", 0, '"', '"', '"'), 0);
}

static void only_letters_have_another_case(void **state)
{
    (void)state;
    for (int i = 0; i < 256; i++) {
        char c = (char)i;

        if (stands_in(c, upper))
            assert_int_equal(ascii_lower(c), lower[c - 'A']);
        else
            assert_int_equal(ascii_lower(c), c);
        if (stands_in(c, lower))
            assert_int_equal(ascii_upper(c), upper[c - 'a']);
        else
            assert_int_equal(ascii_upper(c), c);
    }
}

static void every_byte_is_classified_as_hexadecimal_digit_or_not(void **state)
{
    static const char small[] = "0123456789abcdef", capital[] = "0123456789ABCDEF";
    int count = 0;

    (void)state;
    for (int i = 0; i < 16; i++) {
        assert_int_equal(ascii_hex(small[i]), i);
        assert_int_equal(ascii_hex(capital[i]), i);
    }
    for (int c = 0; c < 256; c++)
        count += ascii_hex((char)c) >= 0;
    assert_int_equal(count, 22);
    assert_int_equal(ascii_hex4("0000"), 0);
    assert_int_equal(ascii_hex4("1aF9"), 0x1af9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_has_its_classes_and_no_others),
        cmocka_unit_test(a_run_ends_at_the_first_byte_of_another_kind),
        cmocka_unit_test(only_letters_have_another_case),
        cmocka_unit_test(every_byte_is_classified_as_hexadecimal_digit_or_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
