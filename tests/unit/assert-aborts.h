/* tests/unit/assert-aborts.h - asserts that a function aborts the process: BUG() and out of
 * memory.
 *
 * Runs `act` in a child and fails the test unless the child is aborted, having said
 * `says` on standard error. */
#ifndef ASSERT_ABORTS_H
#define ASSERT_ABORTS_H

void assert_aborts(void (*act)(void), const char *says);

#endif
