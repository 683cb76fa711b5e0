/* trace/own-path.h - the path of a server's address, told again where it stands.
 *
 * A path may be all that keeps others out, so the parts of it are not written down, however
 * they look, wherever something is a path: in requests, in the addresses for logins that are
 * made of it, in what a server says where its messages are to go. Parts that are ordinary words
 * of such paths (mcp, sse, api, messages, v1, …) stay. Knows nothing of texts that are no
 * paths. */
#ifndef TRACE_OWN_PATH_H
#define TRACE_OWN_PATH_H

#include "base/arena.h"
#include "base/buf.h"

struct own_path {
    struct arena arena;
    struct own_path_part {
        struct str text;
        struct own_path_part *next;
    } * parts;  /* those that are not told */
    bool query; /* the address has one */
};

void own_path_release(struct own_path *o);

/* Whether a text is an address, of http, https, ws or wss. */
bool own_path_is_url(struct str text);

/* Adds the parts of an address for which `counts` is true; NULL: of all that do not only
 * name what is there. What is no address has none. */
void own_path_learn(struct own_path *o, struct str url, bool (*counts)(struct str part));

/* Whether a path may be told: there is nothing in it but names. */
bool own_path_is_plain(struct str path);

/* Appends a text in which parts of the path are replaced by marks; appends nothing and is
 * false if there are none. Of JSON the text may be, too. */
bool own_path_hide(const struct own_path *o, struct str text, struct buf *to);

#endif
