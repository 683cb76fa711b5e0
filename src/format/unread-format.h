/* format/unread-format.h - recognizes files of other programs that no format reads.
 *
 * They are known from descriptions only. Such a file is named instead of being reported as
 * damaged or unknown. */
#ifndef FORMAT_UNREAD_FORMAT_H
#define FORMAT_UNREAD_FORMAT_H

#include "base/str.h"

/* The program that writes files with this head, or their format; NULL: unknown. */
const char *unread_format_program(struct str head);

#endif
