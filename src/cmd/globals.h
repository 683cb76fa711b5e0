/* cmd/globals.h - the options that every command has.
 *
 * They may stand before and after the name of the command. A command whose own
 * table has the same name means its own. */
#ifndef CMD_GLOBALS_H
#define CMD_GLOBALS_H

#include "base/log.h"
#include "base/term.h"
#include "cmd/option.h"

struct globals {
    bool help, version, json, quiet;
    int verbose;
    int color; /* enum term_color */
    int level; /* 1 + enum log_level; else it was not given */
};

extern const struct option globals_options[];

/* How much the log says, and whether a stream that is, or is not, a terminal is
 * coloured. */
enum log_level globals_level(const struct globals *g);
bool globals_use_color(const struct globals *g, bool is_tty, char *const *env);

#endif
