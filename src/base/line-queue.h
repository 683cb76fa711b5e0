/* base/line-queue.h - bounded queues of lines and of messages in memory.
 *
 * `struct line_queue` holds lines up to a number of bytes. To make room, the oldest are dropped
 * and counted by direction. A line larger than the limit is kept if it is alone. `struct
 * message_queue` holds the latest MESSAGE_QUEUE_MAX messages for a client that cannot receive
 * them yet; dropped ones are not counted. */
#ifndef BASE_LINE_QUEUE_H
#define BASE_LINE_QUEUE_H

#include <stdint.h>

#include "base/str.h"

enum { LINE_QUEUE_DIRECTIONS = 3 };

struct line_queue_line {
    struct str text; /* ends in a newline */
    unsigned direction;
    uint64_t messages, bytes; /* what counts as lost with it, in the caller's terms */
    int64_t us;               /* time; never decreases */
};

/* Counts of lost lines. */
struct line_queue_loss {
    struct {
        uint64_t lines, messages, bytes;
    } by_direction[LINE_QUEUE_DIRECTIONS];
    int64_t us; /* time of the latest */
};

void line_queue_loss_add_line(struct line_queue_loss *to, const struct line_queue_line *line);
void line_queue_loss_add(struct line_queue_loss *to, const struct line_queue_loss *more);
bool line_queue_has_loss(const struct line_queue_loss *l);

struct line_queue_item {
    struct line_queue_item *next;
    struct line_queue_line line; /* its text follows */
};

struct line_queue {
    struct line_queue_item *first, *last;
    uint64_t bytes, max_bytes; /* including the overhead of items */
};

void line_queue_init(struct line_queue *b, uint64_t max);
void line_queue_release(struct line_queue *b);

/* Adds a copy. Lines dropped for it are added to `lost`, also the line itself if it is large
 * and there is no memory for it. */
void line_queue_push(struct line_queue *b, const struct line_queue_line *line,
                     struct line_queue_loss *lost);

/* The oldest, which is the caller's to free; NULL: there is none. */
struct line_queue_item *line_queue_pop(struct line_queue *b);

/* The latest lines of a file without their texts, at most LINE_QUEUE_RECENT_MAX. */
enum { LINE_QUEUE_RECENT_MAX = 64 };

struct line_queue_recent {
    struct line_queue_line at[LINE_QUEUE_RECENT_MAX];
    size_t next, count;
};

void line_queue_recent_add(struct line_queue_recent *r, const struct line_queue_line *line);

/* Removes the latest lines until their bytes are at least `need` or none is left, and adds them
 * to `lost`. Returns their bytes. */
uint64_t line_queue_recent_cut(struct line_queue_recent *r, uint64_t need,
                               struct line_queue_loss *lost);

enum { MESSAGE_QUEUE_MAX = 256 };

struct message_queue_item {
    struct message_queue_item *next;
    size_t len;
    char text[];
};

/* Zero-initialize it. */
struct message_queue {
    struct message_queue_item *first, *last;
    size_t count, bytes;
};

void message_queue_release(struct message_queue *u);

/* Adds a copy; drops the oldest if there are too many. */
void message_queue_push(struct message_queue *u, struct str text);

/* The oldest, which is the caller's to free; NULL: there is none. */
struct message_queue_item *message_queue_pop(struct message_queue *u);

#endif
