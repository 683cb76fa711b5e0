/* tests/unit/completion-check.h - searches the completion script of a shell for texts.
 *
 * What a script does is seen by running it in the shell itself; here, what it may not hold,
 * and how texts are quoted. */
#ifndef COMPLETION_CHECK_H
#define COMPLETION_CHECK_H

#include "cmd/complete.h"

/* Both lists end in NULL: what the script of the fixture holds, and what it does not. */
void completion_check(void (*complete)(struct buf *to, const struct app *app),
                      const char *const *there, const char *const *absent);

#endif
