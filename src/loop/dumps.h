/* loop/dumps.h - no image of this process on the disk when it crashes. */
#ifndef LOOP_DUMPS_H
#define LOOP_DUMPS_H

/* For who holds other people's secrets in memory. Unlike a limit on the size of dumps it
 * also stops those that are piped to a program, and no program started later inherits it.
 * Does nothing where there is no such thing, or where a sanitizer has to look into the
 * process. */
void dumps_off(void);

#endif
