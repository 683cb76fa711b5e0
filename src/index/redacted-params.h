/* index/redacted-params.h - keeps which params of recorded requests were redacted and cannot be
 * compared.
 *
 * A mask is a set of paths of params. A live request is looked up once more for each mask that
 * calls of its method and subject have. */
#ifndef INDEX_REDACTED_PARAMS_H
#define INDEX_REDACTED_PARAMS_H

#include "index/index.h"

/* A mask of calls of one method and subject. */
struct redacted_params {
    struct redacted_params *next;
    struct params_mask mask;
};

/* Returns the paths that a record lists as redacted. Values whose text is a placeholder need no
 * list. */
struct params_mask redacted_params_from_record(const struct record *r,
                                               const struct mcp_message *m,
                                               struct arena *scratch);

/* While building: notes the redacted params of a call. `pointed` is from
 * redacted_params_from_record(). */
void redacted_params_add(struct index *s, uint32_t call, const struct params_leaves *l,
                         struct params_mask pointed, struct arena *scratch);

/* Returns the masks of calls of a method and subject; NULL: none. */
const struct redacted_params *redacted_params_find(const struct index *s, uint32_t method,
                                                   uint32_t subject_key);

/* Returns the redacted params of a call whose text does not tell that they are. */
struct params_mask redacted_params_unmarked(const struct index *s, uint32_t call);

#endif
