/* runtime/record-stdio.h - records the session of a stdio client with a stdio server, through a
 * relay.
 *
 * A problem with the recording never stops the session or changes a byte of it. */
#ifndef RUNTIME_RECORD_STDIO_H
#define RUNTIME_RECORD_STDIO_H

#include "runtime/record-output.h"

/* Runs until the server has exited. Returns its exit code, the code of `*e` if there was no
 * session, or RECORD_OUTPUT_FAILED. */
int record_stdio_run(const struct app *app, struct record_path *target,
                     const struct record_settings *settings, struct err *e);

/* Returns the exit code for a server that could not be started: 127 not found, 126 not
 * executable, as in shells; else the code of the error. */
int record_stdio_start_exit_code(int errnum, const struct err *e);

#endif
