/* trace/secret-flag.h - words of a command that say that something is a secret.
 *
 * `--api-key=K`, `--token K`, `GITHUB_TOKEN=K`, `X-Api-Key: K`, `--header=Cookie: K`,
 * `https://h/?api_key=K`, `{"apiKey":"K"}`: goes by the end of the name, so that
 * --token-limit is none. After --key and --auth just any word may stand: only what looks like
 * a secret is taken for one. */
#ifndef TRACE_SECRET_FLAG_H
#define TRACE_SECRET_FLAG_H

#include "base/unravel.h"

/* The first part of the word, from `from` on, that is a secret by what stands before it in
 * the same word. Never empty. */
bool secret_flag_part(struct str word, size_t from, struct unravel_span *out);

/* The part of a word that is a secret by the word before it: by --token all of it, by --user
 * what follows the colon. False if there is none; `before` may be empty. */
bool secret_flag_next(struct str before, struct str word, struct unravel_span *out);

/* Whether what goes by that name is a secret, or may well be. */
bool secret_flag_names(struct str name);

/* Whether a value looks like a secret: letters and digits, or longer than any word. */
bool secret_flag_looks(struct str value);

/* Whether a word is a password by the -p before it: some programs' is. */
bool secret_flag_password(struct str program, struct str before, struct str word);

#endif
