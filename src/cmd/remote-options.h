/* cmd/remote-options.h - the options that fill a struct remote_config_args, as rows of a table.
 */
#ifndef CMD_REMOTE_OPTIONS_H
#define CMD_REMOTE_OPTIONS_H

#include "cmd/option.h"
#include "runtime/remote-config.h"

#define REMOTE_OPTIONS_GROUP "A server on HTTP"

/* Rows for the table of a command whose struct `args_type` has remote_config_args as `field`.
 */
#define REMOTE_OPTIONS_URL(args_type, field, about)                                            \
    {                                                                                          \
        .name = "url", .aliases = { "upstream-http" }, .arg = "URL", .type = OPTION_STRING,    \
        .thoughtjack_env = true, .group = REMOTE_OPTIONS_GROUP,                                \
        .offset = offsetof(args_type, field.url), .help = about                                \
    }

#define REMOTE_OPTIONS_TARGET(args_type, field, about)                                         \
    {                                                                                          \
        .name = "target", .arg = "URL", .type = OPTION_STRING, .group = REMOTE_OPTIONS_GROUP,  \
        .offset = offsetof(args_type, field.target), .help = about                             \
    }

#define REMOTE_OPTIONS(args_type, field)                                                       \
    { .name = "header",                                                                        \
      .arg = "'NAME: VALUE'",                                                                  \
      .type = OPTION_LIST,                                                                     \
      .group = REMOTE_OPTIONS_GROUP,                                                           \
      .offset = offsetof(args_type, field.headers),                                            \
      .help = "send the server this header, in place of one of the same name" },               \
        { .name = "header-env",                                                                \
          .arg = "NAME=VARIABLE",                                                              \
          .type = OPTION_LIST,                                                                 \
          .group = REMOTE_OPTIONS_GROUP,                                                       \
          .offset = offsetof(args_type, field.header_env),                                     \
          .help =                                                                              \
              "the same with the value of a variable, hidden from the list of processes" },    \
    {                                                                                          \
        .name = "cacert", .arg = "FILE", .type = OPTION_PATH, .group = REMOTE_OPTIONS_GROUP,   \
        .offset = offsetof(args_type, field.cacert),                                           \
        .help = "trust the certificates in FILE instead of the system's"                       \
    }

/* Rows for option_reject_unused(): these say something about a server at a URL. */
#define REMOTE_OPTIONS_UNUSED(server)                                                          \
    { "header", "'--url'", !(server)->url }, { "header-env", "'--url'", !(server)->url },      \
        { "cacert", "'--url'", !(server)->url },                                               \
    {                                                                                          \
        "cacert", "a URL that begins with https", !remote_config_is_https(server)              \
    }

#endif
