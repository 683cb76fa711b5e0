#include "cmd/as-client.h"

#include "base/clock.h"
#include "loop/timer.h"

static void act(void *to, const struct action *a)
{
    struct as_client *c = to;

    if (a->kind == ACTION_SEND)
        server_send(&c->server, a->text);
    else if (a->kind == ACTION_FINISH)
        server_end(&c->server);
    else
        BUG("a client has no server behind it");
}

static void on_closed(void *to)
{
    struct as_client *c = to;

    drive_tell(&c->drive, (struct event){ .kind = EVENT_CLOSED });
}

static void on_gone(void *to, struct str why)
{
    struct as_client *c = to;

    (void)why; /* which is for those who did not expect it */
    loop_stop(c->loop);
}

static const struct server_events server_events = { .closed = on_closed, .gone = on_gone };

static void on_late(void *to)
{
    struct as_client *c = to;

    c->late = true;
    server_stop(&c->server);
}

void as_client_init(struct as_client *c, const struct app *app, drive_step_fn *step,
                    void *engine)
{
    *c = (struct as_client){ .loop = loop_new() };
    drive_init(&c->drive, app, c->loop, step, engine, act, c);
    server_init(&c->server, &c->drive, EVENT_RECORD, LOG_DEBUG, &server_events, c);
}

void as_client_release(struct as_client *c)
{
    server_release(&c->server);
    drive_release(&c->drive);
    loop_free(c->loop);
}

bool as_client_run(struct as_client *c, char *const *argv, uint64_t limit_ms, struct err *e)
{
    struct timer *limit;

    if (!server_start(&c->server, c->loop, argv, e))
        return false;
    limit = timer_new(c->loop, on_late, c);
    timer_set(limit, limit_ms);
    drive_tell(&c->drive, (struct event){ .kind = EVENT_OPENED });
    loop_run(c->loop);
    timer_close(limit);
    if (c->late) {
        char text[CLOCK_TEXT];
        struct str how_long = clock_duration(text, (int64_t)limit_ms * 1000);

        return err_set(e, ERR_PEER, "the session with '%s' was not over after %.*s", argv[0],
                       STR_ARG(how_long));
    }
    return true;
}
