/* mcp/version.h - protocol revisions, and whether they are stateful.
 *
 * Up to 2025-11-25 the protocol is stateful: initialize begins a session. From 2026-07-28 on it
 * is stateless: each request names its revision in _meta. */
#ifndef MCP_VERSION_H
#define MCP_VERSION_H

#include "base/str.h"

/* In order of time: a later revision is greater. */
enum mcp_version {
    MCP_VERSION_UNKNOWN,
    MCP_2024_10_07, /* a pre-release that SDKs still list */
    MCP_2024_11_05,
    MCP_2025_03_26,
    MCP_2025_06_18,
    MCP_2025_11_25,
    MCP_2026_07_28,
};

#define MCP_VERSION_LATEST MCP_2026_07_28

enum mcp_protocol { MCP_PROTOCOL_UNKNOWN, MCP_PROTOCOL_STATEFUL, MCP_PROTOCOL_STATELESS };

enum mcp_version mcp_version_parse(struct str text); /* UNKNOWN if not listed */
struct str mcp_version_text(enum mcp_version v);     /* empty for UNKNOWN */
enum mcp_protocol mcp_version_protocol(enum mcp_version v);

#endif
