/* loop/program.h - runs another program with one pipe, without the event loop, and waits for
 * it.
 *
 * For a command that does nothing else meanwhile: a pager, git. The program is found in PATH
 * and has our standard streams except the one on the pipe. It runs with default signal
 * handling. */
#ifndef LOOP_PROGRAM_H
#define LOOP_PROGRAM_H

#include "base/buf.h"
#include "base/err.h"

enum program_pipe {
    PROGRAM_STDIN,  /* the program reads what program_write() is given */
    PROGRAM_STDOUT, /* program_read() gets what the program writes; its standard error is
                       dropped */
};

struct program {
    int pid; /* 0: none */
    int fd;  /* our end of the pipe; -1: closed */
};

/* Starts a program. ERR_IO if it cannot be found or started. */
bool program_start(struct program *p, char *const argv[], char *const env[],
                   enum program_pipe pipe, struct err *e) MUST_CHECK;

/* Writes all bytes. Sets `*gone` if the program has closed its end: no error. */
bool program_write(struct program *p, struct str bytes, bool *gone, struct err *e) MUST_CHECK;

/* Reads some bytes; 0 at the end. */
bool program_read(struct program *p, char *to, size_t cap, size_t *got,
                  struct err *e) MUST_CHECK;

/* Closes the pipe and waits. While it waits, an interrupt from the keyboard is the program's
 * alone. Returns the exit code; 128 and the signal if a signal ended it. */
int program_wait(struct program *p);

#endif
