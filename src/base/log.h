/* base/log.h - writes messages for the user, one line at a time.
 *
 * Every line starts with "mcpreel: " (a warning with "mcpreel: warning: "), is escaped, cut to
 * 4 KB and written in one piece. There is no global log: a module that logs is given one. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

struct log {
    enum log_level level; /* the highest level that is shown */
    bool color;
    void (*write)(void *to, struct str line); /* `line` ends in a newline; borrowed */
    void *arg;
};

/* Writes to a descriptor and ignores failures, which could be reported nowhere. Waits if the
 * descriptor is non-blocking and full. */
void log_init_fd(struct log *l, int fd, enum log_level level, bool color);

/* Queue before a descriptor whose reader may be slow, for a caller that must not block: text
 * that does not fit waits here and is tried again with the next line. Holds 64 KB; further
 * lines are dropped. */
struct log_queue {
    int fd;
    struct buf pending;
};

/* Redirects `l`, a log of log_init_fd(), through `q`. Any other log stays unchanged. */
void log_queue_init(struct log_queue *q, struct log *l);

/* Writes the rest, for at most `ms`, and drops what is left. `l` must not be used any more. */
void log_queue_finish(struct log_queue *q, int ms);

void log_printf(const struct log *l, enum log_level level, const char *fmt, ...) PRINTF(3, 4);

/* Writes the error's message, and the lines of its hint indented below. */
void log_err(const struct log *l, const struct err *e);

#endif
