/* mcp/version.h - the protocol's revisions and the two eras they fall into. */
#ifndef MCP_VERSION_H
#define MCP_VERSION_H

#include "base/str.h"

/* In order of time, so they compare with <. */
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

enum mcp_era { MCP_ERA_UNKNOWN, MCP_ERA_LEGACY, MCP_ERA_MODERN };

enum mcp_version mcp_version_parse(struct str text); /* UNKNOWN if it is none of ours */
struct str mcp_version_text(enum mcp_version v);     /* empty for UNKNOWN */
enum mcp_era mcp_version_era(enum mcp_version v);

#endif
