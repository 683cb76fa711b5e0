/* engine/script-write.h - records become strands; the half of engine/script.h that is
 * only there while a recording is poured in.
 *
 * Every place that ids reach (a connection, a session over HTTP) has a lane of its own:
 * what was said last there, and which notifications of the client's were heard. Lanes
 * and open requests are all that is remembered besides the script itself. */
#ifndef ENGINE_SCRIPT_WRITE_H
#define ENGINE_SCRIPT_WRITE_H

#include "engine/script.h"

void script_write_begin(struct script *s);
void script_write_end(struct script *s); /* once is enough */

#endif
