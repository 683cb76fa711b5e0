/* cmd/complete.h - completion scripts, made from the tables.
 *
 * The scripts are static: pressing TAB never starts mcpreel. They know commands,
 * options, choices and where a file name is meant, and leave what follows "--" to
 * the completion of that command. */
#ifndef CMD_COMPLETE_H
#define CMD_COMPLETE_H

#include "base/buf.h"
#include "cmd/command.h"

void complete_bash(struct buf *to, const struct app *app);
void complete_zsh(struct buf *to, const struct app *app);
void complete_fish(struct buf *to, const struct app *app);

#endif
