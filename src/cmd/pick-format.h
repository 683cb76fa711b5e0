/* cmd/pick-format.h - a format named on the command line: one that can be written. */
#ifndef CMD_PICK_FORMAT_H
#define CMD_PICK_FORMAT_H

#include "format/format.h"

/* For an option's row: fills a `const struct format *`. */
bool pick_format_parse(void *field, const char *text, struct err *e);

/* "recording, trace": those that can be written; `text` is the caller's to release. */
const char *pick_format_list(struct buf *text);

/* The hint for a name that says no format: the endings that do, and `option`. False. */
bool pick_format_hint(struct err *e, const char *option);

#endif
