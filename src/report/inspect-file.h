/* report/inspect-file.h - reads a whole file into statistics. */
#ifndef REPORT_INSPECT_FILE_H
#define REPORT_INSPECT_FILE_H

#include "format/reader.h"
#include "ops/stats.h"

/* A file, and its properties other than its records. */
struct inspect_file {
    const char *path;
    const char *format; /* name of the format; set as soon as it is known */
    uint64_t bytes, notes;
    bool show_progress;          /* input: draw progress on the terminal of the log */
    bool salvage;                /* input: skip damaged parts, see format/reader.h */
    bool find_lines;             /* input: set the lines of messages */
    struct reader_damage damage; /* the skipped parts */
};

/* Puts every record into `s` and then into `also`, which may be NULL. Sets the other members of
 * `file`. */
bool inspect_file_read(struct inspect_file *file, const struct sys *sys, const struct log *log,
                       struct stats *s, struct sink *also, struct err *e) MUST_CHECK;

#endif
