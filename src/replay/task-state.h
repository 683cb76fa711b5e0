/* replay/task-state.h - how far a live client is with a task of its recorded session.
 *
 * Each poll of a task moves to the next recorded state, but not past a state that only the
 * client can change: a task that waits for input stays there until the client sends it
 * (tasks/update in 2026-07-28; before, the response to a server request during tasks/result). A
 * task is not cancelled before the client cancels it. It never goes back: after the result or a
 * cancellation no earlier state is reported.
 *
 * Holds no state of its own: reads used set and player. Borrows everything. */
#ifndef REPLAY_TASK_STATE_H
#define REPLAY_TASK_STATE_H

#include "match/candidates.h"
#include "match/used-set.h"
#include "replay/player.h"

struct task_state {
    const struct candidates *candidates;         /* all borrowed */
    const struct candidates *equal_candidates;   /* of the matcher; may be empty */
    const struct candidates *reduced_candidates; /* the same */
    struct used_set *used_set;
    const struct player *player;
    uint32_t session;
};

/* Whether the task goes on without the client, by the polls it got. */
bool task_state_is_running(const struct task_state *t, struct str task);

/* Returns when the latest used poll was recorded; 0: none was used. */
uint32_t task_state_polled_ms(const struct task_state *t, struct str task);

/* Whether the next poll has to repeat the last one, because the client has to act first. */
bool task_state_waits_for_client(const struct task_state *t, struct str task);

/* If the client has the result of a task, skips to the poll that reports its end. */
void task_state_skip_to_end(const struct task_state *t, struct str task);

/* The client got the response to the call `cancel`: skips the polls before it. */
void task_state_note_cancelled(const struct task_state *t, struct str task, uint32_t cancel);

/* Starts a task over: its polls and the input it waits for are unused again. */
void task_state_restart(const struct task_state *t, struct str task);

#endif
