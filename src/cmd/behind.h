/* cmd/behind.h - the server behind an engine, started when the engine asks for it.
 *
 * What it says on stderr goes to the log. That it could not be started is told like its
 * end: later, never from inside behind_start(). */
#ifndef CMD_BEHIND_H
#define CMD_BEHIND_H

#include "base/buf.h"
#include "cmd/app.h"
#include "loop/loop.h"
#include "trace/intake.h"

struct behind_events {
    void (*record)(void *to, const struct record *r);
    void (*gone)(void *to, struct str why); /* it says nothing more; once */
};

struct behind {
    struct sink records;
    const struct app *app;
    char *const *argv; /* borrowed; NULL: there is none */
    const struct behind_events *events;
    void *to;
    struct loop *loop;
    struct stdio_child *child;
    struct timer *soon; /* to tell that there is none */
    struct intake intake;
    struct buf why, last_words;
    void (*finished)(void *to);
    bool told, ended;
};

void behind_init(struct behind *b, const struct app *app, char *const *argv,
                 const struct behind_events *events, void *to);
void behind_release(struct behind *b);

void behind_start(struct behind *b, struct loop *l);
void behind_send(struct behind *b, struct str message); /* lost if there is none */

/* Ends it and calls `done` once it has ended, at once if it has or never ran. */
void behind_finish(struct behind *b, void (*done)(void *to));

#endif
