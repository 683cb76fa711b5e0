/* cmd/commands.h - the only list of commands. */
#ifndef CMD_COMMANDS_H
#define CMD_COMMANDS_H

#include "cmd/command.h"

extern const struct command cmd_check;
extern const struct command cmd_completion;
extern const struct command cmd_convert;
extern const struct command cmd_demo;
extern const struct command cmd_formats;
extern const struct command cmd_help;
extern const struct command cmd_inspect;
extern const struct command cmd_list;
extern const struct command cmd_record;
extern const struct command cmd_redact;
extern const struct command cmd_replay;
extern const struct command cmd_show;
extern const struct command cmd_version;

/* In the order help shows them; NULL-terminated. */
extern const struct command *const commands[];

#endif
