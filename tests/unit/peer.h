/* tests/unit/peer.h - a TCP server on loopback that keeps to a script, in a thread.
 *
 * Whatever it sees instead of what the script says is kept, and fails the test when
 * peer_join() is called. It never waits longer than ten seconds. */
#ifndef PEER_H
#define PEER_H

#include <pthread.h>
#include <semaphore.h>

#include "base/buf.h"

enum peer_does {
    PEER_DONE,   /* the end of the script; what is open is closed */
    PEER_ACCEPT, /* the next connection; the one before it stays open */
    PEER_SEES,   /* reads exactly this text */
    PEER_SAYS,   /* sends it */
    PEER_FLOOD,  /* sends `count` bytes 'x' */
    PEER_GULP,   /* reads `count` bytes of whatever */
    PEER_EOF,    /* sees the end of the connection, or its reset, and nothing else */
    PEER_CLOSE,  /* closes it */
    PEER_RESET,  /* breaks it */
    PEER_REST,   /* waits `count` ms */
    PEER_HOLD,   /* waits for peer_go() */
    PEER_LONE,   /* nobody else wants to connect */
    PEER_BACK,   /* goes on with the connection that was accepted `count` before this one */
};

struct peer_step {
    enum peer_does does;
    const char *text;
    size_t count;
};

/* A step, with what it needs. */
#define PEER(does_)                                                                            \
    {                                                                                          \
        PEER_##does_, NULL, 0                                                                  \
    }
#define PEER_N(does_, count_)                                                                  \
    {                                                                                          \
        PEER_##does_, NULL, (count_)                                                           \
    }
#define PEER_TEXT(does_, text_)                                                                \
    {                                                                                          \
        PEER_##does_, (text_), 0                                                               \
    }

struct peer {
    const struct peer_step *script;
    int listener, port;
    int at[16]; /* connections */
    size_t count, now;
    pthread_t thread;
    sem_t there, go;
    struct buf trouble; /* what went otherwise */
};

/* `script` is borrowed, and ends in PEER_DONE. */
void peer_start(struct peer *p, const struct peer_step *script);
void peer_start_v6(struct peer *p, const struct peer_step *script);

void peer_go(struct peer *p); /* on from PEER_HOLD */

/* A socket that wants to connect to it, whether or not there is room. */
int peer_knock(const struct peer *p);

/* Waits for the end of the script. True if all went by it; else see `trouble`. */
bool peer_end(struct peer *p);
void peer_release(struct peer *p);

#define peer_join(p)                                                                           \
    do {                                                                                       \
        struct peer *p_ = (p);                                                                 \
        if (!peer_end(p_))                                                                     \
            fail_msg("the server saw %.*s", STR_ARG(buf_str(&p_->trouble)));                   \
        peer_release(p_);                                                                      \
    } while (0)

#endif
