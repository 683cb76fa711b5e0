/* base/text-wrap.h - wraps text at 80 columns.
 *
 * Text is paragraphs separated by an empty line. A paragraph that starts with a blank is an
 * example or a table and stays as it is. */
#ifndef BASE_TEXT_WRAP_H
#define BASE_TEXT_WRAP_H

#include "base/buf.h"

/* Tables are narrower: the manual indents them. */
enum { TEXT_WRAP_WIDTH = 80, TEXT_WRAP_TABLE_WIDTH = 72 };

/* Removes the next paragraph from `*rest`, without the newline that ends it; false: nothing is
 * left. */
bool text_wrap_next_paragraph(struct str *rest, struct str *paragraph);

static inline bool text_wrap_is_verbatim(struct str paragraph)
{
    return paragraph.len && paragraph.at[0] == ' ';
}

/* Lines have at most `width` columns. All but the first are indented by `indent` blanks; the
 * first starts at `start_column`. */
struct text_wrap_shape {
    size_t width, indent, start_column;
};

/* Appends the words of `text`, wrapped, and a newline. */
void text_wrap_fill(struct buf *to, struct str text, struct text_wrap_shape shape);

void text_wrap_add(struct buf *to, struct str text); /* all paragraphs, an empty line between */

size_t text_wrap_columns(struct str text); /* how wide it is: characters, not bytes */

#endif
