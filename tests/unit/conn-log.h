/* tests/unit/conn-log.h - receiver of the events of a connection that logs them.
 *
 * Its four functions are the callbacks of a connection of either kind. The loop ends with
 * the connection, with a failure, or after a given number of bytes. */
#ifndef CONN_LOG_H
#define CONN_LOG_H

#include "base/buf.h"
#include "loop/timer.h"
#include "transport/upstream-conn.h"

struct conn_log {
    struct loop *loop;
    struct buf text;
    size_t bytes, stop_at;
    int drain_count, end_count;
    bool count_only; /* counts bytes and does not keep them */
    bool pauses;     /* stops reading after each piece, for a moment */
    bool clean, failed;
    enum upstream_conn_error fault;

    void (*read)(void *connection, bool on);
    void *connection;
    struct timer *resume_timer;
};

void conn_log_init(struct conn_log *e, void (*read)(void *connection, bool on));
void conn_log_release(struct conn_log *e); /* the loop with it */

void conn_log_data(void *to, struct str bytes);
void conn_log_end(void *to, bool clean);
void conn_log_failed(void *to, enum upstream_conn_error fault, const struct err *why);
void conn_log_drained(void *to);

#endif
