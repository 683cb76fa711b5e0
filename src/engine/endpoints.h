/* engine/endpoints.h - where servers that speak HTTP+SSE want messages to be posted.
 *
 * Such a server tells each client at the start of its stream. Whoever is in between reads it
 * as the client would, if that had asked the server itself; remembers it, since what is posted
 * there belongs to the session of that stream; and tells the client an address that leads
 * through it.
 *
 * The id of a session may stand anywhere in it, so it is a secret as a whole: only what it
 * hashes to is kept, as with other session ids, and what is told of it has marks for all that
 * may be one. */
#ifndef ENGINE_ENDPOINTS_H
#define ENGINE_ENDPOINTS_H

#include "engine/address.h"
#include "engine/session-ids.h"

/* What an endpoint event comes to. */
struct endpoint {
    struct str target; /* at the server: path and query */
    struct str told;   /* to the client: see engine/address.h */
};

/* ERR_PEER: it points to another server, or cannot be read; never more is told of it than its
 * origin. Lives as long as `a`, and what was said. */
bool endpoints_read(struct endpoint *out, struct str said, const struct url *server,
                    const struct address_client *client, struct arena *a,
                    struct err *e) MUST_CHECK;

struct endpoints {
    struct session_ids *ids; /* borrowed: they are numbered among all sessions */
    struct recall paths;     /* that were named */
    struct recall ended;     /* numbers of sessions: one may have any number of endpoints */
};

void endpoints_init(struct endpoints *p, struct session_ids *ids);
void endpoints_release(struct endpoints *p);

/* A stream has named an endpoint: the number of its session, which is `session` unless that is
 * 0: then it begins one. If another stream has named the same, messages are taken for those of
 * the latest. */
uint64_t endpoints_named(struct endpoints *p, struct str target, uint64_t session);

/* The stream of a session has ended, and with it all its endpoints. */
void endpoints_end(struct endpoints *p, uint64_t session);

/* What is posted to a path with a query. SESSION_NONE: no such path was ever named. */
enum session_state endpoints_look(const struct endpoints *p, struct str path, struct str query,
                                  uint64_t *session);

/* What may be told of an endpoint, whole or a part of it: in place of made up parts of its path
 * and the values of its query stand marks. */
struct str endpoints_masked(struct str text, struct arena *a);
struct str endpoints_masked_query(struct str query, struct arena *a);

#endif
