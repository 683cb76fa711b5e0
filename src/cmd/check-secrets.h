/* cmd/check-secrets.h - check --secrets: is there anything in files that must not be? */
#ifndef CMD_CHECK_SECRETS_H
#define CMD_CHECK_SECRETS_H

#include "cmd/redaction.h"

/* Looks through every file; the exit code of `check`. */
int check_secrets(const struct app *app, const struct redaction_args *args,
                  const struct operands *in, struct err *e);

#endif
