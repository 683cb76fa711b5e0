/* cmd/inspect-text.h - statistics of a recording on one screen. */
#ifndef CMD_INSPECT_TEXT_H
#define CMD_INSPECT_TEXT_H

#include "cmd/inspect-file.h"

/* Everything from the file is escaped. */
void inspect_text_add(struct buf *to, const struct stats *s, const struct inspect_file *file,
                      bool color);

#endif
