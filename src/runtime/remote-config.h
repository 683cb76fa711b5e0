/* runtime/remote-config.h - validates the URL of an HTTP server, and the headers to send to it.
 *
 * A URL without a path means '/mcp'; a server at the root is written with a trailing '/'. With
 * --target the client's path is appended to that of the URL, like mcp-recorder does. No header
 * value and no password is ever in an error; `secrets` has them, for redaction. */
#ifndef RUNTIME_REMOTE_CONFIG_H
#define RUNTIME_REMOTE_CONFIG_H

#include "base/arena.h"
#include "base/str-list.h"
#include "runtime/app.h"
#include "wire/headers.h"

struct remote_config_args {
    const char *url;
    const char *target; /* like `url`, with the behaviour of mcp-recorder */
    struct str_list headers, header_env;
    const char *cacert;
};

struct remote_config {
    const char *url;         /* with a path; NULL: none was given */
    const char *display_url; /* without user and password; with --target as given */
    const char *target_path; /* with --target: its path, in front of the client's; else NULL */
    const char *host;        /* with the port if the URL has one */
    struct headers headers;  /* for all requests */
    struct headers secrets;  /* names and values to redact */
    const char *cacert;      /* NULL: libcurl knows, or not https */
    struct arena arena;
};

/* Does nothing without a URL. ERR_USAGE for an invalid URL or header, or a file of
 * certificates that cannot be used; ERR_PEER without any (runtime/ca-file.h). Borrows from
 * `args` and the environment. Call remote_config_release() in any case. */
bool remote_config_read(struct remote_config *r, const struct app *app,
                        const struct remote_config_args *args, struct err *e) MUST_CHECK;
void remote_config_release(struct remote_config *r);

/* Returns the URL that mcp-recorder uses for a target: '/mcp' is appended to its path unless it
 * ends with it, without slashes behind it. Query and fragment follow unchanged. In `a`; an
 * invalid URL itself. */
const char *remote_config_mcp_recorder_url(const char *target, struct arena *a);

/* Returns whether the URL is https. */
bool remote_config_is_https(const struct remote_config *r);

/* Every client that reaches our port uses our header credentials, so they are for local clients
 * only: ERR_USAGE if there are any and the port is `open` to others. */
bool remote_config_check_credentials(const struct remote_config *r, bool open,
                                     struct err *e) MUST_CHECK;

#endif
