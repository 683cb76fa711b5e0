/* cmd/inspect-text.h - statistics of a recording on one screen. */
#ifndef CMD_INSPECT_TEXT_H
#define CMD_INSPECT_TEXT_H

#include "engine/stats.h"

/* What is known of the file besides its records. */
struct inspect_file {
    const char *path, *format;
    uint64_t bytes, remarks;
};

/* Everything from the file is escaped. */
void inspect_text_add(struct buf *to, const struct stats *s, const struct inspect_file *file,
                      bool color);

#endif
