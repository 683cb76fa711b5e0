/* runtime/recording-append.h - adds the calls of a session with a server to a recording.
 *
 * The recording is locked until recording_append_close(). The owner gives the traffic with the
 * server to `session.recorder`, which records it through the redactor to a file beside the
 * recording, "FILE.appended.jsonl". recording_append_finish() writes a new file: the records of
 * the recording, then those of the session without its unanswered requests, as a session of its
 * own with the numbers of another connection. The new file takes the place of the recording, or
 * gets the pending path, when it is complete. If that fails, or mcpreel is killed, the
 * recording stays as it was and FILE.appended.jsonl remains: a recording that 'convert' can
 * merge. The next session does not replace it, unless it has no answered call. */
#ifndef RUNTIME_RECORDING_APPEND_H
#define RUNTIME_RECORDING_APPEND_H

#include "runtime/record-output.h"
#include "trace/answered-calls.h"

struct recording_append_options {
    const char *path;    /* the recording */
    const char *pending; /* where the new file goes; NULL: in the place of the recording */
    bool replace_pending;
    const struct record_settings *settings; /* server and redaction */
};

struct recording_append {
    const struct app *app;
    struct recording_append_options options; /* borrows its texts */
    const struct format *format;             /* of the recording */
    struct file_version version;             /* of the recording as it was opened */
    int lock_fd;                             /* -1: not locked */
    struct record_settings settings;         /* of the session: strict, so that all is there */
    struct log session_log;                  /* only warnings */
    struct app session_app;
    struct record_path session_path; /* its name is in `arena` */
    struct arena arena;
    struct record_output session; /* the traffic with the server */
    bool session_open;            /* set until the session file is complete or removed */
    uint64_t appended;            /* calls that were added; set by finish */
};

/* Locks a recording that is to be replaced. Returns the descriptor, or -1: ERR_USAGE with the
 * process that writes to it, or why it cannot be locked. */
int recording_append_lock(const struct sys *sys, const char *path, struct err *e);

/* Locks the recording and checks that a new file can be written. ERR_USAGE if its format is
 * only read, another process writes to it, or the session file or the pending file exists. Call
 * recording_append_close() in any case. */
bool recording_append_open(struct recording_append *a, const struct app *app,
                           const struct recording_append_options *options,
                           struct err *e) MUST_CHECK;

/* Writes the new file if a call was answered; `code` is the exit code of the session. ERR_INPUT
 * if another process has changed the recording. */
bool recording_append_finish(struct recording_append *a, int code, struct err *e) MUST_CHECK;

/* Removes the session file, unless finish was called. */
void recording_append_close(struct recording_append *a);

#endif
