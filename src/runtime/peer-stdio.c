#include "runtime/peer-stdio.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/timer.h"
#include "trace/limits.h"
#include "trace/parse-messages.h"
#include "transport/stdio-server.h"

enum { WORDS_MAX = 4096, WHY_MAX = 3 * WORDS_MAX };

void peer_stdio_init(struct peer_stdio *s, struct driver *driver, enum event_kind kind,
                     enum log_level level, const struct peer_stdio_events *events, void *to)
{
    *s = (struct peer_stdio){ .stderr_level = level, .events = events, .to = to };
    driver_lines_init(&s->lines, driver, kind, TO_CLIENT);
    buf_init(&s->exit_reason, WHY_MAX);
    buf_init(&s->last_stderr, WORDS_MAX);
}

void peer_stdio_release(struct peer_stdio *s)
{
    stdio_server_close(s->child);
    driver_lines_release(&s->lines);
    buf_release(&s->exit_reason);
    buf_release(&s->last_stderr);
}

static void on_line(void *to, struct str line)
{
    struct peer_stdio *s = to;

    driver_lines_add(&s->lines, line);
}

static void on_too_long(void *to, uint64_t bytes)
{
    struct peer_stdio *s = to;

    driver_lines_add_too_long(&s->lines, bytes);
}

static void on_stderr(void *to, struct str text)
{
    struct peer_stdio *s = to;

    while (text.len) {
        struct str line = str_trim(str_cut(&text, '\n'));

        if (!line.len)
            continue;
        log_printf(s->lines.driver->app->log, s->stderr_level, "server: %.*s", STR_ARG(line));
        buf_clear(&s->last_stderr);
        buf_add(&s->last_stderr, line.len > WORDS_MAX ? str_n(line.at, WORDS_MAX) : line);
    }
}

static void on_closed(void *to)
{
    struct peer_stdio *s = to;

    if (s->events->closed)
        s->events->closed(s->to);
    stdio_server_end(s->child); /* wait for its exit */
}

static void on_done(void *to, int code, int signum)
{
    struct peer_stdio *s = to;

    s->exited = true;
    s->exit_code = code;
    s->signum = signum;
    if (signum)
        buf_printf(&s->exit_reason, "'%s' was ended by signal %d", s->name, signum);
    else
        buf_printf(&s->exit_reason, "'%s' ended with exit code %d", s->name, code);
    if (s->last_stderr.len)
        buf_printf(&s->exit_reason, ": %s", buf_z(&s->last_stderr));
    s->events->exited(s->to, buf_str(&s->exit_reason));
}

static const struct stdio_server_events child_events = {
    .line = on_line,
    .too_long = on_too_long,
    .stderr_text = on_stderr,
    .output_closed = on_closed,
    .done = on_done,
};

bool peer_stdio_start(struct peer_stdio *s, struct loop *l, char *const *argv, struct err *e)
{
    int errnum;

    BUG_IF(s->child);
    s->name = argv[0];
    return stdio_server_start(&s->child, l, argv, LIMIT_MESSAGE, &child_events, s, &errnum, e);
}

static bool is_running(const struct peer_stdio *s)
{
    return s->child && !s->exited;
}

void peer_stdio_send(struct peer_stdio *s, struct str message)
{
    if (is_running(s))
        stdio_server_send(s->child, message);
}

bool peer_stdio_end(struct peer_stdio *s)
{
    if (!is_running(s))
        return false;
    stdio_server_end(s->child);
    return true;
}

void peer_stdio_stop(struct peer_stdio *s)
{
    BUG_IF(!is_running(s));
    stdio_server_stop(s->child);
}

enum { CHILD_REASON_MAX = 4096 };

struct peer_stdio_child {
    struct sink records;
    struct peer_stdio_child *next; /* in `exited` */
    struct peer_stdio_pool *pool;
    uint64_t number;
    struct stdio_server *child;
    struct message_parser parser;
    bool end_requested;     /* set by peer_stdio_pool_end() */
    bool stdout_closed;     /* it closed stdout without being asked to end */
    bool killed_by_us;      /* mcpreel terminated it */
    struct buf exit_reason; /* why it exited */
};

static void free_exited(void *to)
{
    struct peer_stdio_pool *s = to;

    while (s->exited) {
        struct peer_stdio_child *one = s->exited;

        s->exited = one->next;
        stdio_server_close(one->child);
        message_parser_release(&one->parser);
        buf_release(&one->exit_reason);
        free(one);
    }
}

void peer_stdio_pool_init(struct peer_stdio_pool *s, struct loop *l, struct driver *driver,
                          char *const *argv, const struct peer_stdio_observer *observer,
                          void *to)
{
    *s = (struct peer_stdio_pool){ .driver = driver,
                                   .loop = l,
                                   .argv = argv,
                                   .observer = observer,
                                   .to = to,
                                   .queue_max = LIMIT_LINE };
    map_init(&s->by_number);
    s->free_timer = timer_new(l, free_exited, s);
}

