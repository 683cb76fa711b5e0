/* bench/bench-fixed.c - a stdio server on our own loop with a fixed response: the baseline of
 * replay.
 *
 *     bench-fixed SIZE
 *
 * Every line is answered with the same SIZE bytes; nothing is parsed. */
#include <stdlib.h>
#include <string.h>

#include "trace/limits.h"
#include "transport/stdio-client.h"

struct fixed {
    struct loop *loop;
    struct stdio_client *client;
    struct str answer;
};

static void on_line(void *to, struct str line)
{
    struct fixed *f = to;

    (void)line;
    stdio_client_send(f->client, f->answer);
}

static void on_too_long(void *to, uint64_t bytes)
{
    (void)to;
    (void)bytes;
}

static void on_lost(void *to, const struct err *why)
{
    (void)to;
    (void)why;
}

static void stop(void *to)
{
    loop_stop(((struct fixed *)to)->loop);
}

static void on_closed(void *to)
{
    struct fixed *f = to;

    stdio_client_finish(f->client, stop, f);
}

static const struct stdio_client_events events = {
    .line = on_line,
    .too_long = on_too_long,
    .input_closed = on_closed,
    .write_failed = on_lost,
};

int main(int argc, char **argv)
{
    size_t size = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    struct fixed f = { .loop = loop_new() };
    struct err e = ERR_NONE;
    char *answer = malloc(size + 1);

    if (!answer || !size ||
        !stdio_client_open(&f.client, f.loop, 0, 1, LIMIT_MESSAGE, &events, &f, &e))
        return 2;
    memset(answer, 'y', size);
    f.answer = str_n(answer, size);
    loop_run(f.loop);
    stdio_client_close(f.client);
    loop_free(f.loop);
    free(answer);
    return 0;
}
