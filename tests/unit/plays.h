/* tests/unit/plays.h - one test for every story that is told in a text file. */
#ifndef PLAYS_H
#define PLAYS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "test.h"

/* Plays a story; false, and why: "12: got …, want …". */
typedef bool play_function(struct str text, struct buf *why);

/* The tests in `fixed`, and `play` for every file that fits `pattern`, of which there must
 * be one; as cmocka_run_group_tests(). */
int plays_run(const char *group, const struct CMUnitTest *fixed, size_t count,
              const char *pattern, play_function *play);

/* A story that must pass, or not, and what is said about it then: stories prove nothing unless
 * a wrong one fails. */
void plays_check(play_function *play, const char *text, bool passes, const char *says);

#endif
