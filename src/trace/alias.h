/* trace/alias.h - what ids are called that hold a secret.
 *
 * The same id has the same name everywhere, and different ids have different ones, though
 * what is left of them when the secret is taken out may be the same: then a number tells
 * them apart. So an answer still belongs to its request.
 *
 * Ownership: keeps copies of the ids, and with them the secrets; in memory only. */
#ifndef TRACE_ALIAS_H
#define TRACE_ALIAS_H

#include "base/arena.h"
#include "base/map.h"

struct alias {
    struct map names; /* by id: its name, which is a struct str in the arena */
    struct map taken; /* all names */
    struct map tried; /* by what is left of ids: how many names were made of it */
    size_t text;      /* bytes of ids and of what is left of them */
    struct arena arena;
};

void alias_init(struct alias *a);
void alias_release(struct alias *a);

/* The name of the id `key` (see mcp/id.h), of which `rest` is left. False if there are too
 * many, or they are too long together. Valid until the release. */
bool alias_name(struct alias *a, struct str key, struct str rest, struct str *name)
    __attribute__((warn_unused_result));

#endif
