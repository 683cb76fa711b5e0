/* runtime/otlp-config.h - where and how to send spans: --otlp and the variables of
 * OpenTelemetry.
 *
 * The URL of --otlp counts, else OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, else
 * OTEL_EXPORTER_OTLP_ENDPOINT. "/v1/traces" is appended to the latter, and to a URL of --otlp
 * that has no path. HEADERS, COMPRESSION, TIMEOUT, CERTIFICATE and PROTOCOL have the same two
 * forms, with TRACES_ first. No header value and no password is ever in an error. */
#ifndef RUNTIME_OTLP_CONFIG_H
#define RUNTIME_OTLP_CONFIG_H

#include "base/arena.h"
#include "runtime/app.h"
#include "wire/headers.h"

struct otlp_config {
    const char *url;         /* with a path */
    const char *display_url; /* without user and password */
    struct headers headers;  /* of the variables */
    const char *cacert;      /* NULL: libcurl knows, or not https */
    bool gzip;
    unsigned timeout_ms; /* of each attempt */
    struct arena arena;
};

/* Whether a variable names a collector. */
bool otlp_config_is_in_env(const struct app *app);

/* `url` may be NULL if a variable names a collector. ERR_USAGE for a wrong value. Borrows the
 * environment. Call otlp_config_release() in any case. */
bool otlp_config_read(struct otlp_config *c, const struct app *app, const char *url,
                      struct err *e) MUST_CHECK;
void otlp_config_release(struct otlp_config *c);

#endif
