#include "cmd/global-options.h"

#include "runtime/app.h"

static const struct option_choice colors[] = {
    { "auto", TERM_COLOR_AUTO, false },
    { "always", TERM_COLOR_ALWAYS, false },
    { "never", TERM_COLOR_NEVER, false },
    { 0 },
};

static const struct option_choice levels[] = {
    { "error", 1 + LOG_ERROR, false }, { "warn", 1 + LOG_WARN, false },
    { "info", 1 + LOG_INFO, false },   { "debug", 1 + LOG_DEBUG, false },
    { "trace", 1 + LOG_DEBUG, true },  { 0 },
};

#define GLOBAL(field)                                                                          \
    .offset = offsetof(struct global_options, field), .group = "Global options"

const struct option global_options_table[] = {
    { GLOBAL(help), .key = 'h', .name = "help", .type = OPTION_FLAG, .no_env = true,
      .help = "show help for the command and exit" },
    { GLOBAL(verbose), .key = 'v', .name = "verbose", .type = OPTION_COUNT,
      .help = "write more messages to standard error" },
    { GLOBAL(quiet), .key = 'q', .name = "quiet", .type = OPTION_FLAG,
      .help = "write only errors to standard error" },
    { GLOBAL(json), .name = "json", .type = OPTION_FLAG,
      .help = "write results and errors as JSON" },
    { GLOBAL(color), .name = "color", .arg = "WHEN", .type = OPTION_CHOICE, .choices = colors,
      .preset = "auto", .thoughtjack_env = true, .help = "use colours" },
    { GLOBAL(log_level), .name = "log-level", .arg = "LEVEL", .type = OPTION_CHOICE,
      .choices = levels, .hidden = true, .thoughtjack_env = true,
      .help = "level of messages on standard error, if neither -v nor -q is given" },
    { GLOBAL(version), .key = 'V', .name = "version", .type = OPTION_FLAG, .no_env = true,
      .help = "show the version and exit" },
    { 0 },
};

enum log_level global_options_log_level(const struct global_options *g)
{
    if (g->quiet)
        return LOG_ERROR;
    if (g->verbose)
        return LOG_DEBUG;
    return g->log_level > 0 ? (enum log_level)(g->log_level - 1) : LOG_INFO;
}

bool global_options_use_color(const struct global_options *g, bool is_tty, char *const *env)
{
    const struct term_env t = {
        .no_color = app_env_get(env, "NO_COLOR"),
        .force_color = app_env_get(env, "FORCE_COLOR"),
        .clicolor_force = app_env_get(env, "CLICOLOR_FORCE"),
        .term = app_env_get(env, "TERM"),
    };

    return term_use_color((enum term_color)g->color, is_tty, &t);
}
