/* trace/loss.h - counts what a format cannot store of the records written in it.
 *
 * A sink that counts by feature. Only what the source had can be lost: a direction that was
 * guessed, because the source file does not say it, is no loss. A format stores everything that
 * was read from it, also if it was converted to a recording in between: the header then names
 * the source, and the exchanges have no times. Unknown members are stored by the format they
 * came from only. */
#ifndef TRACE_LOSS_H
#define TRACE_LOSS_H

#include "trace/features.h"
#include "trace/pairing.h"
#include "json/write.h"

struct loss {
    struct sink sink;      /* put records here */
    unsigned keeps;        /* enum feature: kept by the format written */
    unsigned source_keeps; /* kept by the source of the next records; may change */
    bool same_format;      /* the source has the format written; may change */
    struct str name;       /* of the format written; empty: never a source */
    uint64_t count[FEATURE_COUNT];
    uint64_t unknown_lines; /* lines of unknown types: no format keeps them */
    uint64_t unread_values; /* lost by the reader, whatever is written */

    /* Private. */
    bool from_same_format;    /* the header says that it was converted from this format */
    bool has_conn;            /* `first_conn` is set */
    uint64_t first_conn;      /* connection of the first record that has one */
    bool stderr_in_line;      /* standard error ends inside a line */
    uint64_t client_messages; /* the client's requests and notifications */
    struct pairing pairs;
    struct arena arena;
};

void loss_init(struct loss *l, unsigned keeps);
void loss_release(struct loss *l);

bool loss_is_any(const struct loss *l);

/* Appends "12 lines of standard error, the recording's name". */
void loss_add_text(struct buf *to, const struct loss *l);

/* Writes {"stderr":12,"name":1}. */
void loss_write_json(struct json_out *o, const struct loss *l);

#endif
