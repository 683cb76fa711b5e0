/* mcp/volatile-text.h - masks the parts of a text that differ from run to run.
 *
 * Two texts that differ only in such parts have the same masked text: "created
 * 2026-01-02T03:04:05Z by job 4f3c2a1b9d8e7f60" and the same with another time and job. Masked
 * are
 *
 * - times, UUIDs, ULIDs, hashes and seconds since 1970 (mcp/volatile-values.h) that stand alone
 *   or between bytes that are no letters or digits; times of day with seconds;
 * - directories for temporary files, with the first name below: "/tmp/run-17" of
 *   "/tmp/run-17/out.txt";
 * - ports in URLs of the loopback interface: "http://127.0.0.1:4711/".
 *
 * A mask is a byte that no decoded JSON string contains, so a text cannot imitate it. Linear.
 */
#ifndef MCP_VOLATILE_TEXT_H
#define MCP_VOLATILE_TEXT_H

#include "base/buf.h"

/* Appends the masked text, which is not longer. */
void mcp_mask_volatile_text(struct str text, struct buf *to);

#endif
