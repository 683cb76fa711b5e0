#include "trace/forms.h"

#include "base/base64.h"
#include "base/unravel.h"

enum { LINE_SHORTEST = 16 }; /* of a value of several lines, each that is as long as this */

struct forms {
    forms_fn *fn;
    void *to;
    struct buf text; /* scratch */
};

static void give(struct forms *f, enum form form, struct str text)
{
    f->fn(f->to, form, text);
}

/* The characters of the base64 of `skip` unknown bytes, the value and what follows it that
 * depend on the value alone. */
static struct str base64_at(struct buf *to, struct str value, size_t skip)
{
    struct buf padded;
    size_t first = (8 * skip + 5) / 6, end = 8 * (skip + value.len) / 6;

    buf_init(&padded, value.len + 3);
    buf_add(&padded, str_n("\0\0", skip));
    buf_add(&padded, value);
    buf_clear(to);
    base64_encode(to, buf_str(&padded));
    buf_release(&padded);
    return str_n(to->at + first, end - first);
}

/* In the alphabet for URLs; false if that makes no difference. */
static bool to_url_alphabet(char *text, size_t len)
{
    bool any = false;

    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        text[i] = (char)(c == '+' ? '-' : c == '/' ? '_' : c);
        any |= text[i] != c;
    }
    return any;
}

static void give_base64(struct forms *f, struct str value)
{
    for (size_t skip = 0; skip < 3; skip++) {
        struct str part = base64_at(&f->text, value, skip);
        give(f, FORM_BASE64, part);
        if (to_url_alphabet(f->text.at, f->text.len))
            give(f, FORM_BASE64, part);
    }
}

static void give_hex(struct forms *f, struct str value)
{
    buf_clear(&f->text);
    for (size_t i = 0; i < value.len; i++)
        buf_printf(&f->text, "%02x", (unsigned char)value.at[i]);
    give(f, FORM_HEX, buf_str(&f->text));
}

/* A form as browsers send it: the other escapes are undone where they are met. */
static void give_with_plus(struct forms *f, struct str value)
{
    if (!memchr(value.at, ' ', value.len))
        return;
    buf_clear(&f->text);
    for (size_t i = 0; i < value.len; i++)
        buf_add_ch(&f->text, value.at[i] == ' ' ? '+' : value.at[i]);
    give(f, FORM_PLAIN, buf_str(&f->text));
}

static void give_plain(struct forms *f, struct str value)
{
    give(f, FORM_PLAIN, value);
    give_with_plus(f, value);
}

/* A value may itself look escaped; together with its surroundings it is undone, too. */
static void give_unravelled(struct forms *f, struct str value)
{
    struct buf layers[2];
    size_t which = 0;

    buf_init(&layers[0], value.len + UNRAVEL_ROOM);
    buf_init(&layers[1], value.len + UNRAVEL_ROOM);
    while (unravel(value, UNRAVEL_ALL, &layers[which])) {
        value = buf_str(&layers[which]);
        if (value.len < FORMS_SHORTEST)
            break;
        give_plain(f, value);
        which = 1 - which;
        buf_clear(&layers[which]);
    }
    buf_release(&layers[0]);
    buf_release(&layers[1]);
}

/* Keys in PEM and the like come line by line where text is read so. */
static void give_lines(struct forms *f, struct str value)
{
    if (!memchr(value.at, '\n', value.len))
        return;
    while (value.len) {
        struct str line = str_trim(str_cut(&value, '\n'));
        if (line.len >= LINE_SHORTEST)
            give(f, FORM_PLAIN, line);
    }
}

void forms_each(struct str value, forms_fn *fn, void *to)
{
    struct forms f = { .fn = fn, .to = to };

    BUG_IF(value.len < FORMS_SHORTEST);
    buf_init(&f.text, 4 * value.len + 16);
    give_plain(&f, value);
    give_unravelled(&f, value);
    give_lines(&f, value);
    give_base64(&f, value);
    give_hex(&f, value);
    buf_release(&f.text);
}
