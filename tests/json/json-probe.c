/* Prints the results of the scanner, for comparison with other parsers.
 *
 * The answer to a text is its meaning ("[n1;s6162;]") or "! KIND OFFSET". In a meaning z t f
 * are null, true and false, numbers are as written, strings are hex of their decoded bytes. */
#include "probe.h"
#include "json/json.h"

static void dump_string(struct json_val v, struct buf *to, struct arena *a)
{
    buf_add_ch(to, 's');
    probe_add_hex(to, json_text(v, a));
    buf_add_ch(to, ';');
}

static void dump(struct json_val v, struct buf *to, struct arena *a)
{
    struct json_iter it = json_each(v);
    bool object = json_type(v) == JSON_OBJECT;

    switch (json_type(v)) {
    case JSON_STRING:
        dump_string(v, to, a);
        break;
    case JSON_NUMBER:
        buf_add_ch(to, 'n');
        buf_add(to, json_raw(v));
        buf_add_ch(to, ';');
        break;
    case JSON_OBJECT:
    case JSON_ARRAY:
        buf_add_ch(to, object ? '{' : '[');
        while (json_next(&it)) {
            if (object)
                dump_string(it.key, to, a);
            dump(it.value, to, a);
        }
        buf_add_ch(to, object ? '}' : ']');
        break;
    default:
        buf_add_ch(to, json_type(v) == JSON_NULL ? 'z' : json_type(v) == JSON_TRUE ? 't' : 'f');
    }
}

struct scanner {
    struct json json;
    struct arena arena;
};

static void answer(void *with, struct str text, struct buf *out)
{
    static const char *const kinds[] = { "none", "end", "syntax", "utf8", "depth", "size" };
    struct scanner *s = with;
    struct json_fault fault;

    if (json_scan(&s->json, text, &fault))
        dump(json_root(&s->json), out, &s->arena);
    else
        buf_printf(out, "! %s %zu", kinds[fault.kind], fault.at);
    arena_clear(&s->arena);
}

int main(void)
{
    struct scanner s = { .arena = { .blocks = NULL } };
    int code;

    json_init(&s.json);
    code = probe_serve(answer, &s);
    json_release(&s.json);
    arena_release(&s.arena);
    return code;
}
