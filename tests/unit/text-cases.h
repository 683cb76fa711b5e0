/* tests/unit/text-cases.h - makes a test of every text file that matches a pattern. */
#ifndef TEXT_CASES_H
#define TEXT_CASES_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "test.h"

/* Plays a story; false, and why: "12: got …, want …". */
typedef bool text_case_fn(struct str text, struct buf *why);

/* The tests in `fixed`, and `play` for every file that fits `pattern`, of which there must
 * be one; as cmocka_run_group_tests(). */
int text_cases_run(const char *group, const struct CMUnitTest *fixed, size_t count,
                   const char *pattern, text_case_fn *play);

/* A story that must pass, or not, and what is said about it then: stories prove nothing unless
 * a wrong one fails. */
void text_cases_check(text_case_fn *play, const char *text, bool passes, const char *says);

#endif
