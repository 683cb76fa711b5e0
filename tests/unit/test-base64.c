#include "base/base64.h"
#include "test.h"

/* The vectors of RFC 4648, section 10. */
static const struct {
    const char *bytes, *text;
} vectors[] = {
    { "", "" },
    { "f", "Zg==" },
    { "fo", "Zm8=" },
    { "foo", "Zm9v" },
    { "foob", "Zm9vYg==" },
    { "fooba", "Zm9vYmE=" },
    { "foobar", "Zm9vYmFy" },
};

static void the_vectors_of_the_rfc_are_encoded_and_decoded(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        struct arena a = { 0 };
        struct str back;
        struct buf b;

        buf_init(&b, 64);
        base64_encode(&b, str_z(vectors[i].bytes));
        assert_str(buf_str(&b), str_z(vectors[i].text));
        assert_true(base64_decode(buf_str(&b), &a, &back));
        assert_str(back, str_z(vectors[i].bytes));
        buf_release(&b);
        arena_release(&a);
    }
}

static void every_byte_is_encoded_and_decoded(void **state)
{
    struct arena a = { 0 };
    char all[256];
    struct str back;
    struct buf b;

    (void)state;
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    buf_init(&b, 1024);
    base64_encode(&b, str_n(all, sizeof all));
    assert_true(base64_decode(buf_str(&b), &a, &back));
    assert_str(back, str_n(all, sizeof all));
    buf_release(&b);
    arena_release(&a);
}

static void invalid_base64_is_rejected(void **state)
{
    static const char *const bad[] = { "Z",        "Zg=",      "Zg",   "Z===",  "====",
                                       "Zm9v!mFy", "Zg==Zg==", "Zm 9", "Zm8=\n" };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct arena a = { 0 };
        struct str back;

        if (base64_decode(str_z(bad[i]), &a, &back))
            fail_msg("'%s' was accepted", bad[i]);
        arena_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_the_rfc_are_encoded_and_decoded),
        cmocka_unit_test(every_byte_is_encoded_and_decoded),
        cmocka_unit_test(invalid_base64_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
