/* runtime/pager.h - shows long text through a pager if standard output is a terminal, as git
 * does.
 *
 * The pager is $MCPREEL_PAGER, else $PAGER, else "less"; "cat" and an empty MCPREEL_PAGER mean
 * none. It is run by a shell, with LESS=FRX unless LESS is set. If it cannot be started, text
 * goes to standard output. */
#ifndef RUNTIME_PAGER_H
#define RUNTIME_PAGER_H

#include "base/arena.h"
#include "loop/program.h"
#include "runtime/app.h"

struct pager {
    const struct app *app; /* borrowed */
    struct program program;
    bool running;
    bool gone; /* the reader has seen enough: the rest is dropped */
};

/* Starts the pager if `wanted`, standard output is a terminal and the output is no JSON. */
void pager_begin(struct pager *p, const struct app *app, bool wanted);

/* Writes to the pager or to standard output. A reader that has gone is no error. */
bool pager_write(struct pager *p, struct str text, struct err *e) MUST_CHECK;

/* Waits until the user has left the pager. */
void pager_end(struct pager *p);

/* Returns the command of the pager for an environment; NULL: none. */
const char *pager_command(char *const *env);

#endif
