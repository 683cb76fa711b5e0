#include "program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/dispatch.h"
#include "test.h"

enum { MAX_WORDS = 32 };

static _Noreturn void run_child(const struct sys *sys, const char *const *words)
{
    struct dispatch d = { .sys = sys ? sys : &sys_real,
                          .commands = command_table,
                          .env = environ };
    char *argv[MAX_WORDS + 2] = { (char *)(uintptr_t) "mcpreel" };
    int argc = 1;

    for (; words[argc - 1]; argc++) {
        BUG_IF(argc > MAX_WORDS);
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    }
    log_init_fd(&d.log, STDERR_FILENO, LOG_INFO, false);
    exit(dispatch_run(&d, argc, argv));
}

static void set_up_pipes(int fds[3][2])
{
    for (int i = 0; i < 3; i++)
        assert_int_equal(pipe2(fds[i], O_CLOEXEC), 0);
}

/* Writes and reads at once, so that neither side blocks. */
static void exchange_streams(struct program *p, int in, int out, int err, struct str bytes)
{
    struct pollfd fds[] = { { in, POLLOUT, 0 }, { out, POLLIN, 0 }, { err, POLLIN, 0 } };
    struct buf *to[] = { NULL, &p->out, &p->err };
    char chunk[4096];

    assert_int_equal(fcntl(in, F_SETFL, O_NONBLOCK), 0);
    while (fds[1].fd >= 0 || fds[2].fd >= 0) {
        if (!bytes.len && fds[0].fd >= 0) {
            close(in);
            fds[0].fd = -1;
        }
        assert_true(poll(fds, 3, -1) > 0);
        if (fds[0].fd >= 0 && fds[0].revents) {
            ssize_t n = write(in, bytes.at, bytes.len);
            bytes = n < 0 ? STR_NONE : str_skip(bytes, (size_t)n);
        }
        for (int i = 1; i < 3; i++) {
            ssize_t n =
                fds[i].fd >= 0 && fds[i].revents ? read(fds[i].fd, chunk, sizeof chunk) : -1;
            if (n > 0)
                buf_add(to[i], str_n(chunk, (size_t)n));
            else if (n == 0)
                fds[i].fd = -1;
        }
    }
    if (fds[0].fd >= 0)
        close(in);
}

void program_run(struct program *p, const struct sys *sys, const char *const *words,
                 struct str in)
{
    void (*before)(int);
    int fds[3][2], status;
    pid_t child;

    buf_init(&p->out, (size_t)1 << 24);
    buf_init(&p->err, (size_t)1 << 24);
    set_up_pipes(fds);
    fflush(stdout); /* or the child would write it once more */
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(fds[0][0], STDIN_FILENO);
        dup2(fds[1][1], STDOUT_FILENO);
        dup2(fds[2][1], STDERR_FILENO);
        for (int i = 0; i < 6; i++)
            close(fds[i / 2][i % 2]);
        run_child(sys, words);
    }
    close(fds[0][0]);
    close(fds[1][1]);
    close(fds[2][1]);
    before = signal(SIGPIPE, SIG_IGN); /* it may end without reading all */
    exchange_streams(p, fds[0][1], fds[1][0], fds[2][0], in);
    signal(SIGPIPE, before);
    close(fds[1][0]);
    close(fds[2][0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    p->code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void program_release(struct program *p)
{
    buf_release(&p->out);
    buf_release(&p->err);
}
