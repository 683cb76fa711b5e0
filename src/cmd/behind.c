#include "cmd/behind.h"

#include "loop/timer.h"
#include "trace/limits.h"
#include "transport/stdio-child.h"

enum { WORDS_MAX = 4096 };

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    struct behind *b = (struct behind *)self;

    (void)e;
    b->events->record(b->to, r);
    return true;
}

void behind_init(struct behind *b, const struct app *app, char *const *argv,
                 const struct behind_events *events, void *to)
{
    *b = (struct behind){
        .records = { put_record }, .app = app, .argv = argv, .events = events, .to = to
    };
    intake_init(&b->intake);
    buf_init(&b->why, WORDS_MAX);
    buf_init(&b->last_words, WORDS_MAX);
}

void behind_release(struct behind *b)
{
    timer_close(b->soon);
    stdio_child_close(b->child);
    intake_release(&b->intake);
    buf_release(&b->why);
    buf_release(&b->last_words);
}

static void tell_gone(void *to)
{
    struct behind *b = to;

    if (b->told)
        return;
    b->told = true;
    b->events->gone(b->to, buf_str(&b->why));
}

static void on_line(void *to, struct str line)
{
    struct behind *b = to;
    struct err e = ERR_NONE;

    if (!intake_line(&b->intake, TO_CLIENT, line, &b->records, &e))
        BUG("an engine takes every record");
}

static void on_too_long(void *to, uint64_t bytes)
{
    struct behind *b = to;

    log_say(b->app->log, LOG_WARN, "the server sent a line of %llu bytes; it was ignored",
            (unsigned long long)bytes);
}

static void on_stderr(void *to, struct str text)
{
    struct behind *b = to;

    while (text.len) {
        struct str line = str_trim(str_cut(&text, '\n'));

        if (!line.len)
            continue;
        log_say(b->app->log, LOG_INFO, "server: %.*s", STR_ARG(line));
        buf_clear(&b->last_words);
        buf_add(&b->last_words, line.len < WORDS_MAX ? line : str_n(line.at, WORDS_MAX / 2));
    }
}

static void on_closed(void *to)
{
    struct behind *b = to;

    stdio_child_end(b->child); /* who says nothing more is waited for, and then told of */
}

static void on_done(void *to, int code, int signum)
{
    struct behind *b = to;

    b->ended = true;
    if (signum)
        buf_printf(&b->why, "'%s' was ended by signal %d", b->argv[0], signum);
    else
        buf_printf(&b->why, "'%s' ended with exit code %d", b->argv[0], code);
    if (b->last_words.len)
        buf_printf(&b->why, ": %s", buf_z(&b->last_words));
    if (b->finished)
        b->finished(b->to);
    else
        tell_gone(b);
}

static const struct stdio_child_events child_events = {
    .line = on_line,
    .too_long = on_too_long,
    .stderr_text = on_stderr,
    .closed = on_closed,
    .done = on_done,
};

void behind_start(struct behind *b, struct loop *l)
{
    struct err e = ERR_NONE;
    int errnum;

    BUG_IF(b->child || !b->argv);
    b->loop = l;
    if (stdio_child_start(&b->child, l, b->argv, LIMIT_MESSAGE, &child_events, b, &errnum, &e))
        return;
    b->ended = true;
    buf_add(&b->why, str_z(e.msg));
    b->soon = timer_new(l, tell_gone, b);
    timer_set(b->soon, 0);
}

void behind_send(struct behind *b, struct str message)
{
    if (b->child && !b->ended)
        stdio_child_send(b->child, message);
}

void behind_finish(struct behind *b, void (*done)(void *to))
{
    b->finished = done;
    if (!b->child || b->ended)
        done(b->to);
    else
        stdio_child_end(b->child);
}
