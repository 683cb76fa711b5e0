/* format/format.h - the interface of a file format, and the table of formats.
 *
 * A format does no I/O. Reading: it gets a window on the file and consumes the next record from
 * its front. Writing: it appends text to a buffer, with each record or operation or, if it is
 * one document, at the end (format/encoder.h calls it). A new format is one file and one row in
 * the table. */
#ifndef FORMAT_FORMAT_H
#define FORMAT_FORMAT_H

#include "base/buf.h"
#include "ops/operation.h"
#include "trace/features.h"

enum next_result {
    NEXT_RECORD,
    NEXT_SKIP, /* consumed input without a record: call again */
    NEXT_MORE, /* the window is too small; only if it is not `last` */
    NEXT_END,
    NEXT_ERROR,
};

/* Receives notes about unusual but usable input. `byte` counts from 1 in the line. */
struct notes {
    void (*put)(struct notes *self, uint64_t line, uint64_t byte, const char *text);
};

/* The bytes stay in place, consumed ones included, until the format returns NEXT_MORE. */
struct window {
    struct str bytes; /* the file from the current position on */
    bool last;        /* nothing follows these bytes */
    uint64_t line;    /* line number of the position, from 1 */
    const char *path; /* for messages */
    struct notes *notes;
};

/* How much of the window a call to next() consumed. */
struct consumed {
    size_t bytes;       /* from the front; also with NEXT_MORE */
    size_t lines;       /* newlines among them */
    size_t want;        /* NEXT_MORE: minimum size of the next window; 0: any */
    bool fatal;         /* NEXT_ERROR: no damage to skip; the file cannot be read */
    struct str message; /* NEXT_RECORD: the message in the window, if the record has a copy of
                           its text; else empty */
};

/* Composes a message that replaces a recorded one. */
struct message_composer {
    /* `redacted` is the recorded list of redacted values, a JSON array of pointers, or empty.
     * Sets the new message (JSON on one line) and its list, which may be empty. Returns false
     * if the message stays as it is. */
    bool (*compose)(struct message_composer *self, struct str redacted, struct str *message,
                    struct str *new_redacted);
};

struct log;

/* An event of an operation, for a format that takes operations. */
struct format_operation {
    const struct operation_event *event;
    bool start_known;
    int64_t start_wall_us; /* when the recording started, if that is known */
};

/* The rules for ids in transcripts (format/transcript.h). */
enum format_rules {
    FORMAT_RULES_NONE, /* responses and requests are paired as the documented rules say, and
                        * ids may occur again */
    FORMAT_RULES_DOCUMENTED, /* as Assay documents them */
    FORMAT_RULES_HEAD,       /* as the current version of Assay has them */
};

/* Choices of the user for writers; the row of a format names those that it takes. All are
 * optional: zero, NULL, or an empty text. */
struct format_options {
    struct str source;     /* the name of the input file, for comments */
    int style;             /* enum format_style */
    int64_t phase_after;   /* of the phased style: how many tool calls come before the attack */
    const struct log *log; /* for warnings about what the format cannot express */
    enum format_rules rules;
    const char *episode_id, *test_id, *prompt; /* of an Assay trace */

    /* For traces. */
    struct str plan_id, context_id, step_id; /* UUIDs of version 4 */
    struct str agent_role;
    bool mplp;     /* adds the attributes of MPLP */
    bool payloads; /* adds arguments and results */
};

/* Whether a description of a server attacks by changes of the user, or in a phase of its own.
 */
enum format_style { FORMAT_STYLE_SIMPLE, FORMAT_STYLE_PHASED };

/* How sure a format is that a file is its own. */
enum probe_rank {
    PROBE_NONE,
    PROBE_WEAK, /* unless another format is sure */
    PROBE_SURE,
};

enum { FORMAT_OPTIONS_MAX = 8 };

struct format {
    const char *name, *about;
    const char *alias[3]; /* NULL-ended: other names that --format and --to accept */
    const char *ext[4];   /* NULL-ended; the first is used when saving */
    unsigned keeps;       /* enum feature: kept by writing and reading again */
    const char *options[FORMAT_OPTIONS_MAX + 1]; /* NULL-ended: names of the options of convert
                                                  * that its writer takes, without dashes */
    bool line_based; /* put() writes whole lines, and end() nothing after a footer: can be
                      * appended to while recording */

    /* Ranks a file that starts with `head`. NULL in a format that is only written. */
    enum probe_rank (*probe)(struct str head);

