/* bench/bench-relay.c - measures the cost of any relay on the same loop: the baseline.
 *
 *     bench-relay [-s] [-w FILE] COMMAND ARGS…
 *
 * Copies stdin to the command and its output back. With -w it also writes every
 * chunk to FILE first, which is the least a recorder can do. With -s the command is in a
 * session of its own, to show what that costs: Linux gives each session its own share of the
 * processor, and going from one to another takes longer. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

struct direction {
    uv_pipe_t from, into;
    char chunk[65536];
};

static int file = -1;

static void alloc_read_buf(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
    struct direction *w = h->data;

    (void)suggested;
    *buf = uv_buf_init(w->chunk, sizeof w->chunk);
}

static void on_written(uv_write_t *req, int status)
{
    (void)status;
    free(req);
}

static void on_read(uv_stream_t *from, ssize_t n, const uv_buf_t *buf)
{
    struct direction *w = from->data;
    uv_buf_t out = uv_buf_init(buf->base, (unsigned)(n > 0 ? n : 0));

    if (n < 0) {
        uv_close((uv_handle_t *)&w->from, NULL);
        uv_close((uv_handle_t *)&w->into, NULL);
        return;
    }
    if (file >= 0 && write(file, buf->base, (size_t)n) != n)
        abort();
    n = uv_try_write((uv_stream_t *)&w->into, &out, 1);
    if (n >= 0 && (size_t)n == out.len)
        return;
    /* Rare in a ping-pong: queue a copy of the rest. */
    uv_write_t *req = malloc(sizeof *req + out.len);
    size_t done = n > 0 ? (size_t)n : 0;
    uv_buf_t rest = uv_buf_init((char *)(req + 1), (unsigned)(out.len - done));
    memcpy(rest.base, out.base + done, rest.len);
    uv_write(req, (uv_stream_t *)&w->into, &rest, 1, on_written);
}

static void start(uv_loop_t *loop, struct direction *w, int from, int into)
{
    uv_pipe_init(loop, &w->from, 0);
    uv_pipe_init(loop, &w->into, 0);
    w->from.data = w;
    uv_pipe_open(&w->from, from);
    uv_pipe_open(&w->into, into);
    uv_read_start((uv_stream_t *)&w->from, alloc_read_buf, on_read);
}

int main(int argc, char **argv)
{
    uv_loop_t *loop = uv_default_loop();
    struct direction *up = calloc(1, sizeof *up), *down = calloc(1, sizeof *down);
    int in[2], out[2], own_session = 0;

    if (argc > 2 && !strcmp(argv[1], "-s")) {
        own_session = 1;
        argc--;
        argv++;
    }
    if (argc > 3 && !strcmp(argv[1], "-w")) {
        file = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0600);
        argv += 2;
    }
    if (!argv[1] || pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
        return 2;
    if (fork() == 0) {
        if (own_session)
            setsid();
        dup2(in[0], 0);
        dup2(out[1], 1);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    start(loop, up, 0, in[1]);
    start(loop, down, out[0], 1);
    uv_run(loop, UV_RUN_DEFAULT);
    return 0;
}