void peer_stdio_pool_release(struct peer_stdio_pool *s)
{
    for (struct map_entry *e = NULL; (e = map_next(&s->by_number, e));) {
        struct peer_stdio_child *one = e->value;

        one->next = s->exited;
        s->exited = one;
    }
    map_release(&s->by_number);
    free_exited(s);
    timer_close(s->free_timer);
}

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    struct peer_stdio_child *one = (struct peer_stdio_child *)self;
    struct peer_stdio_pool *s = one->pool;

    (void)e;
    if (r->kind == RECORD_RAW)
        s->observer->non_message(s->to, one->number, r->bytes.bytes, r->bytes.why);
    else
        driver_dispatch(s->driver, (struct event){ .kind = EVENT_UPSTREAM_RECORD,
                                                   .server = one->number,
                                                   .record = r });
    return true;
}

static void on_child_line(void *to, struct str line)
{
    struct peer_stdio_child *one = to;
    struct err e = ERR_NONE;

    if (!message_parser_line(&one->parser, TO_CLIENT, line, &one->records, &e))
        BUG("an engine takes every record");
}

/* Notes why mcpreel terminates a server, so that its signal is not taken for another's. */
static void note_kill(struct peer_stdio_child *one, const char *why)
{
    one->killed_by_us = true;
    buf_printf(&one->exit_reason, "'%s' %s; mcpreel ended it", one->pool->argv[0], why);
}

static void stop_child(struct peer_stdio_child *one, const char *why)
{
    if (one->killed_by_us)
        return;
    note_kill(one, why);
    stdio_server_stop(one->child);
}

static void on_child_too_long(void *to, uint64_t bytes)
{
    (void)bytes;
    stop_child(to, "sent a line that is too long");
}

static void on_child_stderr(void *to, struct str text)
{
    struct peer_stdio_child *one = to;

    one->pool->observer->stderr_text(one->pool->to, one->number, text);
}

/* Closes its stdin, and waits for its exit. */
static void on_child_closed(void *to)
{
    struct peer_stdio_child *one = to;

    one->stdout_closed = !one->end_requested;
    stdio_server_end(one->child);
}

static void on_child_hurried(void *to)
{
    struct peer_stdio_child *one = to;

    if (!one->killed_by_us)
        note_kill(one, one->stdout_closed ? "closed stdout but did not exit"
                                          : "did not exit after its stdin was closed");
}

static void check_all_exited(struct peer_stdio_pool *s)
{
    if (s->finishing && !s->by_number.count)
        s->observer->all_exited(s->to);
}

static void on_child_done(void *to, int code, int signum)
{
    struct peer_stdio_child *one = to;
    struct peer_stdio_pool *s = one->pool;

    s->observer->exited(s->to, one->number, code, signum, buf_str(&one->exit_reason));
    if (!one->killed_by_us && signum)
        buf_printf(&one->exit_reason, "'%s' was ended by signal %d", s->argv[0], signum);
    else if (!one->killed_by_us)
        buf_printf(&one->exit_reason, "'%s' ended with exit code %d", s->argv[0], code);
    map_remove(&s->by_number, map_number_key(&one->number));
    one->next = s->exited;
    s->exited = one;
    timer_set(s->free_timer, 0);
    driver_dispatch(s->driver, (struct event){ .kind = EVENT_UPSTREAM_CLOSED,
                                               .server = one->number,
                                               .why = buf_str(&one->exit_reason) });
    check_all_exited(s);
}

static const struct stdio_server_events pool_events = {
    .line = on_child_line,
    .too_long = on_child_too_long,
    .stderr_text = on_child_stderr,
    .output_closed = on_child_closed,
    .sigterm_sent = on_child_hurried,
    .done = on_child_done,
};

bool peer_stdio_pool_start(struct peer_stdio_pool *s, uint64_t number, int *errnum,
                           struct err *e)
{
    struct peer_stdio_child *one = mem_new(struct peer_stdio_child);

    one->records = (struct sink){ put_record };
    one->pool = s;
    one->number = number;
    if (!stdio_server_start(&one->child, s->loop, s->argv, LIMIT_MESSAGE, &pool_events, one,
                            errnum, e)) {
        free(one);
        return false;
    }
    message_parser_init(&one->parser);
    buf_init(&one->exit_reason, CHILD_REASON_MAX);
    map_put(&s->by_number, map_number_key(&number), one);
    s->observer->started(s->to, number);
    return true;
}

void peer_stdio_pool_send(struct peer_stdio_pool *s, uint64_t number, struct str message)
{
    struct peer_stdio_child *one = map_get(&s->by_number, map_number_key(&number));

    if (!one)
        return; /* the engine will get EVENT_UPSTREAM_CLOSED */
    stdio_server_send(one->child, message);
    if (stdio_server_queued(one->child) > s->queue_max + message.len)
        stop_child(one, "does not read its stdin");
}

void peer_stdio_pool_end(struct peer_stdio_pool *s, uint64_t number)
{
    struct peer_stdio_child *one = map_get(&s->by_number, map_number_key(&number));

    if (!one)
        return;
    one->end_requested = true;
    stdio_server_end(one->child);
}

void peer_stdio_pool_finish(struct peer_stdio_pool *s)
{
    s->finishing = true;
    check_all_exited(s);
}
