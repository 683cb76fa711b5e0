/* redact/placeholder-names.h - collects the names of variables in the placeholders of a
 * recording.
 *
 * A sink that passes all records on. A placeholder [REDACTED:NAME] in a message says that the
 * variable NAME holds a secret, which the redactor must know before a server or a client that
 * has it is spoken to. Rules (rule-1), sessions (session-1) and other texts that no variable is
 * named like are left out, and so is what follows the first PLACEHOLDER_NAMES_MAX names. */
#ifndef REDACT_PLACEHOLDER_NAMES_H
#define REDACT_PLACEHOLDER_NAMES_H

#include "base/map.h"
#include "trace/record.h"

enum { PLACEHOLDER_NAMES_MAX = 1000 };

struct placeholder_names {
    struct sink sink;
    struct sink *next; /* borrowed */
    struct map names;  /* the keys */
};

void placeholder_names_init(struct placeholder_names *p, struct sink *next);
void placeholder_names_release(struct placeholder_names *p);

/* Returns whether a placeholder has the name. */
bool placeholder_names_has(const struct placeholder_names *p, struct str name);

#endif
