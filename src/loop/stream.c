#include "loop/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "loop/loop-uv.h"
#include "loop/outbox.h"

/* More than a pipe or a socket holds, unless somebody made it larger: after a read that
 * fills what it was given libuv reads on, 32 times in a row, and signals and all others
 * would wait for what is done with it. What is polled shares one per loop, as it is done
 * with before anything else is read. */
enum { CHUNK = 256 << 10 };

/* Between a peer that died without a word and our noticing. */
enum { KEEPALIVE_S = 60 };

/* Two kinds: what libuv can poll (pipes, sockets, terminals), and regular files and
 * devices, which it cannot: those are read in its thread pool and written directly,
 * as writing to a file does not wait for a peer. */
struct stream {
    union {
        uv_handle_t any;
        uv_stream_t polled;
        uv_pipe_t pipe;
        uv_tcp_t tcp;
        uv_tty_t tty;
    } uv;
    struct file_read *fs; /* for files that are read */
    struct loop *loop;
    const struct stream_events *events;
    void *to;
    int fd;
    bool file, reading, ended, broken, closed, fs_busy;
    bool tcp;       /* reached over the network, if only that of this machine */
    bool unblocked; /* the descriptor was blocking and is not ours alone */
    bool finished;  /* nothing more is written */
    bool holds;     /* what is written goes into the loop's outbox */
    size_t held;    /* bytes that are there */
    size_t queued;
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

static const char *const own_names[] = { "standard input", "standard output",
                                         "standard error" };

static bool is_own(int fd)
{
    return fd >= 0 && fd <= 2;
}

static void fault(struct err *e, int code)
{
    loop_fault(e, code);
    if (code == UV_EPIPE || code == UV_ECONNRESET || code == UV_ETIMEDOUT)
        e->kind = ERR_PEER;
}

static void tell_end(struct stream *s, int code)
{
    struct err e = ERR_NONE;

    if (s->ended || s->closed)
        return;
    s->ended = true;
    if (code != 0 && code != UV_EOF)
        fault(&e, code);
    s->events->end(s->to, e.kind == ERR_OK ? NULL : &e);
}

static void tell_broken(struct stream *s, int code)
{
    struct err e = ERR_NONE;

    if (s->broken || s->closed)
        return;
    s->broken = true;
    fault(&e, code);
    if (s->events->broken)
        s->events->broken(s->to, &e);
}

static void give_chunk(uv_handle_t *uv, size_t suggested, uv_buf_t *buf)
{
    struct stream *s = uv->data;

    (void)suggested;
    if (!s->loop->chunk)
        s->loop->chunk = mem_grow(NULL, CHUNK);
    *buf = uv_buf_init(s->loop->chunk, CHUNK);
}

static void polled_read(uv_stream_t *uv, ssize_t n, const uv_buf_t *buf)
{
    struct stream *s = uv->data;

    if (n > 0)
        s->events->data(s->to, str_n(buf->base, (size_t)n));
    else if (n < 0)
        tell_end(s, (int)n);
}

static void free_file(struct stream *s)
{
    free(s->fs);
    free(s);
}

static void file_read_next(struct stream *s);

static void file_was_read(uv_fs_t *fs)
{
    struct stream *s = fs->data;
    ssize_t n = fs->result;

    uv_fs_req_cleanup(fs);
    if (n > 0 && !s->closed)
        s->events->data(s->to, str_n(s->fs->chunk, (size_t)n));
    else
        tell_end(s, (int)n);
    /* The callback may have closed the stream: it lives until here. */
    s->fs_busy = false;
    if (s->closed)
        free_file(s);
    else
        file_read_next(s);
}

static void file_read_next(struct stream *s)
{
    uv_buf_t buf;

    if (!s->reading || s->fs_busy || s->ended || s->closed)
        return;
    if (!s->fs)
        s->fs = mem_grow(NULL, sizeof *s->fs);
    buf = uv_buf_init(s->fs->chunk, CHUNK);
    s->fs->uv.data = s;
    s->fs_busy = true;
    BUG_IF(uv_fs_read(&s->loop->uv, &s->fs->uv, s->fd, &buf, 1, -1, file_was_read) != 0);
}

static bool goes_this_way(int fd, bool reading)
{
    int mode = fcntl(fd, F_GETFL) & O_ACCMODE;

    return mode == O_RDWR || mode == (reading ? O_RDONLY : O_WRONLY);
}

/* libuv makes non-blocking what it polls, and so for everybody who has it open: a
 * client that let us inherit its standard error would find its own writes failing.
 * A pipe of ours is therefore opened once more; what cannot be is put back later. */
static int open_anew(struct stream *s)
{
    int flags = fcntl(s->fd, F_GETFL), fd;
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", s->fd);
    fd = open(path, (flags & O_ACCMODE) | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    s->unblocked = !(flags & O_NONBLOCK);
    return s->fd;
}

/* What is written is all that is to be said now: nobody need wait for more of it. That a
 * connection has been reset meanwhile is told when it is read or written. */
static void open_tcp(struct stream *s, int fd)
{
    BUG_IF(uv_tcp_init(&s->loop->uv, &s->uv.tcp) != 0);
    BUG_IF(uv_tcp_open(&s->uv.tcp, fd) != 0);
    uv_tcp_nodelay(&s->uv.tcp, 1);
    uv_tcp_keepalive(&s->uv.tcp, 1, KEEPALIVE_S);
}

static int open_polled(struct stream *s, uv_handle_type type)
{
    if (type == UV_TTY) /* libuv opens it anew by itself */
        return uv_tty_init(&s->loop->uv, &s->uv.tty, s->fd, 0);
    s->tcp = type == UV_TCP;
    if (s->tcp) {
        open_tcp(s, is_own(s->fd) ? open_anew(s) : s->fd);
        return 0;
    }
    BUG_IF(uv_pipe_init(&s->loop->uv, &s->uv.pipe, 0) != 0);
    BUG_IF(uv_pipe_open(&s->uv.pipe, is_own(s->fd) ? open_anew(s) : s->fd) != 0);
    return 0;
}

bool stream_open(struct stream **out, struct loop *l, int fd,
                 const struct stream_events *events, void *to, struct err *e)
{
    struct stream *s = mem_new(struct stream);
    uv_handle_type type = uv_guess_handle(fd);
    bool usable = type != UV_UNKNOWN_HANDLE && goes_this_way(fd, events->data != NULL);
    int code;

    s->loop = l;
    s->events = events;
    s->to = to;
    s->fd = fd;
    s->file = type == UV_FILE;
    code = !usable ? UV_EBADF : s->file ? 0 : open_polled(s, type);
    if (code != 0) {
        free(s);
        loop_fault(e, code);
        return is_own(fd) ? err_wrap(e, "cannot use %s", own_names[fd])
                          : err_wrap(e, "cannot use descriptor %d", fd);
    }
    s->uv.any.data = s;
    *out = s;
    return true;
}

void stream_tell(struct stream *s, void *to)
{
    s->to = to;
}

void stream_read(struct stream *s, bool on)
{
    if (s->reading == on || s->ended)
        return;
    s->reading = on;
    if (s->file)
        file_read_next(s);
    else if (on)
        BUG_IF(uv_read_start(&s->uv.polled, give_chunk, polled_read) != 0);
    else
        uv_read_stop(&s->uv.polled);
}

static void written(uv_write_t *uv, int code)
{
    struct queued_write *w = (struct queued_write *)uv;
    struct stream *s = w->stream;

    s->queued -= w->len;
    free(w);
    if (code != 0)
        tell_broken(s, code);
    else if (!s->queued && !s->closed && s->events->drained)
        s->events->drained(s->to);
}

static void queue(struct stream *s, struct str bytes)
{
    struct queued_write *w = mem_grow(NULL, sizeof *w + bytes.len);
    uv_buf_t buf = uv_buf_init(w->bytes, (unsigned)bytes.len);
    int code;

    w->stream = s;
    w->len = bytes.len;
    memcpy(w->bytes, bytes.at, bytes.len);
    code = uv_write(&w->uv, &s->uv.polled, &buf, 1, written);
    if (code != 0) {
        free(w);
        tell_broken(s, code);
        return;
    }
    s->queued += bytes.len;
}

static void write_file(struct stream *s, struct str bytes)
{
    while (bytes.len) {
        ssize_t n = write(s->fd, bytes.at, bytes.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            tell_broken(s, n < 0 ? -errno : UV_EIO);
            return;
        }
        bytes = str_skip(bytes, (size_t)n);
    }
}

static void write_polled(struct stream *s, struct str bytes)
{
    if (!s->queued) {
        uv_buf_t buf = uv_buf_init((char *)(uintptr_t)bytes.at, (unsigned)bytes.len);
        int n = uv_try_write(&s->uv.polled, &buf, 1);
        if (n > 0)
            bytes = str_skip(bytes, (size_t)n);
        else if (n != UV_EAGAIN && n < 0) {
            tell_broken(s, n);
            return;
        }
    }
    if (bytes.len)
        queue(s, bytes);
}

static void send_held(void *to, struct str bytes)
{
    struct stream *s = to;

    s->held -= bytes.len;
    if (!s->broken)
        write_polled(s, bytes);
}

/* Before anything is done that must not overtake it, or has to know how much is taken. */
static void let_go(const struct stream *s)
{
    if (s->held)
        outbox_flush(s->loop->outbox);
}

void stream_hold(struct stream *s)
{
    BUG_IF(s->file);
    s->holds = true;
    if (!s->loop->outbox)
        s->loop->outbox = outbox_new(s->loop, send_held);
}

void stream_write(struct stream *s, struct str bytes)
{
    BUG_IF(s->finished);
    if (!bytes.len || s->broken || s->closed)
        return;
    if (s->file)
        write_file(s, bytes);
    else if (s->holds && outbox_put(s->loop->outbox, s, bytes))
        s->held += bytes.len;
    else
        write_polled(s, bytes);
}

size_t stream_queued(const struct stream *s)
{
    if (!s->broken)
        let_go(s);
    /* Not `queued`: of a chunk that is half written that knows nothing. */
    return s->broken || s->file ? 0 : uv_stream_get_write_queue_size(&s->uv.polled);
}

bool stream_abandoned(const struct stream *s)
{
    struct pollfd fd = { .fd = s->fd, .events = POLLRDHUP };

    return !s->file && poll(&fd, 1, 0) == 1;
}

bool stream_pending(const struct stream *s)
{
    struct pollfd fd = { .fd = s->fd, .events = POLLIN };

    return poll(&fd, 1, 0) == 1;
}

bool stream_severed(const struct stream *s)
{
    struct pollfd fd = { .fd = s->fd };

    return s->broken || (!s->file && poll(&fd, 1, 0) == 1);
}

static void finished(uv_shutdown_t *uv, int code)
{
    (void)code; /* the peer is gone: who reads is told */
    free(uv);
}

void stream_finish(struct stream *s)
{
    uv_shutdown_t *uv;

    let_go(s);
    if (s->finished || s->broken || s->closed)
        return;
    BUG_IF(s->file);
    s->finished = true;
    uv = mem_new(uv_shutdown_t);
    if (uv_shutdown(uv, &s->uv.polled, finished) != 0)
        free(uv);
}

static void closed(uv_handle_t *uv)
{
    free(uv->data);
}

void stream_close(struct stream *s)
{
    if (!s || s->closed)
        return;
    let_go(s);
    s->closed = true;
    if (!s->file) {
        uv_close(&s->uv.any, closed);
        if (s->unblocked)
            fcntl(s->fd, F_SETFL, fcntl(s->fd, F_GETFL) & ~O_NONBLOCK);
        return;
    }
    if (!is_own(s->fd))
        close(s->fd);
    if (!s->fs_busy)
        free_file(s);
}

void stream_reset(struct stream *s)
{
    if (!s || s->closed)
        return;
    let_go(s);
    if (s->tcp && !s->finished && !s->unblocked && uv_tcp_close_reset(&s->uv.tcp, closed) == 0)
        s->closed = true;
    else
        stream_close(s);
}

void stream_hang_up(struct stream *s)
{
    int fd = s ? s->fd : -1, nothing;

    stream_close(s);
    if (!is_own(fd))
        return;
    /* The number must not become another file's. */
    nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0)
        return;
    dup2(nothing, fd);
    close(nothing);
}
