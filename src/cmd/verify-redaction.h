/* cmd/verify-redaction.h - keeps secrets out of the output of verify, run --verify, lock and
 * diff, and out of updated recordings.
 *
 * Secret are the values of the redaction options, credentials of the server (its headers, words
 * of its command, --target-env), and the variables that placeholders of the recording name:
 * their values are sent in place of the placeholders, and a server may repeat them. A value
 * that the redactor cannot find, because it is too short, is not sent.
 *
 *     verify_redaction_init(), put the records into `names.sink`, verify_redaction_start()
 *
 * Then everything that is shown or written passes through it: verdicts and findings, log lines
 * (`app`), errors, accepted responses (`redaction`). Must not move between start and release.
 */
#ifndef CMD_VERIFY_REDACTION_H
#define CMD_VERIFY_REDACTION_H

#include "cmd/redact-options.h"
#include "cmd/server-env.h"
#include "redact/placeholder-names.h"
#include "redact/redact-verdict.h"
#include "runtime/remote-config.h"

/* Everything known before the recording is read. Borrowed. */
struct verify_redaction_config {
    const struct app *app;
    const struct redaction_args *args;
    bool wants_defaults;                /* as redact_options_wants_defaults() */
    char *const *argv;                  /* of the server; NULL: it is at a URL, or none */
    const struct remote_config *remote; /* NULL: none */
    const struct server_env *env;
    bool like_mcp_recorder; /* only explicit rules and refilled values */
};

struct verify_redaction {
    const struct verify_redaction_config *config;
    struct placeholder_names names; /* put the records into its sink */
    bool started;                   /* everything below is valid */
    struct redaction redaction;
    struct redact_verdict verdicts;
    struct str target;       /* command line or URL of the server, for reports */
    struct str shown_target; /* the same for mcp-recorder's lines: with the whole URL */
    struct app app;          /* logs without secrets */
    struct arena arena;
};

/* `next` gets the records. */
void verify_redaction_init(struct verify_redaction *r,
                           const struct verify_redaction_config *config, struct sink *next);
void verify_redaction_release(struct verify_redaction *r);

/* Starts when all records were read; `format` is that of the recording. ERR_USAGE for a wrong
 * option. */
bool verify_redaction_start(struct verify_redaction *r, const struct format *format,
                            struct err *e) MUST_CHECK;

/* Returns the text without secrets, in the arena of `r`. */
struct str verify_redaction_text(struct verify_redaction *r, struct str text);

/* Returns the command line or URL of the server for people. */
struct str verify_redaction_target(const struct verify_redaction *r);

/* A live_request_secret_fn: finds the value of a variable that a placeholder names. */
bool verify_redaction_find_secret(void *verify_redaction, struct str name, struct str *value,
                                  struct str *why);

/* Redacts an error, if it has been started. */
void verify_redaction_redact_err(struct verify_redaction *r, struct err *e);

#endif
