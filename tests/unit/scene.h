/* tests/unit/scene.h - a recording of clients on HTTP, at a desk, and the one client that
 * comes: it says what it has to in a thread of its own, and then asks the program to end. */
#ifndef SCENE_H
#define SCENE_H

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/listening.h"
#include "cmd/reel.h"
#include "desk.h"
#include "dial.h"
#include "test.h"

struct scene {
    struct log log;
    struct app app;
    struct redaction redaction;
    struct record_settings how; /* the server is the test's to say */
    struct record_place place;
    struct listening_args listening;
    pthread_t client;
    const char *ask;
    struct buf heard; /* what the client was answered */
    bool to_the_end;  /* it waits until it is hung up on */
    int ready;        /* says where to connect to */
    int interrupts;   /* that follow */
};

static inline void scene_say(void *to, struct str line)
{
    buf_add(to, line);
}

static inline void scene_set(struct scene *s, struct desk *d, const struct record_wish *wish)
{
    static char *nothing[] = { NULL };
    struct redaction_args args = { .server_url = true, .defaults = true };
    struct err e = ERR_NONE;
    int ends[2];

    *s = (struct scene){ .interrupts = 1 };
    buf_init(&s->heard, 1 << 16);
    s->log = (struct log){ .level = LOG_DEBUG, .put = scene_say, .to = &d->err };
    s->app = (struct app){ .sys = &d->faults.sys, .env = nothing, .log = &s->log };
    assert_true(redaction_init(&s->redaction, &s->app, &args, NULL, &e));
    s->how = (struct record_settings){ .max_message = 1 << 20,
                                       .flush_us = 1000000,
                                       .redaction = &s->redaction };
    assert_true(record_place_find(&s->place, &s->app, wish, &e));
    assert_int_equal(pipe(ends), 0);
    s->ready = ends[0];
    s->listening.ready_fd = ends[1];
}

static inline void scene_clear(struct scene *s)
{
    record_place_release(&s->place);
    redaction_release(&s->redaction);
    buf_release(&s->heard);
    close(s->ready);
}

static inline int scene_connect(int ready)
{
    char text[64] = "";
    size_t len = 0;

    for (ssize_t n; (n = read(ready, text + len, sizeof text - 1 - len)) > 0;)
        len += (size_t)n;
    return dial_port((int)strtol(strrchr(text, ':') + 1, NULL, 10));
}

static inline void *scene_client(void *to)
{
    struct scene *s = to;
    int fd = scene_connect(s->ready);
    char piece[4096];

    dial_say(fd, str_z(s->ask));
    while (s->to_the_end || !strstr(buf_z(&s->heard), "\r\n\r\n") ||
           buf_str(&s->heard).at[s->heard.len - 1] != '}') {
        ssize_t n = read(fd, piece, sizeof piece);

        if (n <= 0)
            break;
        buf_add(&s->heard, str_n(piece, (size_t)n));
    }
    for (int i = 0; i < s->interrupts; i++)
        kill(getpid(), SIGINT);
    close(fd);
    return NULL;
}

/* The client comes as soon as it is told where to. */
static inline void scene_begin(struct scene *s, const char *ask)
{
    s->ask = ask;
    assert_int_equal(pthread_create(&s->client, NULL, scene_client, s), 0);
}

static inline void scene_end(struct scene *s)
{
    assert_int_equal(pthread_join(s->client, NULL), 0);
}

static inline void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in %s", part, text);
}

#endif
