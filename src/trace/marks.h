/* trace/marks.h - what is written in place of a secret.
 *
 * [REDACTED:NAME] for the value of a variable or one that was learnt, [REDACTED:rule-N] for
 * anything else, N being given to rules as they first appear; [REDACTED] where a format knows
 * no other and where there is no saying what it was. So the same secret has the same mark
 * everywhere in a recording, and a mark says nothing about it. */
#ifndef TRACE_MARKS_H
#define TRACE_MARKS_H

#include "base/buf.h"
#include "trace/secrets.h"

struct marks {
    const struct secrets *secrets; /* borrowed */
    const struct learnt *learnt;   /* borrowed; NULL: nothing is */
    uint32_t *numbers;             /* by rule; 0: did not appear yet */
    uint32_t last;
    bool plain;  /* only [REDACTED] */
    bool frozen; /* rules get no numbers: what is written is not part of the recording */
};

enum { MARKS_ANY = -1 }; /* no rule in particular */

void marks_init(struct marks *m, const struct secrets *s);
void marks_release(struct marks *m);

/* Numbers up to this one stand for others already. */
void marks_skip(struct marks *m, uint32_t number);

/* Whether a text is a mark and nothing else. */
bool marks_is(struct str text);

/* Appends the mark of a rule: ASCII that needs no escapes in JSON. */
void marks_add(struct marks *m, struct buf *to, int64_t rule);

#endif
