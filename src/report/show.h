/* report/show.h - reads a recording and writes the rows that match a filter.
 *
 * Keeps of a message only the text that its row shows. Knows no command line, environment or
 * event loop: see struct show_output and struct show_follow. */
#ifndef REPORT_SHOW_H
#define REPORT_SHOW_H

#include "base/log.h"
#include "report/show-select.h"

/* Destination and style of the rows. Borrowed. */
struct show_output {
    /* Writes all bytes. If the reader closed the pipe, sets `*gone` and returns true. */
    bool (*write)(const void *arg, struct str bytes, bool *gone, struct err *e);
    const void *arg;
    const struct log *log; /* borrowed */
    bool json;
    bool color;
    bool flush_rows;    /* write each row at once instead of in large pieces */
    bool show_progress; /* draw progress on the terminal of the log */
    size_t columns;     /* of the terminal; 0: rows are not cut */
};

/* How to follow a file that is being recorded: until its footer is read, its recorder exits or
 * wait() returns false. */
struct show_follow {
    bool (*wait)(void *arg); /* blocks for a moment; false: the user stopped it */
    void *arg;
};

struct show_options {
    struct show_select target;
    const struct filter *filter;      /* NULL: matches everything */
    bool messages;                    /* list messages instead of operations */
    bool raw;                         /* write the recorded bytes of messages */
    const struct show_follow *follow; /* NULL: read the file once */
    uint64_t count, last;             /* show at most the first or the last so many; 0: all */
};

bool show_run(const struct sys *sys, const struct show_output *output,
              const struct show_options *options, struct err *e) MUST_CHECK;

#endif
