/* base/regex.h - patterns people write, matched in linear time (RE2).
 *
 * They run over untrusted text in the path of live sessions: nothing here may take
 * longer than the text is long. Back-references and look-around do not exist. */
#ifndef BASE_REGEX_H
#define BASE_REGEX_H

#include "base/err.h"
#include "base/str.h"

struct regex;

enum regex_case { REGEX_EXACT, REGEX_ANY_CASE };

/* ERR_USAGE says what in the pattern is wrong or not supported. */
bool regex_new(struct regex **out, struct str pattern, enum regex_case fold,
               struct err *e) MUST_CHECK;
void regex_free(struct regex *r); /* NULL is fine */

/* Does it match anywhere in the text? */
bool regex_search(const struct regex *r, struct str text);

#endif
