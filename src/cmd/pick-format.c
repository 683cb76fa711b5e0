#include "cmd/pick-format.h"

enum { LIST_MAX = 4096 };

const char *pick_format_list(struct buf *text)
{
    buf_init(text, LIST_MAX);
    for (const struct format *const *f = format_table; *f; f++)
        if ((*f)->put)
            buf_printf(text, "%s%s", text->len ? ", " : "", (*f)->name);
    return buf_z(text);
}

bool pick_format_hint(struct err *e, const char *option)
{
    struct buf names, ends;

    buf_init(&ends, LIST_MAX);
    for (const struct format *const *f = format_table; *f; f++)
        if ((*f)->put)
            buf_printf(&ends, "%s%s", ends.len ? ", " : "", (*f)->ext[0]);
    err_hint(e, "say it by the end of the name (%s),\nor with %s FORMAT: one of %s",
             buf_z(&ends), option, pick_format_list(&names));
    buf_release(&names);
    buf_release(&ends);
    return false;
}

bool pick_format_parse(void *field, const char *text, struct err *e)
{
    const struct format *f = format_by_name(str_z(text));
    struct buf names;

    *(const struct format **)field = f;
    if (f && f->put)
        return true;
    err_set(e, ERR_USAGE, "'%s' is %s of %s", text, f ? "only read; it is none" : "none",
            pick_format_list(&names));
    buf_release(&names);
    return false;
}
