#include "mcp/version.h"

static const char *const texts[] = {
    [MCP_VERSION_UNKNOWN] = "",      [MCP_2024_10_07] = "2024-10-07",
    [MCP_2024_11_05] = "2024-11-05", [MCP_2025_03_26] = "2025-03-26",
    [MCP_2025_06_18] = "2025-06-18", [MCP_2025_11_25] = "2025-11-25",
    [MCP_2026_07_28] = "2026-07-28",
};

enum mcp_version mcp_version_parse(struct str text)
{
    for (enum mcp_version v = MCP_VERSION_LATEST; v > MCP_VERSION_UNKNOWN; v--) {
        if (str_eq(text, str_z(texts[v])))
            return v;
    }
    return MCP_VERSION_UNKNOWN;
}

struct str mcp_version_text(enum mcp_version v)
{
    return str_z(texts[v]);
}

enum mcp_protocol mcp_version_protocol(enum mcp_version v)
{
    if (v == MCP_VERSION_UNKNOWN)
        return MCP_PROTOCOL_UNKNOWN;
    return v < MCP_2026_07_28 ? MCP_PROTOCOL_STATEFUL : MCP_PROTOCOL_STATELESS;
}
