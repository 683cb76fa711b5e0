/* engine/tasks.h - how far a live client is with a task of the recorded session it plays.
 *
 * Polls of a task are a sequence that goes on by one with each poll, but not by itself past
 * what only the client can bring about: a task that wants input waits for it. In 2026-07-28
 * that is a tasks/update; before, the answer to a question that came while the client waited
 * for the tasks/result. Nor is a task cancelled before the client cancels it. It never goes
 * back: whoever has its result, or has cancelled it, is told of no state before that. */
#ifndef ENGINE_TASKS_H
#define ENGINE_TASKS_H

#include "engine/queues.h"
#include "engine/spent.h"
#include "engine/stage.h"

struct tasks {
    const struct queues *queues; /* borrowed, as all here */
    const struct queues *equal;  /* the matcher's other index; may be empty */
    struct spent *spent;
    const struct stage *stage;
    uint32_t session;
};

/* By what the client was told so far the task goes on without it. */
bool tasks_goes_on(const struct tasks *t, struct str task);

/* When the latest poll that was answered was recorded; 0: none was. */
uint32_t tasks_polled_ms(const struct tasks *t, struct str task);

/* The next poll tells what the last one told: it is the client's turn. */
bool tasks_waits(const struct tasks *t, struct str task);

/* If the client has the result of a task, the next poll tells of its end. */
void tasks_catch_up(const struct tasks *t, struct str task);

/* The client was given what `cancel` was answered with: the next poll is one after that. */
void tasks_cancel(const struct tasks *t, struct str task, uint32_t cancel);

/* A task begins anew: its polls do, and the input it wants is wanted again. */
void tasks_renew(const struct tasks *t, struct str task);

#endif
