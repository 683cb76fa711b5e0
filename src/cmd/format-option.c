#include "cmd/format-option.h"

bool format_option_parse(void *field, const char *text, struct err *e)
{
    const struct format *f = format_by_name(str_z(text));
    struct buf names;

    *(const struct format **)field = f;
    if (f && f->put)
        return true;
    err_set(e, ERR_USAGE, "'%s' is %s one of %s", text,
            f ? "a format that can only be read, not" : "not",
            format_names_for(&names, FORMAT_CONVERT));
    buf_release(&names);
    return false;
}
