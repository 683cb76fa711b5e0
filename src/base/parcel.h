/* base/parcel.h - the lines of one write to a file.
 *
 * After a write that failed, the lines that reached the file whole are taken out; the rest is
 * written again, in the same order. Does no I/O. */
#ifndef BASE_PARCEL_H
#define BASE_PARCEL_H

#include "base/backlog.h"
#include "base/buf.h"

struct parcel {
    struct buf text;
    size_t written; /* so many bytes of it: whole lines, taken out */
    size_t torn; /* so many bytes of the next line are in the file and could not be cut off */
    struct parcel_line {
        enum parcel_kind {
            PARCEL_TEXT, /* header or footer of a file: no record */
            PARCEL_LINE, /* a record */
            PARCEL_GAP,  /* gap lines that report `told` */
        } kind;
        struct backlog_line line; /* of its text only the length */
        struct backlog_loss told;
    } * lines;
    size_t first, count, cap; /* those before `first` are written */
};

void parcel_init(struct parcel *p);
void parcel_release(struct parcel *p);
void parcel_clear(struct parcel *p);

void parcel_add(struct parcel *p, struct str text);
/* False: it is large, and there is no memory for it. */
bool parcel_add_line(struct parcel *p, const struct backlog_line *line) MUST_CHECK;
/* All lines at once, with the buffer that holds their texts one behind the other; `p` must be
 * empty. parcel_give_back() returns the buffer, empty, and clears `p`. */
void parcel_own(struct parcel *p, struct buf *text, const struct backlog_line *lines,
                size_t count);
void parcel_give_back(struct parcel *p, struct buf *text);
void parcel_add_gap(struct parcel *p, struct str text, const struct backlog_loss *told);

/* The file has the first `done` bytes of the text. Takes the next line out if it is whole among
 * them and returns it, else NULL. */
const struct parcel_line *parcel_advance(struct parcel *p, size_t done);

/* The text of the lines that are not taken out. */
struct str parcel_text(const struct parcel *p);

/* The line that is next, NULL if there is none. */
const struct parcel_line *parcel_next(const struct parcel *p);

/* Adds the records that are not written to `lost`, and what unwritten gaps would have reported
 * to `untold`. */
void parcel_losses(const struct parcel *p, struct backlog_loss *lost,
                   struct backlog_loss *untold);

#endif
