/* cmd/repair.h - a file written again as it should be: a sink for its records.
 *
 * Writes the same format unless told otherwise, through its own writer: with a header and a
 * footer, numbers that rise, and nothing after the end. What the messages say stays as it is.
 * The copy of a copy is the same. */
#ifndef CMD_REPAIR_H
#define CMD_REPAIR_H

#include "cmd/inspect-file.h"
#include "format/writer.h"
#include "trace/join.h"
#include "trace/loss.h"

struct repair {
    struct sink sink;                /* put records here */
    struct sink mended;              /* what comes out of join */
    const struct app *app;           /* borrowed, as is all that follows */
    const struct inspect_file *file; /* what is read; its format is known when records come */
    const char *path;                /* what is written */
    const struct format *as;         /* in another format than was read; NULL: in the same */
    bool replace;
    struct join join;
    struct stats left; /* what is odd even so; complete after repair_finish() */
    struct loss loss;  /* what was read and cannot be written */
    struct writer writer;
    bool open;
};

void repair_init(struct repair *r, const struct app *app, const struct inspect_file *file,
                 const char *path, bool replace);
void repair_release(struct repair *r); /* without repair_finish() there is no copy */

/* All records have come: the copy is there. */
bool repair_finish(struct repair *r, struct err *e) MUST_CHECK;

#endif
