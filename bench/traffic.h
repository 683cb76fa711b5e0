/* bench/traffic.h - made-up MCP traffic that looks like the real thing.
 *
 * One message per line, the same bytes on every run. `mixed` has the shapes of a
 * working session (tool lists with schemas, text results, rows, base64), `small`
 * only short messages of some 300 bytes, and `calls` tool calls, each with its progress and
 * its result. In three lines of ten the text that is
 * not ASCII is written with \u escapes, elsewhere as UTF-8. */
#ifndef BENCH_TRAFFIC_H
#define BENCH_TRAFFIC_H

#include "base/buf.h"

void traffic_mixed(struct buf *to, size_t bytes);
void traffic_small(struct buf *to, size_t bytes);
void traffic_calls(struct buf *to, size_t bytes);

#endif
