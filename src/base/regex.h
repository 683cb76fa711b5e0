/* base/regex.h - matches regular expressions of users in linear time (RE2).
 *
 * They run over untrusted text while a session waits, so no match may take longer than linear
 * time. Back-references and look-around are not supported. */
#ifndef BASE_REGEX_H
#define BASE_REGEX_H

#include "base/err.h"
#include "base/str.h"

struct regex;

enum regex_case { REGEX_EXACT, REGEX_ANY_CASE };

/* Compiles a pattern; ERR_USAGE tells its error. */
bool regex_new(struct regex **out, struct str pattern, enum regex_case fold,
               struct err *e) MUST_CHECK;
void regex_free(struct regex *r); /* NULL is fine */

/* Returns whether it matches anywhere in the text. */
bool regex_search(const struct regex *r, struct str text);

/* A set of patterns that are searched together.
 *
 * Most patterns cannot match without certain literals ("session-" of session-[0-9a-f]{32}): a
 * caller that searches for those first can skip most texts. */
struct regex_set;

struct regex_set *regex_set_new(void);
void regex_set_free(struct regex_set *s); /* NULL is fine */

/* Adds a pattern; ERR_USAGE tells its error without the pattern, which may hold a secret. */
bool regex_set_add(struct regex_set *s, struct str pattern, struct err *e) MUST_CHECK;

/* Ends the set; ERR_USAGE if the patterns are too large together. */
bool regex_set_compile(struct regex_set *s, struct err *e) MUST_CHECK;

enum { REGEX_LITERAL_MIN = 3 };

/* Returns the number of literals: ASCII texts in lower case, at least REGEX_LITERAL_MIN long.
 * If a text contains none of them, in any case, no pattern matches. If a pattern could match
 * without one, there are none and `*any` is set. */
size_t regex_set_literals(const struct regex_set *s, bool *any);
struct str regex_set_literal(const struct regex_set *s, size_t index);

/* Reports every match that is not empty, pattern by pattern from left to right, until `fn`
 * returns false; then returns false. */
typedef bool regex_match_fn(void *to, size_t pattern, size_t at, size_t end);
bool regex_set_search(const struct regex_set *s, struct str text, regex_match_fn *fn, void *to);

#endif
