/* cmd/prose.h - text for people, set in 80 columns.
 *
 * Text is paragraphs parted by an empty line. A paragraph that starts with a blank
 * is an example or a table and stays as it is. */
#ifndef CMD_PROSE_H
#define CMD_PROSE_H

#include "base/buf.h"

enum { PROSE_WIDTH = 80 };

/* Cuts the next paragraph off `*rest`, without the newline that ends it; false:
 * nothing is left. */
bool prose_next(struct str *rest, struct str *paragraph);

static inline bool prose_is_verbatim(struct str paragraph)
{
    return paragraph.len && paragraph.at[0] == ' ';
}

/* The words of `text`, with `indent` blanks before each line but the first: there
 * `column` columns are taken already. Ends with a newline. */
void prose_fill(struct buf *to, struct str text, size_t indent, size_t column);

void prose_add(struct buf *to, struct str text); /* all paragraphs, an empty line between */

size_t prose_columns(struct str text); /* how wide it is: characters, not bytes */

#endif
