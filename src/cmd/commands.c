#include "cmd/commands.h"

const struct command *const commands[] = {
    &cmd_record,     &cmd_replay, &cmd_inspect, &cmd_show,    &cmd_list,
    &cmd_convert,    &cmd_check,  &cmd_redact,  &cmd_formats, &cmd_demo,
    &cmd_completion, &cmd_help,   &cmd_version, NULL,
};
