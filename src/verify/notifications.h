/* verify/notifications.h - compares the notifications of the live server with the recorded
 * ones, by kind: the method.
 *
 * Each kind that the recorded server sent during a call, before its response, must come after
 * the call is sent. list_changed, resources/updated and tasks/status belong to no call: they
 * may come at any time of the session. Over HTTP the server sends these on the GET stream, and
 * drops them while the client has not opened it; they are missed only if the recorded session
 * was on HTTP, too.
 *
 * A notification on stdio does not say which call it belongs to. So each one counts for one
 * call only: the caller takes those of a call with notifications_take() when it has its
 * verdict, and calls that are still open come before calls that wait for a late one. */
#ifndef VERIFY_NOTIFICATIONS_H
#define VERIFY_NOTIFICATIONS_H

#include "base/map.h"
#include "index/index.h"

struct notifications {
    const struct index *index; /* borrowed, as `order` */
    const struct index_order *order;
    uint32_t session;
    bool new_on_http;         /* the live session is on HTTP, the recorded one was not */
    struct map received;      /* method to how often it came */
    struct map last_received; /* method to `count` after the last one */
    struct map not_taken;     /* method to how many no call has taken */
    uint64_t count;           /* live notifications */
};

/* `http` is whether the live session is on HTTP. */
void notifications_init(struct notifications *n, const struct index *index,
                        const struct index_order *order, uint32_t session, bool http);
void notifications_release(struct notifications *n);

void notifications_add(struct notifications *n, struct str method);

/* A recorded call that was sent when `count` was `sent_at`. */
struct notifications_call {
    uint32_t call;
    uint64_t sent_at;
    bool got_progress; /* a notification with its progress token came */
};

/* Returns whether a kind of notification of the call has not come; calls `missing`, unless it
 * is NULL, for each of them. */
bool notifications_find_missing(const struct notifications *n,
                                const struct notifications_call *call,
                                void (*missing)(void *arg, struct str method), void *arg);

/* Takes the notifications that a call has recorded: all of each kind, as far as they came; one
 * of each kind if other calls are open, because the rest may be theirs. */
void notifications_take(struct notifications *n, uint32_t call, bool others_open);

/* Forgets the notifications that no call has taken: none is open or waits. */
void notifications_forget(struct notifications *n);

/* Calls `differs` for each kind that came more or less often than it was recorded, in the whole
 * session. */
void notifications_compare_counts(const struct notifications *n,
                                  void (*differs)(void *arg, struct str method,
                                                  uint64_t recorded, uint64_t live),
                                  void *arg);

#endif
