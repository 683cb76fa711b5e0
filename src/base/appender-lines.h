/* base/appender-lines.h - holds the lines of one write until they are in the file.
 *
 * After a failed write, the lines that reached the file whole are removed; the rest is written
 * again, in the same order. Does no I/O. Used by base/appender only. */
#ifndef BASE_APPENDER_LINES_H
#define BASE_APPENDER_LINES_H

#include "base/buf.h"
#include "base/line-queue.h"

struct appender_lines {
    struct buf text;
    size_t written_bytes; /* bytes of `text` that are in the file: whole lines */
    size_t
        torn_bytes; /* bytes of the next line that are in the file and could not be cut off */
    struct appender_line {
        enum appender_line_kind {
            APPENDER_TEXT,   /* header or footer of a file */
            APPENDER_RECORD, /* a record */
            APPENDER_GAP,    /* gap lines, which report `reported` */
        } kind;
        struct line_queue_line line; /* text.at is NULL, text.len is set */
        struct line_queue_loss reported;
    } * lines;
    size_t first, count, cap; /* lines before `first` are written */
};

void appender_lines_init(struct appender_lines *p);
void appender_lines_release(struct appender_lines *p);
void appender_lines_clear(struct appender_lines *p);

void appender_lines_add_text(struct appender_lines *p, struct str text);
/* Returns false if the line is large and there is no memory for it. */
bool appender_lines_add_record(struct appender_lines *p,
                               const struct line_queue_line *line) MUST_CHECK;
/* Adds records whose texts are, in order, the content of `text`, and takes the memory of
 * `text`. Must be empty before. appender_lines_return() clears it and gives the memory back,
 * emptied. */
void appender_lines_adopt(struct appender_lines *p, struct buf *text,
                          const struct line_queue_line *lines, size_t count);
void appender_lines_return(struct appender_lines *p, struct buf *text);
void appender_lines_add_gap(struct appender_lines *p, struct str text,
                            const struct line_queue_loss *reported);

/* Removes and returns the next line if the first `done` bytes of the unwritten text contain all
 * of it; else returns NULL. */
const struct appender_line *appender_lines_advance(struct appender_lines *p, size_t done);

/* Returns the text of the lines that are not removed. */
struct str appender_lines_unwritten(const struct appender_lines *p);

/* Returns the next line; NULL if there is none. */
const struct appender_line *appender_lines_next(const struct appender_lines *p);

/* Adds unwritten records to `lost` and what unwritten gap lines would have reported to
 * `untold`. */
void appender_lines_add_losses(const struct appender_lines *p, struct line_queue_loss *lost,
                               struct line_queue_loss *untold);

#endif
