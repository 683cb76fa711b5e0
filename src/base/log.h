/* base/log.h - talk to the user on standard error, one line at a time.
 *
 * Every line starts "mcpreel: " (a warning "mcpreel: warning: "), is escaped, cut if
 * it has more than 4 KB, and is handed over in one piece.
 * There is no global log: whoever talks is given one. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

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

/* For who must not be held up by whoever reads: what a log of log_init_fd() says from now
 * on is written if there is room for it at once, and dropped if not. Others stay as they
 * are. */
void log_never_wait(struct log *l);

void log_say(const struct log *l, enum log_level level, const char *fmt, ...) PRINTF(3, 4);

/* An error as the user sees it: the message, and its hint's lines indented below. */
void log_err(const struct log *l, const struct err *e);

#endif
