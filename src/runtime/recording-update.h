/* runtime/recording-update.h - replaces recorded responses of a file by live ones.
 *
 * Call message_file_open() and recording_update_init() before anything is sent; then
 * message_file_read_all(); recording_update_add() for each response that was accepted; and
 * recording_update_write() once, which replaces the file.
 *
 * A live response passes the redactor when it is added, so that no secret is kept anywhere. The
 * new text of a response has the live result or error and everything else as it was recorded;
 * redacted values stay redacted (redact/accepted-response.h). All other bytes of the file stay.
 * Texts are kept in the temporary file of the message store, not in memory. */
#ifndef RUNTIME_RECORDING_UPDATE_H
#define RUNTIME_RECORDING_UPDATE_H

#include "format/file-rewrite.h"
#include "format/message-file.h"
#include "redact/accepted-response.h"
#include "redact/redaction.h"

struct recording_update {
    struct message_file *messages; /* borrowed */
    struct redaction *redaction;   /* borrowed */
    const char *path;              /* borrowed */
    struct file_version version;
    struct recording_change {
        struct message_ref recorded;
        struct message_ref live, live_redacted; /* in the message store; the second may be
                                                   empty */
        struct message_origin origin;
        size_t number; /* in the order of recording_update_add() */
    } * changes;
    size_t count, cap;

    /* Internal. */
    struct sink redacted_sink; /* receives the live response from the redactor */
    bool rules_reserved;       /* set when the redactor knows the numbers in the file */
    struct message_composer composer;
    struct accepted_response accepted;
    const struct recording_change *current;
    struct buf live, recorded, list, old_text, new_text;
    struct json recorded_json, live_json;
    bool changed; /* set when a new text differs from the recorded one */
};

/* Checks that the file can be updated, and prepares to read it for that. `messages` is open and
 * not read yet. ERR_USAGE if its format is only read, or the file cannot be replaced
 * (file_rewrite_check()). The caller sets up `redaction` for the format
 * (redact_options_set_format()). Release it also after a failure. */
bool recording_update_init(struct recording_update *u, struct message_file *messages,
                           const char *path, struct redaction *redaction,
                           struct err *e) MUST_CHECK;
void recording_update_release(struct recording_update *u);

/* Adds the live response (one JSON-RPC message) for a recorded one. The later one of two for
 * the same recorded response counts. ERR_INPUT if it is no response, or a secret cannot be
 * removed from it. */
bool recording_update_add(struct recording_update *u, struct message_ref recorded,
                          struct str live, struct err *e) MUST_CHECK;

/* Replaces the file atomically; does nothing if no text would change. ERR_INPUT if the file was
 * changed since it was opened, ERR_USAGE if a line or document would become too large to read
 * again. On failure the file stays as it was. */
bool recording_update_write(struct recording_update *u, struct err *e) MUST_CHECK;

/* Returns how many texts became a placeholder alone, which any text matches: the recorded one
 * had a secret, and the live one may have it in another form. */
uint64_t recording_update_hidden(const struct recording_update *u);

#endif
