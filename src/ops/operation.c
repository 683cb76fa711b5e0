#include "ops/operation.h"

#include <stdlib.h>

#include "base/mem.h"

enum { KEEP_MAX = OPERATION_KEEP_FIRST + OPERATION_KEEP_LAST };

/* Most operations have two or three messages, so the array grows on demand. When it is full,
 * the part after the first ones is a ring whose oldest slot is `ring_start`. */
static struct operation_message *next_slot(struct operation_messages *list)
{
    struct operation_message *slot;

    if (list->kept < KEEP_MAX) {
        if (list->kept == list->cap) {
            list->cap = list->cap ? list->cap * 2 : 4;
            list->at = mem_grow(list->at, list->cap * sizeof *list->at);
        }
        return &list->at[list->kept++];
    }
    slot = &list->at[OPERATION_KEEP_FIRST + list->ring_start];
    list->ring_start = (list->ring_start + 1) % OPERATION_KEEP_LAST;
    return slot;
}

void operation_add_message(struct operation *op, const struct operation_message *m)
{
    *next_slot(&op->messages) = *m;
    op->messages.count++;
}

const struct operation_message *operation_message_at(const struct operation *op, size_t i)
{
    const struct operation_messages *list = &op->messages;

    BUG_IF(i >= list->kept);
    if (i < OPERATION_KEEP_FIRST)
        return &list->at[i];
    return &list->at[OPERATION_KEEP_FIRST +
                     (i - OPERATION_KEEP_FIRST + list->ring_start) % OPERATION_KEEP_LAST];
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
        [OPERATION_REQUEST] = "request",           [OPERATION_BATCH] = "batch",
        [OPERATION_NOTIFICATION] = "notification", [OPERATION_RESPONSE] = "response",
        [OPERATION_NON_MESSAGE] = "non-message",
    };
    return NAME_OF(names, kind);
}

const char *operation_link_name(enum operation_link link)
{
    static const char *const names[LINK_COUNT] = {
        [LINK_NONE] = "none",      [LINK_SERVER_REQUEST] = "server-request",
        [LINK_RETRY] = "retry",    [LINK_TASK] = "task",
        [LINK_PAGE] = "page",      [LINK_BATCH] = "batch",
        [LINK_LATE] = "after-end",
    };
    return NAME_OF(names, link);
}

const char *operation_role_name(enum operation_role role)
{
    static const char *const names[ROLE_COUNT] = {
        [ROLE_REQUEST] = "request",         [ROLE_RESPONSE] = "response",
        [ROLE_PROGRESS] = "progress",       [ROLE_LOG] = "log",
        [ROLE_CANCEL] = "cancel",           [ROLE_TASK_STATUS] = "task-status",
        [ROLE_EVENT] = "subscription",      [ROLE_NOTIFICATION] = "notification",
        [ROLE_NON_MESSAGE] = "non-message", [ROLE_REDELIVERED] = "redelivered",
    };
    return NAME_OF(names, role);
}

const char *operation_outcome_name(enum operation_outcome outcome)
{
    static const char *const names[OUTCOME_COUNT] = {
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

const char *operation_response_name(enum operation_response response)
{
    static const char *const names[RESPONSE_COUNT] = {
        [RESPONSE_NONE] = "none",   [RESPONSE_RESULT] = "result",
        [RESPONSE_ERROR] = "error", [RESPONSE_INPUT_REQUIRED] = "input-required",
        [RESPONSE_TASK] = "task",
    };
    return NAME_OF(names, response);
}

const char *operation_flag_name(enum operation_flag flag)
{
    static const char *const names[OP_FLAG_COUNT] = {
        "inferred",      "orphan",         "duplicate",  "after-end",  "id-reused",
        "retry",         "input-required", "task",       "more-pages", "cancelled",
        "stateless",     "non-message",    "aborted",    "gap",        "evicted",
        "redacted",      "redelivered",    "time-order", "code",       "truncated",
        "http-rejected",
    };
    size_t bit = 0;

    BUG_IF(!flag);
    while (!(flag & 1u << bit))
        bit++;
    return NAME_OF(names, bit);
}
