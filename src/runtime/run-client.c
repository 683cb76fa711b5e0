#include "runtime/run-client.h"

#include "base/clock.h"
#include "loop/timer.h"

static void act(void *to, const struct action *a)
{
    struct run_client *c = to;

    if (a->kind == ACTION_SEND)
        peer_stdio_send(&c->peer, a->text);
    else if (a->kind == ACTION_FINISH)
        peer_stdio_end(&c->peer);
    else
        BUG("a client has no server behind it");
}

static void on_closed(void *to)
{
    struct run_client *c = to;

    driver_dispatch(&c->driver, (struct event){ .kind = EVENT_INPUT_CLOSED });
}

static void on_exited(void *to, struct str why)
{
    struct run_client *c = to;

    (void)why; /* the exit code says enough */
    loop_stop(c->loop);
}

static const struct peer_stdio_events server_events = { .closed = on_closed,
                                                        .exited = on_exited };

static void on_timeout(void *to)
{
    struct run_client *c = to;

    c->timed_out = true;
    peer_stdio_stop(&c->peer);
}

void run_client_init(struct run_client *c, const struct app *app, driver_step_fn *step,
                     void *engine)
{
    *c = (struct run_client){ .loop = loop_new() };
    driver_init(&c->driver, app, c->loop, step, engine, act, c);
    peer_stdio_init(&c->peer, &c->driver, EVENT_RECORD, LOG_DEBUG, &server_events, c);
}

void run_client_release(struct run_client *c)
{
    peer_stdio_release(&c->peer);
    driver_release(&c->driver);
    loop_free(c->loop);
}

bool run_client_run(struct run_client *c, char *const *argv, uint64_t limit_ms, struct err *e)
{
    struct timer *limit;

    if (!peer_stdio_start(&c->peer, c->loop, argv, e))
        return false;
    limit = timer_new(c->loop, on_timeout, c);
    timer_set(limit, limit_ms);
    driver_dispatch(&c->driver, (struct event){ .kind = EVENT_OPENED });
    loop_run(c->loop);
    timer_close(limit);
    if (c->timed_out) {
        char text[CLOCK_TEXT_SIZE];
        struct str how_long = clock_format_duration(text, (int64_t)limit_ms * 1000);

        return err_set(e, ERR_PEER, "the session with '%s' did not end within %.*s", argv[0],
                       STR_ARG(how_long));
    }
    return true;
}
