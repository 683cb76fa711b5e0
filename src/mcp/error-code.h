/* mcp/error-code.h - JSON-RPC and MCP error codes, and their names. */
#ifndef MCP_ERROR_CODE_H
#define MCP_ERROR_CODE_H

#include <stdint.h>

#include "base/str.h"

enum mcp_error_code {
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_METHOD_NOT_FOUND = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL_ERROR = -32603,
    MCP_SERVER_ERROR = -32000, /* mcpreel uses it for a request without a match */
    MCP_RESOURCE_NOT_FOUND = -32002,
    MCP_HEADER_MISMATCH = -32020,
    MCP_MISSING_CAPABILITY = -32021,
    MCP_UNSUPPORTED_VERSION = -32022,
    MCP_URL_ELICITATION_REQUIRED = -32042,
};

/* Name of a code ("Method not found"); empty if no revision defines it. */
struct str mcp_error_code_name(int64_t code);

#endif
