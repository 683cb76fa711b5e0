#include "wire/sse-writer.h"

static bool is_one_line(struct str s)
{
    return str_find(s, '\n') == s.len && str_find(s, '\r') == s.len;
}

static void add_line(struct buf *to, struct str name, struct str value)
{
    buf_add(to, name);
    buf_add(to, value);
    buf_add_ch(to, '\n');
}

/* Cuts off the next line; false at the end. The text after the last line break is a line, too.
 */
static bool next_line(struct str *rest, struct str *line)
{
    size_t n = 0, end;

    if (!rest->at)
        return false;
    while (n < rest->len && rest->at[n] != '\n' && rest->at[n] != '\r')
        n++;
    *line = str_n(rest->at, n);
    end = n + 1;
    if (n + 1 < rest->len && rest->at[n] == '\r' && rest->at[n + 1] == '\n')
        end++;
    *rest = n < rest->len ? str_n(rest->at + end, rest->len - end) : STR_NONE;
    return true;
}

static void add_lines(struct buf *to, struct str name, struct str text)
{
    struct str line;

    while (next_line(&text, &line))
        add_line(to, name, line);
}

bool sse_writer_add(struct buf *to, const struct sse_item *item, struct err *e)
{
    if (!is_one_line(item->event))
        return err_set(e, ERR_INPUT, "the name of an event holds a line break");
    if (!is_one_line(item->id) || str_find(item->id, '\0') < item->id.len)
        return err_set(e, ERR_INPUT, "the id of an event holds a line break or NUL");
    add_lines(to, STR(":"), item->comment);
    if (item->event.at)
        add_line(to, STR("event: "), item->event);
    if (item->id.at)
        add_line(to, STR("id: "), item->id);
    if (item->retry >= 0) {
        buf_add(to, STR("retry: "));
        buf_add_int(to, item->retry);
        buf_add_ch(to, '\n');
    }
    add_lines(to, STR("data: "), item->data);
    buf_add_ch(to, '\n');
    return true;
}
