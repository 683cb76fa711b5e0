/* runtime/record-path.h - chooses the file name of a recording, and makes documents from
 * journals.
 *
 * A given file name is used as it is. In a folder, or in the user's default folder if no name
 * is given, each recording gets a unique name from time, server and process:
 * "20261115T100000Z-fs-48213.jsonl". */
#ifndef RUNTIME_RECORD_PATH_H
#define RUNTIME_RECORD_PATH_H

#include "format/format.h"
#include "runtime/app.h"

/* Journals. A format that is one document cannot be appended to, so the session is recorded to
 * a journal beside it, named "FILE.FORMAT.journal", and the document is made from it at the
 * end; with `complete_only` the same is done for every format. If mcpreel is killed the journal
 * remains, and its name says what to make from it. */

/* Returns the name of the journal of a document. */
const char *record_path_journal_name(struct arena *a, const char *path,
                                     const struct format *format);

/* Returns whether a file name is that of a journal, and of which document and format. */
bool record_path_parse_journal(const char *path, struct arena *a, const char **target,
                               const struct format **format);

/* Makes the document from the journal, which stays. Sets `*empty` if the journal has no
 * interaction: no document is made or replaced then. */
bool record_path_write_document(const struct app *app, const char *journal, const char *target,
                                const struct format *format, bool replace, bool *empty,
                                struct err *e) MUST_CHECK;

/* The options that decide the name. */
struct record_path_options {
    const char *output;          /* -o; NULL: not given */
    const char *name;            /* of the recording; may be NULL */
    const struct format *format; /* NULL: by the extension */
    char *const *server_argv;    /* the server command, or its host */
    bool force, rotate;
    bool make_folder;   /* create the folder of `output` and its parents */
    bool complete_only; /* the file gets its name when it is complete; it may be compressed */
};

struct record_path {
    const struct format *format; /* of the recording */
    const char *path;            /* the final name */
    const char *live_path;       /* the file being written: `path`, or its journal */
    const char *folder;          /* NULL: a file name was given */
    const char *stem;            /* name in the folder, without extension */
    bool force, rotate, complete_only;
    const struct file_version *old; /* set by the owner: the file is not replaced if it has
                                       another version in the end; NULL: any is replaced */
    bool old_changed;               /* set by the recording if it has another version */
    bool written;                   /* set by the recording when the file is complete */
    bool avoided_locked;
    struct arena arena;
};

/* Finds the default folder, existing or not. Borrowed from the environment or in `a`. ERR_USAGE
 * if the environment has none. */
bool record_path_default_folder(const char **out, const struct app *app, struct arena *a,
                                struct err *e) MUST_CHECK;

/* Chooses the name, and creates the default folder if needed. */
bool record_path_resolve(struct record_path *p, const struct app *app,
                         const struct record_path_options *options, struct err *e) MUST_CHECK;
void record_path_release(struct record_path *p);

/* Returns whether a document is made from a journal at the end. */
bool record_path_uses_journal(const struct record_path *p);

/* Chooses the next name in the folder. False: a file name was given, or there were too many
 * attempts. */
bool record_path_next_name(struct record_path *p, unsigned attempt);

/* If another recorder is writing to a given file that may be replaced, chooses a name beside it
 * with the process number. Returns whether the name has changed. */
bool record_path_avoid_locked(struct record_path *p, const struct sys *sys);

/* Returns whether the file may be created; else sets the error that creating it would give. */
bool record_path_is_free(const struct record_path *p, const struct sys *sys,
                         struct err *e) MUST_CHECK;

/* Renames a journal that a killed recorder left to the next free name, such as
 * "r.2.json.cassette.journal". Sets `*moved` to that name, or to NULL if there was none. */
bool record_path_move_journal(struct record_path *p, const struct sys *sys, const char **moved,
                              struct err *e) MUST_CHECK;

/* Returns a short name of the server: "server-filesystem" for "npx -y
 * @modelcontextprotocol/server-filesystem /tmp". It has only letters, digits, '-', '_' and
 * '.'. */
const char *record_path_server_label(struct arena *a, const char *name, char *const *server);

#endif
