#include "cmd/server.h"

#include "trace/limits.h"
#include "transport/stdio-child.h"

enum { WORDS_MAX = 4096, WHY_MAX = 3 * WORDS_MAX };

void server_init(struct server *s, struct drive *drive, enum event_kind as,
                 enum log_level level, const struct server_events *events, void *to)
{
    *s = (struct server){ .level = level, .events = events, .to = to };
    hearing_init(&s->hearing, drive, as, TO_CLIENT);
    buf_init(&s->why, WHY_MAX);
    buf_init(&s->last_words, WORDS_MAX);
}

void server_release(struct server *s)
{
    stdio_child_close(s->child);
    hearing_release(&s->hearing);
    buf_release(&s->why);
    buf_release(&s->last_words);
}

static void on_line(void *to, struct str line)
{
    struct server *s = to;

    hearing_line(&s->hearing, line);
}

static void on_too_long(void *to, uint64_t bytes)
{
    struct server *s = to;

    hearing_too_long(&s->hearing, bytes);
}

static void on_stderr(void *to, struct str text)
{
    struct server *s = to;

    while (text.len) {
        struct str line = str_trim(str_cut(&text, '\n'));

        if (!line.len)
            continue;
        log_say(s->hearing.drive->app->log, s->level, "server: %.*s", STR_ARG(line));
        buf_clear(&s->last_words);
        buf_add(&s->last_words, line.len > WORDS_MAX ? str_n(line.at, WORDS_MAX) : line);
    }
}

static void on_closed(void *to)
{
    struct server *s = to;

    if (s->events->closed)
        s->events->closed(s->to);
    stdio_child_end(s->child); /* who says nothing more is waited for */
}

static void on_done(void *to, int code, int signum)
{
    struct server *s = to;

    s->ended = true;
    s->code = code;
    s->signum = signum;
    if (signum)
        buf_printf(&s->why, "'%s' was ended by signal %d", s->name, signum);
    else
        buf_printf(&s->why, "'%s' ended with exit code %d", s->name, code);
    if (s->last_words.len)
        buf_printf(&s->why, ": %s", buf_z(&s->last_words));
    s->events->gone(s->to, buf_str(&s->why));
}

static const struct stdio_child_events child_events = {
    .line = on_line,
    .too_long = on_too_long,
    .stderr_text = on_stderr,
    .closed = on_closed,
    .done = on_done,
};

bool server_start(struct server *s, struct loop *l, char *const *argv, struct err *e)
{
    int errnum;

    BUG_IF(s->child);
    s->name = argv[0];
    return stdio_child_start(&s->child, l, argv, LIMIT_MESSAGE, &child_events, s, &errnum, e);
}

static bool runs(const struct server *s)
{
    return s->child && !s->ended;
}

void server_send(struct server *s, struct str message)
{
    if (runs(s))
        stdio_child_send(s->child, message);
}

bool server_end(struct server *s)
{
    if (!runs(s))
        return false;
    stdio_child_end(s->child);
    return true;
}

void server_stop(struct server *s)
{
    BUG_IF(!runs(s));
    stdio_child_stop(s->child);
}
