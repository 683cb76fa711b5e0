/* mcphttp/header-policy.h - decides which HTTP headers are recorded with their value.
 *
 * Headers that MCP uses are. The value of any other may be a secret: only its name and the
 * length of the value are recorded. */
#ifndef MCPHTTP_HEADER_POLICY_H
#define MCPHTTP_HEADER_POLICY_H

#include "base/buf.h"
#include "wire/headers.h"

bool header_policy_keeps_value(struct str name);

/* Writes JSON: [["Accept","application/json"],["Cookie",57]] */
void header_policy_write(struct buf *to, const struct headers *headers);

#endif
