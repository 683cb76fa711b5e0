/* cmd/prose.h - text for people, set in 80 columns.
 *
 * Text is paragraphs parted by an empty line. A paragraph that starts with a blank
 * is an example or a table and stays as it is. */
#ifndef CMD_PROSE_H
#define CMD_PROSE_H

#include "base/buf.h"

/* Tables are narrower: the manual indents them. */
enum { PROSE_WIDTH = 80, PROSE_TABLE = 72 };

/* Cuts the next paragraph off `*rest`, without the newline that ends it; false:
 * nothing is left. */
bool prose_next(struct str *rest, struct str *paragraph);

static inline bool prose_is_verbatim(struct str paragraph)
{
    return paragraph.len && paragraph.at[0] == ' ';
}

/* Lines of at most `width` columns, each but the first with `indent` blanks before
 * it; of the first, `column` columns are taken already. */
struct prose_shape {
    size_t width, indent, column;
};

/* The words of `text`, and a newline. */
void prose_fill(struct buf *to, struct str text, struct prose_shape shape);

void prose_add(struct buf *to, struct str text); /* all paragraphs, an empty line between */

size_t prose_columns(struct str text); /* how wide it is: characters, not bytes */

#endif
