/* report/inspect-text.h - writes the statistics of a recording as text of about one screen. */
#ifndef REPORT_INSPECT_TEXT_H
#define REPORT_INSPECT_TEXT_H

#include "report/inspect-file.h"

/* Appends the report. Text of the file is escaped. */
void inspect_text_write(struct buf *to, const struct stats *s, const struct inspect_file *file,
                        bool color);

#endif
