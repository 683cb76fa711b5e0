/* redact/secret-rules.h - holds the rules for secrets and searches text with them.
 *
 * Rules are declared values (by the name of their variable), credential formats, names of JSON
 * members, and patterns of the user. Values are found in all encodings (redact/encodings.h) and
 * under up to SECRET_RULES_LAYERS layers of mixed escapes, credentials under as many. Deeper
 * escapes could hide a value: if values are declared, such text is itself a hit.
 *
 * Ownership: everything added is copied. Sealed rules do not change; several searches may share
 * them. */
#ifndef REDACT_SECRET_RULES_H
#define REDACT_SECRET_RULES_H

#include "base/map.h"
#include "base/regex.h"
#include "redact/credentials.h"
#include "redact/multi-search.h"
#include "redact/seen-secrets.h"
#include "redact/unescape.h"

enum { SECRET_RULES_LAYERS = 6 };

/* A number follows: see redact/placeholder.h. */
#define SECRET_RULES_PLACEHOLDER "[REDACTED:rule-"

enum secret_rule_kind {
    SECRET_RULE_VALUE,
    SECRET_RULE_CREDENTIAL,
    SECRET_RULE_DEPTH, /* more layers of escapes than are searched */
    SECRET_RULE_PATTERN,
};

struct secret_rule {
    enum secret_rule_kind kind;
    struct str name; /* of the variable or the credential; of a pattern "pattern 1" */
};

struct secret_rules {
    struct secret_rule *rules;
    size_t count, cap;
    size_t values, patterns; /* number of each */
    size_t max_line_breaks;  /* in any one value */
    uint32_t depth_rule;     /* valid if `values` */
    struct multi_search literals;
    struct regex_set *regexes;
    uint32_t *credentials; /* rule by row; NULL: credentials are not searched */
    size_t credential_rows;
    uint32_t named_rule;  /* for values that are secret by their name; valid if `credentials` */
    struct map members;   /* normalized names added by secret_rules_add_member() */
    uint32_t member_rule; /* their rule; valid if there are any */
    bool match_always;    /* a pattern has no literal, so every text must be matched */
    struct arena arena;
};

void secret_rules_init(struct secret_rules *s);
void secret_rules_release(struct secret_rules *s);

/* Adds a declared value. ERR_USAGE if it is too short, too long or a word of the protocol; the
 * error never contains the value. */
bool secret_rules_add_value(struct secret_rules *s, struct str name, struct str value,
                            struct err *e) MUST_CHECK;

/* Adds a regular expression. */
bool secret_rules_add_pattern(struct secret_rules *s, struct str pattern,
                              struct err *e) MUST_CHECK;

/* Adds all credential formats and secret names. */
void secret_rules_add_credentials(struct secret_rules *s);

/* Adds the name of a JSON member whose string values are secret. ERR_USAGE if it has neither
 * letters nor digits or is too long; the error does not contain the name. */
bool secret_rules_add_member(struct secret_rules *s, struct str name, struct err *e) MUST_CHECK;

/* Adds a secret word of the command line, which is then searched like a value, if it looks
 * random. Does nothing without credentials. */
void secret_rules_add_argument(struct secret_rules *s, struct str value);

/* Returns whether a value is part of a word of the protocol, such as "jsonrpc" or a method:
 * redacting it would break every message. */
bool secret_rules_is_protocol_word(struct str value);

/* Returns whether a value has letters and digits and is too long for a word. */
bool secret_rules_looks_random(struct str value);

/* Ends the adding of rules. Call it before the first search. */
bool secret_rules_seal(struct secret_rules *s, struct err *e) MUST_CHECK;

struct secret_hit {
    struct unescape_span span;
    uint32_t rule;
    bool drop_whole; /* the whole string around it must be replaced */
    bool is_member;  /* the value of a JSON member: ends with the string in which it starts */
};

/* The state of one search. Rule numbers from `secrets->count` on stand for values of `seen`. */
struct secret_search {
    const struct secret_rules *secrets; /* borrowed */
    const struct seen_secrets *seen;    /* borrowed; may be NULL; may change between searches */
    struct secret_hit *hits;            /* sorted, not overlapping */
    size_t count, cap;
    bool overflow;            /* too many hits: the whole text must be replaced */
    bool may_match_pattern;   /* set by secret_search_find(): call
                                 secret_search_match_patterns() */
    bool pem_unterminated;    /* set by secret_search_find(): a private key has no end here */
    bool has_base64_member;   /* set by secret_search_find(): there is a "blob" or "data" */
    uint32_t max_placeholder; /* highest number of a placeholder in any text so far */
    struct buf layers[SECRET_RULES_LAYERS];
    size_t *skip_until;      /* by credential row: position up to which it does not match */
    bool skip_valid;         /* `skip_until` is set for this layer */
    size_t names_skip_until; /* position of the layer up to which no name is tried */
    struct str text;         /* the layer that is searched */
};

void secret_search_init(struct secret_search *f, const struct secret_rules *s);
void secret_search_release(struct secret_search *f);

/* Searches any text, JSON included, for values and credentials; replaces the hits. Returns true
 * if there is a hit, a pattern may match or there is a member that may hold base64. */
bool secret_search_find(struct secret_search *f, struct str text);

/* Adds the hits of patterns in one plain text. `escaped`: `text` is the inside of a JSON string
 * that has escapes. `offset` is added to all positions. */
void secret_search_match_patterns(struct secret_search *f, struct str text, bool escaped,
                                  size_t offset);

/* Adds a hit that was found in another way. */
void secret_search_add(struct secret_search *f, struct unescape_span span, uint32_t rule);

/* Sorts the hits and merges overlapping ones. Call it after adding hits. */
void secret_search_merge(struct secret_search *f);

/* Returns whether a text has more layers of escapes than are searched, and values are declared.
 * secret_search_find() reports only the first such position. */
bool secret_search_is_too_deep(struct secret_search *f, struct str text);

/* Returns whether a rule stands for a declared or seen value, which must be removed everywhere.
 */
bool secret_search_is_value(const struct secret_search *f, uint32_t rule);

/* Returns whether such a value is among the hits, or may be. */
bool secret_search_has_value(const struct secret_search *f);

#endif
