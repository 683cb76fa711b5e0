#include "cmd/far-server.h"

#include "trace/limits.h"

#define NEXT "the next request begins another"

static void tell_lost(struct far_server *s, struct str why)
{
    drive_tell(s->hearing.drive, (struct event){ .kind = EVENT_UPSTREAM_LOST, .why = why });
}

/* Before whoever asked is told: what that means can be said to it then. */
static void on_message(void *to, struct str message)
{
    struct far_server *s = to;
    bool ended = s->at.speaker.ended && !s->ended;

    s->ended = s->at.speaker.ended;
    if (ended)
        tell_lost(s, STR("it has ended the session; " NEXT));
    if (s->at.unreached.len && !s->lost) {
        s->lost = true;
        tell_lost(s, s->at.unreached);
    }
    hearing_line(&s->hearing, message);
}

static void on_lost(void *to, struct str why)
{
    struct far_server *s = to;

    if (!s->lost)
        tell_lost(s, why);
    s->lost = false;
}

static void on_done(void *to)
{
    struct far_server *s = to;

    s->gone(s->to);
}

static const struct server_at_events events = { .message = on_message,
                                                .lost = on_lost,
                                                .done = on_done };

/* The engine wishes for something to be sent while it steps, and the answer may be at hand:
 * so nothing is done about it before it has finished. */
static void say_waiting(void *to)
{
    struct far_server *s = to;
    struct buf now = s->waiting;
    struct str rest = buf_str(&now);

    buf_init(&s->waiting, now.max);
    while (rest.len)
        server_at_say(&s->at, str_cut(&rest, '\n'));
    buf_release(&now);
}

void far_server_init(struct far_server *s, struct drive *drive, enum event_kind as,
                     void (*gone)(void *to), void *to)
{
    *s = (struct far_server){ .gone = gone, .to = to };
    hearing_init(&s->hearing, drive, as, TO_CLIENT);
    buf_init(&s->waiting, LIMIT_LINE);
}

void far_server_release(struct far_server *s)
{
    if (s->runs) {
        timer_close(s->soon);
        server_at_release(&s->at);
    }
    buf_release(&s->waiting);
    hearing_release(&s->hearing);
}

bool far_server_start(struct far_server *s, struct loop *l, const struct remote *where,
                      struct err *e)
{
    BUG_IF(s->runs);
    s->app = *s->hearing.drive->app;
    s->log = *s->app.log;
    s->log.level = s->log.level < LOG_DEBUG ? LOG_ERROR : s->log.level;
    s->app.log = &s->log;
    if (!server_at_open(&s->at, &s->app, l, where, &events, s, e))
        return false;
    s->at.speaker.anew = STR(NEXT);
    s->soon = timer_new(l, say_waiting, s);
    s->runs = true;
    return true;
}

void far_server_send(struct far_server *s, struct str message)
{
    if (!s->runs)
        return;
    if (!s->waiting.len)
        timer_set(s->soon, 0);
    buf_add(&s->waiting, message);
    buf_add_ch(&s->waiting, '\n');
}

bool far_server_end(struct far_server *s)
{
    if (!s->runs)
        return false;
    timer_stop(s->soon);
    server_at_leave(&s->at, STR_NONE);
    return true;
}
