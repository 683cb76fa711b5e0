/* runtime/verify-recording.h - loads a recording to verify a server with it. */
#ifndef RUNTIME_VERIFY_RECORDING_H
#define RUNTIME_VERIFY_RECORDING_H

#include "format/message-file.h"
#include "index/index-build.h"
#include "index/order.h"
#include "runtime/app.h"

struct verify_recording {
    struct message_file file;
    struct index index;
    struct index_order order; /* what the client sent */
};

/* Opens the file. The caller calls verify_recording_close() in any case. */
bool verify_recording_open(struct verify_recording *r, const struct app *app, const char *path,
                           struct err *e) MUST_CHECK;
void verify_recording_close(struct verify_recording *r);

/* Reads all of it into the index. `first` gets the records and passes them on to `index.sink`;
 * NULL: the index gets them directly. */
bool verify_recording_load(struct verify_recording *r, struct sink *first,
                           struct err *e) MUST_CHECK;

/* Returns the number of requests, notifications or responses that the client sent. */
uint64_t verify_recording_count(const struct verify_recording *r, enum index_order_kind kind);

#endif
