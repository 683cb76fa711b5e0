#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "cmd/dispatch.h"

/* Whoever starts us may have closed a standard stream; the next file opened would
 * take its place and receive what is meant for it. The stand-in is opened the wrong
 * way round, so that using it is still an error. */
static bool occupy_standard_streams(void)
{
    static const int wrong_way[] = { O_WRONLY, O_RDONLY, O_RDONLY };

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", wrong_way[fd]) != fd)
            return false;
    return true;
}

/* Of a terminal; 0 if it does not say. */
static size_t columns_of(int fd)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int main(int argc, char **argv)
{
    struct dispatch d = { .sys = &sys_real, .commands = commands, .env = environ };

    if (!occupy_standard_streams())
        return EXIT_IO;
    d.out_is_tty = isatty(STDOUT_FILENO);
    d.out_columns = d.out_is_tty ? columns_of(STDOUT_FILENO) : 0;
    d.err_is_tty = isatty(STDERR_FILENO);
    log_init_fd(&d.log, STDERR_FILENO, LOG_INFO, false);
    return dispatch_run(&d, argc, argv);
}
