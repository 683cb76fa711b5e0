/* format/python-json.h - writes JSON in the layout of Python's json module.
 *
 * python_json_write() writes the output of json.dumps(json.loads(text), indent=2,
 * ensure_ascii=False), with two exceptions: numbers keep their spelling, which Python would
 * round or turn into Infinity, and duplicate members stay. A lone surrogate, which Python
 * cannot write, stays an escape.
 *
 * Takes text that json_scan() has accepted; one pass, no recursion. */
#ifndef FORMAT_PYTHON_JSON_H
#define FORMAT_PYTHON_JSON_H

#include "base/buf.h"

/* `level` is the nesting level of the value; its first line is not indented. */
void python_json_write(struct buf *to, struct str json, unsigned level);

/* Writes the value on one line, without blanks between tokens; strings keep their spelling. */
void python_json_write_compact(struct buf *to, struct str json);

/* Writes the value on one line as json.dumps(json.loads(text)) does: blanks behind ',' and ':',
 * ASCII only, floating-point numbers in their shortest form. Duplicate members stay. */
void python_json_write_ascii(struct buf *to, struct str json);

/* Writes a decoded text as a JSON string with quotes. */
void python_json_write_string(struct buf *to, struct str text);

/* Writes a newline and the indentation of a level. */
void python_json_write_newline(struct buf *to, unsigned level);

#endif
