/* loop/process-self.h - this process: its program file, its number, its core dumps. */
#ifndef LOOP_PROCESS_SELF_H
#define LOOP_PROCESS_SELF_H

#include "base/buf.h"

/* Appends the absolute path of the running program, to start another process of it. Does not
 * depend on argv[0] or the current directory. */
bool process_self_path(struct buf *to, struct err *e) MUST_CHECK;

/* Returns the process id. */
long process_self_pid(void);

/* Prevents core dumps: this process holds other people's secrets in memory. Unlike a limit on
 * their size it also prevents dumps that are piped to a program, and programs that we start do
 * not inherit it. Does nothing on other systems than Linux, or under a sanitizer, which has to
 * look into the process. */
void process_self_disable_dumps(void);

#endif
