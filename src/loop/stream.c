#include "loop/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "loop/loop-uv.h"
#include "loop/write-batch.h"

/* Larger than the default buffer of a pipe or a socket: after a read that fills the buffer
 * libuv reads on, up to 32 times in a row, and all other events would wait. All polled
 * streams of a loop share one buffer, as its bytes are consumed before the next read. */
enum { CHUNK = 256 << 10 };

/* How long it stays unnoticed that the other side vanished. */
enum { KEEPALIVE_S = 60 };

/* There are two kinds: pipes, sockets and terminals, which libuv can poll; and regular files
 * and devices, which are read in its thread pool and written directly, as writing to a file
 * does not wait for the other side. */
struct stream {
    union {
        uv_handle_t any;
        uv_stream_t polled;
        uv_pipe_t pipe;
        uv_tcp_t is_tcp;
        uv_tty_t tty;
    } uv;
    struct file_read *file_read; /* NULL until a file is read */
    struct loop *loop;
    const struct stream_events *events;
    void *arg;
    int fd;
    bool is_file, reading, ended, broken, closed, file_busy;
    bool is_tcp;           /* a TCP socket */
    bool restore_blocking; /* set if a shared descriptor was blocking */
    bool shut_down;        /* set by stream_shutdown() */
    bool batches;          /* set by stream_batch_writes() */
    size_t batched_bytes;  /* in the write batch */
    size_t queued_bytes;
};

struct file_read {
    uv_fs_t uv;
    char chunk[CHUNK];
};

struct queued_write {
    uv_write_t uv; /* first: libuv's request is ours */
    struct stream *stream;
    size_t len;
    char bytes[];
};

static const char *const std_names[] = { "standard input", "standard output",
                                         "standard error" };

static bool is_std_fd(int fd)
{
    return fd >= 0 && fd <= 2;
}

static void set_stream_err(struct err *e, int code)
{
    loop_set_err(e, code);
    if (code == UV_EPIPE || code == UV_ECONNRESET || code == UV_ETIMEDOUT)
        e->kind = ERR_PEER;
}

static void emit_end(struct stream *s, int code)
{
    struct err e = ERR_NONE;

    if (s->ended || s->closed)
        return;
    s->ended = true;
    if (code != 0 && code != UV_EOF)
        set_stream_err(&e, code);
    s->events->end(s->arg, e.kind == ERR_OK ? NULL : &e);
}

static void emit_broken(struct stream *s, int code)
{
    struct err e = ERR_NONE;

    if (s->broken || s->closed)
        return;
    s->broken = true;
    set_stream_err(&e, code);
    if (s->events->broken)
        s->events->broken(s->arg, &e);
}

static void alloc_read_buf(uv_handle_t *uv, size_t suggested, uv_buf_t *buf)
{
    struct stream *s = uv->data;

    (void)suggested;
    if (!s->loop->read_buf)
        s->loop->read_buf = mem_grow(NULL, CHUNK);
    *buf = uv_buf_init(s->loop->read_buf, CHUNK);
}

static void on_polled_read(uv_stream_t *uv, ssize_t n, const uv_buf_t *buf)
{
    struct stream *s = uv->data;

    if (n > 0)
        s->events->data(s->arg, str_n(buf->base, (size_t)n));
    else if (n < 0)
        emit_end(s, (int)n);
}

static void free_file(struct stream *s)
{
    free(s->file_read);
    free(s);
}

static void file_read_next(struct stream *s);

static void on_file_read(uv_fs_t *fs)
{
    struct stream *s = fs->data;
    ssize_t n = fs->result;

    uv_fs_req_cleanup(fs);
    if (n > 0 && !s->closed)
        s->events->data(s->arg, str_n(s->file_read->chunk, (size_t)n));
    else
        emit_end(s, (int)n);
    /* The callback may have closed the stream: it lives until here. */
    s->file_busy = false;
    if (s->closed)
        free_file(s);
    else
        file_read_next(s);
}

static void file_read_next(struct stream *s)
{
    uv_buf_t buf;

    if (!s->reading || s->file_busy || s->ended || s->closed)
        return;
    if (!s->file_read)
        s->file_read = mem_grow(NULL, sizeof *s->file_read);
    buf = uv_buf_init(s->file_read->chunk, CHUNK);
    s->file_read->uv.data = s;
    s->file_busy = true;
    BUG_IF(uv_fs_read(&s->loop->uv, &s->file_read->uv, s->fd, &buf, 1, -1, on_file_read) != 0);
}

