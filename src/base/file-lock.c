#include "base/file-lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>

#include "base/file.h"

enum {
    TRIES = 10,         /* another process may replace the file again and again */
    PROC_MAX = 4 << 20, /* bytes of /proc/locks */
    COMMAND_MAX = 256,
};

void file_lock_acquire(const struct sys *sys, int fd)
{
    sys->flock(sys, fd, LOCK_EX | LOCK_NB);
}

/* Returns whether the open file is the one at `path`. If there is no descriptor left to check,
 * it is: that is no sign of another process. */
static bool has_path(const struct sys *sys, const struct stat *open, const char *path)
{
    struct stat now;
    int fd = sys_retry_open(sys, path, O_PATH | O_NOFOLLOW, 0);
    bool same = fd < 0 && (errno == EMFILE || errno == ENFILE);

    same = same || (fd >= 0 && sys_retry_fstat(sys, fd, &now) == 0 &&
                    now.st_ino == open->st_ino && now.st_dev == open->st_dev);

    if (fd >= 0)
        sys->close(sys, fd);
    return same;
}

/* Returns why it cannot be locked, 0 if it is. ESTALE: the path is gone or names another
 * file. */
static int lock_fd(const struct sys *sys, int fd, const char *path)
{
    struct stat st;

    if (sys_retry_fstat(sys, fd, &st) != 0)
        return errno;
    if (!S_ISREG(st.st_mode))
        return EINVAL;
    if (sys->flock(sys, fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return EBUSY;
    return has_path(sys, &st, path) ? 0 : ESTALE;
}

bool file_lock_created(const struct sys *sys, int fd, const char *path)
{
    return lock_fd(sys, fd, path) == 0;
}

int file_lock_open(const struct sys *sys, const char *path)
{
    for (int i = 0; i < TRIES; i++) {
        int fd = sys_retry_open(sys, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0), why;

        if (fd < 0)
            return -1;
        why = lock_fd(sys, fd, path);
        if (!why)
            return fd;
        sys->close(sys, fd);
        errno = why;
        if (why != ESTALE)
            return -1;
    }
    return -1;
}

int file_lock_reserve(const struct sys *sys, const char *path)
{
    int fd = file_lock_open(sys, path);

    if (fd < 0 || sys->flock(sys, fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return fd;
    sys->close(sys, fd);
    errno = EBUSY;
    return -1;
}

bool file_lock_is_held(const struct sys *sys, const char *path)
{
    int fd =
        sys_retry_open(sys, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0); /* it may be a FIFO */
    bool held;

    if (fd < 0)
        return false;
    held = sys->flock(sys, fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    sys->close(sys, fd);
    return held;
}

static struct str next_word(struct str *line)
{
    struct str word;

    do
        word = str_cut(line, ' ');
    while (!word.len && line->len);
    return word;
}

/* Reads the decimal digits at the end of a word; 0: there are none. */
static uint64_t last_number(struct str word)
{
    uint64_t number = 0, scale = 1;

    for (; word.len && word.at[word.len - 1] >= '0' && word.at[word.len - 1] <= '9';
         word.len--, scale *= 10)
        number += scale * (uint64_t)(word.at[word.len - 1] - '0');
    return number;
}

/* Returns the process that has locked an inode, or 0. A line of /proc/locks is
 * "1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF", with the process and the inode. The device
 * is not compared: some file systems have another one there than in stat. */
static uint64_t find_holder(struct str locks, ino_t inode)
{
    while (locks.len) {
        struct str line = str_cut(&locks, '\n'), words[6];

        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            words[i] = next_word(&line);
        if (str_eq(words[1], STR("FLOCK")) && last_number(words[5]) == inode)
            return last_number(words[4]);
    }
    return 0;
}

static uint64_t holder_of(const struct sys *sys, const char *path)
{
    int fd = sys_retry_open(sys, path, O_PATH | O_NOFOLLOW, 0);
    struct err ignored = ERR_NONE;
    struct buf locks;
    struct stat st;
    uint64_t pid = 0;

    buf_init(&locks, PROC_MAX);
    if (fd >= 0 && sys_retry_fstat(sys, fd, &st) == 0 &&
        file_read_all(&locks, sys, "/proc/locks", &ignored))
        pid = find_holder(buf_str(&locks), st.st_ino);
    if (fd >= 0)
        sys->close(sys, fd);
    buf_release(&locks);
    return pid;
}

void file_lock_describe_holder(const struct sys *sys, const char *path, struct buf *to)
{
    unsigned long long pid = holder_of(sys, path);
    struct err ignored = ERR_NONE;
    struct buf command;
    char comm[64];

    if (!pid) {
        buf_add(to, STR("another process"));
        return;
    }
    buf_init(&command, COMMAND_MAX);
    snprintf(comm, sizeof comm, "/proc/%llu/comm", pid);
    buf_printf(to, "process %llu", pid);
    if (file_read_all(&command, sys, comm, &ignored) && command.len)
        buf_printf(to, " (%.*s)", STR_ARG(str_trim(buf_str(&command))));
    buf_release(&command);
}
