/* redact/redaction.h - keeps secrets out of everything that a command writes: records, log
 * lines, errors and file names.
 *
 * The caller fills and seals `secrets`, then calls redaction_init(). Records go to the sink of
 * redaction_sink(), log lines to `log` instead of the program's log, and errors through
 * redaction_redact_err() before they are shown. Knows neither options nor formats. */
#ifndef REDACT_REDACTION_H
#define REDACT_REDACTION_H

#include "base/log.h"
#include "redact/redactor.h"

struct redaction {
    struct secret_rules secrets; /* the caller's to fill before redaction_init() */
    struct redactor redactor;
    struct log log;                   /* writes to `unredacted_log`, without secrets */
    const struct log *unredacted_log; /* the program's; borrowed */
};

/* Starts to redact by `secrets`, which are sealed. `r` must not move until it is released. */
void redaction_init(struct redaction *r, const struct log *log);
void redaction_release(struct redaction *r); /* `secrets`, too */

/* Returns the sink that passes records on to `to` without secrets. */
struct sink *redaction_sink(struct redaction *r, struct sink *to);

/* Returns the set to which secrets are added that are found while records are written. */
struct seen_secrets *redaction_seen_secrets(struct redaction *r);

/* Copies a word without its secrets, for file names. */
char *redaction_redact_word(struct redaction *r, const char *word, struct arena *a);

/* Returns whether the path of the server URL holds no secret and may be shown. */
bool redaction_may_show_path(struct redaction *r, struct str path);

/* Redacts message and hint of an error. A text that was truncated loses its end from the first
 * quote on: it may hold half of a secret. */
void redaction_redact_err(struct redaction *r, struct err *e);

#endif
