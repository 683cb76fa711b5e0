#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/term.h"

enum { LOG_TEXT_MAX = 4096 }; /* bytes of a message before escaping; longer is cut */

/* An escaped character takes at most four bytes for each of its own. */
enum { LOG_LINE_MAX = 8 * LOG_TEXT_MAX };

enum {
    LOG_QUEUE_MAX = 64 << 10,
    STEP_MS = 20, /* how often a queue that is being finished looks at the time */
};

static void write_fd(void *to, struct str line)
{
    int fd = (int)(intptr_t)to;

    while (line.len) {
        ssize_t n = write(fd, line.at, line.len);
        if (n >= 0) {
            line = str_skip(line, (size_t)n);
        } else if (errno == EAGAIN) {
            struct pollfd wait = { .fd = fd, .events = POLLOUT };
            poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            return;
        }
    }
}

void log_init_fd(struct log *l, int fd, enum log_level level, bool color)
{
    *l = (struct log){
        .level = level, .color = color, .write = write_fd, .arg = (void *)(intptr_t)fd
    };
}

/* The descriptor may be shared, so its flags stay as they are. POLLOUT means room for PIPE_BUF
 * bytes; other events mean that the reader is gone. */
static void flush_queue(struct log_queue *q, int wait_ms)
{
    struct pollfd room = { .fd = q->fd, .events = POLLOUT };

    while (q->pending.len && poll(&room, 1, wait_ms) == 1) {
        size_t most = q->pending.len < PIPE_BUF ? q->pending.len : PIPE_BUF;
        ssize_t n = room.revents == POLLOUT ? write(q->fd, q->pending.at, most) : 0;
        if (n > 0)
            buf_drop_front(&q->pending, (size_t)n);
        else if (n == 0 || (errno != EINTR && errno != EAGAIN))
            buf_clear(&q->pending);
        else if (errno == EAGAIN)
            return;
    }
}

static void write_queued(void *to, struct str line)
{
    struct log_queue *q = to;

    flush_queue(q, 0);
    if (line.len <= q->pending.max - q->pending.len)
        buf_add(&q->pending, line);
    flush_queue(q, 0);
}

void log_queue_init(struct log_queue *q, struct log *l)
{
    buf_init(&q->pending, LOG_QUEUE_MAX);
    if (l->write != write_fd)
        return;
    q->fd = (int)(intptr_t)l->arg;
    l->write = write_queued;
    l->arg = q;
}

void log_queue_finish(struct log_queue *q, int ms)
{
    for (; q->pending.len && ms > 0; ms -= STEP_MS)
        flush_queue(q, STEP_MS);
    buf_release(&q->pending);
}

static enum term_style style_of(enum log_level level)
{
    switch (level) {
    case LOG_ERROR:
        return TERM_RED;
    case LOG_WARN:
        return TERM_YELLOW;
    case LOG_INFO:
        return TERM_PLAIN;
    case LOG_DEBUG:
        return TERM_DIM;
    }
    BUG("no such log level");
}

static void add_line(struct buf *out, const struct log *l, enum log_level level,
                     struct str text)
{
    bool color = l->color && style_of(level) != TERM_PLAIN;

    buf_add(out, STR("mcpreel: "));
    term_style(out, color, style_of(level));
    if (level == LOG_WARN)
        buf_add(out, STR("warning: "));
    term_escape(out, text, TERM_ONE_LINE);
    term_style(out, color, TERM_PLAIN);
    buf_add_ch(out, '\n');
}

/* Without the last character if it may be half of one. */
static struct str trim_partial_char(struct str text)
{
    while (text.len && ((unsigned char)text.at[text.len - 1] & 0xC0) == 0x80)
        text.len--;
    if (text.len && (unsigned char)text.at[text.len - 1] >= 0xC0)
        text.len--;
    return text;
}

void log_printf(const struct log *l, enum log_level level, const char *fmt, ...)
{
    char text[LOG_TEXT_MAX + sizeof "…"];
    struct str said;
    struct buf out;
    va_list ap;
    int n;

    if (level > l->level)
        return;
    va_start(ap, fmt);
    n = vsnprintf(text, LOG_TEXT_MAX, fmt, ap);
    va_end(ap);
    BUG_IF(n < 0);
    said = str_n(text, (size_t)n);
    if (n >= LOG_TEXT_MAX) {
        said = trim_partial_char(str_n(text, LOG_TEXT_MAX - 1));
        memcpy(text + said.len, "…", sizeof "…");
        said.len += sizeof "…" - 1;
    }
    buf_init(&out, LOG_LINE_MAX);
    add_line(&out, l, level, said);
    l->write(l->arg, buf_str(&out));
    buf_release(&out);
}

void log_err(const struct log *l, const struct err *e)
{
    struct str hint = str_z(e->hint);
    struct buf out;

    buf_init(&out, LOG_LINE_MAX);
    add_line(&out, l, LOG_ERROR, str_z(e->msg));
    while (hint.len) {
        buf_add(&out, STR("  "));
        term_escape(&out, str_cut(&hint, '\n'), TERM_ONE_LINE);
        buf_add_ch(&out, '\n');
    }
    l->write(l->arg, buf_str(&out));
    buf_release(&out);
}
