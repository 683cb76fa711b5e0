/* index/id-offset.h - remembers in one byte where the id stands in a recorded response.
 *
 * Most responses are sent again with only their id replaced. Clients and servers put the id at
 * the front or at the end, so with this offset a response of any length need not be parsed. */
#ifndef INDEX_ID_OFFSET_H
#define INDEX_ID_OFFSET_H

#include <stdint.h>

#include "json/json.h"

/* Returns the offset of `id`, the only one, in `message`; 0: too far from both ends. */
int8_t id_offset_of(struct json_val message, struct json_val id);

/* Finds the id in the text of a response. Returns false if `place` is 0 or no id stands
 * there. */
bool id_offset_find(struct str text, int8_t place, struct str *id);

#endif
