/* cmd/show-run.h - a recording poured through a filter onto standard output.
 *
 * Keeps nothing of a message but what one line shows of it. */
#ifndef CMD_SHOW_RUN_H
#define CMD_SHOW_RUN_H

#include "cmd/app.h"
#include "cmd/show-pick.h"

struct show_wish {
    struct show_pick pick;
    const struct filter *filter; /* NULL: everything */
    bool messages;               /* rather than operations */
    bool raw;
    bool follow;          /* go on until the recording ends, or a signal */
    uint64_t count, last; /* at most so many, from the front or from the end; 0: all */
};

bool show_run(const struct app *app, const struct show_wish *wish, struct err *e) MUST_CHECK;

#endif
