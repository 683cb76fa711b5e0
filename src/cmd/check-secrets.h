/* cmd/check-secrets.h - check --secrets: find secrets in recordings, and list where they are.
 *
 * The findings are also what `redact` reports. They name the place and the rule, never the
 * secret. */
#ifndef CMD_CHECK_SECRETS_H
#define CMD_CHECK_SECRETS_H

#include "cmd/redact-options.h"
#include "report/report-files.h"
#include "json/write.h"

enum { SECRET_FINDINGS_MAX = 1000 }; /* listed; the others are only counted */

struct secret_finding {
    enum record_kind kind;
    uint64_t record; /* index of the record, from 1 */
    uint64_t seq;    /* of a message; 0: none */
    uint64_t line;   /* of a message, in the file; 0: unknown */
    const char *member;
    struct str pointer;
    struct str rule; /* "GITHUB_TOKEN", "jwt", "pattern 1" */
};

struct secret_findings {
    struct redactor_observer observer; /* pass this to a redactor */
    struct secret_finding *rows;
    size_t row_count, cap;
    uint64_t total;
    struct arena arena;
};

void secret_findings_init(struct secret_findings *l);
void secret_findings_release(struct secret_findings *l);

/* Adds how many values were redacted: "redacted 2 secrets". */
void secret_findings_add_count(struct buf *to, const struct secret_findings *l);

/* Adds an indented line for each finding, and one for those that are only counted. */
void secret_findings_add_text(struct buf *to, const struct secret_findings *l);

/* Adds an array of objects. */
void secret_findings_add_json(struct json_out *o, const struct secret_findings *l);

/* Borrowed. */
struct check_secrets_options {
    const struct redaction_args *redaction;
    const struct str_list *report; /* values of --report */
    bool replace;                  /* reports that exist */
};

/* Searches every file and writes the reports. Returns the exit code of `check`. */
int check_secrets(const struct app *app, const struct check_secrets_options *options,
                  const struct operands *in, struct err *e);

#endif
