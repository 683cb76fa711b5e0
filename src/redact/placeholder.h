/* redact/placeholder.h - writes the text that replaces a secret.
 *
 * [REDACTED:NAME] replaces a declared value or one seen while recording, [REDACTED:rule-N]
 * anything else: rules are numbered in the order of their first hit. [REDACTED] is used where a
 * format allows no other text and where no single rule applies. So a secret has the same
 * placeholder everywhere in a recording, and the placeholder reveals nothing about it. */
#ifndef REDACT_PLACEHOLDER_H
#define REDACT_PLACEHOLDER_H

#include "base/buf.h"
#include "redact/secret-rules.h"

struct placeholders {
    const struct secret_rules *secrets; /* borrowed */
    const struct seen_secrets *seen;    /* borrowed; NULL: there are none */
    uint32_t *numbers;                  /* by rule; 0: not used yet */
    uint32_t last_number;
    bool no_names; /* set by the owner: writes only [REDACTED] */
    bool frozen;   /* set while text outside the recording is redacted: assigns no numbers */
};

enum { PLACEHOLDER_NO_RULE = -1 };

void placeholder_init(struct placeholders *m, const struct secret_rules *s);
void placeholder_release(struct placeholders *m);

/* Marks the numbers up to this one as used: they occur in the text already. */
void placeholder_reserve(struct placeholders *m, uint32_t number);

/* Returns whether the text can be the name of an environment variable: letters, digits that are
 * not first, and "_". */
bool placeholder_is_variable(struct str name);

/* Returns whether the whole text is one placeholder. */
bool placeholder_matches(struct str text);

/* Appends the placeholder of a rule: ASCII that needs no escapes in JSON. */
void placeholder_write(struct placeholders *m, struct buf *to, int64_t rule);

#endif
