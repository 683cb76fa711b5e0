#include "cmd/commands.h"

const struct command *const commands[] = {
    &cmd_help,
    &cmd_version,
    NULL,
};
