/* format/shelf-file.h - a recording on disk as the shelf of its own messages.
 *
 * A message that stands in the file as it is is read from there again. What does not
 * (the file is packed, or its format keeps messages in another form), and what is no
 * message, is copied to a nameless temporary file, in TMPDIR. Memory does not grow with the
 * recording: what was fetched lately is kept, so much and no more. */
#ifndef FORMAT_SHELF_FILE_H
#define FORMAT_SHELF_FILE_H

#include "base/ahead.h"
#include "base/log.h"
#include "base/recent.h"
#include "format/reader.h"
#include "trace/shelf.h"

struct shelf_file {
    struct shelf shelf;
    const struct sys *sys;
    const char *tmp; /* borrowed: the folder for the copy */
    struct reader *reader;
    struct file copy;
    uint64_t copied;    /* bytes in it, with those that wait */
    struct buf waiting; /* to be written to it */
    struct ahead again; /* by which it is read */
    struct recent recent;
};

/* As reader_open(); `tmp` is where a copy would go, borrowed. */
bool shelf_file_open(struct shelf_file *f, const struct sys *sys, const char *path,
                     const char *tmp, const struct log *log, struct err *e) MUST_CHECK;
void shelf_file_close(struct shelf_file *f);

/* Every record into a sink, which may keep messages here. */
bool shelf_file_pour(struct shelf_file *f, struct sink *to, struct err *e) MUST_CHECK;

#endif
