/* cmd/help-man.h - writes manual pages from the tables, in the man(7) language. */
#ifndef CMD_HELP_MAN_H
#define CMD_HELP_MAN_H

#include "base/buf.h"
#include "cmd/command.h"

/* Adds mcpreel(1): the program, its commands, the help topics. */
void help_man_program(struct buf *to, const struct app *app);

/* Adds mcpreel-NAME(1). */
void help_man_command(struct buf *to, const struct app *app, const struct command *c);

#endif
