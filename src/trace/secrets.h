/* trace/secrets.h - what must not be written down, and where it stands in a text.
 *
 * Three kinds of rules: values that were declared, by the names of their variables;
 * credentials that can be told by their looks; patterns of the user's. Declared values are
 * found in all their forms, escaped up to SECRETS_LAYERS times in any mixture; credentials
 * below as many escapes. What is escaped more often than that could hide a value, so with
 * values declared it counts as one itself.
 *
 * Ownership: what is added is copied. The rules do not change once they are sealed, and
 * several searches may use them. */
#ifndef TRACE_SECRETS_H
#define TRACE_SECRETS_H

#include "base/map.h"
#include "base/needles.h"
#include "base/regex.h"
#include "base/unravel.h"
#include "trace/credential.h"
#include "trace/learnt.h"

enum { SECRETS_LAYERS = 6 };

#define SECRETS_MARK "[REDACTED:rule-" /* and a number; see trace/marks.h */

enum secrets_kind {
    SECRETS_VALUE,
    SECRETS_CREDENTIAL,
    SECRETS_DEPTH, /* escaped too often to be looked through */
    SECRETS_PATTERN,
};

struct secrets_rule {
    enum secrets_kind kind;
    struct str name; /* of the variable or the credential; of a pattern "pattern 1" */
};

struct secrets {
    struct secrets_rule *rules;
    size_t count, cap;
    size_t values, patterns;
    size_t breaks;  /* line breaks of the value that has most */
    uint32_t depth; /* the rule for what is too deep; with values */
    struct needles needles;
    struct regex_set *regexes;
    uint32_t *credentials; /* by row: its rule; NULL: they are not looked for */
    size_t credential_rows;
    uint32_t argument;  /* the rule for what is secret by its name; with credentials */
    struct map members; /* names added by secrets_add_member(), as secret_name_of() has them */
    uint32_t member;    /* their rule */
    bool always;        /* there is a pattern that any text may match */
    struct arena arena;
};

void secrets_init(struct secrets *s);
void secrets_release(struct secrets *s);

/* ERR_USAGE if the value is too short, too long or a word of the protocol's. The error never
 * has the value in it. */
bool secrets_add_value(struct secrets *s, struct str name, struct str value,
                       struct err *e) MUST_CHECK;
bool secrets_add_pattern(struct secrets *s, struct str pattern, struct err *e) MUST_CHECK;
void secrets_add_credentials(struct secrets *s);

/* The name of a JSON member whose string values are secret. ERR_USAGE if it has neither letters
 * nor digits or is too long; the error does not have it in it. */
bool secrets_add_member(struct secrets *s, struct str name, struct err *e) MUST_CHECK;

/* A word of a command that is a secret by what stands before it: looked for like a value, if
 * it looks made up. With credentials only. */
void secrets_add_argument(struct secrets *s, struct str value);

/* A word without which no message is one, or part of it: nobody's secret. */
bool secrets_is_of_the_protocol(struct str value);

/* Letters and digits, and enough of them to be nobody's word. */
bool secrets_is_made_up(struct str value);

/* No rule follows. */
bool secrets_seal(struct secrets *s, struct err *e) MUST_CHECK;

struct secrets_hit {
    struct unravel_span span;
    uint32_t rule;
    bool whole;  /* the string it stands in has to go with it */
    bool member; /* the value of a JSON member: ends with the string it starts in */
};

/* Values that were learnt have the numbers behind those of the rules. */
struct secrets_search {
    const struct secrets *secrets; /* borrowed */
    const struct learnt *learnt;   /* borrowed; may be NULL, and may change between searches */
    struct secrets_hit *hits;      /* in order, not overlapping */
    size_t count, cap;
    bool overflow;   /* more than can be told: all of the text is to go */
    bool suspect;    /* secrets_find() saw what a pattern begins with: see secrets_match() */
    bool open;       /* a private key goes on behind the text */
    bool encoded;    /* secrets_find() saw the name of a member that may hold base64 */
    uint32_t marked; /* the highest number in a mark that was seen, in any text */
    struct buf layers[SECRETS_LAYERS];
    size_t *tried;   /* by row of credentials: before this place it stands nowhere */
    bool trying;     /* that holds for this layer */
    size_t named;    /* before this place of the layer no name is looked at */
    struct str text; /* the layer that is being looked at */
};

void secrets_search_init(struct secrets_search *f, const struct secrets *s);
void secrets_search_release(struct secrets_search *f);

/* Looks for values and credentials in any text, JSON included. True if anything was found
 * or might be matched by a pattern. */
bool secrets_find(struct secrets_search *f, struct str text);

/* Adds what patterns match in one plain text; `escaped`: it is what stands between the
 * quotes of a JSON string that has escapes. Places are counted from `offset`. */
void secrets_match(struct secrets_search *f, struct str text, bool escaped, size_t offset);

/* Adds a hit that was found in another way. */
void secrets_add(struct secrets_search *f, struct unravel_span span, uint32_t rule);

/* Brings the hits of several calls into order. */
void secrets_settle(struct secrets_search *f);

/* Whether a text is escaped too often to be looked through, though a value was declared.
 * secrets_find() only tells the first such place of its text. */
bool secrets_too_deep(struct secrets_search *f, struct str text);

/* Whether a hit of this rule must not be left anywhere: of a value that was declared or
 * learnt. */
bool secrets_is_value(const struct secrets_search *f, uint32_t rule);

/* Whether such a value is among the hits, or may be. */
bool secrets_has_value(const struct secrets_search *f);

#endif
