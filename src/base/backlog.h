/* base/backlog.h - lines that wait in memory, so many and no more.
 *
 * When there is no room for another one the oldest go, and are counted: by lane, so that
 * it can be told whose they were. One that is too large for all of it is kept when it is
 * alone. */
#ifndef BASE_BACKLOG_H
#define BASE_BACKLOG_H

#include <stdint.h>

#include "base/str.h"

enum { BACKLOG_LANES = 3 };

struct backlog_line {
    struct str text; /* ends in a newline */
    unsigned lane;
    uint64_t messages, bytes; /* what is lost with it, in the owner's own terms */
    int64_t us;               /* when; rises */
};

/* Lines that are lost, or would be. */
struct backlog_loss {
    struct {
        uint64_t lines, messages, bytes;
    } lanes[BACKLOG_LANES];
    int64_t us; /* of the latest of them */
};

void backlog_loss_add_line(struct backlog_loss *to, const struct backlog_line *line);
void backlog_loss_add(struct backlog_loss *to, const struct backlog_loss *more);
bool backlog_loss_any(const struct backlog_loss *l);

struct backlog_item {
    struct backlog_item *next;
    struct backlog_line line; /* its text follows */
};

struct backlog {
    struct backlog_item *first, *last;
    uint64_t held, max; /* bytes, with what it takes to keep them */
};

void backlog_init(struct backlog *b, uint64_t max);
void backlog_release(struct backlog *b);

/* Keeps a copy; what has to go for it is added to `lost`, also the line itself if it is large
 * and there is no memory for it. */
void backlog_put(struct backlog *b, const struct backlog_line *line, struct backlog_loss *lost);

/* The oldest, which is the caller's to free; NULL: there is none. */
struct backlog_item *backlog_take(struct backlog *b);

/* The latest lines of a file, oldest out first, without their texts. */
enum { BACKLOG_RECENT = 64 };

struct backlog_recent {
    struct backlog_line at[BACKLOG_RECENT];
    size_t next, count;
};

void backlog_recent_add(struct backlog_recent *r, const struct backlog_line *line);

/* Takes the latest lines out until these are `need` bytes or none is left; adds them to `lost`.
 * Returns their bytes. */
uint64_t backlog_recent_cut(struct backlog_recent *r, uint64_t need, struct backlog_loss *lost);

#endif
