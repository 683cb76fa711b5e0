/* wire/text-lines.h - passes free text (stderr) on in complete lines.
 *
 * Some programs write stderr byte by byte. The callback gets as many complete lines as there
 * are, newlines included. An unfinished line is held until it has more than 64 KB. */
#ifndef WIRE_TEXT_LINES_H
#define WIRE_TEXT_LINES_H

#include "base/buf.h"

struct text_lines {
    struct buf partial_line;
};

typedef void text_lines_fn(void *to, struct str text);

void text_lines_init(struct text_lines *t);
void text_lines_release(struct text_lines *t);

void text_lines_feed(struct text_lines *t, struct str bytes, text_lines_fn *fn, void *to);

/* Ends the text: passes the unfinished line on. */
void text_lines_end(struct text_lines *t, text_lines_fn *fn, void *to);

#endif
