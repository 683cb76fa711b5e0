#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file-lock.h"

enum {
    READ_CHUNK = 65536,
    WRITE_TRIES = 100, /* in a row that a write may be interrupted, or find no room */
};

/* Compared by address: such files are not closed. */
static const char standard_input[] = "standard input";
static const char standard_output[] = "standard output";

/* Errors of this process or the machine, not of the named file. */
static bool is_system_error(int errnum)
{
    return errnum == EMFILE || errnum == ENFILE || errnum == ENOMEM || errnum == EIO;
}

static bool cannot_open(struct err *e, const char *path, int errnum)
{
    err_cannot(e, "read", path, errnum);
    if (!is_system_error(errnum))
        e->kind = ERR_INPUT;
    return false;
}

static const char *type_name(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFIFO:
        return "a pipe";
    case S_IFLNK:
        return "a symbolic link";
    case S_IFSOCK:
        return "a socket";
    default:
        return "a device";
    }
}

static bool reject_non_file(struct err *e, const char *path, mode_t mode)
{
    err_set(e, ERR_INPUT, "cannot read '%s': it is %s, not a file", path, type_name(mode));
    if (S_ISFIFO(mode))
        err_hint(e, "save it to a file first");
    return false;
}

static bool open_stdin(struct file *f, const struct sys *sys, struct err *e)
{
    struct stat st;

    if (sys_retry_fstat(sys, STDIN_FILENO, &st) != 0)
        return cannot_open(e, standard_input, errno);
    if (S_ISDIR(st.st_mode))
        return reject_non_file(e, standard_input, st.st_mode);
    *f = (struct file){ .sys = sys, .path = standard_input, .fd = STDIN_FILENO };
    return true;
}

bool file_is_stdio(const char *path)
{
    return strcmp(path, "-") == 0;
}

bool file_open(struct file *f, const struct sys *sys, const char *path, struct err *e)
{
    struct stat st;
    bool ok;
    int fd;

    if (file_is_stdio(path))
        return open_stdin(f, sys, e);
    /* O_NONBLOCK: a FIFO must not make us wait until we have seen that it is one. */
    fd = sys_retry_open(sys, path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0 && errno == ENXIO) /* the only way a socket says so */
        return reject_non_file(e, path, S_IFSOCK);
    if (fd < 0)
        return cannot_open(e, path, errno);
    if (sys_retry_fstat(sys, fd, &st) != 0)
        ok = cannot_open(e, path, errno);
    else
        ok = S_ISREG(st.st_mode) || reject_non_file(e, path, st.st_mode);
    if (!ok) {
        sys->close(sys, fd);
        return false;
    }
    *f = (struct file){ .sys = sys, .path = path, .fd = fd };
    return true;
}

static bool reject_existing(struct err *e, const char *path)
{
    err_set(e, ERR_USAGE, "cannot write '%s': it exists already", path);
    return err_hint(e, "choose another name, or add --force to replace it");
}

/* Only a regular file may be replaced. O_PATH opens it, even a symbolic link, without side
 * effects. */
static bool check_old(const struct sys *sys, const char *at, const char *path, bool *there,
                      struct err *e)
{
    struct stat st;
    int fd = sys_retry_open(sys, at, O_PATH | O_NOFOLLOW, 0);
    bool ok;

    *there = fd >= 0;
    if (fd < 0)
        return errno == ENOENT || err_cannot(e, "write", path, errno);
    ok = sys_retry_fstat(sys, fd, &st) == 0 || err_cannot(e, "write", path, errno);
    sys->close(sys, fd);
    if (!ok)
        return false;
    if (S_ISREG(st.st_mode) && file_lock_is_held(sys, at))
        return err_set(e, ERR_USAGE, "cannot write '%s': another process is writing it", path);
    return S_ISREG(st.st_mode) ||
           err_set(e, ERR_USAGE, "cannot write '%s': it is %s, not a file", path,
                   type_name(st.st_mode));
}

bool file_can_create(const struct sys *sys, const char *path, bool replace, struct err *e)
{
    struct err odd = ERR_NONE;
    bool there, ok = check_old(sys, path, path, &there, &odd);

    if (there && !replace)
        return reject_existing(e, path);
    if (!ok)
        *e = odd;
    return ok;
}

