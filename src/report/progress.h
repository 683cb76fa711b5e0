/* report/progress.h - draws the progress of a long command on one line of the terminal.
 *
 * Draws only after half a second and at most ten times a second; removes the line at the end.
 * Meanwhile log through progress_log(), which removes the line first; before other output to
 * the same terminal call progress_clear(). */
#ifndef REPORT_PROGRESS_H
#define REPORT_PROGRESS_H

#include <stdint.h>

#include "base/log.h"

struct progress {
    struct log log;          /* removes the line, then writes to `inner` */
    const struct log *inner; /* borrowed */
    int64_t (*clock)(void);  /* microseconds */
    const char *action, *subject;
    uint64_t total;      /* bytes; 0: unknown. May be set at any time */
    uint64_t next_check; /* bytes done before the clock is read again */
    int64_t started_us, drawn_us;
    size_t width; /* of the drawn line; 0: none is drawn */
    bool enabled;
};

/* Lines go to `log`, which writes to the terminal; without `enabled` none is drawn. `log`,
 * `action` ("reading") and `subject` ("session.jsonl") are borrowed. */
void progress_init(struct progress *p, const struct log *log, bool enabled, const char *action,
                   const char *subject);

/* Sets the bytes done; cheap enough to call for each record. */
void progress_update(struct progress *p, uint64_t done);

/* Remove the line: until the next update, or for good. */
void progress_clear(struct progress *p);
void progress_end(struct progress *p);

static inline const struct log *progress_log(const struct progress *p)
{
    return &p->log;
}

#endif
