#include "wire/same-path.h"

#include "base/buf.h"

/* One step without its escapes, but for those of what would mean something else then. */
static void add_plain(struct buf *to, struct str step)
{
    while (step.len) {
        char c = step.at[0];
        bool escaped = str_percent(step, &c);

        step = str_skip(step, escaped ? 3 : 1);
        if (escaped && c == '/')
            buf_add(to, STR("%2F"));
        else if (escaped && c == '%')
            buf_add(to, STR("%25"));
        else
            buf_add_ch(to, c);
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
