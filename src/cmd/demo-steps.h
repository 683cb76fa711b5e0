/* cmd/demo-steps.h - writes the text of the demo: four steps on a screen of 80 by 40.
 *
 * Escapes text of messages and paths; commands can be copied into a shell. */
#ifndef CMD_DEMO_STEPS_H
#define CMD_DEMO_STEPS_H

#include <stdint.h>

#include "base/buf.h"
#include "demo/demo-client.h"

struct demo_steps {
    struct buf *to;
    bool color;
    const char *self;    /* argv[0] */
    const char *program; /* absolute path of mcpreel */
    const char *file;    /* the recording */
    const char *home;    /* home directory of the user */
};

/* Adds step 1: the recorded session, request by request. */
void demo_steps_add_recorded(const struct demo_steps *s, const struct demo_client *first);

/* Adds step 2: the replay gave the same, or the first difference. */
void demo_steps_add_replayed(const struct demo_steps *s, const struct demo_client *second,
                             int64_t took_us);
void demo_steps_add_difference(const struct demo_steps *s, const struct demo_difference *where);

/* Adds step 3: the reports of `verify --json` on the same server and on the changed one. */
void demo_steps_add_verified(const struct demo_steps *s, struct json_val same,
                             struct json_val changed);

/* Adds step 4: what to try next. */
void demo_steps_add_next(const struct demo_steps *s);

/* Adds everything as JSON; `where` NULL: no difference. `verify` has the texts of the two
 * reports; NULL: it was not run. */
void demo_steps_add_json(const struct demo_steps *s, const struct demo_client *first,
                         const struct demo_difference *where, const struct str *verify);

#endif
