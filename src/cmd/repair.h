/* cmd/repair.h - writes a repaired copy of a recording.
 *
 * A sink for the records of the file. Writes the same format unless told otherwise: with a
 * header and a footer, rising numbers, and nothing after the footer. Messages are not changed.
 * Repairing a repaired copy gives the same file. */
#ifndef CMD_REPAIR_H
#define CMD_REPAIR_H

#include "format/writer.h"
#include "report/inspect-file.h"
#include "runtime/app.h"
#include "trace/combine.h"
#include "trace/loss.h"

struct repair {
    struct sink sink;                   /* put records here */
    struct sink repaired;               /* receives the output of combine */
    const struct app *app;              /* borrowed, as is all that follows */
    const struct inspect_file *file;    /* the input; its format is known when records arrive */
    const char *path;                   /* the output */
    const struct format *target_format; /* NULL: the format of the input */
    bool replace;
    struct combine combine;
    struct stats remaining; /* findings about the copy; complete after repair_finish() */
    struct loss loss;       /* records that the format cannot keep */
    struct writer writer;
    bool open;
};

void repair_init(struct repair *r, const struct app *app, const struct inspect_file *file,
                 const char *path, bool replace);
void repair_release(struct repair *r); /* without repair_finish() there is no copy */

/* Completes the copy after the last record. */
bool repair_finish(struct repair *r, struct err *e) MUST_CHECK;

#endif
