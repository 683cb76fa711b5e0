/* cmd/old-server.h - a hint for who records a server of HTTP+SSE, the transport of 2024-11-05,
 * with clients that do not know that.
 *
 * Such a server refuses what they post, and all that they can tell is a status. Clients that do
 * know it are refused, too, and then open a stream: so nothing is said until it is clear that
 * nobody does. Once at most. */
#ifndef CMD_OLD_SERVER_H
#define CMD_OLD_SERVER_H

#include "base/log.h"
#include "loop/timer.h"
#include "wire/request.h"

struct old_server {
    const struct log *log; /* borrowed */
    struct str path;       /* of the server's address; borrowed */
    struct timer *patience;
    bool refused; /* somebody was, and has not opened a stream */
    bool told;
};

void old_server_init(struct old_server *o, struct loop *l, const struct log *log,
                     struct str path);

/* The server's own answer to what was sent to its endpoint, not to where it wants messages. */
void old_server_answered(struct old_server *o, const struct request *asked, unsigned status);

/* It has opened a stream of the kind that tells where to post messages. */
void old_server_streams(struct old_server *o);

/* Nothing more comes: what was not said yet is said now. */
void old_server_end(struct old_server *o);

#endif
