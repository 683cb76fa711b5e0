#include "base/text-wrap.h"

bool text_wrap_next_paragraph(struct str *rest, struct str *paragraph)
{
    const char *gap;

    while (rest->len && rest->at[0] == '\n')
        *rest = str_skip(*rest, 1);
    if (!rest->len)
        return false;
    gap = memmem(rest->at, rest->len, "\n\n", 2);
    *paragraph = str_n(rest->at, gap ? (size_t)(gap - rest->at) : rest->len);
    *rest = str_skip(*rest, paragraph->len);
    while (paragraph->len && paragraph->at[paragraph->len - 1] == '\n')
        paragraph->len--;
    return true;
}

size_t text_wrap_columns(struct str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++)
        n += ((unsigned char)text.at[i] & 0xC0) != 0x80;
    return n;
}

static struct str next_word(struct str *rest)
{
    size_t n = 0;

    *rest = str_trim(*rest);
    while (n < rest->len && rest->at[n] != ' ' && rest->at[n] != '\n')
        n++;
    struct str word = str_n(rest->at, n);
    *rest = str_skip(*rest, n);
    return word;
}

void text_wrap_fill(struct buf *to, struct str text, struct text_wrap_shape shape)
{
    size_t column = shape.start_column;
    bool start = true;

    for (struct str word = next_word(&text); word.len; word = next_word(&text)) {
        size_t wide = text_wrap_columns(word);

        if (!start && column + 1 + wide > shape.width) {
            buf_printf(to, "\n%*s", (int)shape.indent, "");
            column = shape.indent;
        } else if (!start) {
            buf_add_ch(to, ' ');
            column++;
        }
        buf_add(to, word);
        column += wide;
        start = false;
    }
    buf_add_ch(to, '\n');
}

void text_wrap_add(struct buf *to, struct str text)
{
    struct str p;

    for (bool first = true; text_wrap_next_paragraph(&text, &p); first = false) {
        if (!first)
            buf_add_ch(to, '\n');
        if (text_wrap_is_verbatim(p)) {
            buf_add(to, p);
            buf_add_ch(to, '\n');
        } else {
            text_wrap_fill(to, p, (struct text_wrap_shape){ .width = TEXT_WRAP_WIDTH });
        }
    }
}
