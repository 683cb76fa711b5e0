/* format/flat.c - one flat JSON object in a line for each request, only written.
 *
 * Every object has all columns of format/op-export.h, in the same order; an unknown value is
 * null. */
#include "format/format.h"
#include "format/op-export.h"
#include "json/write.h"

static void put_row(struct buf *to, const struct op_export_value row[OP_EXPORT_COLUMNS])
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    for (size_t i = 0; i < OP_EXPORT_COLUMNS; i++) {
        json_out_key(&o, str_z(op_export_names[i]));
        if (row[i].kind == OP_EXPORT_TEXT)
            json_out_str(&o, row[i].text);
        else if (row[i].kind == OP_EXPORT_NUMBER)
            json_out_int(&o, row[i].number);
        else if (row[i].kind == OP_EXPORT_FLAG)
            json_out_bool(&o, row[i].number);
        else
            json_out_null(&o);
    }
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
}

static void *flat_begin(const struct format_options *o)
{
    (void)o;
    return op_export_new(put_row);
}

static void flat_put(void *state, struct buf *to, const struct record *r)
{
    (void)to;
    op_export_put(state, r);
}

static void flat_put_operation(void *state, struct buf *to, const struct format_operation *o)
{
    op_export_put_operation(state, to, o);
}

static void flat_end(void *state, struct buf *to)
{
    (void)to;
    op_export_free(state);
}

const struct format flat_format = {
    .name = "flat",
    .about = "one flat JSON object for each request, with the columns of csv",
    .ext = { ".flat.jsonl" },
    .keeps = FEATURE_TIME | FEATURE_LATENCY | FEATURE_MICROSECONDS | FEATURE_DIRECTION,
    .begin = flat_begin,
    .put = flat_put,
    .put_operation = flat_put_operation,
    .end = flat_end,
};
