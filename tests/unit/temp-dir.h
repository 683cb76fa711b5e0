/* tests/unit/temp-dir.h - runs a test in an empty temporary directory.
 *
 * As a test's setup and teardown, `*state` is the directory's path. Files that the test
 * leaves there are removed, folders too. Only temporary files of the program have a hidden
 * name: a test that leaves such a file has failed. */
#ifndef TEMP_DIR_H
#define TEMP_DIR_H

#include "base/buf.h"

int temp_dir_enter(void **state);
int temp_dir_leave(void **state);

#define IN_TEMP_DIR(test) cmocka_unit_test_setup_teardown(test, temp_dir_enter, temp_dir_leave)

/* Makes the file, or replaces what is in it; the second with ' for " and ` for \. */
void temp_dir_put(const char *path, struct str content);
void temp_dir_put_terse(const char *path, const char *text);

/* Adds all that is in the file, which must be there and be no link. */
void temp_dir_get(struct buf *to, const char *path);
void assert_content(const char *path, struct str want);

size_t temp_dir_count(const char *path); /* names in a folder, hidden ones included */

/* How many this process has: as many as before, or something was left open. */
int open_fd_count(void);

#endif
