/* cmd/demo-story.h - what the demo tells a newcomer, on one screen of 80 by 40.
 *
 * Whatever a peer or a path brings along is escaped; commands can be copied into a
 * shell as they stand. */
#ifndef CMD_DEMO_STORY_H
#define CMD_DEMO_STORY_H

#include <stdint.h>

#include "base/buf.h"
#include "engine/demo-client.h"

struct demo_story {
    struct buf *to;
    bool color;
    const char *self;    /* mcpreel as the user called it */
    const char *program; /* where it lies */
    const char *file;    /* the recording */
    const char *home;    /* where the user has files */
};

/* The walk that was recorded, request by request. */
void demo_story_recorded(const struct demo_story *s, const struct demo_client *first);

/* The walk through the replay heard the same, or here is where it did not. */
void demo_story_replayed(const struct demo_story *s, const struct demo_client *second,
                         int64_t took_us);
void demo_story_differs(const struct demo_story *s, const struct demo_difference *where);

/* What to try now. */
void demo_story_next(const struct demo_story *s);

/* All of it for programs; `where` NULL: no difference. */
void demo_story_json(const struct demo_story *s, const struct demo_client *first,
                     const struct demo_difference *where);

#endif
