#include "mcp/meta.h"

struct json_val mcp_meta(struct json_val params_or_result, struct str name)
{
    return json_get(json_get(params_or_result, MCP_META_KEY), name);
}

struct json_val mcp_progress_token(struct json_val meta)
{
    struct json_val token = json_get(meta, STR("progressToken"));
    enum json_type type = json_type(token);

    return type == JSON_STRING || type == JSON_NUMBER ? token : JSON_VAL_NONE;
}
