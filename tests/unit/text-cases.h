/* tests/unit/text-cases.h - makes a test of every text file that matches a pattern. */
#ifndef TEXT_CASES_H
#define TEXT_CASES_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "test.h"

/* Runs a test case. False: it failed, and `why` has the reason: "12: got …, want …". */
typedef bool text_case_fn(struct str text, struct buf *why);

/* Runs the tests in `fixed`, and `play` for every file that matches `pattern`, at least one; as
 * cmocka_run_group_tests(). */
int text_cases_run(const char *group, const struct CMUnitTest *fixed, size_t count,
                   const char *pattern, text_case_fn *play);

/* Asserts that a test case passes, or fails with this reason: test cases prove nothing unless a
 * wrong one fails. */
void text_cases_check(text_case_fn *play, const char *text, bool passes, const char *says);

#endif