static bool remove_old(const struct sys *sys, const char *at, const char *path, struct err *e)
{
    bool there;

    if (!check_old(sys, at, path, &there, e))
        return false;
    return !there || sys_retry_unlink(sys, at) == 0 || errno == ENOENT ||
           err_cannot(e, "write", path, errno);
}

/* For a new file, ENOENT means that its directory is missing. */
static bool cannot_create(struct err *e, const char *path, int errnum)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) : 0;

    if (errnum != ENOENT || !folder)
        return err_cannot(e, "write", path, errnum);
    err_set(e, ERR_IO, "cannot write '%s': there is no folder '%.*s'", path, folder, path);
    return err_hint(e, "make it first: mkdir -p '%.*s'", folder, path);
}

bool file_create_temp(struct file *f, const struct sys *sys, const char *at, const char *path,
                      bool replace, struct err *e)
{
    /* O_APPEND: after file_truncate() the next write goes to the new end. */
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW;
    int fd = sys_retry_open(sys, at, flags, 0600);

    if (fd < 0 && errno == EEXIST && replace) {
        if (!remove_old(sys, at, path, e))
            return false;
        fd = sys_retry_open(sys, at, flags, 0600);
    }
    if (fd < 0 && errno == EEXIST)
        return reject_existing(e, path);
    if (fd < 0)
        return cannot_create(e, path, errno);
    *f = (struct file){ .sys = sys, .path = path, .fd = fd };
    return true;
}

bool file_create(struct file *f, const struct sys *sys, const char *path, bool replace,
                 struct err *e)
{
    return file_create_temp(f, sys, path, path, replace, e);
}

static bool lacks_hard_links(int errnum)
{
    return errnum == EPERM || errnum == EOPNOTSUPP || errnum == ENOSYS || errnum == EMLINK;
}

bool file_rename(const struct sys *sys, const char *at, const char *path, bool replace,
                 struct err *e)
{
    /* Unlike a renamed file a link never takes another's place. The old name may stay
     * if it must: the file is whole under its new one. */
    if (!replace && sys_retry_link(sys, at, path) == 0) {
        sys_retry_unlink(sys, at);
        return true;
    }
    if (!replace && errno == EEXIST)
        return reject_existing(e, path);
    if (!replace && !lacks_hard_links(errno))
        return err_cannot(e, "write", path, errno);
    if (!file_can_create(sys, path, replace, e))
        return false;
    return sys_retry_rename(sys, at, path) == 0 || err_cannot(e, "write", path, errno);
}

/* Looks a path up, following links. */
static bool look_up(const struct sys *sys, const char *path, struct stat *st)
{
    int fd = sys_retry_open(sys, path, O_PATH, 0);
    bool ok;

    if (fd < 0)
        return false;
    ok = sys_retry_fstat(sys, fd, st) == 0;
    sys->close(sys, fd);
    return ok;
}

static bool look_up_folder(const struct sys *sys, const char *path, struct stat *st)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];

    if (!slash)
        return look_up(sys, ".", st);
    if ((size_t)(slash - path) >= sizeof folder)
        return false;
    memcpy(folder, path, (size_t)(slash - path) + 1);
    folder[slash == path ? 1 : slash - path] = '\0';
    return look_up(sys, folder, st);
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool file_is_same_place(const struct sys *sys, const char *a, const char *b)
{
    struct stat at_a, at_b;
    bool has_a, has_b;

    if (strcmp(a, b) == 0)
        return true;
    has_a = look_up(sys, a, &at_a);
    has_b = look_up(sys, b, &at_b);
    if (!has_a && !has_b && strcmp(last_name(a), last_name(b)) == 0)
        has_a = has_b = look_up_folder(sys, a, &at_a) && look_up_folder(sys, b, &at_b);
    return has_a && has_b && at_a.st_dev == at_b.st_dev && at_a.st_ino == at_b.st_ino;
}

bool file_can_write_fd(int fd, struct err *e)
{
    int how = fcntl(fd, F_GETFL);

    if (how < 0)
        return err_set(e, ERR_USAGE, "descriptor %d is not open", fd);
    return (how & O_ACCMODE) != O_RDONLY ||
           err_set(e, ERR_USAGE, "descriptor %d cannot be written to", fd);
}

