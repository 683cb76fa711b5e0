/* loop/patience.h - how long a process may take to end.
 *
 * From the end of its stdin to SIGKILL fits in the 2 s that MCP clients wait before
 * they turn to signals, unless the machine has no time for the process. Whoever ends a process
 * keeps to these, so that it makes no difference to it who does. */
#ifndef LOOP_PATIENCE_H
#define LOOP_PATIENCE_H

enum {
    PATIENCE_QUIET_MS = 800,   /* after the end of its stdin, without a word from it */
    PATIENCE_UNREAD_MS = 2000, /* the same, talking, once no client reads its output */
    PATIENCE_BUSY_MS = 4000,   /* at most so much longer if it gets no processor */
    PATIENCE_TERM_MS = 500,    /* from SIGTERM to SIGKILL */
};

#endif
