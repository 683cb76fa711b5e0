#include "wire/same-path.h"

#include "base/buf.h"

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One step without its escapes, but for those of what would mean something else then. */
static void add_plain(struct buf *to, struct str step)
{
    for (size_t i = 0; i < step.len; i++) {
        int high = i + 2 < step.len && step.at[i] == '%' ? digit(step.at[i + 1]) : -1;
        int low = high < 0 ? -1 : digit(step.at[i + 2]);

        if (low < 0) {
            buf_add_ch(to, step.at[i]);
            continue;
        }
        i += 2;
        if (high * 16 + low == '/')
            buf_add(to, STR("%2F"));
        else if (high * 16 + low == '%')
            buf_add(to, STR("%25"));
        else
            buf_add_ch(to, (char)(high * 16 + low));
    }
}

static void drop_step(struct buf *of)
{
    while (of->len && of->at[--of->len] != '/')
        continue;
}

/* In one spelling for all that mean the same. */
static void tidy(struct buf *to, struct str path)
{
    while (path.len) {
        struct str step = str_cut(&path, '/');
        size_t from = to->len + 1;

        buf_add_ch(to, '/');
        add_plain(to, step);
        step = str_skip(buf_str(to), from);
        if (str_eq(step, STR("..")))
            drop_step(to);
        if (!step.len || str_eq(step, STR(".")) || str_eq(step, STR("..")))
            drop_step(to);
    }
}

bool same_path(struct str a, struct str b)
{
    struct buf one, other;
    bool same;

    if (str_eq(a, b))
        return true;
    buf_init(&one, a.len * 3 + 1); /* steps may be empty, and each takes a '/' */
    buf_init(&other, b.len * 3 + 1);
    tidy(&one, a);
    tidy(&other, b);
    same = !one.full && !other.full && str_eq(buf_str(&one), buf_str(&other));
    buf_release(&one);
    buf_release(&other);
    return same;
}
