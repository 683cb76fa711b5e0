/* replay/player-send.h - sends one step of a recorded call to a live client.
 *
 * Replaces ids, tokens and versions by the live client's, and leaves out messages that the
 * client does not support. The player decides when a step is sent. */
#ifndef REPLAY_PLAYER_SEND_H
#define REPLAY_PLAYER_SEND_H

#include "replay/player.h"

/* Sends the next step of a call. */
void player_send_step(struct player *s, struct player_call *p);

/* Routes the next actions to the exchange of a call. */
void player_send_set_route(struct player *s, const struct player_call *p);

/* Sets a timer and returns its number. */
uint64_t player_send_set_timer(struct player *s, int64_t delay_us);

/* Reads the message of a step. Absent if it cannot be read; then `error` is set. */
struct json_val player_send_read_step(struct player *s, uint32_t step);

#endif
