/* mcp/surface.h - the surface of a server: all that it tells a client about itself.
 *
 * Tools, resources, resource templates, prompts, capabilities, protocol version, server info
 * and instructions, collected from the results of initialize, server/discover and the list
 * methods. A surface owns its texts. Definitions stay JSON as the server wrote them; an entry
 * without a name (of a resource: its URI) is left out and counted. Different definitions of one
 * name are all kept: which of them a client uses is not known. */
#ifndef MCP_SURFACE_H
#define MCP_SURFACE_H

#include "base/map.h"
#include "json/json.h"

enum surface_kind {
    SURFACE_TOOL,
    SURFACE_RESOURCE,
    SURFACE_TEMPLATE,
    SURFACE_PROMPT,
    SURFACE_SERVER, /* the server itself; has no list */
    SURFACE_LISTS = SURFACE_SERVER,
};

struct surface_item {
    struct str key;       /* name, URI or URI template */
    size_t repeat;        /* 0: the first of its key; 1, 2, …: another definition of it */
    size_t repeats;       /* of the first: the number of the others */
    struct json_val def;  /* an object */
    uint64_t line;        /* of the file that the surface was read from; 0: none */
    struct json_val name; /* "name" of `def` */
};

struct surface_list {
    bool known;                 /* a result of its list method was added */
    bool has_more;              /* the last result added had a nextCursor */
    struct surface_item *items; /* in the order of the server; an equal one is there once */
    size_t count, cap;
    size_t nameless;   /* entries that were left out */
    struct map by_key; /* "repeat key" to 1 + index */
    struct map by_def; /* hash of the definition to 1 + index */
};

struct surface {
    struct surface_list lists[SURFACE_LISTS];
    bool described; /* a result of initialize or server/discover was added */
    bool sorted;    /* the order of the lists is not that of the server */
    struct str protocol_version, instructions; /* decoded; empty: none */
    struct json_val capabilities, server_info; /* absent: none */
    uint64_t server_line;                      /* as `line` of an item */
    struct arena arena;
    struct json **documents; /* owned */
    size_t document_count, document_cap;
};

void surface_init(struct surface *s);
void surface_release(struct surface *s);

/* Returns the word for messages and JSON: "tool", "resource", "template", "prompt",
 * "server". */
struct str surface_kind_name(enum surface_kind kind);

/* Returns the list method of a kind, and the member of its result that is the list. */
struct str surface_list_method(enum surface_kind kind);
struct str surface_list_member(enum surface_kind kind);

/* Adds the result of a request. A list begins anew unless it is the `next_page`: the request
 * had a cursor. `line` is that of the response in its file; it may be 0. Returns false if the
 * method has nothing to do with a surface, or the result has not the type that the method
 * demands. */
bool surface_add_result(struct surface *s, struct str method, bool next_page,
                        struct json_val result, uint64_t line);

/* Adds one definition, for readers of files; `line` may be 0. Returns false if it has no
 * name. */
bool surface_add_item(struct surface *s, enum surface_kind kind, struct json_val def,
                      uint64_t line);

/* Copies a value into the surface. */
struct json_val surface_copy(struct surface *s, struct json_val v);

/* Finds the first definition of a key, or another one. NULL: not in the list. */
const struct surface_item *surface_find(const struct surface *s, enum surface_kind kind,
                                        struct str key);
const struct surface_item *surface_find_repeat(const struct surface *s, enum surface_kind kind,
                                               struct str key, size_t repeat);

/* Returns whether the capabilities have a list. */
bool surface_offers(const struct surface *s, enum surface_kind kind);

/* Call it when nothing more is added: a list that the server does not offer is known to be
 * empty. */
void surface_complete(struct surface *s);

/* Returns whether it has anything that can be compared. */
bool surface_is_empty(const struct surface *s);

/* Adds what `s` does not know and `other` does. Returns false if both know the same list and
 * differ: `*kind` and `*key` then say where. Capabilities, versions and server info do not
 * count: they depend on the client. */
bool surface_merge(struct surface *s, const struct surface *other, enum surface_kind *kind,
                   struct str *key);

#endif
