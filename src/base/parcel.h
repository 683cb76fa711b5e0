/* base/parcel.h - lines that go to a file with one write, and what is known of each.
 *
 * A write that failed has often brought some of them there: these are done with, and of
 * the next one it is known how much room there was. Knows no file. */
#ifndef BASE_PARCEL_H
#define BASE_PARCEL_H

#include "base/backlog.h"
#include "base/buf.h"

struct parcel {
    struct buf text; /* what is not in the file, from the start of a line on */
    size_t torn;     /* so much of that is in the file all the same, and could not be cut off */
    struct parcel_line {
        size_t len;               /* of its text */
        struct backlog_loss loss; /* if it is not written; none: nothing can go without it */
        bool account;             /* it says what was lost before: that loss */
    } * lines;
    size_t first, count, cap; /* those before `first` are written */
};

void parcel_init(struct parcel *p);
void parcel_release(struct parcel *p);
void parcel_clear(struct parcel *p);

/* Text that cannot be left out; `line` with its text, which can; how a loss is told. */
void parcel_add(struct parcel *p, struct str text);
void parcel_add_line(struct parcel *p, const struct backlog_line *line);
void parcel_add_account(struct parcel *p, struct str text, const struct backlog_loss *loss);

/* The file has so many bytes of the text. What that makes whole is taken out; the bytes of
 * it are returned, and what is left over of `done` belongs to the line that is next. */
size_t parcel_advance(struct parcel *p, size_t done);

/* The line that is next, NULL if there is none; whether it can be left out. */
const struct parcel_line *parcel_next(const struct parcel *p);
bool parcel_can_skip(const struct parcel *p);

/* Whether any line that is not in the file has so few bytes. */
bool parcel_has_short(const struct parcel *p, size_t max);

/* Takes the next line out; its loss is added to `lost`. Then how that is told can be put
 * in its place. */
void parcel_skip(struct parcel *p, struct backlog_loss *lost);
void parcel_tell_skipped(struct parcel *p, struct str text, const struct backlog_loss *loss);

/* What is lost with all of it, and what would not have been told. */
void parcel_losses(const struct parcel *p, struct backlog_loss *lost,
                   struct backlog_loss *untold);

#endif
