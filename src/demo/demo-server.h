/* demo/demo-server.h - an MCP server with fixed, reproducible responses.
 *
 * An engine. Supports the stateful protocol up to 2025-11-25: tools (structured output,
 * progress and logging, errors, sampling), a resource, a resource template and a prompt. Equal
 * requests get equal responses on every machine. */
#ifndef DEMO_DEMO_SERVER_H
#define DEMO_DEMO_SERVER_H

#include "demo/demo-tools.h"

struct demo_server {
    struct actions actions;
    struct demo_tools tools;
    struct arena arena; /* for one step */
    struct buf body;    /* the result being composed */
    bool closed;        /* set when the client closes its side */
    bool finished;
};

void demo_server_init(struct demo_server *s, struct action_sink *out);
void demo_server_release(struct demo_server *s);

void demo_server_step(struct demo_server *s, const struct event *ev);

#endif
