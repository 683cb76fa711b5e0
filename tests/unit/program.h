/* tests/unit/program.h - runs the whole program in a process of its own.
 *
 * For commands that use standard input and output. System calls may be made to
 * fail; the memory checkers of the build watch the process to its end. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "base/buf.h"
#include "base/sys.h"

struct program {
    int code; /* exit code; negative: the signal that ended it */
    struct buf out, err;
};

/* Runs "mcpreel WORDS…" to its end. `words` is NULL-terminated, `in` its standard
 * input. NULL `sys`: the real one. */
void program_run(struct program *p, const struct sys *sys, const char *const *words,
                 struct str in);
void program_release(struct program *p);

#define PROGRAM_WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

#endif
