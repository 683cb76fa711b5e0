#include "client/handshake.h"

#include "mcp/meta.h"

enum {
    HTTP_CLIENT_ERRORS = 400,
    HTTP_UNAUTHORIZED = 401,
    HTTP_FORBIDDEN = 403,
    HTTP_SERVER_ERRORS = 500
};

#define CLIENT_INFO "{\"name\":\"mcpreel\",\"version\":\"" MCPREEL_VERSION "\"}"

void handshake_write_initialize(struct buf *to, enum mcp_version version,
                                struct str capabilities)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    json_out_key_str(&o, STR("protocolVersion"), mcp_version_text(version));
    json_out_key_raw(&o, STR("capabilities"), capabilities);
    json_out_key_raw(&o, STR("clientInfo"), STR(CLIENT_INFO));
    json_out_end_object(&o);
}

void handshake_write_meta(struct buf *to, enum mcp_version version, struct str capabilities)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    json_out_key_str(&o, MCP_META_VERSION, mcp_version_text(version));
    json_out_key_raw(&o, MCP_META_CLIENT_INFO, STR(CLIENT_INFO));
    json_out_key_raw(&o, MCP_META_CLIENT_CAPABILITIES, capabilities);
    json_out_end_object(&o);
}

bool handshake_is_rejection(unsigned http_status)
{
    return http_status >= HTTP_CLIENT_ERRORS && http_status < HTTP_SERVER_ERRORS &&
           http_status != HTTP_UNAUTHORIZED && http_status != HTTP_FORBIDDEN;
}
