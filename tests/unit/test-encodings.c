#include "redact/encodings.h"

#include "assert-aborts.h"
#include "base/base64.h"
#include "base/buf.h"
#include "test.h"

struct list {
    struct buf text; /* one form to a line */
    size_t count;
};

static void note(void *to, enum encoding form, struct str text)
{
    struct list *l = to;

    buf_add_ch(&l->text, "pbBh"[form]);
    buf_add_ch(&l->text, ' ');
    for (size_t i = 0; i < text.len; i++)
        buf_add_ch(&l->text, text.at[i] ? text.at[i] : '`');
    buf_add_ch(&l->text, '\n');
    l->count++;
}

static void assert_forms(struct str value, const char *want)
{
    struct list l = { .count = 0 };

    buf_init(&l.text, 1 << 16);
    encodings_each(value, note, &l);
    assert_string_equal(buf_z(&l.text), want);
    buf_release(&l.text);
}

static void a_value_has_its_encoded_forms(void **state)
{
    (void)state;
    assert_forms(STR("secret"), "p secret\n"
                                "b c2VjcmV0\nB YzJWamNtVj\nB MyVmpjbVYw\nB jMlZqY21WM\n"
                                "b NlY3Jld\nB TmxZM0psZ\nB 5sWTNKbG\nB ObFkzSmxk\n"
                                "b zZWNyZX\nB elpXTnlaW\nB paV055Wl\nB 6WldOeVpY\n"
                                "h 736563726574\n"
                                "b cwBlAGMAcgBlAH\nb MAZQBjAHIAZQB0\nb zAGUAYwByAGUAd\n"
                                "h 7300650063007200650074\np s`e`c`r`e`t\n");
}

static void assert_has(struct str value, const char *form)
{
    struct list l = { .count = 0 };

    buf_init(&l.text, 1 << 16);
    encodings_each(value, note, &l);
    if (!strstr(buf_z(&l.text), form))
        fail_msg("no '%s' in\n%s", form, buf_z(&l.text));
    buf_release(&l.text);
}

static void assert_has_not(struct str value, const char *form)
{
    struct list l = { .count = 0 };

    buf_init(&l.text, 1 << 16);
    encodings_each(value, note, &l);
    assert_null(strstr(buf_z(&l.text), form));
    buf_release(&l.text);
}

static void both_base64_alphabets_are_used_if_they_differ(void **state)
{
    static const char *const forms[] = { "\nb +//++//+\n", "\nb -__--__-\n", "\nb v//vv//\n",
                                         "\nb v__vv__\n",  "\nb 7//77//\n",  "\nb 7__77__\n",
                                         "\nB Ky8vKysvL",  "\nB LV9fLS1fX" };

    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        assert_has(STR("\xfb\xff\xfe\xfb\xff\xfe"), forms[i]);
}

static void a_value_that_looks_escaped_is_searched_unescaped_too(void **state)
{
    (void)state;
    assert_has(STR("pass%2541word"), "p pass%2541word\np pass%41word\np passAword\n");
}

static void an_escaped_value_may_be_encoded_again(void **state)
{
    struct str value = STR("a\"b/\xc3\xa9 \xf0\x9f\x98\x80");

    (void)state;
    /* a\"b/é 😀, a\"b/\u00e9 \ud83d\ude00, a%22b%2F%C3%A9%20%F0%9F%98%80 */
    assert_has(value, "\nb YVwiYi/DqSDwn5iA\n");
    assert_has(value, "\nb YVwiYi9cdTAwZTkgXHVkODNkXHVkZTAw\n");
    assert_has(value, "\nb YSUyMmIlMkYlQzMlQTklMjAlRjAlOUYlOTglOD\n");
    assert_has(value, "\nh 615c22622f5c7530306539205c75643833645c7564653030\n");
    assert_has(value, "\nh 610022006200"
                      "2f00e90020003dd800de\n");
    assert_has(value, "\np a\"b/\xe9 \xf0\x9f\x98\x80\n");
    assert_has_not(STR("secret"), "\nb c2VjcmV0\nb c2VjcmV0\n");
}

static void an_invalid_utf8_value_is_searched_with_replacement_characters(void **state)
{
    (void)state;
    assert_has(STR("s\xC3\xA9"
                   "cret"),
               "p s\xEF\xBF\xBD"
               "cret\n");
    assert_has(STR("s\xE9"
                   "cret"),
               "p s\xEF\xBF\xBD"
               "cret\n");
    assert_has_not(STR("secret"), "\xEF\xBF\xBD");
}