static bool has_access_mode(int fd, bool reading)
{
    int mode = fcntl(fd, F_GETFL) & O_ACCMODE;

    return mode == O_RDWR || mode == (reading ? O_RDONLY : O_WRONLY);
}

/* libuv makes a polled descriptor non-blocking for all processes that have it open: writes of
 * a client that let us inherit its standard error would fail. So a pipe is reopened; where
 * that fails, the mode is restored when the stream is closed. */
static int reopen_nonblocking(struct stream *s)
{
    int flags = fcntl(s->fd, F_GETFL), fd;
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", s->fd);
    fd = open(path, (flags & O_ACCMODE) | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    s->restore_blocking = !(flags & O_NONBLOCK);
    return s->fd;
}

/* Sends at once (TCP_NODELAY): each write is complete. If the connection has been reset
 * meanwhile, the next read or write reports it. */
static void open_tcp(struct stream *s, int fd)
{
    BUG_IF(uv_tcp_init(&s->loop->uv, &s->uv.is_tcp) != 0);
    BUG_IF(uv_tcp_open(&s->uv.is_tcp, fd) != 0);
    uv_tcp_nodelay(&s->uv.is_tcp, 1);
    uv_tcp_keepalive(&s->uv.is_tcp, 1, KEEPALIVE_S);
}

static int open_polled(struct stream *s, uv_handle_type type)
{
    if (type == UV_TTY) /* libuv reopens it itself */
        return uv_tty_init(&s->loop->uv, &s->uv.tty, s->fd, 0);
    s->is_tcp = type == UV_TCP;
    if (s->is_tcp) {
        open_tcp(s, is_std_fd(s->fd) ? reopen_nonblocking(s) : s->fd);
        return 0;
    }
    BUG_IF(uv_pipe_init(&s->loop->uv, &s->uv.pipe, 0) != 0);
    BUG_IF(uv_pipe_open(&s->uv.pipe, is_std_fd(s->fd) ? reopen_nonblocking(s) : s->fd) != 0);
    return 0;
}

bool stream_open(struct stream **out, struct loop *l, int fd,
                 const struct stream_events *events, void *to, struct err *e)
{
    struct stream *s = mem_new(struct stream);
    uv_handle_type type = uv_guess_handle(fd);
    bool usable = type != UV_UNKNOWN_HANDLE && has_access_mode(fd, events->data != NULL);
    int code;

    s->loop = l;
    s->events = events;
    s->arg = to;
    s->fd = fd;
    s->is_file = type == UV_FILE;
    code = !usable ? UV_EBADF : s->is_file ? 0 : open_polled(s, type);
    if (code != 0) {
        free(s);
        loop_set_err(e, code);
        return is_std_fd(fd) ? err_wrap(e, "cannot use %s", std_names[fd])
                             : err_wrap(e, "cannot use descriptor %d", fd);
    }
    s->uv.any.data = s;
    *out = s;
    return true;
}

void stream_set_receiver(struct stream *s, void *to)
{
    s->arg = to;
}

void stream_read(struct stream *s, bool on)
{
    if (s->reading == on || s->ended)
        return;
    s->reading = on;
    if (s->is_file)
        file_read_next(s);
    else if (on)
        BUG_IF(uv_read_start(&s->uv.polled, alloc_read_buf, on_polled_read) != 0);
    else
        uv_read_stop(&s->uv.polled);
}

static void on_written(uv_write_t *uv, int code)
{
    struct queued_write *w = (struct queued_write *)uv;
    struct stream *s = w->stream;

    s->queued_bytes -= w->len;
    free(w);
    if (code != 0)
        emit_broken(s, code);
    else if (!s->queued_bytes && !s->closed && s->events->drained)
        s->events->drained(s->arg);
}

static void queue_write(struct stream *s, struct str bytes)
{
    struct queued_write *w = mem_grow(NULL, sizeof *w + bytes.len);
    uv_buf_t buf = uv_buf_init(w->bytes, (unsigned)bytes.len);
    int code;

    w->stream = s;
    w->len = bytes.len;
    memcpy(w->bytes, bytes.at, bytes.len);
    code = uv_write(&w->uv, &s->uv.polled, &buf, 1, on_written);
    if (code != 0) {
        free(w);
        emit_broken(s, code);
        return;
    }
    s->queued_bytes += bytes.len;
}

static void write_file(struct stream *s, struct str bytes)
{
    while (bytes.len) {
        ssize_t n = write(s->fd, bytes.at, bytes.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            emit_broken(s, n < 0 ? -errno : UV_EIO);
            return;
        }
        bytes = str_skip(bytes, (size_t)n);
    }
}

static void write_polled(struct stream *s, struct str bytes)
{
    if (!s->queued_bytes) {
        uv_buf_t buf = uv_buf_init((char *)(uintptr_t)bytes.at, (unsigned)bytes.len);
        int n = uv_try_write(&s->uv.polled, &buf, 1);
        if (n > 0)
            bytes = str_skip(bytes, (size_t)n);
        else if (n != UV_EAGAIN && n < 0) {
            emit_broken(s, n);
            return;
        }
    }
    if (bytes.len)
        queue_write(s, bytes);
}

static void send_batched(void *to, struct str bytes)
{
    struct stream *s = to;

    s->batched_bytes -= bytes.len;
    if (!s->broken)
        write_polled(s, bytes);
}

/* Flushes batched bytes before an operation that must not overtake or has to count them. */
static void flush_batched(const struct stream *s)
{
    if (s->batched_bytes)
        write_batch_flush(s->loop->write_batch);
}

void stream_batch_writes(struct stream *s)
{
    BUG_IF(s->is_file);
    s->batches = true;
    if (!s->loop->write_batch)
        s->loop->write_batch = write_batch_new(s->loop, send_batched);
}

void stream_write(struct stream *s, struct str bytes)
{
    BUG_IF(s->shut_down);
    if (!bytes.len || s->broken || s->closed)
        return;
    if (s->is_file)
        write_file(s, bytes);
    else if (s->batches && write_batch_add(s->loop->write_batch, s, bytes))
        s->batched_bytes += bytes.len;
    else
        write_polled(s, bytes);
}

size_t stream_queued(const struct stream *s)
{
    if (!s->broken)
        flush_batched(s);
    /* Not `queued_bytes`, which counts a half-written chunk as a whole. */
    return s->broken || s->is_file ? 0 : uv_stream_get_write_queue_size(&s->uv.polled);
}

bool stream_is_peer_closed(const struct stream *s)
{
    struct pollfd fd = { .fd = s->fd, .events = POLLRDHUP };

    return !s->is_file && poll(&fd, 1, 0) == 1;
}

bool stream_has_input(const struct stream *s)
{
    struct pollfd fd = { .fd = s->fd, .events = POLLIN };

    return poll(&fd, 1, 0) == 1;
}

bool stream_is_broken(const struct stream *s)
{
    struct pollfd fd = { .fd = s->fd };

    return s->broken || (!s->is_file && poll(&fd, 1, 0) == 1);
}

static void on_shutdown(uv_shutdown_t *uv, int code)
{
    (void)code; /* if the other side is gone, the reading side reports it */
    free(uv);
}

void stream_shutdown(struct stream *s)
{
    uv_shutdown_t *uv;

    flush_batched(s);
    if (s->shut_down || s->broken || s->closed)
        return;
    BUG_IF(s->is_file);
    s->shut_down = true;
    uv = mem_new(uv_shutdown_t);
    if (uv_shutdown(uv, &s->uv.polled, on_shutdown) != 0)
        free(uv);
}

static void on_closed(uv_handle_t *uv)
{
    free(uv->data);
}

void stream_close(struct stream *s)
{
    if (!s || s->closed)
        return;
    flush_batched(s);
    s->closed = true;
    if (!s->is_file) {
        uv_close(&s->uv.any, on_closed);
        if (s->restore_blocking)
            fcntl(s->fd, F_SETFL, fcntl(s->fd, F_GETFL) & ~O_NONBLOCK);
        return;
    }
    if (!is_std_fd(s->fd))
        close(s->fd);
    if (!s->file_busy)
        free_file(s);
}

void stream_reset(struct stream *s)
{
    if (!s || s->closed)
        return;
    flush_batched(s);
    if (s->is_tcp && !s->shut_down && !s->restore_blocking &&
        uv_tcp_close_reset(&s->uv.is_tcp, on_closed) == 0)
        s->closed = true;
    else
        stream_close(s);
}

void stream_hang_up(struct stream *s)
{
    int fd = s ? s->fd : -1, nothing;

    stream_close(s);
    if (!is_std_fd(fd))
        return;
    /* The number must not be reused for another file. */
    nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0)
        return;
    dup2(nothing, fd);
    close(nothing);
}
