/* cmd/complete.h - writes completion scripts from the tables of commands and options.
 *
 * The scripts are static: pressing TAB never starts mcpreel. They complete commands, options,
 * choices and file names, and leave the words after "--" to the completion of that command. */
#ifndef CMD_COMPLETE_H
#define CMD_COMPLETE_H

#include "base/buf.h"
#include "cmd/command.h"

void complete_bash(struct buf *to, const struct app *app);
void complete_zsh(struct buf *to, const struct app *app);
void complete_fish(struct buf *to, const struct app *app);

#endif
