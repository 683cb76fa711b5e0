/* engine/stage-send.h - one step of a strand, said to the client that is played to.
 *
 * Puts in what the live client minted, and leaves out what it cannot be told or asked. When it
 * is time for a step is not decided here. */
#ifndef ENGINE_STAGE_SEND_H
#define ENGINE_STAGE_SEND_H

#include "engine/stage-play.h"

/* What comes next in a play. */
void stage_send_step(struct stage *s, struct stage_play *p);

/* What is said from now on belongs to a play. */
void stage_send_for(struct stage *s, const struct stage_play *p);

/* Sets a timer; its name. */
uint64_t stage_send_timer(struct stage *s, int64_t delay_us);

/* The message of a step; absent if it cannot be read, which is told once by `trouble`. */
struct json_val stage_send_recorded(struct stage *s, uint32_t step);

#endif
