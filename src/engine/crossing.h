/* engine/crossing.h - an answer of one era, given to a client of the other one.
 *
 * That happens only where both eras were recorded, and its own has no answer. To the older era
 * an answer of the newer one is whole as it is: what it says beyond that, a client passes over.
 * The other way round members are missing that clients insist on. What is no answer yet (a
 * task, a wish for input), or would have been another one had the client been asked as it was
 * then, is put in ways that the other era does not know: it stays on its side. */
#ifndef ENGINE_CROSSING_H
#define ENGINE_CROSSING_H

#include "engine/script.h"
#include "json/splice.h"

/* Up to the answer: what came after it is not played. False also if it cannot be read. */
bool crossing_is_possible(const struct script *s, uint32_t op, struct err *e) MUST_CHECK;

/* Whether a notification of the older era can go to a client of the newer one that has only
 * asked for something: that era knows it, it needs no subscription, and it takes back no
 * question. */
bool crossing_can_be_told(struct json_val root);

/* Makes what was said in the older era an answer of the newer one. */
void crossing_to_newer(struct json_splice *edit, struct json_val root,
                       const struct mcp_method *of);

#endif
