/* cmd/format-option.h - parses the name of a format to write, for --format and --to. */
#ifndef CMD_FORMAT_OPTION_H
#define CMD_FORMAT_OPTION_H

#include "format/format.h"

/* Parses the value of an option row (OPTION_CUSTOM) into a `const struct format *`. */
bool format_option_parse(void *field, const char *text, struct err *e);

#endif
