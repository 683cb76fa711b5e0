/* format/pretty.h - JSON laid out as Python's json module does it.
 *
 * pretty_add() writes what json.dumps(json.loads(text), indent=2, ensure_ascii=False)
 * gives, but for two things: numbers keep their spelling, which Python would round or
 * turn into Infinity, and duplicate members stay. A lone surrogate, which Python cannot
 * write at all, stays an escape.
 *
 * Works on text that json_scan() has accepted, in one pass and without recursion. */
#ifndef FORMAT_PRETTY_H
#define FORMAT_PRETTY_H

#include "base/buf.h"

/* `level` is how deep the value itself stands; its first line is not indented. */
void pretty_add(struct buf *to, struct str json, unsigned level);

/* The same value on one line, without blanks between its parts; strings stay as they
 * are spelt. */
void pretty_flatten(struct buf *to, struct str json);

/* A decoded text as a JSON string with its quotes. */
void pretty_text(struct buf *to, struct str text);

/* A newline, and the blanks of that level. */
void pretty_line(struct buf *to, unsigned level);

#endif
