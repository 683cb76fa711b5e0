/* tests/unit/record-run.h - runs `record --listen` with one client in a thread, which then
 * interrupts the program. */
#ifndef RECORD_RUN_H
#define RECORD_RUN_H

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "cmd/redact-options.h"
#include "raw-client.h"
#include "runtime/listen-config.h"
#include "runtime/record-output.h"
#include "test.h"

struct record_run {
    struct log log;
    struct app app;
    struct redaction redaction;
    struct record_settings settings; /* the test chooses the server */
    struct record_path path;
    struct listen_config listening;
    pthread_t client;
    const char *request;
    struct buf received; /* the responses that the client got */
    bool until_closed;   /* it waits until it is hung up on */
    int ready_fd;        /* names the address to connect to */
    int sigints;         /* that follow */
};

static inline void record_run_log(void *to, struct str line)
{
    buf_add(to, line);
}

static inline void record_run_init(struct record_run *s, struct cli *d,
                                   const struct record_path_options *wish)
{
    static char *nothing[] = { NULL };
    struct redaction_args args = { .server_url = true, .defaults = true };
    struct err e = ERR_NONE;
    int ends[2];

    *s = (struct record_run){ .sigints = 1 };
    buf_init(&s->received, 1 << 16);
    s->log = (struct log){ .level = LOG_DEBUG, .write = record_run_log, .arg = &d->err };
    s->app = (struct app){ .sys = &d->faults.sys, .env = nothing, .log = &s->log };
    assert_true(redact_options_init(&s->redaction, &s->app, &args, NULL, &e));
    s->settings = (struct record_settings){ .max_message = 1 << 20,
                                            .flush_us = 1000000,
                                            .redaction = &s->redaction };
    assert_true(record_path_resolve(&s->path, &s->app, wish, &e));
    assert_int_equal(pipe(ends), 0);
    s->ready_fd = ends[0];
    s->listening.ready_fd = ends[1];
}

static inline void record_run_release(struct record_run *s)
{
    record_path_release(&s->path);
    redaction_release(&s->redaction);
    buf_release(&s->received);
    close(s->ready_fd);
}

static inline int record_run_connect(int ready)
{
    char text[64] = "";
    size_t len = 0;

    for (ssize_t n; (n = read(ready, text + len, sizeof text - 1 - len)) > 0;)
        len += (size_t)n;
    return raw_client_connect((int)strtol(strrchr(text, ':') + 1, NULL, 10));
}

static inline void *record_run_client(void *to)
{
    struct record_run *s = to;
    int fd = record_run_connect(s->ready_fd);
    char piece[4096];

    raw_client_send(fd, str_z(s->request));
    while (s->until_closed || !strstr(buf_z(&s->received), "\r\n\r\n") ||
           buf_str(&s->received).at[s->received.len - 1] != '}') {
        ssize_t n = read(fd, piece, sizeof piece);

        if (n <= 0)
            break;
        buf_add(&s->received, str_n(piece, (size_t)n));
    }
    for (int i = 0; i < s->sigints; i++)
        kill(getpid(), SIGINT);
    close(fd);
    return NULL;
}

/* The client connects when the address is known. */
static inline void record_run_start(struct record_run *s, const char *ask)
{
    s->request = ask;
    assert_int_equal(pthread_create(&s->client, NULL, record_run_client, s), 0);
}

static inline void record_run_join(struct record_run *s)
{
    assert_int_equal(pthread_join(s->client, NULL), 0);
}

static inline void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in %s", part, text);
}

#endif
