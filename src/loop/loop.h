/* loop/loop.h - the event loop; only this folder uses libuv.
 *
 * Everything here runs on one thread. A callback may close the object that called it; memory
 * is freed after it returns. While a loop exists, SIGPIPE and SIGXFSZ are ignored, SIGCHLD is
 * ours, and the limit of descriptors is raised; loop_free() restores all of it. */
#ifndef LOOP_LOOP_H
#define LOOP_LOOP_H

#include "base/err.h"

struct loop;

struct loop *loop_new(void);
void loop_free(struct loop *l); /* everything opened on it must be closed; NULL is fine */

/* Runs until loop_stop(), or until nothing is left to wait for. */
void loop_run(struct loop *l);
void loop_stop(struct loop *l);

/* Sets the environment of children that are started from now on; borrowed. NULL, the default:
 * ours. */
void loop_set_env(struct loop *l, char *const *env);

/* The same for their folder, which relative paths of commands with a '/' start from. */
void loop_set_cwd(struct loop *l, const char *folder);

#endif
