#include "base/utf8.h"

#include "test.h"

static void what_is_encoded_decodes_to_itself(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        char at[UTF8_MAX];
        size_t n = utf8_encode(at, code);
        uint32_t back = 0;
        bool surrogate = code >= 0xD800 && code <= 0xDFFF;

        assert_int_equal(utf8_decode(str_n(at, n), &back), surrogate ? 0 : n);
        assert_int_equal(back, surrogate ? 0 : code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_encoded_decodes_to_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
