#include "json/canonical.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/term.h"
#include "json/write.h"

enum { STEP = 2 };

struct canonical_member {
    struct str name; /* decoded */
    struct json_val value;
    size_t position;
};

static int compare_members(const void *a, const void *b)
{
    const struct canonical_member *x = a, *y = b;
    int order = str_cmp(x->name, y->name);

    return order ? order : x->position < y->position ? -1 : 1;
}

static void begin_line(struct buf *to, unsigned depth)
{
    buf_add_ch(to, '\n');
    for (unsigned i = 0; i < depth * STEP; i++)
        buf_add_ch(to, ' ');
}

void json_canonical_write_str(struct buf *to, struct str text)
{
    struct buf plain;

    buf_init(&plain, SIZE_MAX / 2);
    json_write_str(&plain, text);
    term_escape(to, buf_str(&plain), TERM_JSON);
    buf_release(&plain);
}

static void write_string(struct buf *to, struct json_val v)
{
    struct arena a = { 0 };

    json_canonical_write_str(to, json_text(v, &a));
    arena_release(&a);
}

/* Recursion goes as deep as the value is nested, which the scanner has limited. */
static void write_object(struct buf *to, struct json_val v, unsigned depth)
{
    size_t count = json_count(v), n = 0;
    struct canonical_member *members = mem_alloc((count + 1) * sizeof *members);
    struct json_iter it = json_each(v);
    struct arena names = { 0 };
    bool any = false;

    for (; json_next(&it); n++)
        members[n] = (struct canonical_member){ json_text(it.key, &names), it.value, n };
    qsort(members, n, sizeof *members, compare_members);
    buf_add_ch(to, '{');
    for (size_t i = 0; i < n; i++) {
        if (i + 1 < n && str_eq(members[i].name, members[i + 1].name))
            continue;
        if (any)
            buf_add_ch(to, ',');
        any = true;
        begin_line(to, depth + 1);
        json_canonical_write_str(to, members[i].name);
        buf_add(to, STR(": "));
        json_canonical_write(to, members[i].value, depth + 1);
    }
    if (any)
        begin_line(to, depth);
    buf_add_ch(to, '}');
    arena_release(&names);
    free(members);
}

static void write_array(struct buf *to, struct json_val v, unsigned depth)
{
    struct json_iter it = json_each(v);
    bool any = false;

    buf_add_ch(to, '[');
    while (json_next(&it)) {
        if (any)
            buf_add_ch(to, ',');
        any = true;
        begin_line(to, depth + 1);
        json_canonical_write(to, it.value, depth + 1);
    }
    if (any)
        begin_line(to, depth);
    buf_add_ch(to, ']');
}

void json_canonical_write(struct buf *to, struct json_val v, unsigned depth)
{
    switch (json_type(v)) {
    case JSON_OBJECT:
        write_object(to, v, depth);
        break;
    case JSON_ARRAY:
        write_array(to, v, depth);
        break;
    case JSON_STRING:
        write_string(to, v);
        break;
    default:
        buf_add(to, json_raw(v));
    }
}
