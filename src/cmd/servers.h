/* cmd/servers.h - the servers of an engine that has several, by the numbers it gives them.
 *
 * Each is a child on stdio. What they say is told to the engine, as EVENT_UPSTREAM; what is no
 * message, what they say on stderr, and that they start and end, to whoever watches. A server
 * that says more in one line than can be kept, that takes nothing of what it is sent, or that
 * closes its output and lives on, is stopped: its clients could not go on with it. */
#ifndef CMD_SERVERS_H
#define CMD_SERVERS_H

#include "base/map.h"
#include "cmd/drive.h"

struct servers_watch {
    void (*started)(void *to, uint64_t number);
    void (*noise)(void *to, uint64_t number, struct str bytes, struct str why);
    void (*stderr_text)(void *to, uint64_t number, struct str text);
    /* As stdio_child has them. `why` is empty if it ended of its own accord. */
    void (*exited)(void *to, uint64_t number, int code, int signum, struct str why);
    void (*all_gone)(void *to); /* none is left, after servers_finish() */
};

struct servers {
    struct drive *drive;
    struct loop *loop;
    char *const *argv; /* borrowed */
    const struct servers_watch *watch;
    void *to;
    struct map by_number; /* to struct servers_one */
    struct servers_one *dead;
    struct timer *burial;
    size_t queue_max; /* of what one has not taken, before it is stopped */
    bool finishing;
};

void servers_init(struct servers *s, struct loop *l, struct drive *drive, char *const *argv,
                  const struct servers_watch *watch, void *to);
void servers_release(struct servers *s); /* those that are left are killed */

/* ERR_PEER if it cannot be started; `*errnum` is then the system's reason. */
bool servers_start(struct servers *s, uint64_t number, int *errnum, struct err *e) MUST_CHECK;

void servers_send(struct servers *s, uint64_t number, struct str message);
void servers_end(struct servers *s, uint64_t number);

/* `all_gone` is called when the last of them is, at once if there is none. */
void servers_finish(struct servers *s);

#endif
