/* redact/id-alias.h - gives ids that contain a secret stable and unique replacements.
 *
 * Redacting the secret may make different ids equal; a number then keeps them apart. The same
 * id has the same alias in every message, so responses still match their requests.
 *
 * Ownership: copies the ids, and with them the secrets; in memory only. Limits:
 * LIMIT_ALIASES and their total text. */
#ifndef REDACT_ID_ALIAS_H
#define REDACT_ID_ALIAS_H

#include "base/arena.h"
#include "base/map.h"

struct id_alias {
    struct map names;       /* by id: its alias, a struct str in the arena */
    struct map used_names;  /* all aliases */
    struct map name_counts; /* by redacted id: number of aliases made from it */
    size_t text_bytes;      /* of ids and redacted ids */
    struct arena arena;
};

void id_alias_init(struct id_alias *a);
void id_alias_release(struct id_alias *a);

/* Gets the alias of the id `key` (see mcp/id.h); `rest` is the redacted id. Returns false if
 * the limit of ids or of their text is reached. The alias is valid until the release. */
bool id_alias_get(struct id_alias *a, struct str key, struct str rest, struct str *name)
    __attribute__((warn_unused_result));

#endif
