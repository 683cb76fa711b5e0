/* tests/unit/fake-server.h - a TCP server on loopback that follows a script, in a thread.
 *
 * Each deviation from the script is kept, and fails the test when fake_server_join() is called.
 * It never waits longer than ten seconds. */
#ifndef FAKE_SERVER_H
#define FAKE_SERVER_H

#include <pthread.h>
#include <semaphore.h>

#include "base/buf.h"

enum fake_server_action {
    FAKE_DONE,   /* the end of the script; open connections are closed */
    FAKE_ACCEPT, /* the next connection; the one before it stays open */
    FAKE_SEES,   /* reads exactly this text */
    FAKE_SENDS,  /* sends it */
    FAKE_FLOOD,  /* sends `count` bytes 'x' */
    FAKE_GULP,   /* reads any `count` bytes */
    FAKE_EOF,    /* sees the end of the connection, or its reset, and nothing else */
    FAKE_CLOSE,  /* closes it */
    FAKE_RESET,  /* breaks it */
    FAKE_REST,   /* waits `count` ms */
    FAKE_HOLD,   /* waits for fake_server_continue() */
    FAKE_LONE,   /* no other client connects */
    FAKE_BACK,   /* goes on with the connection that was accepted `count` before this one */
};

struct fake_server_step {
    enum fake_server_action does;
    const char *text;
    size_t count;
};

/* A step with its arguments. */
#define FAKE(does_)                                                                            \
    {                                                                                          \
        FAKE_##does_, NULL, 0                                                                  \
    }
#define FAKE_N(does_, count_)                                                                  \
    {                                                                                          \
        FAKE_##does_, NULL, (count_)                                                           \
    }
#define FAKE_TEXT(does_, text_)                                                                \
    {                                                                                          \
        FAKE_##does_, (text_), 0                                                               \
    }

struct fake_server {
    const struct fake_server_step *script;
    int listener, port;
    int conns[16]; /* connections */
    size_t count, current;
    pthread_t thread;
    sem_t progress, go;
    struct buf mismatch; /* deviations from the script */
};

/* `script` is borrowed, and ends in FAKE_DONE. */
void fake_server_start(struct fake_server *p, const struct fake_server_step *script);
void fake_server_start_v6(struct fake_server *p, const struct fake_server_step *script);

void fake_server_continue(struct fake_server *p); /* on from FAKE_HOLD */

/* A socket that wants to connect to it, whether or not there is room. */
int fake_server_connect(const struct fake_server *p);

/* Waits for the end of the script. True if all went by it; else see `mismatch`. */
bool fake_server_end(struct fake_server *p);
void fake_server_release(struct fake_server *p);

#define fake_server_join(p)                                                                    \
    do {                                                                                       \
        struct fake_server *p_ = (p);                                                          \
        if (!fake_server_end(p_))                                                              \
            fail_msg("the server saw %.*s", STR_ARG(buf_str(&p_->mismatch)));                  \
        fake_server_release(p_);                                                               \
    } while (0)

#endif
