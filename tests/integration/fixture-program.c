#include <unistd.h>

#include "fake-cli.h"

int main(int argc, char **argv)
{
    struct dispatch d = { .sys = &sys_real, .commands = fake_cli_commands, .env = environ };

    log_init_fd(&d.log, STDERR_FILENO, LOG_INFO, false);
    return dispatch_run(&d, argc, argv);
}
