/* base/term.h - everything that reaches a terminal goes through here.
 *
 * Traffic, file names and peers' error texts may hold escape sequences, bidi
 * controls or invisible characters; shown as they are they could hide or fake
 * what the user sees. Made visible: C0, DEL and bytes that are not UTF-8 (\n, \x1b,
 * \xff); C1, bidi, zero-width and other invisible characters, line and paragraph
 * separators, tag characters (<U+202E>). A backslash stays as it is: the text is
 * for people, not for parsing back. */
#ifndef BASE_TERM_H
#define BASE_TERM_H

#include "base/buf.h"

/* What may pass: nothing beyond a single line, or newlines and tabs too. TERM_JSON is for JSON
 * text: newlines and tabs pass, the rest becomes \uXXXX, so that the text means the same. */
enum term_lines { TERM_ONE_LINE, TERM_MANY_LINES, TERM_JSON };

void term_escape(struct buf *to, struct str text, enum term_lines lines);

/* The same on one line, cut to at most `columns` characters with "…" at the end; what
 * stands for a hidden one is shown whole or not at all. */
void term_escape_cut(struct buf *to, struct str text, size_t columns);

enum term_style {
    TERM_PLAIN,
    TERM_BOLD,
    TERM_DIM,
    TERM_RED,
    TERM_GREEN,
    TERM_YELLOW,
    TERM_CYAN
};

/* Adds the sequence that starts a style (TERM_PLAIN ends it), or nothing. */
void term_style(struct buf *to, bool color, enum term_style style);

enum term_color { TERM_COLOR_AUTO, TERM_COLOR_ALWAYS, TERM_COLOR_NEVER };

/* The colour rules, given what the environment says (NULL: not set). Auto: never
 * with NO_COLOR set non-empty or TERM=dumb, always with FORCE_COLOR or
 * CLICOLOR_FORCE set to other than "" and "0", else only on a terminal. */
struct term_env {
    const char *no_color, *force_color, *clicolor_force, *term;
};
bool term_use_color(enum term_color asked, bool is_tty, const struct term_env *env);

#endif
