#include "assert-aborts.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static _Noreturn void run_child(void (*act)(void), int err)
{
    const struct rlimit none = { 0, 0 };

    setrlimit(RLIMIT_CORE, &none);
    dup2(err, STDERR_FILENO);
    act();
    _exit(0);
}

void assert_aborts(void (*act)(void), const char *says)
{
    char output[1024];
    size_t len = 0;
    ssize_t n;
    int fds[2], status;
    pid_t child;

    assert_int_equal(pipe(fds), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        run_child(act, fds[1]);
    close(fds[1]);
    while (len < sizeof output - 1 &&
           (n = read(fds[0], output + len, sizeof output - 1 - len)) > 0)
        len += (size_t)n;
    output[len] = '\0';
    close(fds[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
        fail_msg("not aborted, status %d; it said: %s", status, output);
    if (!strstr(output, says))
        fail_msg("said '%s', not '%s'", output, says);
}
