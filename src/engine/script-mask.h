/* engine/script-mask.h - what of the recorded requests was redacted, and so cannot be compared.
 *
 * A mask is the places of some leaves. Live requests are looked for once more for each mask
 * that requests of their method and subject were recorded with. */
#ifndef ENGINE_SCRIPT_MASK_H
#define ENGINE_SCRIPT_MASK_H

#include "engine/script.h"

/* Where parts of the requests of one method and subject were redacted. */
struct script_mask {
    struct script_mask *next;
    struct leaf_mask mask;
};

/* The places that a recording says were redacted; those whose text says so need no list. */
struct leaf_mask script_mask_pointed(const struct record *r, const struct mcp_message *m,
                                     struct arena *scratch);

/* The leaves of a request, of which some may be redacted, while the script is written. */
void script_mask_note(struct script *s, uint32_t op, const struct leaves *l,
                      struct leaf_mask pointed, struct arena *scratch);

/* The masks that requests of a method and subject were recorded with. */
const struct script_mask *script_mask_find(const struct script *s, uint32_t method,
                                           uint32_t subject_key);

/* What of one recorded request was redacted without saying so in its text. */
struct leaf_mask script_mask_hidden(const struct script *s, uint32_t op);

#endif
