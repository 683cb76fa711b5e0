/* cmd/topic.h - what help can explain besides commands. */
#ifndef CMD_TOPIC_H
#define CMD_TOPIC_H

#include "base/buf.h"
#include "cmd/app.h"

struct topic {
    const char *name;    /* NULL ends the list */
    const char *section; /* its heading in the manual */
    const char *summary;
    const char *text;                                    /* prose */
    void (*more)(struct buf *to, const struct app *app); /* what tables add; may be NULL */
};

extern const struct topic topic_list[];

const struct topic *topic_find(const char *name); /* NULL: there is none */

/* The whole text, as prose. */
void topic_add(struct buf *to, const struct topic *t, const struct app *app);

#endif
