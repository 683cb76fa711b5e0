/* engine/id-place.h - where in a recorded answer its id stands, remembered in one byte.
 *
 * Most answers are sent again with another id and no other change. Who knows where it
 * stands need not parse them, however long they are: clients and servers put it at the
 * front or at the end. */
#ifndef ENGINE_ID_PLACE_H
#define ENGINE_ID_PLACE_H

#include <stdint.h>

#include "json/json.h"

/* Of `id` inside `message`, its only one; 0: too far from both ends. */
int8_t id_place_of(struct json_val message, struct json_val id);

/* The id in the text of such a message; false if it does not stand at that place, because
 * there is none (0) or because the text is another. */
bool id_place_find(struct str text, int8_t place, struct str *id);

#endif