static void long_lines_of_a_value_are_searched_alone(void **state)
{
    struct str value = STR("-----BEGIN-----\nMIIEvQIBADANBgkq\nshort\nshort123\nsomewords\n");

    (void)state;
    assert_has(value, "\np MIIEvQIBADANBgkq\n");
    assert_has(value, "\np short123\n");
    assert_has_not(value, "\np short\n");
    assert_has_not(value, "\np somewords\n");
}

static void lines_of_a_value_may_end_with_lf_or_crlf(void **state)
{
    (void)state;
    assert_has(STR("ab12\ncd34\nef"), "p ab12\r\ncd34\r\nef\n");
    assert_has(STR("ab12\r\ncd34\r\nef"), "p ab12\ncd34\nef\n");
    assert_has(STR("ab12\r\ncd34\nef"), "p ab12\ncd34\nef\n");
    assert_has(STR("ab12\r\ncd34\nef"), "p ab12\r\ncd34\r\nef\n");
    assert_has(STR("ab12\ncd34\nef"), "h 616231320d0a636433340d0a6566\n");
    assert_has_not(STR("ab12\rcd34"), "\np ab12\ncd34");
    assert_has_not(STR("ab12\rcd34"), "\np ab12\r\n");
}

struct holds {
    struct str in;
    bool any;
};

static void note_form(void *to, enum encoding form, struct str text)
{
    struct holds *h = to;

    h->any |= form == ENCODING_BASE64 && memmem(h->in.at, h->in.len, text.at, text.len);
}

/* With any text before and behind it. */
static void base64_is_recognised_at_every_alignment(void **state)
{
    (void)state;
    for (size_t before = 0; before < 7; before++)
        for (size_t behind = 0; behind < 7; behind++)
            for (size_t len = ENCODINGS_MIN; len < 12; len++) {
                struct str value = str_n("q7\x01zX-\xf0kk!m", len);
                struct holds h = { .any = false };
                struct buf plain, encoded;

                buf_init(&plain, 64);
                buf_init(&encoded, 64);
                buf_add(&plain, str_n("\xff\x00\xaa~~~~", before));
                buf_add(&plain, value);
                buf_add(&plain, str_n("\xff\x00\xaa~~~~", behind));
                base64_encode(&encoded, buf_str(&plain));
                h.in = buf_str(&encoded);
                encodings_each(value, note_form, &h);
                assert_true(h.any);
                buf_release(&plain);
                buf_release(&encoded);
            }
}

static void note_second_form(void *to, enum encoding form, struct str text)
{
    struct holds *h = to;

    h->any |= form == ENCODING_BASE64_TWICE && memmem(h->in.at, h->in.len, text.at, text.len);
}

static void base64_of_base64_is_recognised_at_every_alignment(void **state)
{
    struct str value = STR("q7\x01zX-\xf0k");

    (void)state;
    for (size_t before = 0; before < 4; before++)
        for (size_t outside = 0; outside < 4; outside++) {
            struct holds h = { .any = false };
            struct buf plain, once, twice;

            buf_init(&plain, 64);
            buf_init(&once, 64);
            buf_init(&twice, 128);
            buf_add(&plain, str_n("\xff\x00\xaa~", before));
            buf_add(&plain, value);
            buf_add(&once, str_n("{{{{", outside));
            base64_encode(&once, buf_str(&plain));
            buf_add(&once, STR("}"));
            base64_encode(&twice, buf_str(&once));
            h.in = buf_str(&twice);
            encodings_each(value, note_second_form, &h);
            assert_true(h.any);
            buf_release(&plain);
            buf_release(&once);
            buf_release(&twice);
        }
}

static void encode_to_short_buffer(void)
{
    encodings_each(STR("short"), note, NULL);
}

static void a_too_short_value_is_a_bug(void **state)
{
    (void)state;
    assert_aborts(encode_to_short_buffer, "ENCODINGS_MIN");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_has_its_encoded_forms),
        cmocka_unit_test(both_base64_alphabets_are_used_if_they_differ),
        cmocka_unit_test(a_value_that_looks_escaped_is_searched_unescaped_too),
        cmocka_unit_test(an_escaped_value_may_be_encoded_again),
        cmocka_unit_test(an_invalid_utf8_value_is_searched_with_replacement_characters),
        cmocka_unit_test(long_lines_of_a_value_are_searched_alone),
        cmocka_unit_test(lines_of_a_value_may_end_with_lf_or_crlf),
        cmocka_unit_test(base64_is_recognised_at_every_alignment),
        cmocka_unit_test(base64_of_base64_is_recognised_at_every_alignment),
        cmocka_unit_test(a_too_short_value_is_a_bug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
