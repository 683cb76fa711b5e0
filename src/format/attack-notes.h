/* format/attack-notes.h - what formats that describe a server tell the user: comments at the
 * start of the file, and warnings about what they cannot express. */
#ifndef FORMAT_ATTACK_NOTES_H
#define FORMAT_ATTACK_NOTES_H

#include "format/attack-model.h"
#include "yaml/yaml-out.h"

/* Where the user puts the attack. */
#define ATTACK_MARKER "[INJECT YOUR PAYLOAD HERE]"

enum attack_note {
    ATTACK_INFERRED_TOOL,
    ATTACK_INFERRED_OTHER,
    ATTACK_NO_SCHEMA,
    ATTACK_DIRECTIVE,
    ATTACK_NAMELESS,
    ATTACK_CONTENT,
    ATTACK_NO_CONTENT,
    ATTACK_STRUCTURED,
    ATTACK_MEMBERS,
    ATTACK_RPC_ERROR,
    ATTACK_ERROR_IN_SEQUENCE,
    ATTACK_TEMPLATE,
    ATTACK_REPEATED,
    ATTACK_NOTES,
};

/* How often each was noted. */
struct attack_notes {
    uint64_t count[ATTACK_NOTES];
};

/* Writes one warning for each kind that was noted. Does nothing without a log. */
void attack_notes_log(const struct attack_notes *n, const struct log *log);

/* Returns "replay-" and the name of the input file without folder and extension; into `a`. */
struct str attack_notes_name(const struct format_options *options, struct arena *a);

/* Returns a text with the marker behind it; into `a`. */
struct str attack_notes_join(struct arena *a, struct str text, struct str marker);

/* Writes source, time and upstream as comments, then how to edit the file. */
void attack_notes_write_head(struct yaml_out *o, const struct attack_model *m,
                             const struct format_options *options);

/* Warns if the attack of the phased style begins after more calls than there are. */
void attack_notes_check_phase(const struct attack_model *m,
                              const struct format_options *options);

#endif
