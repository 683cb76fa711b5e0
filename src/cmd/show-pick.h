/* cmd/show-pick.h - what is asked for: FILE, FILE:N or FILE:#SEQ, and a filter. */
#ifndef CMD_SHOW_PICK_H
#define CMD_SHOW_PICK_H

#include "base/arena.h"
#include "base/sys.h"
#include "cmd/option.h"
#include "trace/filter.h"

struct show_pick {
    const char *path;
    uint64_t number; /* 0: all */
    bool message;    /* the number is that of a message */
};

/* A file that has such a name is meant by it, however it ends. ERR_USAGE if there is none,
 * but one of the name before the colon. The path lives in `a`. */
bool show_pick_file(struct show_pick *p, const struct sys *sys, const char *operand,
                    struct arena *a, struct err *e) MUST_CHECK;

/* The words of a filter, put together; the error shows what is wrong in it. */
bool show_pick_filter(struct filter **out, char *const *words, size_t count,
                      const struct option_list *more, struct err *e) MUST_CHECK;

#endif
