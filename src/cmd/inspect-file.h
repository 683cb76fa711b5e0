/* cmd/inspect-file.h - a file read to its end for its statistics. */
#ifndef CMD_INSPECT_FILE_H
#define CMD_INSPECT_FILE_H

#include "cmd/app.h"
#include "engine/stats.h"
#include "format/reader.h"

/* What is known of the file besides its records. */
struct inspect_file {
    const char *path;
    const char *format; /* its name; set as soon as it is known */
    uint64_t bytes, remarks;
    bool salvage;                /* set before: it is to be repaired, see format/reader.h */
    struct reader_damage damage; /* what was left out for that */
};

/* Pours all records into `s`, and then each into `also` if there is one. The rest of
 * `file` is filled in. */
bool inspect_file_read(const struct app *app, struct inspect_file *file, struct stats *s,
                       struct sink *also, struct err *e) MUST_CHECK;

#endif