struct file file_stdout(const struct sys *sys)
{
    return (struct file){ .sys = sys, .path = standard_output, .fd = STDOUT_FILENO };
}

/* Another process may have made a shared standard input non-blocking. */
static void wait_readable(int fd)
{
    struct pollfd wait = { .fd = fd, .events = POLLIN };

    poll(&wait, 1, -1);
}

bool file_read(struct file *f, char *to, size_t cap, size_t *got, struct err *e)
{
    for (;;) {
        ssize_t n = f->sys->read(f->sys, f->fd, to, cap);
        if (n >= 0) {
            *got = (size_t)n;
            return true;
        }
        if (errno == EAGAIN)
            wait_readable(f->fd);
        else if (errno != EINTR)
            return err_cannot(e, "read", f->path, errno);
    }
}

/* Another process may have made a pipe that we share with it non-blocking. False: there is no
 * use in waiting, as the file says that there is room. */
static bool wait_for_room(int fd)
{
    struct pollfd room = { .fd = fd, .events = POLLOUT };

    return poll(&room, 1, 0) == 0 && poll(&room, 1, -1) > 0;
}

bool file_write(struct file *f, struct str bytes, size_t *done, struct err *e)
{
    int in_vain = 0;

    *done = 0;
    while (*done < bytes.len) {
        struct str rest = str_skip(bytes, *done);
        ssize_t n = f->sys->write(f->sys, f->fd, rest.at, rest.len);
        int why = n < 0 ? errno : EIO; /* nothing written and no reason: EIO */

        if (n > 0) {
            *done += (size_t)n;
            in_vain = 0;
        } else if (why == EAGAIN && wait_for_room(f->fd)) {
            continue;
        } else if ((why != EINTR && why != EAGAIN) || ++in_vain == WRITE_TRIES) {
            return err_cannot(e, "write", f->path, why);
        }
    }
    return true;
}

bool file_write_limited(struct file *f, struct str bytes, size_t *done, struct err *e)
{
    const struct sigaction ignore = { .sa_handler = SIG_IGN };
    struct sigaction before;
    bool ok;

    sigaction(SIGXFSZ, &ignore, &before);
    ok = file_write(f, bytes, done, e);
    sigaction(SIGXFSZ, &before, NULL);
    return ok;
}

bool file_can_modify(const struct sys *sys, const char *path, struct err *e)
{
    int fd = sys_retry_open(sys, path, O_WRONLY | O_NONBLOCK, 0);

    if (fd < 0)
        return err_cannot(e, "write", path, errno);
    sys->close(sys, fd);
    return true;
}

bool file_copy_owner_and_mode(struct file *to, struct file *from, struct err *e)
{
    const mode_t permissions = 0777;
    struct stat old, new;

    if (sys_retry_fstat(from->sys, from->fd, &old) != 0)
        return err_cannot(e, "read", from->path, errno);
    if (sys_retry_fstat(to->sys, to->fd, &new) != 0)
        return err_cannot(e, "write", to->path, errno);
    if ((old.st_uid != new.st_uid || old.st_gid != new.st_gid) &&
        sys_retry_fchown(to->sys, to->fd, old.st_uid, old.st_gid) != 0)
        return err_cannot(e, "keep the owner of", to->path, errno);
    return sys_retry_fchmod(to->sys, to->fd, old.st_mode & permissions) == 0 ||
           err_cannot(e, "keep the permissions of", to->path, errno);
}

bool file_read_version(struct file *f, struct file_version *v, struct err *e)
{
    struct stat st;

    if (sys_retry_fstat(f->sys, f->fd, &st) != 0)
        return err_cannot(e, "read", f->path, errno);
    *v = (struct file_version){ st.st_dev, st.st_ino, st.st_size, st.st_mtim };
    return true;
}

bool file_is_same_version(const struct file_version *a, const struct file_version *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->modified.tv_sec == b->modified.tv_sec &&
           a->modified.tv_nsec == b->modified.tv_nsec;
}

