/* mcp/meta.h - reads the members of _meta that the protocol defines. */
#ifndef MCP_META_H
#define MCP_META_H

#include "json/json.h"

#define MCP_META_KEY STR("_meta")
#define MCP_META_VERSION STR("io.modelcontextprotocol/protocolVersion")
#define MCP_META_CLIENT_INFO STR("io.modelcontextprotocol/clientInfo")
#define MCP_META_CLIENT_CAPABILITIES STR("io.modelcontextprotocol/clientCapabilities")
#define MCP_META_SERVER_INFO STR("io.modelcontextprotocol/serverInfo")
#define MCP_META_LOG_LEVEL STR("io.modelcontextprotocol/logLevel")
#define MCP_META_SUBSCRIPTION STR("io.modelcontextprotocol/subscriptionId")
#define MCP_META_RELATED_TASK STR("io.modelcontextprotocol/related-task")

/* params._meta.NAME or result._meta.NAME; absent if one of them is. */
struct json_val mcp_meta(struct json_val params_or_result, struct str name);

/* The progress token in a request's _meta; absent if it is neither string nor number. */
struct json_val mcp_progress_token(struct json_val meta);

#endif
