/* cmd/record-mode.h - the options of replay that record: --record-mode, --pending and what is
 * redacted, and a recording made from them.
 *
 * The modes: none only replays; once records if there is no file, else replays; append replays,
 * forwards unmatched requests to the server and appends these calls; rewrite records anew. A
 * file that does not exist is recorded by all modes but none. */
#ifndef CMD_RECORD_MODE_H
#define CMD_RECORD_MODE_H

#include "cmd/redact-options.h"
#include "runtime/peer.h"
#include "runtime/record-kinds.h"
#include "runtime/recording-append.h"

enum record_mode {
    RECORD_MODE_NONE,
    RECORD_MODE_ONCE,
    RECORD_MODE_APPEND,
    RECORD_MODE_REWRITE
};

struct record_mode_args {
    int mode; /* enum record_mode; -1: not given */
    const char *pending;
    struct redaction_args redaction;
};

extern const struct option_choice record_mode_choices[];

#define RECORD_MODE_GROUP "Recording"

/* Rows for the table of a command whose struct `args_type` has record_mode_args as `field`. */
#define RECORD_MODE_OPTIONS(args_type, field)                                                  \
    { .name = "record-mode",                                                                   \
      .arg = "MODE",                                                                           \
      .type = OPTION_CHOICE,                                                                   \
      .choices = record_mode_choices,                                                          \
      .group = RECORD_MODE_GROUP,                                                              \
      .offset = offsetof(args_type, field.mode),                                               \
      .help = "whether the server is recorded: never (default), if there is no FILE, for "     \
              "unmatched requests, or always" },                                               \
        { .name = "pending",                                                                   \
          .arg = "FILE",                                                                       \
          .type = OPTION_PATH,                                                                 \
          .group = RECORD_MODE_GROUP,                                                          \
          .offset = offsetof(args_type, field.pending),                                        \
          .help = "write the new recording to this file, and leave the old one as it is" },    \
        REDACTION_OPTIONS(args_type, field.redaction)

/* Rows for option_reject_unused(): these say something about a recording. */
#define RECORD_MODE_UNUSED(args)                                                               \
    { "pending", RECORD_MODE_NEEDED, (args)->mode <= RECORD_MODE_NONE },                       \
        { "redact-env", RECORD_MODE_NEEDED, (args)->mode <= RECORD_MODE_NONE },                \
        { "redact-patterns", RECORD_MODE_NEEDED, (args)->mode <= RECORD_MODE_NONE },           \
        { "redact-members", RECORD_MODE_NEEDED, (args)->mode <= RECORD_MODE_NONE },            \
        { "redact-server-url", RECORD_MODE_NEEDED, (args)->mode <= RECORD_MODE_NONE },         \
    {                                                                                          \
        "redact-defaults", RECORD_MODE_NEEDED, (args)->mode <= RECORD_MODE_NONE                \
    }
#define RECORD_MODE_NEEDED "'--record-mode' once, append or rewrite"

/* Returns the name of a mode. */
const char *record_mode_name(enum record_mode mode);

/* The recording of a replay. Borrows everything but `redaction`. */
struct record_mode_run {
    const struct record_mode_args *args;
    const char *path;            /* the recording */
    const struct format *format; /* to write if there is no file; NULL: by its name */
    bool replace_pending;
    const struct peer_target *server;
    struct record_kinds_settings kinds; /* for a new recording */

    /* Set by record_mode_open(). */
    struct app app; /* with a log that is redacted */
    struct redaction redaction;
    struct record_settings settings;
    struct answered_calls calls; /* of a new recording */
    struct arena arena;
};

/* Returns what is to be done: RECORD_MODE_NONE, RECORD_MODE_APPEND, or RECORD_MODE_REWRITE for
 * a new recording. */
enum record_mode record_mode_choose(const struct record_mode_args *args, const struct app *app,
                                    const char *path);

/* Checks the options of a mode that records. The caller has filled in the upper members. Call
 * record_mode_close() if it returns true. */
bool record_mode_open(struct record_mode_run *m, const struct app *app,
                      struct err *e) MUST_CHECK;
void record_mode_close(struct record_mode_run *m);

/* Opens the recording to append to it; see runtime/recording-append.h. */
bool record_mode_open_append(struct record_mode_run *m, struct recording_append *a,
                             struct err *e) MUST_CHECK;

/* Records anew. Returns an exit code (enum exit_code). `*written` is the file that was written,
 * or NULL; `calls.count` has the number of its calls. */
int record_mode_record(struct record_mode_run *m, const char **written, struct err *e);

#endif
