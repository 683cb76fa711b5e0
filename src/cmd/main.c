/* cmd/main.c - runs the program: makes the log and the application, dispatches the
 * command line. */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/dispatch.h"

/* Opens /dev/null for standard streams that are closed: else the next file opened would get
 * their number and their output. It is opened in the wrong mode, so that using it is still an
 * error. */
static bool occupy_standard_streams(void)
{
    static const int wrong_way[] = { O_WRONLY, O_RDONLY, O_RDONLY };

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", wrong_way[fd]) != fd)
            return false;
    return true;
}

/* Returns the width of a terminal; 0 if unknown. */
static size_t columns_of(int fd)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int main(int argc, char **argv)
{
    struct dispatch d = { .sys = &sys_real, .commands = command_table, .env = environ };

    if (!occupy_standard_streams())
        return EXIT_IO;
    d.out_is_tty = isatty(STDOUT_FILENO);
    d.out_columns = d.out_is_tty ? columns_of(STDOUT_FILENO) : 0;
    d.err_is_tty = isatty(STDERR_FILENO);
    log_init_fd(&d.log, STDERR_FILENO, LOG_INFO, false);
    return dispatch_run(&d, argc, argv);
}
