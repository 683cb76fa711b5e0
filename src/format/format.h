/* format/format.h - what a file format must provide, and the table of them.
 *
 * A format does no I/O. Reading: it is shown a window on the file and takes the
 * next record off its front. Writing: it appends text to a buffer, with each record
 * or, if it is one document, at the end. A new format is one file and one row in
 * the table. */
#ifndef FORMAT_FORMAT_H
#define FORMAT_FORMAT_H

#include "base/buf.h"
#include "trace/part.h"

enum next {
    NEXT_RECORD,
    NEXT_SKIP, /* took something off the front that makes no record: call again */
    NEXT_MORE, /* the window is too small; only while it is not the last */
    NEXT_END,
    NEXT_ERROR,
};

/* Where remarks about odd but usable input go. `byte` counts from 1 in the line. */
struct notes {
    void (*put)(struct notes *self, uint64_t line, uint64_t byte, const char *text);
};

/* What is shown stays where it is, even once it is taken, until more is asked for. */
struct window {
    struct str bytes; /* the file from the current position on */
    bool last;        /* nothing follows these bytes */
    uint64_t line;    /* number of the line the position is in, from 1 */
    const char *path; /* for messages */
    struct notes *notes;
};

/* What a call to next() did with the window. */
struct taken {
    size_t bytes; /* off the front; also when asking for more */
    size_t lines; /* newlines among them */
    size_t want;  /* NEXT_MORE: how many bytes to show at least; 0: simply more */
    bool refused; /* NEXT_ERROR: not damage, the file is none that can be read */
};

struct format {
    const char *name, *about;
    const char *ext[4]; /* NULL-ended; the first is used when saving */
    unsigned keeps;     /* enum part: what survives writing and reading again */
    bool lines;         /* put() makes whole lines, and nothing is left after a footer: a file
                         * may grow by them while things happen */

    /* Is a file that starts so ours? */
    bool (*probe)(struct str head);

    /* Reading. NULL in a format that is only written. */
    void *(*open)(void); /* the reader's own state */
    enum next (*next)(void *state, const struct window *w, struct taken *t, struct record *r,
                      struct err *e);
    void (*close)(void *state);

    /* After an error: whatever it was in the middle of is let go, and reading goes on
     * with another line. NULL in a format that is one document. */
    void (*drop)(void *state);

    /* Writing. NULL in a format that is only read; `begin` and `end` also where
     * nothing has to be remembered between records. */
    void *(*begin)(void); /* the writer's own state */
    void (*put)(void *state, struct buf *to, const struct record *r);
    void (*end)(void *state, struct buf *to); /* what is left to write; frees the state */

    /* Whether end() would write nothing but metadata; no put() follows. NULL in a format of
     * lines. */
    bool (*is_empty)(void *state);
};

/* The only list of formats, NULL-ended, in probe order. */
extern const struct format *const format_table[];
extern const struct format cassette_format;
extern const struct format jsonrpc_format;
extern const struct format recording_format;
extern const struct format trace_format;

const struct format *format_by_name(struct str name); /* NULL if unknown */

/* The format that a file of that name is written in: the longest extension decides, with
 * or without that of a packed file after it. NULL if there is none. */
const struct format *format_by_path(struct str path);

/* An error at a place in the window: "PATH:LINE:BYTE: text", `at` counted from the
 * front of the window. Returns NEXT_ERROR. */
enum next format_error(const struct window *w, size_t at, struct err *e, const char *fmt, ...)
    PRINTF(4, 5);

/* A file is of one format: an error if another one claims a value that stands in it,
 * true then. */
bool format_is_foreign(const struct window *w, const struct format *own, struct json_val v,
                       struct err *e);

/* A remark on a place in the window, in the same way. */
void format_note(const struct window *w, size_t at, const char *fmt, ...) PRINTF(3, 4);

#endif
