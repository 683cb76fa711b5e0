/* json/ecma-pattern.h - translates regular expressions of ECMA-262 into the syntax of RE2.
 *
 * JSON Schema has the patterns of ECMAScript, read as Unicode. RE2 understands most of them,
 * but gives some a different meaning ('.', '\s', '[]', '[[:alpha:]]') and has escapes that
 * ECMAScript does not have. The translation matches exactly the texts that the original
 * matches. */
#ifndef JSON_ECMA_PATTERN_H
#define JSON_ECMA_PATTERN_H

#include "base/buf.h"

/* Appends the translation. Returns false if there is none: look-around, back-references, names
 * of scripts, escapes that implementations read in different ways. Syntax errors may remain;
 * regex_new() finds them. */
bool json_ecma_pattern(struct str pattern, struct buf *to) MUST_CHECK;

#endif
