/* runtime/git-file.h - gets the committed version of a file by running git.
 *
 * The content goes to a file without a name, so nothing is left of it. git runs in the
 * directory of the file, which may be in any repository. */
#ifndef RUNTIME_GIT_FILE_H
#define RUNTIME_GIT_FILE_H

#include "base/arena.h"
#include "base/file.h"
#include "runtime/app.h"

struct git_file {
    struct file copy;
    const char *path; /* by which the copy can be opened while it exists */
    struct str name;  /* for people: "HEAD~1:session.jsonl" */
    struct arena arena;
};

/* Copies `path` as it is in `revision`. ERR_USAGE if git does not know the revision; ERR_INPUT
 * if it has no such file, or the file is in no repository; ERR_IO if git cannot be run or the
 * copy cannot be written. To be released in any case. */
bool git_file_open(struct git_file *g, const struct app *app, const char *revision,
                   const char *path, const char *tmp_dir, struct err *e) MUST_CHECK;
void git_file_release(struct git_file *g);

#endif
