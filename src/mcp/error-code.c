#include "mcp/error-code.h"

struct str mcp_error_code_name(int64_t code)
{
    switch (code) {
    case MCP_PARSE_ERROR:
        return STR("Parse error");
    case MCP_INVALID_REQUEST:
        return STR("Invalid Request");
    case MCP_METHOD_NOT_FOUND:
        return STR("Method not found");
    case MCP_INVALID_PARAMS:
        return STR("Invalid params");
    case MCP_INTERNAL_ERROR:
        return STR("Internal error");
    case MCP_SERVER_ERROR:
        return STR("Server error");
    case MCP_RESOURCE_NOT_FOUND:
        return STR("Resource not found");
    case MCP_HEADER_MISMATCH:
        return STR("Header mismatch");
    case MCP_MISSING_CAPABILITY:
        return STR("Missing required client capability");
    case MCP_UNSUPPORTED_VERSION:
        return STR("Unsupported protocol version");
    case MCP_URL_ELICITATION_REQUIRED:
        return STR("URL elicitation required");
    default:
        return STR_NONE;
    }
}
