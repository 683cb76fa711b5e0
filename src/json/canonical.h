/* json/canonical.h - writes a JSON value in one form for all its spellings.
 *
 * Members are sorted by name, of duplicates the last counts, strings have only the escapes that
 * they need, invisible characters are escaped (base/term.h), every member and element has its
 * own line. Numbers keep their text. So a tool that compares lines shows what has changed. */
#ifndef JSON_CANONICAL_H
#define JSON_CANONICAL_H

#include "base/buf.h"
#include "json/json.h"

/* Appends a value without a newline at its end. `depth` is the number of levels around it: the
 * lines after the first are indented by it. */
void json_canonical_write(struct buf *to, struct json_val v, unsigned depth);

/* Appends a text as a JSON string in that form. */
void json_canonical_write_str(struct buf *to, struct str text);

#endif
