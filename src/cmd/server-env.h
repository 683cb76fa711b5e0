/* cmd/server-env.h - the environment of a server that we start: ours and --target-env.
 *
 * Errors never contain a value. `secrets` has the values that look secret, by their name or by
 * themselves, for the redactor. */
#ifndef CMD_SERVER_ENV_H
#define CMD_SERVER_ENV_H

#include "base/arena.h"
#include "cmd/option.h"
#include "runtime/app.h"
#include "wire/headers.h"

struct server_env {
    char **env;             /* NULL-terminated; NULL: ours only */
    char **non_secret;      /* NULL-terminated: the pairs that are not in `secrets` */
    struct headers secrets; /* names and values */
    struct arena arena;
};

/* Parses NAME=VALUE pairs; the last of a name wins. ERR_USAGE if there is no name or no '='.
 * Borrows from the options and the environment. The caller releases `s` in any case. */
bool server_env_read(struct server_env *s, const struct app *app, const struct str_list *pairs,
                     struct err *e) MUST_CHECK;
void server_env_release(struct server_env *s);

/* Returns the words of a server's command, or its URL, and of its environment, in which secrets
 * may stand; NULL-terminated, in the arena. `argv` is NULL for a server at `url`. */
char *const *server_env_words(const struct server_env *s, char *const *argv, const char *url,
                              struct arena *a);

#endif
