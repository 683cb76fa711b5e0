#include "transport/libcurl.h"

#include <string.h>

#include "test.h"

static void every_function_is_there(void **state)
{
    struct err e = ERR_NONE;
    struct libcurl c;
    void *all[sizeof c / sizeof(void *)];

    (void)state;
    memset(&c, 0, sizeof c);
    if (!libcurl_load(&c, libcurl_name, &e))
        fail_msg("%s", e.msg);
    memcpy(all, &c, sizeof all);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_non_null(all[i]);
    assert_string_equal(c.easy_strerror(CURLE_OK), "No error");
}

static void without_it_one_is_told_so(void **state)
{
    struct err e = ERR_NONE;
    struct libcurl c;

    (void)state;
    assert_false(libcurl_load(&c, "libno-such-thing.so.4", &e));
    assert_int_equal(e.kind, ERR_IO);
    assert_non_null(strstr(e.msg, "cannot load libcurl: libno-such-thing.so.4"));
    assert_non_null(strstr(e.hint, "libcurl4"));
}

static void something_else_is_not_taken_for_it(void **state)
{
    struct err e = ERR_NONE;
    struct libcurl c;

    (void)state;
    assert_false(libcurl_load(&c, "libc.so.6", &e));
    assert_string_equal(e.msg, "cannot use libcurl: it has no 'curl_global_init'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_is_there),
        cmocka_unit_test(without_it_one_is_told_so),
        cmocka_unit_test(something_else_is_not_taken_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
