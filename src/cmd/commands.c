#include "cmd/commands.h"

const struct command *const commands[] = {
    &cmd_completion,
    &cmd_help,
    &cmd_version,
    NULL,
};
