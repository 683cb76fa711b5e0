/* cmd/help-topics.h - help topics: what `mcpreel help` explains besides commands. */
#ifndef CMD_HELP_TOPICS_H
#define CMD_HELP_TOPICS_H

#include "base/buf.h"
#include "runtime/app.h"

struct help_topic {
    const char *name;    /* NULL ends the list */
    const char *section; /* its heading in the manual */
    const char *summary;
    const char *text; /* prose */
    void (*add_tables)(struct buf *to,
                       const struct app *app); /* adds text from tables; may be NULL */
};

extern const struct help_topic help_topics[];

const struct help_topic *help_topic_find(const char *name); /* NULL: there is none */

/* Adds the whole text, not yet wrapped. */
void help_topic_add_text(struct buf *to, const struct help_topic *t, const struct app *app);

#endif
