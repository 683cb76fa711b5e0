/* runtime/otlp-export.h - a sink that sends the spans of records to an OpenTelemetry collector.
 *
 * Each line of the format `otlp` is the body of one POST, sent before the next record is taken.
 * HTTP 429, 502, 503 and 504 are tried again, OTLP_EXPORT_ATTEMPTS times in all, after
 * Retry-After or 1 and 2 s; nothing else is sent twice. A collector that rejects some of the
 * spans is reported by a warning. */
#ifndef RUNTIME_OTLP_EXPORT_H
#define RUNTIME_OTLP_EXPORT_H

#include "format/format.h"
#include "runtime/otlp-config.h"

enum { OTLP_EXPORT_ATTEMPTS = 3, OTLP_EXPORT_WAIT_MAX_S = 60 };

struct otlp_export;

/* Does not connect yet. Borrows everything. ERR_USAGE for an invalid header. */
bool otlp_export_open(struct otlp_export **out, const struct app *app,
                      const struct otlp_config *config, const struct format_options *options,
                      struct err *e) MUST_CHECK;

/* Put records here. Fails with ERR_PEER if the collector cannot be reached, does not respond or
 * rejects a batch. */
struct sink *otlp_export_sink(struct otlp_export *x);

/* Sends the rest. */
bool otlp_export_finish(struct otlp_export *x, struct err *e) MUST_CHECK;

/* The number of batches that the collector took, and of spans in them that it rejected. */
uint64_t otlp_export_batches(const struct otlp_export *x);
uint64_t otlp_export_rejected(const struct otlp_export *x);

void otlp_export_close(struct otlp_export *x); /* NULL is fine */

#endif
