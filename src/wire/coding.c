#include "wire/coding.h"

static bool is_known(struct str item)
{
    static const struct str known[] = { STR_INIT("gzip"), STR_INIT("x-gzip"), STR_INIT("zstd"),
                                        STR_INIT("identity") };
    struct str name = str_trim(str_cut(&item, ';'));

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (fields_same(name, known[i]))
            return true;
    return false;
}

void coding_narrow(struct buf *to, struct str value)
{
    size_t start = to->len;
    struct str item;

    while (fields_item(&value, &item)) {
        if (!is_known(item))
            continue;
        if (to->len > start)
            buf_add(to, STR(", "));
        buf_add(to, item);
    }
    if (to->len == start)
        buf_add(to, STR("identity"));
}
