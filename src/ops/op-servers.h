/* ops/op-servers.h - finds the server of an operation by the names in its recording.
 *
 * A server is named by the result of initialize, or by the metadata of any result. An operation
 * belongs to the server of its HTTP session or connection. Until a server is named there, it is
 * unknown; at the end of a recording with one server, the caller may take that one.
 *
 * Knows servers by a number of the caller's, and keeps no text. Bounded: remembers the latest
 * OP_SERVERS_SCOPES sessions and connections. */
#ifndef OPS_OP_SERVERS_H
#define OPS_OP_SERVERS_H

#include "base/recent-keys.h"
#include "ops/operation.h"

enum { OP_SERVERS_SCOPES = 4096 };

struct op_servers {
    struct recent_keys scopes; /* recording and session or connection -> number */
    uint64_t recording;        /* number of the current one */
};

void op_servers_init(struct op_servers *s);
void op_servers_release(struct op_servers *s);

/* Forgets all servers: another recording begins. */
void op_servers_begin_recording(struct op_servers *s);

/* Returns the object with name and version of the server if the event is a response that has
 * one; else an absent value. */
struct json_val op_servers_info(const struct operation_event *ev);

/* Sets the server of the session and the connection of a record. */
void op_servers_set(struct op_servers *s, const struct record *r, uint64_t server);

/* Returns the server of an operation; 0 if it is unknown. */
uint64_t op_servers_find(const struct op_servers *s, const struct operation *op);

#endif
