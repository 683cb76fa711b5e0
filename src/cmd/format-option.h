/* cmd/format-option.h - parses the name of a format, for --format and --to. */
#ifndef CMD_FORMAT_OPTION_H
#define CMD_FORMAT_OPTION_H

#include "format/format.h"

/* Parse the value of an option row (OPTION_CUSTOM) into a `const struct format *`: of a format
 * to write, and of one to read. */
bool format_option_parse(void *field, const char *text, struct err *e);
bool format_option_parse_input(void *field, const char *text, struct err *e);

#endif
