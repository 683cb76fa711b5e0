/* loop/self.h - where this program itself lies, and which process it is. */
#ifndef LOOP_SELF_H
#define LOOP_SELF_H

#include "base/buf.h"

/* Appends the absolute path of the running program: what to start to get another
 * one of the same, whatever the name it was started by and the current directory. */
bool self_path(struct buf *to, struct err *e) MUST_CHECK;

/* A number that no other process of this machine has at the same time. */
long self_number(void);

#endif
