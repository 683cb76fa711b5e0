/* format/unread-format.h - recognizes files that no format reads.
 *
 * Those of other programs are known from descriptions only; others have formats that mcpreel
 * only writes. Such a file is named instead of being reported as damaged or unknown. */
#ifndef FORMAT_UNREAD_FORMAT_H
#define FORMAT_UNREAD_FORMAT_H

#include "base/str.h"

struct unread_format {
    const char *program; /* that writes such files, or their name; NULL: `written` is set */
    const char *written; /* name of the format, which mcpreel only writes; NULL: it does not */
};

/* The format of a file with this head; NULL: unknown. */
const struct unread_format *unread_format_find(struct str head);

#endif
