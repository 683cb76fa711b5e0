/* base/term.h - escapes text for a terminal; all output to terminals goes through here.
 *
 * Messages, file names and errors of servers may hold escape sequences, bidi controls or
 * invisible characters, which could hide or fake output. Made visible: C0, DEL and bytes that
 * are not UTF-8 (\n, \x1b, \xff); C1, bidi, zero-width and other invisible characters, line and
 * paragraph separators, tag characters (<U+202E>). A backslash stays as it is: the text is for
 * reading, not for parsing. */
#ifndef BASE_TERM_H
#define BASE_TERM_H

#include "base/buf.h"

/* Allowed control characters: none (one line), or newlines and tabs. TERM_JSON is for JSON
 * text: newlines and tabs are allowed, the rest becomes \uXXXX, which means the same. */
enum term_lines { TERM_ONE_LINE, TERM_MANY_LINES, TERM_JSON };

void term_escape(struct buf *to, struct str text, enum term_lines lines);

/* Returns whether a code point beyond ASCII is invisible or changes how others are shown. */
bool term_is_hidden(uint32_t code);

/* Escapes to one line of at most `columns` characters, cut with "…" at the end. An escape is
 * written whole or not at all. */
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
