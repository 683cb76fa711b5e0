/* engine/crossing.h - an answer of one era, given to a client of the other one.
 *
 * That happens only where both eras were recorded, and its own has no answer. To the older era
 * an answer of the newer one is whole as it is: what it says beyond that, a client passes over.
 * The other way round members are missing that clients insist on. What is no answer yet (a
 * task, a wish for input) is put in ways that the other era does not know: it stays on its
 * side. */
#ifndef ENGINE_CROSSING_H
#define ENGINE_CROSSING_H

#include "engine/script.h"
#include "json/splice.h"

/* False also if it cannot be read. */
bool crossing_is_possible(const struct script *s, uint32_t op, struct err *e) MUST_CHECK;

/* Makes what was said in the older era an answer of the newer one. */
void crossing_to_newer(struct json_splice *edit, struct json_val root,
                       const struct mcp_method *of);

#endif
