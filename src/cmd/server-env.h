/* cmd/server-env.h - what a server that we start has in its environment besides ours.
 *
 * No value is ever in an error; `secrets` has those that look like one, by their name or by
 * themselves, for whoever writes something down. */
#ifndef CMD_SERVER_ENV_H
#define CMD_SERVER_ENV_H

#include "base/arena.h"
#include "cmd/app.h"
#include "cmd/option.h"
#include "wire/fields.h"

struct server_env {
    char **all;            /* NULL-terminated; NULL: just ours */
    char **plain;          /* NULL-terminated: those that are not in `secrets`, as given */
    struct fields secrets; /* names and values */
    struct arena arena;
};

/* NAME=VALUE each; the last of a name counts. ERR_USAGE if there is no name or no '='. Borrows
 * from the options and the environment. To be released in any case. */
bool server_env_read(struct server_env *s, const struct app *app,
                     const struct option_list *pairs, struct err *e) MUST_CHECK;
void server_env_release(struct server_env *s);

#endif