    /* Reading. NULL in a format that is only written. */
    void *(*open)(void); /* the reader's own state */
    enum next_result (*next)(void *state, const struct window *w, struct consumed *t,
                             struct record *r, struct err *e);
    void (*close)(void *state);

    /* Selects the rules, before the first next(). NULL in a format without ids to check. */
    void (*set_rules)(void *state, enum format_rules rules);

    /* After an error: drops what was incomplete, and continues with another line. NULL in a
     * format that is one document. */
    void (*resync)(void *state);

    /* Writing. NULL in a format that is only read; `begin` and `end` also if there is no state
     * between records. A format that has put_operation() takes operations: its put() gets each
     * record after the events that the record causes. */
    void *(*begin)(const struct format_options *o); /* the writer's own state; may borrow texts
                                                     * of `o` until the end */
    void (*put)(void *state, struct buf *to, const struct record *r);
    void (*put_operation)(void *state, struct buf *to, const struct format_operation *o);
    void (*end)(void *state, struct buf *to); /* writes the rest and frees the state */

    /* Appends a part of the rest before end(), until it returns false: for a rest that is too
     * large for one buffer. NULL in most formats. */
    bool (*flush)(void *state, struct buf *to);

    /* Replacing a message in a file (runtime/recording-update.h). Both may be NULL: then the
     * new message takes the place of the old one as it is, on one line. */

    bool messages_in_strings; /* a message is the text of a string, which cannot be replaced */

    /* Appends a line (or several, if its value spans some) with another message, in a format
     * that has more about a message on its line. Returns false if the line cannot be read. */
    bool (*rewrite_line)(struct buf *to, struct str line, struct message_composer *c);

    /* Appends a message in the layout of the document. */
    void (*write_message)(struct buf *to, struct str message);

    /* Whether end() would write only metadata; no put() may follow. NULL in a line-based
     * format. */
    bool (*is_empty)(void *state);
};

/* The only list of formats, NULL-ended. */
extern const struct format *const format_table[];
extern const struct format assay_trace_format;
extern const struct format cassette_format;
extern const struct format csv_format;
extern const struct format flat_format;
extern const struct format http_sse_format;
extern const struct format inspector_format;
extern const struct format jaeger_format;
extern const struct format jsonrpc_format;
extern const struct format oatf_format;
extern const struct format mplp_format;
extern const struct format mplp_jsonl_format;
extern const struct format otlp_format;
extern const struct format recording_format;
extern const struct format markdown_format;
extern const struct format har_format;
extern const struct format mcp_replay_trace_format;
extern const struct format mcporter_format;
extern const struct format streamable_http_format;
extern const struct format thoughtjack_format;

const struct format *format_by_name(struct str name); /* aliases, too; NULL if unknown */

/* The format for writing a file of that name, by the longest extension; an extension of
 * compression after it is ignored. NULL if there is none. */
const struct format *format_by_path(struct str path);

/* Whether files with such a name are recordings: in a format that can be read. */
bool format_is_recording_name(struct str path);

/* Whether files of many other programs have such a name, too: .json, .yaml. */
bool format_is_common_name(struct str path);

/* Returns the format with the highest rank for the first bytes of a file; of several, one with
 * an extension of `path`, else the first in the table. NULL: none. */
const struct format *format_by_content(struct str head, struct str path);

/* Returns how sure a format is of the first bytes of a file. */
enum probe_rank format_rank(const struct format *f, struct str head);

/* Whether the writer of a format takes an option of that name. */
bool format_takes_option(const struct format *f, const char *option);

/* The purpose of a file. */
enum format_use {
    FORMAT_READ,
    FORMAT_CONVERT, /* any format that can be written */
    FORMAT_RECORD,  /* of these, the formats that can be read again */
};

bool format_is_for(const struct format *f, enum format_use use);

/* Lists the formats for a purpose: "recording, trace". The caller releases `text`. */
const char *format_names_for(struct buf *text, enum format_use use);

/* Hints at the first extensions that name a format for the purpose, and at `option`. Returns
 * false. */
bool format_hint_writable(struct err *e, const char *option, enum format_use use);

/* Sets the error "PATH:LINE:BYTE: text" for offset `at` of the window. Returns NEXT_ERROR. */
enum next_result format_error(const struct window *w, size_t at, struct err *e, const char *fmt,
                              ...) PRINTF(4, 5);

/* Returns true, with an error, if the value belongs to another format than `own`. */
bool format_is_foreign(const struct window *w, const struct format *own, struct json_val v,
                       struct err *e);

/* Puts a note on offset `at` of the window. */
void format_note(const struct window *w, size_t at, const char *fmt, ...) PRINTF(3, 4);

#endif
