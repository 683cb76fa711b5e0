/* tests/unit/dies.h - for what must end the process: BUG() and out of memory.
 *
 * Runs `act` in a child and fails the test unless the child is aborted, having said
 * `says` on standard error. */
#ifndef DIES_H
#define DIES_H

void assert_dies(void (*act)(void), const char *says);

#endif
