/* cmd/writer-options.h - the options of convert that choose how a format is written.
 *
 * They fill a struct format_options; the row of a format names those that it takes. To add one:
 * a field in struct format_options, its name in the row of the format, and a row of the macro
 * for the table of convert, in the group WRITER_GROUP. */
#ifndef CMD_WRITER_OPTIONS_H
#define CMD_WRITER_OPTIONS_H

#include "cmd/option.h"
#include "format/format.h"

#define WRITER_GROUP "For some formats"

/* Rejects an option of the group WRITER_GROUP in the table `rows` if the command line has it
 * and the format does not take it. Names the formats that do. */
bool writer_options_check(const struct option *rows, const struct operands *in,
                          const struct format *to, struct err *e) MUST_CHECK;

#endif
