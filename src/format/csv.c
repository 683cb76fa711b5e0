/* format/csv.c - one line of comma-separated values for each request, only written.
 *
 * RFC 4180, but with "\n" at the end of a line: a value with a comma, a quote or a line break
 * is quoted. An unknown value is empty. The columns are those of format/op-export.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "format/format.h"
#include "format/op-export.h"

struct csv_writer {
    struct op_export *rows;
    bool has_names; /* the first line is written */
};

static bool needs_quotes(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (strchr(",\"\r\n", text.at[i]) && text.at[i])
            return true;
    return false;
}

static void add_text(struct buf *to, struct str text)
{
    if (!needs_quotes(text)) {
        buf_add(to, text);
        return;
    }
    buf_add_ch(to, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '"')
            buf_add_ch(to, '"');
        buf_add_ch(to, text.at[i]);
    }
    buf_add_ch(to, '"');
}

static void put_row(struct buf *to, const struct op_export_value row[OP_EXPORT_COLUMNS])
{
    for (size_t i = 0; i < OP_EXPORT_COLUMNS; i++) {
        if (i)
            buf_add_ch(to, ',');
        if (row[i].kind == OP_EXPORT_TEXT)
            add_text(to, row[i].text);
        else if (row[i].kind == OP_EXPORT_NUMBER)
            buf_add_int(to, row[i].number);
        else if (row[i].kind == OP_EXPORT_FLAG)
            buf_add(to, row[i].number ? STR("true") : STR("false"));
    }
    buf_add_ch(to, '\n');
}

static void *csv_begin(const struct format_options *o)
{
    struct csv_writer *w = mem_new(struct csv_writer);

    (void)o;
    w->rows = op_export_new(put_row);
    return w;
}

static void add_names(struct csv_writer *w, struct buf *to)
{
    if (w->has_names)
        return;
    w->has_names = true;
    for (size_t i = 0; i < OP_EXPORT_COLUMNS; i++)
        buf_printf(to, "%s%s", i ? "," : "", op_export_names[i]);
    buf_add_ch(to, '\n');
}

static void csv_put(void *state, struct buf *to, const struct record *r)
{
    struct csv_writer *w = state;

    (void)to;
    op_export_put(w->rows, r);
}

static void csv_put_operation(void *state, struct buf *to, const struct format_operation *o)
{
    struct csv_writer *w = state;

    add_names(w, to);
    op_export_put_operation(w->rows, to, o);
}

static void csv_end(void *state, struct buf *to)
{
    struct csv_writer *w = state;

    add_names(w, to);
    op_export_free(w->rows);
    free(w);
}

const struct format csv_format = {
    .name = "csv",
    .about = "a table with one line for each request: names, outcome, times, sizes",
    .ext = { ".csv" },
    .keeps = FEATURE_TIME | FEATURE_LATENCY | FEATURE_MICROSECONDS | FEATURE_DIRECTION,
    .begin = csv_begin,
    .put = csv_put,
    .put_operation = csv_put_operation,
    .end = csv_end,
};
