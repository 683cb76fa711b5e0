/* runtime/peer-pool.h - several peers by number, all started from the same target, as the
 * servers of one engine. */
#ifndef RUNTIME_PEER_POOL_H
#define RUNTIME_PEER_POOL_H

#include "base/map.h"
#include "runtime/driver.h"
#include "runtime/peer.h"

struct peer_pool_observer {
    void (*started)(void *to, uint64_t number);
    void (*non_message)(void *to, uint64_t number, struct str bytes, struct str why);
    void (*stderr_text)(void *to, uint64_t number, struct str text);
    void (*exited)(void *to, uint64_t number, const struct peer_outcome *how);
    void (*all_exited)(void *to); /* after peer_pool_finish(), when none is left */
};

struct peer_pool {
    struct driver *driver;
    struct loop *loop;
    struct peer_target target;
    const struct peer_pool_observer *observer;
    void *to;
    struct map by_number; /* to struct peer_pool_member */
    struct peer_pool_member *exited;
    struct timer *free_timer;
    size_t queue_max; /* limit of unread bytes for one server */
    bool finishing;
};

void peer_pool_init(struct peer_pool *s, struct loop *l, struct driver *driver,
                    const struct peer_target *target, const struct peer_pool_observer *observer,
                    void *to);
void peer_pool_release(struct peer_pool *s); /* kills those that run */

/* As peer_start(). */
bool peer_pool_start(struct peer_pool *s, uint64_t number, int *errnum,
                     struct err *e) MUST_CHECK;

void peer_pool_send(struct peer_pool *s, uint64_t number, struct str message);
void peer_pool_end(struct peer_pool *s, uint64_t number);

/* Calls `all_exited` when the last server has exited, at once if there is none. */
void peer_pool_finish(struct peer_pool *s);

#endif
