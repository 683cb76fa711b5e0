/* base/log.h - talk to the user on standard error, one line at a time.
 *
 * Every line starts "mcpreel: " (a warning "mcpreel: warning: "), is escaped, cut if
 * it has more than 4 KB, and is handed over in one piece.
 * There is no global log: whoever talks is given one. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

struct log {
    enum log_level level; /* the most talkative level that is shown */
    bool color;
    void (*put)(void *to, struct str line); /* `line` ends in a newline; borrowed */
    void *to;
};

/* A log that writes to a descriptor, ignoring failures: there is nobody left to
 * tell. Waits when the descriptor is non-blocking and full. */
void log_init_fd(struct log *l, int fd, enum log_level level, bool color);

/* Between who must not be held up and a descriptor that others read when they like, if at
 * all: what there is no room for waits here and is tried again with the next line. Holds
 * 64 KB; lines that come when that is full are dropped. */
struct log_queue {
    int fd;
    struct buf waiting;
};

/* What `l`, a log of log_init_fd(), says from now on goes through `q`; another log stays as
 * it is. */
void log_queue_init(struct log_queue *q, struct log *l);

/* Waits so long for what is left to be taken, then drops it. `l` is of no use any more. */
void log_queue_finish(struct log_queue *q, int ms);

void log_say(const struct log *l, enum log_level level, const char *fmt, ...) PRINTF(3, 4);

/* An error as the user sees it: the message, and its hint's lines indented below. */
void log_err(const struct log *l, const struct err *e);

#endif
