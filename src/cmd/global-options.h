/* cmd/global-options.h - options that all commands have.
 *
 * They are accepted before and after the name of the command. An option of the same name in a
 * command's own table replaces the global one. */
#ifndef CMD_GLOBAL_OPTIONS_H
#define CMD_GLOBAL_OPTIONS_H

#include "base/log.h"
#include "base/term.h"
#include "cmd/option.h"

struct global_options {
    bool help, version, json, quiet;
    int verbose;
    int color;     /* enum term_color */
    int log_level; /* 1 + enum log_level; other values: not given */
};

extern const struct option global_options_table[];

/* Return the log level, and whether a stream is coloured. */
enum log_level global_options_log_level(const struct global_options *g);
bool global_options_use_color(const struct global_options *g, bool is_tty, char *const *env);

#endif
