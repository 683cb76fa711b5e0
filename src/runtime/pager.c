#include "runtime/pager.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Finds a variable that may be empty; NULL: it is not set. */
static const char *find_variable(char *const *env, struct str name)
{
    for (; *env; env++) {
        struct str row = str_z(*env);

        if (str_starts(row, name) && row.len > name.len && row.at[name.len] == '=')
            return *env + name.len + 1;
    }
    return NULL;
}

const char *pager_command(char *const *env)
{
    const char *command = find_variable(env, STR("MCPREEL_PAGER"));

    if (!command)
        command = app_env_get(env, "PAGER");
    if (!command)
        command = "less";
    return str_eq(str_z(command), STR("")) || str_eq(str_z(command), STR("cat")) ? NULL
                                                                                 : command;
}

/* The environment of the program, with LESS=FRX unless LESS is set. Borrows the texts. */
static char **pager_env(char *const *env)
{
    size_t count = 0;
    char **all;

    while (env[count])
        count++;
    all = mem_alloc((count + 2) * sizeof *all);
    memcpy(all, env, count * sizeof *all);
    if (!find_variable(env, STR("LESS")))
        all[count] = "LESS=FRX";
    return all;
}

void pager_begin(struct pager *p, const struct app *app, bool wanted)
{
    const char *command = pager_command(app->env);
    char *argv[] = { "sh", "-c", (char *)command, NULL };
    struct err e = ERR_NONE;
    char **env;

    *p = (struct pager){ .app = app };
    if (!wanted || !app->stdout_is_tty || app->json || !command)
        return;
    env = pager_env(app->env);
    p->running = program_start(&p->program, argv, env, PROGRAM_STDIN, &e);
    if (!p->running)
        log_printf(app->log, LOG_DEBUG, "no pager: %s", e.msg);
    free(env);
}

bool pager_write(struct pager *p, struct str text, struct err *e)
{
    if (p->gone)
        return true;
    if (p->running)
        return program_write(&p->program, text, &p->gone, e);
    return app_write_pipe(p->app, text, &p->gone, e);
}

void pager_end(struct pager *p)
{
    if (p->running)
        (void)program_wait(&p->program); /* how the user left it does not matter */
    p->running = false;
}
