/* tests/unit/test.h - included by every unit test: cmocka and our own asserts.
 *
 * A test is a static function whose name is a sentence; main() lists them:
 *
 *     int main(void)
 *     {
 *         const struct CMUnitTest tests[] = { cmocka_unit_test(a_sentence_about_it) };
 *         return cmocka_run_group_tests(tests, NULL, NULL);
 *     } */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"

/* Equal bytes, shown as text when they are not. */
#define assert_str(got, want)                                                                  \
    do {                                                                                       \
        struct str got_ = (got), want_ = (want);                                               \
        if (!str_eq(got_, want_))                                                              \
            fail_msg("got '%.*s', want '%.*s'", STR_ARG(got_), STR_ARG(want_));                \
    } while (0)

#endif
