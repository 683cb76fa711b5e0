#include "base/term.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/utf8.h"

/* Code points beyond ASCII that are not shown as they are: C1, what Unicode calls
 * default ignorable (that is how invisible ones are listed, bidi controls among
 * them), line and paragraph separators, interlinear annotation. The two variation
 * selectors that choose between text and emoji (U+FE0E, U+FE0F) are ordinary. */
static const struct {
    uint32_t first, last;
} hidden[] = {
    { 0x0080, 0x009F },   { 0x00AD, 0x00AD },   { 0x034F, 0x034F }, { 0x061C, 0x061C },
    { 0x115F, 0x1160 },   { 0x17B4, 0x17B5 },   { 0x180B, 0x180F }, { 0x200B, 0x200F },
    { 0x2028, 0x202E },   { 0x2060, 0x206F },   { 0x3164, 0x3164 }, { 0xFE00, 0xFE0D },
    { 0xFEFF, 0xFEFF },   { 0xFFA0, 0xFFA0 },   { 0xFFF0, 0xFFFB }, { 0x1BCA0, 0x1BCA3 },
    { 0x1D173, 0x1D17A }, { 0xE0000, 0xE0FFF },
};

bool term_is_hidden(uint32_t code)
{
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden && hidden[i].first <= code; i++) {
        if (code <= hidden[i].last)
            return true;
    }
    return false;
}

/* One character, or one byte that is none, and what stands for it on a terminal. */
struct shown_char {
    size_t bytes; /* of the text */
    char shown[16];
    size_t len; /* of shown; 0: the bytes themselves */
};

static bool is_plain_ascii(char c)
{
    return c >= ' ' && c <= '~';
}

static void show_byte(struct shown_char *p, char c)
{
    static const char named[] = "\n\r\t", letters[] = "nrt";
    const char *name = c ? strchr(named, c) : NULL;

    if (name)
        p->len = (size_t)snprintf(p->shown, sizeof p->shown, "\\%c", letters[name - named]);
    else
        p->len = (size_t)snprintf(p->shown, sizeof p->shown, "\\x%02x", (unsigned char)c);
}

/* Control characters inside JSON strings are escaped already: a carriage return can only stand
 * between values. Bytes that are not UTF-8 do not stand in JSON. */
static void show_json(struct shown_char *p, char c, uint32_t code)
{
    const uint32_t high = 0xD800 - (0x10000 >> 10), low = 0xDC00;

    if (p->bytes == 1 && c == '\r')
        p->len = (size_t)snprintf(p->shown, sizeof p->shown, " ");
    else if (code < 0x10000)
        p->len = (size_t)snprintf(p->shown, sizeof p->shown, "\\u%04" PRIx32, code & 0xFFFF);
    else
        p->len = (size_t)snprintf(p->shown, sizeof p->shown, "\\u%04" PRIx32 "\\u%04" PRIx32,
                                  (high + (code >> 10)) & 0xFFFF, low + (code & 0x3FF));
}

/* The piece at the front of `text`, which is not empty. */
static struct shown_char first_char(struct str text, enum term_lines lines)
{
    struct shown_char p = { .bytes = 1 };
    char c = text.at[0];
    uint32_t code;
    size_t n;

    if (is_plain_ascii(c))
        return p;
    if (lines != TERM_ONE_LINE && (c == '\n' || c == '\t'))
        return p;
    n = utf8_decode(text, &code);
    if (n <= 1) {
        if (lines == TERM_JSON)
            show_json(&p, c, n ? code : 0xFFFD);
        else
            show_byte(&p, c);
        return p;
    }
    p.bytes = n;
    if (term_is_hidden(code) && lines == TERM_JSON)
        show_json(&p, c, code);
    else if (term_is_hidden(code))
        p.len = (size_t)snprintf(p.shown, sizeof p.shown, "<U+%04" PRIX32 ">", code);
    return p;
}

void term_escape(struct buf *to, struct str text, enum term_lines lines)
{
    size_t same = 0; /* bytes at the front that go out as they are */

    while (same < text.len) {
        struct shown_char p = first_char(str_skip(text, same), lines);
        if (!p.len) {
            same += p.bytes;
            continue;
        }
        buf_add(to, str_n(text.at, same));
        buf_add(to, str_n(p.shown, p.len));
        text = str_skip(text, same + p.bytes);
        same = 0;
    }
    buf_add(to, text);
}

void term_escape_cut(struct buf *to, struct str text, size_t columns)
{
    size_t at = 0, shown = 0, keep = 0;

    while (at < text.len && shown <= columns) {
        struct shown_char p = first_char(str_skip(text, at), TERM_ONE_LINE);
        if (shown < columns)
            keep = at; /* the "…" would still fit behind this */
        at += p.bytes;
        shown += p.len ? p.len : 1;
    }
    if (shown <= columns) {
        term_escape(to, text, TERM_ONE_LINE);
    } else if (columns) {
        term_escape(to, str_n(text.at, keep), TERM_ONE_LINE);
        buf_add(to, STR("…"));
    }
}

void term_style(struct buf *to, bool color, enum term_style style)
{
    static const char *const sequences[] = {
        [TERM_PLAIN] = "\x1b[0m", [TERM_BOLD] = "\x1b[1m",   [TERM_DIM] = "\x1b[2m",
        [TERM_RED] = "\x1b[31m",  [TERM_GREEN] = "\x1b[32m", [TERM_YELLOW] = "\x1b[33m",
        [TERM_CYAN] = "\x1b[36m",
    };

    if (color)
        buf_add(to, str_z(sequences[style]));
}

static bool is_set(const char *value)
{
    return value && *value;
}

static bool is_forced(const char *value)
{
    return is_set(value) && strcmp(value, "0") != 0;
}

bool term_use_color(enum term_color asked, bool is_tty, const struct term_env *env)
{
    if (asked != TERM_COLOR_AUTO)
        return asked == TERM_COLOR_ALWAYS;
    if (is_set(env->no_color) || (env->term && strcmp(env->term, "dumb") == 0))
        return false;
    return is_tty || is_forced(env->force_color) || is_forced(env->clicolor_force);
}
