/* cmd/man.h - manual pages, made from the tables, in the man(7) language. */
#ifndef CMD_MAN_H
#define CMD_MAN_H

#include "base/buf.h"
#include "cmd/command.h"

/* mcpreel(1): the program, its commands, the help topics. */
void man_program(struct buf *to, const struct app *app);

/* mcpreel-NAME(1). */
void man_command(struct buf *to, const struct app *app, const struct command *c);

#endif
