/* replay/version-bridge.h - handles clients whose protocol (stateful or stateless) differs from
 * the recording's: warns the user, and converts responses where both were recorded.
 *
 * Warns once per protocol, since a client may retry. A client of both protocols probes with
 * server/discover: that is reported only if no initialize follows until the end. Owns
 * nothing. */
#ifndef REPLAY_VERSION_BRIDGE_H
#define REPLAY_VERSION_BRIDGE_H

#include "engine/actions.h"
#include "index/index.h"
#include "mcphttp/request-validate.h"
#include "json/splice.h"

enum { VERSION_BRIDGE_TEXT = 32 }; /* bytes of a version that are logged */

struct version_bridge {
    bool warned[2];                           /* by `stateless` */
    char probed_version[VERSION_BRIDGE_TEXT]; /* of a client that only probed so far; empty:
                                                 none */
};

/* Warns that a client's version is not in the recording. An empty `version`: any of that
 * protocol. */
void version_bridge_warn(struct version_bridge *o, struct actions *actions,
                         const struct index *idx, bool stateless, struct str version);

/* Checks an HTTP request. `refused`: it was rejected. */
void version_bridge_check_request(struct version_bridge *o, struct actions *actions,
                                  const struct index *idx, const struct request_rules *rules,
                                  const struct http_request *c, bool refused, struct arena *a);

/* To be called at the end of the replay. */
void version_bridge_finish(struct version_bridge *o, struct actions *actions,
                           const struct index *idx);

/* Conversion: used where both protocols were recorded and the client's own has no response. A
 * stateful client ignores the additional members of a stateless response; the other way round,
 * missing members are added. A response that is a task or asks for input, or that depended on a
 * server request, cannot be converted. */

/* Whether a call can be converted, up to its response; later steps are not played. Also false
 * if it cannot be read. */
bool version_bridge_can_convert(const struct index *s, uint32_t call, struct err *e) MUST_CHECK;

/* Whether a stateful notification can go to a stateless client: its protocol has it, it needs
 * no subscription, and it cancels no server request. */
bool version_bridge_can_send(struct json_val root);

/* Adds the members that a stateless response needs. */
void version_bridge_to_stateless(struct json_splice *edit, struct json_val root,
                                 const struct mcp_method *of);

#endif
