/* cmd/listen-options.h - the options that fill a struct listen_config, as rows of a table. */
#ifndef CMD_LISTEN_OPTIONS_H
#define CMD_LISTEN_OPTIONS_H

#include "cmd/option.h"
#include "runtime/listen-config.h"

#define LISTEN_OPTIONS_GROUP "Clients on HTTP"

/* Rows for the table of a command whose struct `args_type` has listen_config as `field`. */
#define LISTEN_OPTIONS(args_type, field)                                                       \
    { .name = "listen",                                                                        \
      .aliases = { "http" },                                                                   \
      .arg = "[HOST:]PORT",                                                                    \
      .type = OPTION_STRING,                                                                   \
      .thoughtjack_env = true,                                                                 \
      .env = "THOUGHTJACK_HTTP_BIND",                                                          \
      .group = LISTEN_OPTIONS_GROUP,                                                           \
      .offset = offsetof(args_type, field.listen),                                             \
      .help = "serve HTTP clients at this address; port 0: any free port" },                   \
        { .name = "port",                                                                      \
          .arg = "PORT",                                                                       \
          .type = OPTION_INT,                                                                  \
          .min = 1,                                                                            \
          .max = 65535,                                                                        \
          .group = LISTEN_OPTIONS_GROUP,                                                       \
          .offset = offsetof(args_type, field.port),                                           \
          .help = "the same as --listen 127.0.0.1:PORT" },                                     \
        { .name = "allow-remote",                                                              \
          .type = OPTION_FLAG,                                                                 \
          .group = LISTEN_OPTIONS_GROUP,                                                       \
          .offset = offsetof(args_type, field.allow_remote),                                   \
          .help = "allow addresses that other machines can reach" },                           \
        { .name = "allow-host",                                                                \
          .arg = "NAME",                                                                       \
          .type = OPTION_LIST,                                                                 \
          .group = LISTEN_OPTIONS_GROUP,                                                       \
          .offset = offsetof(args_type, field.allow_host),                                     \
          .help = "accept requests for this host name, such as that of a tunnel or a proxy" }, \
        { .name = "allow-origin",                                                              \
          .arg = "ORIGIN",                                                                     \
          .type = OPTION_LIST,                                                                 \
          .group = LISTEN_OPTIONS_GROUP,                                                       \
          .offset = offsetof(args_type, field.allow_origin),                                   \
          .help = "accept requests of pages of this site, such as https://example.org" },      \
        { .name = "end-with-stdin",                                                            \
          .type = OPTION_FLAG,                                                                 \
          .group = LISTEN_OPTIONS_GROUP,                                                       \
          .offset = offsetof(args_type, field.end_with_stdin),                                 \
          .help = "end when standard input ends, as a pipe does with the process that holds "  \
                  "its other side" },                                                          \
    {                                                                                          \
        .name = "ready-fd", .arg = "N", .type = OPTION_INT, .min = 3, .max = 1 << 20,          \
        .group = LISTEN_OPTIONS_GROUP, .offset = offsetof(args_type, field.ready_fd),          \
        .help = "write the address to this descriptor once clients can connect"                \
    }

/* Rows for option_reject_unused(): these say something about an address, of which one was
 * `asked` for, or none. */
#define LISTEN_OPTIONS_UNUSED(asked, at)                                                       \
    { "allow-remote", "'--listen'", !(asked) }, { "allow-host", "'--listen'", !(asked) },      \
        { "allow-origin", "'--listen'", !(asked) }, { "ready-fd", "'--listen'", !(asked) },    \
        { "end-with-stdin", "'--listen'", !(asked) },                                          \
    {                                                                                          \
        "allow-remote", "an address of '--listen' that other machines can reach",              \
            (at)->scope == LISTEN_LOOPBACK                                                     \
    }

#endif
