/* tests/unit/completion-check.h - searches the completion script of a shell for texts.
 *
 * The shell tests run the scripts; this checks which text a script may not contain, and how
 * texts are quoted. */
#ifndef COMPLETION_CHECK_H
#define COMPLETION_CHECK_H

#include "cmd/complete.h"

/* Both lists end in NULL: what the script of the fixture holds, and what it does not. */
void completion_check(void (*complete)(struct buf *to, const struct app *app),
                      const char *const *there, const char *const *absent);

#endif
