/* cmd/hearing.h - what a stdio peer says, line by line, told to an engine as records. */
#ifndef CMD_HEARING_H
#define CMD_HEARING_H

#include "cmd/drive.h"
#include "trace/intake.h"

struct hearing {
    struct sink records;
    struct drive *drive; /* borrowed */
    enum event_kind as;
    enum record_dir dir;
    struct intake intake;
};

/* Every record is an event of the kind `as`. */
void hearing_init(struct hearing *h, struct drive *drive, enum event_kind as,
                  enum record_dir dir);
void hearing_release(struct hearing *h);

void hearing_line(struct hearing *h, struct str line);

/* One that was not kept: a client may wait for an answer, and is told as noise. */
void hearing_too_long(const struct hearing *h, uint64_t bytes);

#endif
