/* base/work-tree.h - the place of the current directory in the git repository that contains it.
 *
 * Looks for a folder or file ".git" in the current directory and those above; runs no git. */
#ifndef BASE_WORK_TREE_H
#define BASE_WORK_TREE_H

#include "base/arena.h"

/* Returns the path from the root of the repository, with '/' at its end: "docs/api/". Empty at
 * the root and outside of a repository. */
struct str work_tree_folder(struct arena *a);

/* Returns a relative path as it is from the root of the repository; `folder` is that of
 * work_tree_folder(). "." and ".." are resolved; a place outside the repository begins with
 * "../". With an empty folder the path stays as it is. */
struct str work_tree_path(struct str folder, struct str path, struct arena *a);

#endif
