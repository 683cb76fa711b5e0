/* redact/secret-args.h - finds secrets in the words of a command line by their names.
 *
 * `--api-key=K`, `--token K`, `GITHUB_TOKEN=K`, `X-Api-Key: K`, `--header=Cookie: K`,
 * `https://h/?api_key=K`, `{"apiKey":"K"}`. The end of the name decides, so --token-limit is
 * not secret. --key and --auth take any kind of word: their value is secret only if it looks
 * so.
 *
 * Pure: holds no state. */
#ifndef REDACT_SECRET_ARGS_H
#define REDACT_SECRET_ARGS_H

#include "redact/unescape.h"

/* Finds the first part of the word, from `from` on, that a name in the same word makes secret.
 * The span is never empty. */
bool secret_args_find_in_word(struct str word, size_t from, struct unescape_span *out);

/* Finds the part of a word that the word before it makes secret: all of it after --token, the
 * part after the colon after --user. `before` may be empty. */
bool secret_args_find_after(struct str before, struct str word, struct unescape_span *out);

/* Returns whether a value of that name is secret, or probably is. */
bool secret_args_is_secret_name(struct str name);

/* Returns whether a value looks like a secret: letters and digits, or longer than a word. */
bool secret_args_looks_secret(struct str value);

/* Returns whether the word is a password because it follows -p and the program takes one so. */
bool secret_args_is_password(struct str program, struct str before, struct str word);

#endif
