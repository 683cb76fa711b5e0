/* engine/tasks.h - how far a live client is with a task of the recorded session it plays.
 *
 * Polls of a task are a sequence that goes on by one with each poll, but not by itself past
 * what only the client can bring about: a task that wants input waits for it. In 2026-07-28
 * that is a tasks/update; before, the answer to a question that came while the client waited
 * for the tasks/result. */
#ifndef ENGINE_TASKS_H
#define ENGINE_TASKS_H

#include "engine/queues.h"
#include "engine/spent.h"
#include "engine/stage.h"

struct tasks {
    const struct queues *queues; /* borrowed, as all here */
    struct spent *spent;
    const struct stage *stage;
    uint32_t session;
};

/* By what the client was told so far the task goes on without it. */
bool tasks_goes_on(const struct tasks *t, struct str task);

/* The next poll tells what the last one told: input is waited for. */
bool tasks_waits(const struct tasks *t, struct str task);

/* A task begins anew: its polls do, and the input it wants is wanted again. */
void tasks_renew(const struct tasks *t, struct str task);

#endif
