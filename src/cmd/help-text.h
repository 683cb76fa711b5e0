/* cmd/help-text.h - writes help for the terminal from the tables. */
#ifndef CMD_HELP_TEXT_H
#define CMD_HELP_TEXT_H

#include "base/buf.h"
#include "cmd/command.h"

enum { HELP_TEXT_MAX = 1 << 20 };

/* Description of the program, short and long. */
#define HELP_TEXT_SUMMARY "record, replay and inspect MCP traffic"
#define HELP_TEXT_DESCRIPTION                                                                  \
    "mcpreel records the traffic between any MCP client and any MCP server without changing "  \
    "it, and replays it as a mock server.\n\n"                                                 \
    "'--' has one meaning everywhere: the words after it are the command of the server. "      \
    "'mcpreel -- COMMAND' is short for 'mcpreel record -- COMMAND'.\n\n"                       \
    "Results go to standard output, messages to standard error."

/* Adds the text shown without arguments: purpose, examples, commands, where help is. */
void help_text_overview(struct buf *to, const struct app *app);

/* Adds the text of --help without a command: the overview and the global options. */
void help_text_program(struct buf *to, const struct app *app);

/* Adds the text of --help of a command. */
void help_text_command(struct buf *to, const struct app *app, const struct command *c);

/* Adds the choices, range and default of an option, if it has any: "(auto, always, never;
 * default: auto)". Manual pages use it, too. */
void help_text_option_notes(struct buf *to, const struct option *o);

#endif
