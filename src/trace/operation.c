#include "trace/operation.h"

#include <stdlib.h>

#include "base/mem.h"

enum { KEPT = OPERATION_FIRST + OPERATION_LAST };

/* Most operations have two or three messages: room is made as it is needed. Once all of
 * it is taken, what follows the first ones is a ring, and `turn` its oldest place. */
static struct operation_message *place_for_next(struct operation_messages *list)
{
    struct operation_message *place;

    if (list->kept < KEPT) {
        if (list->kept == list->cap) {
            list->cap = list->cap ? list->cap * 2 : 4;
            list->at = mem_grow(list->at, list->cap * sizeof *list->at);
        }
        return &list->at[list->kept++];
    }
    place = &list->at[OPERATION_FIRST + list->turn];
    list->turn = (list->turn + 1) % OPERATION_LAST;
    return place;
}

void operation_add_message(struct operation *op, const struct operation_message *m)
{
    *place_for_next(&op->messages) = *m;
    op->messages.count++;
}

const struct operation_message *operation_message(const struct operation *op, size_t i)
{
    const struct operation_messages *list = &op->messages;

    BUG_IF(i >= list->kept);
    if (i < OPERATION_FIRST)
        return &list->at[i];
    return &list->at[OPERATION_FIRST + (i - OPERATION_FIRST + list->turn) % OPERATION_LAST];
}

void operation_release(struct operation *op)
{
    free(op->messages.at);
    op->messages = (struct operation_messages){ .count = 0 };
}

static const char *name_of(const char *const *names, size_t count, size_t i)
{
    BUG_IF(i >= count);
    return names[i];
}

#define NAME_OF(names, i) name_of((names), sizeof(names) / sizeof(names)[0], (i))

const char *operation_kind_name(enum operation_kind kind)
{
    static const char *const names[] = {
        [OPERATION_REQUEST] = "request",
        [OPERATION_BATCH] = "batch",
        [OPERATION_NOTIFICATION] = "notification",
        [OPERATION_ANSWER] = "answer",
        [OPERATION_NOISE] = "noise",
    };
    return NAME_OF(names, kind);
}

const char *operation_link_name(enum operation_link link)
{
    static const char *const names[LINKS] = {
        [LINK_NONE] = "none",   [LINK_ASKED] = "asked", [LINK_RETRY] = "retry",
        [LINK_TASK] = "task",   [LINK_PAGE] = "page",   [LINK_BATCH] = "batch",
        [LINK_STRAY] = "stray",
    };
    return NAME_OF(names, link);
}

const char *operation_role_name(enum operation_role role)
{
    static const char *const names[ROLES] = {
        [ROLE_REQUEST] = "request", [ROLE_ANSWER] = "answer", [ROLE_PROGRESS] = "progress",
        [ROLE_LOG] = "log",         [ROLE_CANCEL] = "cancel", [ROLE_STATUS] = "status",
        [ROLE_EVENT] = "event",     [ROLE_NOTICE] = "notice", [ROLE_NOISE] = "noise",
        [ROLE_AGAIN] = "again",
    };
    return NAME_OF(names, role);
}

const char *operation_outcome_name(enum operation_outcome outcome)
{
    static const char *const names[OUTCOMES] = {
        [OUTCOME_NONE] = "none",
        [OUTCOME_OK] = "ok",
        [OUTCOME_RPC_ERROR] = "rpc-error",
        [OUTCOME_TOOL_ERROR] = "tool-error",
        [OUTCOME_HTTP_ERROR] = "http-error",
        [OUTCOME_MALFORMED] = "malformed",
        [OUTCOME_PENDING] = "pending",
        [OUTCOME_CANCELLED] = "cancelled",
        [OUTCOME_LATE] = "late",
        [OUTCOME_SERVER_EXITED] = "server-exited",
    };
    return NAME_OF(names, outcome);
}

const char *operation_answer_name(enum operation_answer answer)
{
    static const char *const names[ANSWERS] = {
        [ANSWER_NONE] = "none",   [ANSWER_RESULT] = "result", [ANSWER_ERROR] = "error",
        [ANSWER_INPUT] = "input", [ANSWER_TASK] = "task",
    };
    return NAME_OF(names, answer);
}

const char *operation_flag_name(enum operation_flag flag)
{
    static const char *const names[OP_FLAGS] = {
        "inferred", "orphan",   "duplicate",   "after-end",  "id-reused", "retry",   "input",
        "task",     "more",     "cancelled",   "modern",     "noisy",     "cut",     "gap",
        "evicted",  "redacted", "redelivered", "clock-back", "code",      "clipped", "refused",
    };
    size_t bit = 0;

    BUG_IF(!flag);
    while (!(flag & 1u << bit))
        bit++;
    return NAME_OF(names, bit);
}
