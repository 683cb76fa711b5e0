/* runtime/record-report.h - writes the result of a recording session as JSON.
 *
 * The object is described in docs/json-output.md, "record". */
#ifndef RUNTIME_RECORD_REPORT_H
#define RUNTIME_RECORD_REPORT_H

#include "base/buf.h"
#include "trace/loss.h"

/* All texts are borrowed. */
struct record_report {
    int exit_code;           /* of the session */
    const char *file;        /* the recording; NULL: none was made */
    const char *format;      /* its name */
    unsigned parts;          /* files of the recording; 0: none was made */
    uint64_t messages;       /* seen, also those that are not in the recording */
    uint64_t lost;           /* of these: could not be written */
    uint64_t too_long;       /* of these: longer than --max-message */
    bool complete;           /* all that was seen is in `file` */
    const char *rest;        /* the file that has what `file` lacks; NULL: there is none */
    const char *note;        /* about the end of the session; may be NULL */
    const struct loss *loss; /* what the format cannot store */
};

/* Appends one object and a newline. */
void record_report_write(const struct record_report *report, struct buf *to);

#endif
