/* Says what the scanner makes of texts, for those who compare it with other parsers.
 *
 * In and out: four bytes of length (little endian), then so many bytes. The answer to a
 * text is its meaning ("[n1;s6162;]") or "! KIND OFFSET". In a meaning z t f are null, true
 * and false, numbers are as written, strings are hex of their decoded bytes. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "json/json.h"
#include "json/write.h"

enum { ANSWER_MAX = 64 << 20 };

static bool read_length(uint32_t *n)
{
    unsigned char b[4];

    if (fread(b, 1, 4, stdin) != 4)
        return false;
    *n = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    return true;
}

static void answer(struct str text)
{
    const unsigned char b[4] = { text.len & 0xFF, text.len >> 8 & 0xFF, text.len >> 16 & 0xFF,
                                 text.len >> 24 & 0xFF };

    fwrite(b, 1, 4, stdout);
    fwrite(text.at, 1, text.len, stdout);
    fflush(stdout);
}

static void dump_string(struct json_val v, struct buf *to, struct arena *a)
{
    static const char digits[] = "0123456789abcdef";
    struct str s = json_text(v, a);

    buf_add_ch(to, 's');
    for (size_t i = 0; i < s.len; i++) {
        buf_add_ch(to, digits[(unsigned char)s.at[i] >> 4]);
        buf_add_ch(to, digits[(unsigned char)s.at[i] & 15]);
    }
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

int main(void)
{
    static const char *const kinds[] = { "none", "end", "syntax", "utf8", "depth", "size" };
    struct arena arena = { .blocks = NULL };
    struct json j;
    struct buf out;
    uint32_t len;

    json_init(&j);
    buf_init(&out, ANSWER_MAX);
    while (read_length(&len)) {
        /* Its own allocation each time: a sanitizer then sees a step beyond it. */
        char *text = mem_grow(NULL, len);
        struct json_fault fault;

        if (fread(text, 1, len, stdin) != len)
            return 1;
        buf_clear(&out);
        if (json_scan(&j, str_n(text, len), &fault))
            dump(json_root(&j), &out, &arena);
        else
            buf_printf(&out, "! %s %zu", kinds[fault.kind], fault.at);
        answer(buf_str(&out));
        arena_clear(&arena);
        free(text);
    }
    json_release(&j);
    buf_release(&out);
    arena_release(&arena);
    return ferror(stdout) != 0;
}
