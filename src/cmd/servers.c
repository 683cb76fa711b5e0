#include "cmd/servers.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/timer.h"
#include "trace/intake.h"
#include "trace/limits.h"
#include "transport/stdio-child.h"

enum { WHY_MAX = 4096 };

struct servers_one {
    struct sink records;
    struct servers_one *next; /* among the dead */
    struct servers *all;
    uint64_t number;
    struct stdio_child *child;
    struct intake intake;
    bool let_go;    /* nobody needs it any longer */
    bool closed;    /* it says nothing more, though somebody does */
    bool helped;    /* to its end, by us */
    struct buf why; /* it ended */
};

static void bury(void *to)
{
    struct servers *s = to;

    while (s->dead) {
        struct servers_one *one = s->dead;

        s->dead = one->next;
        stdio_child_close(one->child);
        intake_release(&one->intake);
        buf_release(&one->why);
        free(one);
    }
}

void servers_init(struct servers *s, struct loop *l, struct drive *drive, char *const *argv,
                  const struct servers_watch *watch, void *to)
{
    *s = (struct servers){ .drive = drive,
                           .loop = l,
                           .argv = argv,
                           .watch = watch,
                           .to = to,
                           .queue_max = LIMIT_LINE };
    map_init(&s->by_number);
    s->burial = timer_new(l, bury, s);
}

void servers_release(struct servers *s)
{
    for (struct map_entry *e = NULL; (e = map_next(&s->by_number, e));) {
        struct servers_one *one = e->value;

        one->next = s->dead;
        s->dead = one;
    }
    map_release(&s->by_number);
    bury(s);
    timer_close(s->burial);
}

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    struct servers_one *one = (struct servers_one *)self;
    struct servers *s = one->all;

    (void)e;
    if (r->kind == RECORD_RAW)
        s->watch->noise(s->to, one->number, r->bytes.bytes, r->bytes.why);
    else
        drive_tell(s->drive, (struct event){
                                 .kind = EVENT_UPSTREAM, .server = one->number, .record = r });
    return true;
}

static void on_line(void *to, struct str line)
{
    struct servers_one *one = to;
    struct err e = ERR_NONE;

    if (!intake_line(&one->intake, TO_CLIENT, line, &one->records, &e))
        BUG("an engine takes every record");
}

/* The recording has its signal, which would look like somebody else's. */
static void note_help(struct servers_one *one, const char *why)
{
    one->helped = true;
    buf_printf(&one->why, "'%s' %s; mcpreel ended it", one->all->argv[0], why);
}

static void stop(struct servers_one *one, const char *why)
{
    if (one->helped)
        return;
    note_help(one, why);
    stdio_child_stop(one->child);
}

static void on_too_long(void *to, uint64_t bytes)
{
    (void)bytes;
    stop(to, "sent a line that is too long to be kept");
}

static void on_stderr(void *to, struct str text)
{
    struct servers_one *one = to;

    one->all->watch->stderr_text(one->all->to, one->number, text);
}

/* Who says nothing more is waited for. */
static void on_closed(void *to)
{
    struct servers_one *one = to;

    one->closed = !one->let_go;
    stdio_child_end(one->child);
}

static void on_hurried(void *to)
{
    struct servers_one *one = to;

    if (!one->helped)
        note_help(one, one->closed ? "closed its output and lived on"
                                   : "lived on after the end of its input");
}

static void check_gone(struct servers *s)
{
    if (s->finishing && !s->by_number.count)
        s->watch->all_gone(s->to);
}

static void on_done(void *to, int code, int signum)
{
    struct servers_one *one = to;
    struct servers *s = one->all;

    s->watch->exited(s->to, one->number, code, signum, buf_str(&one->why));
    if (!one->helped && signum)
        buf_printf(&one->why, "'%s' was ended by signal %d", s->argv[0], signum);
    else if (!one->helped)
        buf_printf(&one->why, "'%s' ended with exit code %d", s->argv[0], code);
    map_remove(&s->by_number, map_number(&one->number));
    one->next = s->dead;
    s->dead = one;
    timer_set(s->burial, 0);
    drive_tell(s->drive, (struct event){ .kind = EVENT_UPSTREAM_CLOSED,
                                         .server = one->number,
                                         .why = buf_str(&one->why) });
    check_gone(s);
}

static const struct stdio_child_events child_events = {
    .line = on_line,
    .too_long = on_too_long,
    .stderr_text = on_stderr,
    .closed = on_closed,
    .hurried = on_hurried,
    .done = on_done,
};

bool servers_start(struct servers *s, uint64_t number, int *errnum, struct err *e)
{
    struct servers_one *one = mem_new(struct servers_one);

    one->records = (struct sink){ put_record };
    one->all = s;
    one->number = number;
    if (!stdio_child_start(&one->child, s->loop, s->argv, LIMIT_MESSAGE, &child_events, one,
                           errnum, e)) {
        free(one);
        return false;
    }
    intake_init(&one->intake);
    buf_init(&one->why, WHY_MAX);
    map_put(&s->by_number, map_number(&number), one);
    s->watch->started(s->to, number);
    return true;
}

void servers_send(struct servers *s, uint64_t number, struct str message)
{
    struct servers_one *one = map_get(&s->by_number, map_number(&number));

    if (!one)
        return; /* it has gone, which the engine is about to hear */
    stdio_child_send(one->child, message);
    if (stdio_child_queued(one->child) > s->queue_max + message.len)
        stop(one, "does not read what it is sent");
}

void servers_end(struct servers *s, uint64_t number)
{
    struct servers_one *one = map_get(&s->by_number, map_number(&number));

    if (!one)
        return;
    one->let_go = true;
    stdio_child_end(one->child);
}

void servers_finish(struct servers *s)
{
    s->finishing = true;
    check_gone(s);
}
