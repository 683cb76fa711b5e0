#include "cmd/writer-options.h"

#include "format/span-ids.h"

enum { NAMES_MAX = 1024 };

static bool reject(const char *name, const struct format *to, struct err *e)
{
    struct buf names;

    buf_init(&names, NAMES_MAX);
    for (const struct format *const *f = format_table; *f; f++)
        if (format_takes_option(*f, name))
            buf_printf(&names, "%s'%s'", names.len ? ", " : "", (*f)->name);
    err_set(e, ERR_USAGE, "'--%s' only goes with the formats %.*s, not with '%s'", name,
            STR_ARG(buf_str(&names)), to->name);
    buf_release(&names);
    return err_hint(e, "select one with --to");
}

bool writer_options_check(const struct option *rows, const struct operands *in,
                          const struct format *to, struct err *e)
{
    for (const struct option *o = rows; o->name; o++)
        if (o->group && strcmp(o->group, WRITER_GROUP) == 0 && option_is_given(in, o->name) &&
            !format_takes_option(to, o->name))
            return reject(o->name, to, e);
    return true;
}

bool writer_options_parse_uuid(void *field, const char *text, struct err *e)
{
    struct str *id = field;

    *id = str_z(text);
    if (span_ids_is_uuid(*id))
        return true;
    err_set(e, ERR_USAGE, "not a UUID of version 4 in lower case: '%s'", text);
    return err_hint(e, "MPLP accepts no other: 550e8400-e29b-41d4-a716-446655440000");
}

bool writer_options_parse_text(void *field, const char *text, struct err *e)
{
    struct str *to = field;

    *to = str_z(text);
    return to->len || err_set(e, ERR_USAGE, "must not be empty");
}
