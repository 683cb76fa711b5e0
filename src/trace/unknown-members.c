#include "trace/unknown-members.h"

/* The object nests a line, which may be as deep as its reader allows, in two more objects. */
enum { EXTRA_DEPTH = 16 };

static void add_members(struct json_out *o, struct json_val object, struct arena *a)
{
    struct json_iter it = json_each(object);

    while (json_type(object) == JSON_OBJECT && json_next(&it))
        json_out_key_raw(o, json_text(it.key, a), json_raw(it.value));
}

/* Writes the unknown members as one member of the open object; false if there are none. */
static bool add_unknown(struct json_out *o, struct json_val line, struct str format,
                        bool (*knows)(const void *self, struct str name), const void *self,
                        struct arena *a)
{
    struct json_iter it = json_each(line);
    bool any = false;

    while (json_type(line) == JSON_OBJECT && json_next(&it)) {
        struct str name = json_text(it.key, a);

        if (knows(self, name))
            continue;
        if (!any) {
            json_out_key(o, format);
            json_out_object(o);
        }
        any = true;
        json_out_key_raw(o, name, json_raw(it.value));
    }
    if (any)
        json_out_end_object(o);
    return any;
}

static bool scan_object(struct json *j, struct str extra)
{
    struct json_fault fault;

    json_init(j);
    j->extra_depth = EXTRA_DEPTH;
    return extra.at && json_scan(j, extra, &fault);
}

struct str unknown_members_collect(struct json_val line, struct str format,
                                   bool (*knows)(const void *self, struct str name),
                                   const void *self, struct str foreign, struct arena *a)
{
    struct str extra = STR_NONE;
    struct json_out o;
    struct buf text;
    struct json j;
    bool any;

    buf_init(&text, JSON_MAX_TEXT);
    o = json_out_to(&text);
    json_out_object(&o);
    any = add_unknown(&o, line, format, knows, self, a);
    if (scan_object(&j, foreign)) {
        any |= json_count(json_root(&j)) > 0;
        add_members(&o, json_root(&j), a);
    }
    json_out_end_object(&o);
    if (any && !text.full)
        extra = arena_str(a, buf_str(&text));
    json_release(&j);
    buf_release(&text);
    return extra;
}

void unknown_members_write_own(struct json_out *o, struct str extra, struct str format)
{
    struct arena a = { 0 };
    struct json j;

    if (scan_object(&j, extra))
        add_members(o, json_get(json_root(&j), format), &a);
    json_release(&j);
    arena_release(&a);
}

void unknown_members_write_foreign(struct json_out *o, struct str name, struct str extra,
                                   struct str format)
{
    struct arena a = { 0 };
    struct json_iter it;
    struct json j;

    if (unknown_members_has_foreign(extra, format) && scan_object(&j, extra)) {
        json_out_key(o, name);
        json_out_object(o);
        it = json_each(json_root(&j));
        while (json_next(&it))
            if (!json_is(it.key, format))
                json_out_key_raw(o, json_text(it.key, &a), json_raw(it.value));
        json_out_end_object(o);
        json_release(&j);
    }
    arena_release(&a);
}

bool unknown_members_has_foreign(struct str extra, struct str format)
{
    bool any = false;
    struct json j;

    if (scan_object(&j, extra)) {
        struct json_iter it = json_each(json_root(&j));

        while (json_next(&it))
            any |= !json_is(it.key, format);
    }
    json_release(&j);
    return any;
}
