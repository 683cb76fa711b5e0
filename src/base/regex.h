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

/* Several patterns that are searched for together.
 *
 * Most patterns cannot match without certain texts ("session-" of session-[0-9a-f]{32}):
 * who looks for those first can leave most haystacks alone. */
struct regex_set;

struct regex_set *regex_set_new(void);
void regex_set_free(struct regex_set *s); /* NULL is fine */

/* ERR_USAGE says what is wrong, without the pattern: it may hold a secret. */
bool regex_set_add(struct regex_set *s, struct str pattern, struct err *e) MUST_CHECK;

/* No pattern follows; ERR_USAGE if they are too much together. */
bool regex_set_seal(struct regex_set *s, struct err *e) MUST_CHECK;

enum { REGEX_LITERAL_SHORTEST = 3 };

/* ASCII texts in lower case, none shorter than that: if not one of them stands in a text,
 * in any case, no pattern matches there. There are none, and `*any` is set, if a pattern
 * could match without such a text. */
size_t regex_set_literals(const struct regex_set *s, bool *any);
struct str regex_set_literal(const struct regex_set *s, size_t index);

/* Every match of every pattern that is not empty, each pattern from left to right, until
 * `fn` says false; then false. */
typedef bool regex_fn(void *to, size_t pattern, size_t at, size_t end);
bool regex_set_search(const struct regex_set *s, struct str text, regex_fn *fn, void *to);

#endif
