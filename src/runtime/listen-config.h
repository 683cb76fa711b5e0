/* runtime/listen-config.h - decides where to listen and which clients to accept, and announces
 * the address. */
#ifndef RUNTIME_LISTEN_CONFIG_H
#define RUNTIME_LISTEN_CONFIG_H

#include "base/str-list.h"
#include "runtime/app.h"
#include "transport/http-access.h"
#include "transport/http-exchange.h"
#include "wire/listen-address.h"

struct listen_config {
    const char *listen;
    int64_t port;     /* 0: not given */
    int64_t ready_fd; /* 0: none */
    bool allow_remote;
    bool end_with_stdin; /* the end of standard input is as a signal that ends us */
    struct str_list allow_host, allow_origin;
};

enum { LISTEN_CONFIG_MCP_RECORDER_PORT = 5555 }; /* where mcp-recorder listens */

/* Sets `*asked` if an address was configured, and `*at` to it. `usual` is the port if none is
 * given; 0: do not listen. ERR_USAGE if the address is invalid, reachable from other machines
 * without --allow-remote, or if --ready-fd is not writable: so call it before any file is
 * opened. */
bool listen_config_resolve(const struct listen_config *args, int usual,
                           struct listen_address *at, bool *asked, struct err *e) MUST_CHECK;

/* Returns the rules for Host and Origin. Borrows from the config. */
struct http_access listen_config_access(const struct listen_config *args,
                                        const struct listen_address *at);

/* Returns whether other machines can connect: by the address, or through a proxy
 * (--allow-host). */
bool listen_config_is_public(const struct listen_config *args, const struct listen_address *at);

/* Logs a connection that was refused before it sent a request. Warns once that there are too
 * many clients; `*logged` says whether that was logged. */
void listen_config_log_refused(const struct log *log, bool *logged, uint64_t connection,
                               const struct http_exchange_failure *why);

/* Logs a request that the access rules rejected. Warns once for each reason, so that the user
 * learns which option would allow it; `*logged` is the set of reasons that were logged, 0 at
 * first. Logs the Host or the Origin if it is the reason, and no header if `asked` is NULL, as
 * when recording. */
void listen_config_log_rejected(const struct log *log, unsigned *logged,
                                const struct headers *asked,
                                const struct http_access_decision *why);

/* Writes the URL to standard output, and to --ready-fd. */
bool listen_config_announce(const struct app *app, const struct listen_config *args,
                            const struct url_authority *at, struct str path,
                            struct err *e) MUST_CHECK;

#endif
