/* engine/demo-server.h - a small MCP server that needs nothing and knows everything
 * it says by heart.
 *
 * A stepper. Speaks the revisions that begin with initialize, up to 2025-11-25: tools
 * (structured output, progress and logging, a tool that fails, one that asks the
 * client's model), a resource and a template, a prompt. The same questions get the
 * same answers on every machine and every day. */
#ifndef ENGINE_DEMO_SERVER_H
#define ENGINE_DEMO_SERVER_H

#include "engine/demo-tools.h"

struct demo_server {
    struct say say;
    struct demo_tools tools;
    struct arena arena; /* for one step */
    struct buf body;    /* the result that is being composed */
    bool closed;        /* the client sends nothing more */
    bool finished;
};

void demo_server_init(struct demo_server *s, struct action_sink *out);
void demo_server_release(struct demo_server *s);

void demo_server_step(struct demo_server *s, const struct event *ev);

#endif
