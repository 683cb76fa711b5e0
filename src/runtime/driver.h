/* runtime/driver.h - runs an engine on the loop: feeds it events, executes its timers and
 * reports, and hands all other actions to the owner.
 *
 * Knows no transport: the owner receives and sends messages. It calls driver_dispatch() for
 * every event. */
#ifndef RUNTIME_DRIVER_H
#define RUNTIME_DRIVER_H

#include <stdint.h>

#include "engine/engine.h"
#include "loop/loop.h"
#include "runtime/app.h"
#include "trace/parse-messages.h"

/* The engine's timers. */

/* The timer with the number `number` has expired. */
typedef void driver_timers_fn(void *to, uint64_t number);

struct driver_timers {
    struct loop *loop; /* borrowed */
    driver_timers_fn *expired;
    void *to;
    struct driver_timer *first;
};

void driver_timers_init(struct driver_timers *a, struct loop *l, driver_timers_fn *fn,
                        void *to);
void driver_timers_set(struct driver_timers *a, uint64_t number,
                       int64_t delay_us);            /* never early */
void driver_timers_release(struct driver_timers *a); /* cancels all timers */

typedef void driver_step_fn(void *engine, const struct event *ev);

/* Receives the engine's actions, except ACTION_REPORT and ACTION_SET_TIMER. */
typedef void driver_action_fn(void *to, const struct action *a);

struct driver {
    struct action_sink actions; /* the sink for the engine's actions */
    const struct app *app;
    driver_step_fn *step;
    void *engine; /* borrowed */
    driver_action_fn *on_action;
    void *to;
    struct driver_timers timers;
    bool stepping;          /* set while the engine handles an event */
    struct event *deferred; /* events that came meanwhile, in order */
    size_t deferred_count, deferred_cap;
    int exit_code; /* of ACTION_FINISH; 0 until then */
};

void driver_init(struct driver *d, const struct app *app, struct loop *l, driver_step_fn *step,
                 void *engine, driver_action_fn *act, void *to);
void driver_release(struct driver *d);

/* Lets the engine handle `ev`, and sets its time. If the engine is handling another event (an
 * action can reveal that a connection has closed), `ev` is deferred until that is done, and the
 * data it points to must last as long. Events that borrow a record or text must not come at
 * such a time. */
void driver_dispatch(struct driver *d, struct event ev);

/* Parses the lines of a stdio peer and dispatches them to the engine as records. */
struct driver_lines {
    struct sink records;
    struct driver *driver; /* borrowed */
    enum event_kind kind;
    enum record_dir dir;
    struct message_parser parser;
};

/* Every record becomes an event of the kind `kind`. */
void driver_lines_init(struct driver_lines *h, struct driver *driver, enum event_kind kind,
                       enum record_dir dir);
void driver_lines_release(struct driver_lines *h);

void driver_lines_add(struct driver_lines *h, struct str line);

/* Logs a line over the size limit. One of a client is dispatched as a non-message: the client
 * may wait for a response. */
void driver_lines_add_too_long(const struct driver_lines *h, uint64_t bytes);

#endif
