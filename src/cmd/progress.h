/* cmd/progress.h - a line on standard error that says how far a long command is.
 *
 * Only for a terminal, only after half a second, at most ten times a second, and gone
 * at the end. Whoever talks meanwhile must use progress_log(), which takes the line
 * away first; whoever writes to the same terminal, progress_wipe(). */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include <stdint.h>

#include "cmd/app.h"

struct progress {
    struct log log;         /* wraps `to` */
    const struct log *to;   /* borrowed */
    int64_t (*clock)(void); /* microseconds */
    const char *doing, *subject;
    uint64_t total; /* bytes; 0: not known. May be set at any time */
    uint64_t next;  /* the clock is not asked before so many are done */
    int64_t started_us, drawn_us;
    size_t width; /* columns on the terminal now; 0: nothing is shown */
    bool on;
};

/* `doing` and `subject` are borrowed: "reading", "session.jsonl". */
void progress_init(struct progress *p, const struct app *app, const char *doing,
                   const char *subject);

/* So many bytes are done; cheap enough to be called for each record. */
void progress_at(struct progress *p, uint64_t done);

/* Takes the line away, until it is drawn again; for good. */
void progress_wipe(struct progress *p);
void progress_end(struct progress *p);

static inline const struct log *progress_log(const struct progress *p)
{
    return &p->log;
}

#endif
