/* cmd/listening.h - the options that say where to listen, and how the place is told. */
#ifndef CMD_LISTENING_H
#define CMD_LISTENING_H

#include "cmd/app.h"
#include "cmd/option.h"
#include "transport/exchange.h"
#include "transport/http-gate.h"
#include "wire/listen.h"

struct listening_args {
    const char *listen;
    int64_t port;     /* 0: not given */
    int64_t ready_fd; /* 0: none */
    bool allow_remote;
    struct option_list allow_host, allow_origin;
};

#define LISTENING_GROUP "Clients on HTTP"

/* Rows for the table of a command whose struct `args_type` has listening_args as `field`. */
#define LISTENING_OPTIONS(args_type, field)                                                    \
    { .name = "listen",                                                                        \
      .also = { "http" },                                                                      \
      .arg = "[HOST:]PORT",                                                                    \
      .type = OPTION_STRING,                                                                   \
      .seed = true,                                                                            \
      .env = "THOUGHTJACK_HTTP_BIND",                                                          \
      .group = LISTENING_GROUP,                                                                \
      .at = offsetof(args_type, field.listen),                                                 \
      .help = "clients come over HTTP, to this address; port 0: any that is free" },           \
        { .name = "port",                                                                      \
          .arg = "PORT",                                                                       \
          .type = OPTION_INT,                                                                  \
          .min = 1,                                                                            \
          .max = 65535,                                                                        \
          .group = LISTENING_GROUP,                                                            \
          .at = offsetof(args_type, field.port),                                               \
          .help = "the same as --listen 127.0.0.1:PORT" },                                     \
        { .name = "allow-remote",                                                              \
          .type = OPTION_FLAG,                                                                 \
          .group = LISTENING_GROUP,                                                            \
          .at = offsetof(args_type, field.allow_remote),                                       \
          .help = "listen where other machines can connect, too" },                            \
        { .name = "allow-host",                                                                \
          .arg = "NAME",                                                                       \
          .type = OPTION_LIST,                                                                 \
          .group = LISTENING_GROUP,                                                            \
          .at = offsetof(args_type, field.allow_host),                                         \
          .help = "take requests for this name, too: that of a tunnel or a proxy" },           \
        { .name = "allow-origin",                                                              \
          .arg = "ORIGIN",                                                                     \
          .type = OPTION_LIST,                                                                 \
          .group = LISTENING_GROUP,                                                            \
          .at = offsetof(args_type, field.allow_origin),                                       \
          .help = "let the pages of this site in, such as https://example.org" },              \
    {                                                                                          \
        .name = "ready-fd", .arg = "N", .type = OPTION_INT, .min = 3, .max = 1 << 20,          \
        .group = LISTENING_GROUP, .at = offsetof(args_type, field.ready_fd),                   \
        .help = "write the address to this descriptor once clients can connect"                \
    }

/* Rows for option_refuse_idle(): these say something about an address, of which one was
 * `asked` for, or none. */
#define LISTENING_IDLE(asked, at)                                                              \
    { "allow-remote", "'--listen'", !(asked) }, { "allow-host", "'--listen'", !(asked) },      \
        { "allow-origin", "'--listen'", !(asked) }, { "ready-fd", "'--listen'", !(asked) },    \
    {                                                                                          \
        "allow-remote", "an address of '--listen' that other machines can reach",              \
            (at)->scope == LISTEN_LOOPBACK                                                     \
    }

enum { LISTENING_SEED_PORT = 5555 }; /* where mcp-recorder listens */

/* Whether an address was asked for; `*at` is that then. `usual` is the port if none is given,
 * 0: then nobody listens. ERR_USAGE if it cannot be used, would let others in without
 * --allow-remote, or is to be told where nothing can be: so this comes before any file is
 * opened. */
bool listening_choose(const struct listening_args *args, int usual, struct listen *at,
                      bool *asked, struct err *e) MUST_CHECK;

/* Who is let in then. Borrows from the options. */
struct http_gate listening_gate(const struct listening_args *args, const struct listen *at);

/* Whether others than this machine may come: by address, or through what forwards to us. */
bool listening_is_open(const struct listening_args *args, const struct listen *at);

/* Somebody was refused who sent no request. That there are too many is told aloud, but only
 * once, which `*crowd` remembers: it is for the user to change. */
void listening_refused(const struct log *log, bool *crowd, uint64_t connection,
                       const struct exchange_fault *why);

/* A request with these fields was refused by the gate. Whoever meant to let it in has to learn
 * by which option: each reason is told aloud, but only once, which `*told` remembers (0 at
 * first): whoever reaches the port can be refused again and again. Of header lines the name of
 * the host is told, or the origin of the page, where that is why; nothing if `asked` is NULL,
 * as it is for a recorder. */
void listening_kept_out(const struct log *log, unsigned *told, const struct fields *asked,
                        const struct http_gate_verdict *why);

/* Clients can connect: the URL on standard output, and on the descriptor, if any. */
bool listening_tell(const struct app *app, const struct listening_args *args,
                    const struct url_authority *at, struct str path, struct err *e) MUST_CHECK;

#endif
