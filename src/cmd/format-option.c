#include "cmd/format-option.h"

static bool reject(const char *text, const struct format *f, enum format_use use, struct err *e)
{
    const char *wrong = use == FORMAT_READ ? "a format that can only be written, not"
                                           : "a format that can only be read, not";
    struct buf names;

    err_set(e, ERR_USAGE, "'%s' is %s one of %s", text, f ? wrong : "not",
            format_names_for(&names, use));
    buf_release(&names);
    return false;
}

static bool parse(void *field, const char *text, enum format_use use, struct err *e)
{
    const struct format *f = format_by_name(str_z(text));

    *(const struct format **)field = f;
    return (f && format_is_for(f, use)) || reject(text, f, use, e);
}

bool format_option_parse(void *field, const char *text, struct err *e)
{
    return parse(field, text, FORMAT_CONVERT, e);
}

bool format_option_parse_input(void *field, const char *text, struct err *e)
{
    return parse(field, text, FORMAT_READ, e);
}
