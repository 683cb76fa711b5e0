/* cmd/usage.h - help for the terminal, made from the tables. */
#ifndef CMD_USAGE_H
#define CMD_USAGE_H

#include "base/buf.h"
#include "cmd/command.h"

enum { USAGE_MAX = 1 << 20 };

/* What the program is, in few words and in some more. */
#define USAGE_ABOUT "record, replay and inspect MCP traffic"
#define USAGE_DESCRIPTION                                                                      \
    "mcpreel records the traffic between any MCP client and any MCP server without either "    \
    "noticing, and replays it as a mock server.\n\n"                                           \
    "'--' has one meaning everywhere: what follows is the command of the server. "             \
    "'mcpreel -- COMMAND' is short for 'mcpreel record -- COMMAND'.\n\n"                       \
    "Results go to standard output, talk to standard error."

/* Without arguments: what it is, examples, the commands, where help is. */
void usage_overview(struct buf *to, const struct app *app);

/* --help without a command: the overview and the global options. */
void usage_program(struct buf *to, const struct app *app);

/* --help of a command. */
void usage_command(struct buf *to, const struct app *app, const struct command *c);

/* What follows an option's help text, in words: its choices, range and default,
 * "(auto, always, never; default: auto)"; nothing if there is nothing to say. The
 * man page says the same. */
void usage_option_notes(struct buf *to, const struct option *o);

#endif
