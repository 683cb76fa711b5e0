/* trace/secret-flag.h - words of a command that say a secret follows.
 *
 * `--api-key=K`, `--token K`, `GITHUB_TOKEN=K`, `X-Api-Key: K`: goes by the end of the name,
 * so that --token-limit is none. */
#ifndef TRACE_SECRET_FLAG_H
#define TRACE_SECRET_FLAG_H

#include "base/str.h"

/* `*at` is where the secret starts in the word; word.len if it is the next word. */
bool secret_flag(struct str word, size_t *at);

#endif
