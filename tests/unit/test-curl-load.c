#include "transport/curl-load.h"

#include <string.h>

#include "test.h"

static void all_functions_are_loaded(void **state)
{
    struct err e = ERR_NONE;
    struct curl_api c;
    void *all[sizeof c / sizeof(void *)];

    (void)state;
    memset(&c, 0, sizeof c);
    if (!curl_load(&c, curl_load_name, &e))
        fail_msg("%s", e.msg);
    memcpy(all, &c, sizeof all);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_non_null(all[i]);
    assert_string_equal(c.easy_strerror(CURLE_OK), "No error");
}

#ifndef MCPREEL_CURL_LINK

static void a_missing_library_is_reported(void **state)
{
    struct err e = ERR_NONE;
    struct curl_api c;

    (void)state;
    assert_false(curl_load(&c, "libno-such-thing.so.4", &e));
    assert_int_equal(e.kind, ERR_IO);
    assert_non_null(strstr(e.msg, "cannot load libcurl: libno-such-thing.so.4"));
    assert_non_null(strstr(e.hint, "libcurl4"));
}

static void another_library_is_rejected(void **state)
{
    struct err e = ERR_NONE;
    struct curl_api c;

    (void)state;
    assert_false(curl_load(&c, "libc.so.6", &e));
    assert_string_equal(e.msg, "cannot use libcurl: it has no 'curl_global_init'");
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_functions_are_loaded),
#ifndef MCPREEL_CURL_LINK
        cmocka_unit_test(a_missing_library_is_reported),
        cmocka_unit_test(another_library_is_rejected),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
