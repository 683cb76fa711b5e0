/* cmd/drive.h - an engine at work between its peers.
 *
 * Whoever knows the peers tells it what they do, with drive_tell(); what the engine wants
 * of them comes back as actions. Its reports go to the log and its timers to the loop
 * without bothering anybody. Knows no transport: how a message comes in and goes out is
 * the affair of those around it. */
#ifndef CMD_DRIVE_H
#define CMD_DRIVE_H

#include "cmd/alarms.h"
#include "cmd/app.h"
#include "engine/step.h"

typedef void drive_step_fn(void *engine, const struct event *ev);

/* What the engine wants of its peers: any action but ACTION_REPORT and ACTION_SET_TIMER. */
typedef void drive_act_fn(void *to, const struct action *a);

struct drive {
    struct action_sink actions; /* what the engine is to be given as its sink */
    const struct app *app;
    drive_step_fn *step;
    void *engine; /* borrowed */
    drive_act_fn *act;
    void *to;
    struct alarms alarms;
    bool stepping;       /* the engine is at work */
    struct event *later; /* what happened meanwhile, in order */
    size_t later_count, later_cap;
    int exit_code; /* the engine's; 0 unless it finished with another */
};

void drive_init(struct drive *d, const struct app *app, struct loop *l, drive_step_fn *step,
                void *engine, drive_act_fn *act, void *to);
void drive_release(struct drive *d);

/* `ev` happens now; its time is filled in. A peer can be found gone, or go on, while the
 * engine speaks to it: that is told when the engine is done with what it does, and what the
 * event points to has to last as long. Records do not, and come from the loop alone. */
void drive_tell(struct drive *d, struct event ev);

#endif