bool file_has_version(const struct sys *sys, const char *path, const struct file_version *v)
{
    struct err ignored = ERR_NONE;
    struct file_version now = { .size = 0 };
    struct file f;
    bool same;

    if (!file_open(&f, sys, path, &ignored))
        return false;
    same = file_read_version(&f, &now, &ignored) && file_is_same_version(&now, v);
    file_close(&f, &ignored);
    return same;
}

bool file_sync(struct file *f, struct err *e)
{
    return sys_retry_fdatasync(f->sys, f->fd) == 0 || err_cannot(e, "sync", f->path, errno);
}

bool file_truncate(struct file *f, uint64_t len, struct err *e)
{
    if (len > INT64_MAX)
        return err_cannot(e, "truncate", f->path, EFBIG);
    return sys_retry_ftruncate(f->sys, f->fd, (off_t)len) == 0 ||
           err_cannot(e, "truncate", f->path, errno);
}

bool file_size(struct file *f, uint64_t *size, struct err *e)
{
    struct stat st;

    if (sys_retry_fstat(f->sys, f->fd, &st) != 0)
        return err_cannot(e, "read", f->path, errno);
    *size = (uint64_t)st.st_size;
    return true;
}

bool file_close(struct file *f, struct err *e)
{
    int fd = f->fd;

    f->fd = -1;
    if (fd < 0 || f->path == standard_input || f->path == standard_output)
        return true;
    /* After EINTR the descriptor is closed; a second close() could hit a descriptor of another
     * thread. */
    if (f->sys->close(f->sys, fd) < 0 && errno != EINTR)
        return err_cannot(e, "close", f->path, errno);
    return true;
}

/* As much as the buffer takes; then one byte more would be too much. */
static bool read_to_end(struct buf *to, struct file *f, struct err *e)
{
    size_t got = 0;

    do {
        size_t room = to->full ? 0 : to->max - to->len;
        size_t ask = room < READ_CHUNK ? room : READ_CHUNK;
        char extra;

        if (ask) {
            if (!file_read(f, buf_reserve(to, ask), ask, &got, e))
                return false;
            buf_commit(to, got);
            continue;
        }
        if (!file_read(f, &extra, 1, &got, e))
            return false;
        buf_add(to, str_n(&extra, got));
        if (!buf_ok(to, e))
            return err_wrap(e, "cannot read '%s'", f->path);
    } while (got);
    return true;
}

bool file_read_all(struct buf *to, const struct sys *sys, const char *path, struct err *e)
{
    struct file f = FILE_CLOSED;
    struct err ignored; /* nothing is lost when closing a file that was read */
    bool ok;

    if (!file_open(&f, sys, path, e))
        return false;
    ok = read_to_end(to, &f, e);
    file_close(&f, &ignored);
    return ok;
}

bool file_read_at(struct file *f, uint64_t at, char *to, size_t len, struct err *e)
{
    while (len) {
        ssize_t n = f->sys->pread(f->sys, f->fd, to, len, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_cannot(e, "read", f->path, errno);
        if (n == 0)
            return err_set(e, ERR_IO, "cannot read '%s': it has become shorter", f->path);
        to += n;
        at += (uint64_t)n;
        len -= (size_t)n;
    }
    return true;
}

/* Where a file system knows no files without a name: it has one for a moment. */
static bool create_and_unlink(int *fd, const struct sys *sys, const char *dir, struct err *e)
{
    char name[PATH_MAX];

    snprintf(name, sizeof name, "%s/.mcpreel-%ld", dir, (long)getpid());
    *fd = sys_retry_open(sys, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (*fd < 0)
        return err_cannot(e, "make a temporary file in", dir, errno);
    if (sys_retry_unlink(sys, name) == 0)
        return true;
    err_cannot(e, "remove", name, errno);
    sys->close(sys, *fd);
    return false;
}

bool file_create_unnamed(struct file *f, const struct sys *sys, const char *dir, struct err *e)
{
    int fd = sys_retry_open(sys, dir, O_RDWR | O_TMPFILE, 0600);

    if (fd < 0 && errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
        return err_cannot(e, "make a temporary file in", dir, errno);
    if (fd < 0 && !create_and_unlink(&fd, sys, dir, e))
        return false;
    *f = (struct file){ .sys = sys, .path = dir, .fd = fd };
    return true;
}
