#include "report/value-excerpt.h"

#include "base/term.h"
#include "base/text-wrap.h"
#include "format/python-json.h"

/* Most bytes of one escaped character: two \uXXXX. */
enum { SHOWN_MAX = 12 };

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* Moves an offset back to the start of a character. */
static size_t char_start(struct str text, size_t at)
{
    while (at && at < text.len && is_continuation(text.at[at]))
        at--;
    return at;
}

static size_t next_char(struct str text, size_t at)
{
    do
        at++;
    while (at < text.len && is_continuation(text.at[at]));
    return at;
}

/* Returns the columns of the escaped character text[from, end). */
static size_t shown_columns(struct str text, size_t from, size_t end)
{
    struct buf shown;
    size_t n;

    if (end == from + 1 && text.at[from] != 0x7f)
        return 1; /* JSON on one line has no other bare control characters */
    buf_init(&shown, SHOWN_MAX);
    term_escape(&shown, str_n(text.at + from, end - from), TERM_JSON);
    n = text_wrap_columns(buf_str(&shown));
    buf_release(&shown);
    return n;
}

static size_t common_prefix(struct str a, struct str b)
{
    size_t n = 0;

    while (n < a.len && n < b.len && a.at[n] == b.at[n])
        n++;
    return char_start(a, n);
}

/* Returns the end of the part of text[from…] that has at most `columns` columns, with room for
 * the "…" if anything is left. */
static size_t find_end(struct str text, size_t from, size_t columns)
{
    size_t at = from, shown = 0, keep = from;

    while (at < text.len) {
        size_t next = next_char(text, at);

        shown += shown_columns(text, at, next);
        if (shown > columns)
            return keep;
        at = next;
        if (shown < columns)
            keep = at;
    }
    return at;
}

/* Returns where an excerpt starts so that the difference at `at` is within it: 0, or up to half
 * of the columns before the difference. */
static size_t find_start(struct str text, size_t at, size_t columns)
{
    size_t from = at, shown = 0;

    while (from) {
        size_t previous = char_start(text, from - 1);

        shown += shown_columns(text, previous, from);
        if (shown > columns / 2)
            break;
        from = previous;
    }
    return from;
}

static struct str compact(struct buf *to, struct str json)
{
    buf_init(to, json.len);
    python_json_write_compact(to, json);
    return buf_str(to);
}

void value_excerpt_write(struct buf *to, struct str value, struct str other, size_t columns)
{
    struct buf a, b;
    struct str text = compact(&a, value), against = compact(&b, other);
    size_t from = 0, end;

    if (against.len &&
        (find_end(text, 0, columns) < text.len || find_end(against, 0, columns) < against.len))
        from = find_start(text, common_prefix(text, against), columns);
    if (from) {
        buf_add(to, STR("…"));
        columns--;
    }
    end = find_end(text, from, columns);
    term_escape(to, str_n(text.at + from, end - from), TERM_JSON);
    if (end < text.len)
        buf_add(to, STR("…"));
    buf_release(&a);
    buf_release(&b);
}
