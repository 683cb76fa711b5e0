/* tests/unit/scratch.h - an empty directory for a test to stand in, and the files there.
 *
 * As a test's setup and teardown, `*state` is the directory's path. What the test leaves
 * there is removed, folders too. Only what the program makes for a moment has a hidden
 * name: a test that leaves such a file has failed. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include "base/buf.h"

int scratch_enter(void **state);
int scratch_leave(void **state);

#define IN_A_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, scratch_enter, scratch_leave)

/* Makes the file, or replaces what is in it; the second with ' for " and ` for \. */
void scratch_put(const char *path, struct str content);
void scratch_put_terse(const char *path, const char *text);

/* Adds all that is in the file, which must be there and be no link. */
void scratch_get(struct buf *to, const char *path);
void assert_content(const char *path, struct str want);

size_t scratch_count(const char *path); /* names in a folder, hidden ones included */

/* How many this process has: as many as before, or something was left open. */
int open_descriptors(void);

#endif
