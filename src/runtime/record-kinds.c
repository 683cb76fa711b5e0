#include "runtime/record-kinds.h"

#include "runtime/record-bridge.h"
#include "runtime/record-stdio.h"

int record_kinds_run(const struct app *app, struct record_path *target,
                     const struct record_settings *settings,
                     const struct record_kinds_settings *kinds, struct err *e)
{
    const struct record_http_settings *http = &kinds->http;
    struct record_front_settings front = { .address = http->address,
                                           .listening = http->listening,
                                           .max_servers = kinds->max_servers,
                                           .mcp_recorder_compat = kinds->mcp_recorder_compat };

    if (settings->server_argv)
        return http->listens ? record_front_run(app, target, settings, &front, e)
                             : record_stdio_run(app, target, settings, e);
    return http->listens ? record_http_run(app, target, settings, http, e)
                         : record_bridge_run(app, target, settings, http->server, e);
}
